//! Runs plain code that is compiled once more for the widest instructions that are common, where
//! the machine has them. What it computes does not depend on them: they save moves between
//! registers and let the compiler use longer vectors.

/// Work that is compiled for each instruction set. `run`, and what it calls that matters, has to
/// be `#[inline(always)]`.
pub(crate) trait Work {
    type Output;
    fn run(self) -> Self::Output;
}

/// Runs `work` compiled for this machine.
#[inline]
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if avx2::available() {
        // SAFETY: the machine has the instructions that the function is compiled for.
        return unsafe { avx2::run(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Work;

    #[inline]
    pub(super) fn available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn run<W: Work>(work: W) -> W::Output {
        work.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sum<'a>(&'a [u32]);

    impl Work for Sum<'_> {
        type Output = u32;

        #[inline(always)]
        fn run(self) -> u32 {
            self.0.iter().fold(0, |sum, &item| sum.wrapping_mul(3) ^ item)
        }
    }

    #[test]
    fn work_gives_the_same_however_it_is_compiled() {
        let items: Vec<u32> = (0..1001u32).map(|k| k.wrapping_mul(2_654_435_761)).collect();
        assert_eq!(widest(Sum(&items)), Sum(&items).run());
    }
}
