//! [`Bytes`]: cases out of arbitrary bytes, as a fuzzer gives them.

/// Bytes read one after the other; zeros when they run out.
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub(crate) fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().unwrap_or(0)
    }

    /// A number below a bound, which must not be zero.
    pub(crate) fn below(&mut self, bound: u8) -> u8 {
        self.byte() % bound
    }
}
