//! [`Load`]: how busy the machine is, to tell whether other programs disturbed a measurement.
//!
//! Linux counts the time that all processors worked and the time that this process did; what is
//! left was somebody else's. Where these counters do not exist, there is no answer.

use std::fs::read_to_string;
use std::time::Instant;

/// Clock ticks a second of `/proc`, fixed for user space.
const TICKS: f64 = 100.0;

/// The counters at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    at: Instant,
    /// Seconds that all processors worked.
    all: f64,
    /// Seconds that this process worked, in all its threads.
    own: f64,
}

impl Load {
    /// Reads the counters; none where the system has none.
    pub fn now() -> Option<Load> {
        let all = busy_ticks(&read_to_string("/proc/stat").ok()?)?;
        let own = own_ticks(&read_to_string("/proc/self/stat").ok()?)?;
        Some(Load { at: Instant::now(), all: all / TICKS, own: own / TICKS })
    }

    /// How many cores other programs kept busy since then, on the mean; none if hardly any time
    /// passed.
    pub fn others_until(self, later: Load) -> Option<f64> {
        let seconds = (later.at - self.at).as_secs_f64();
        let others = (later.all - self.all) - (later.own - self.own);
        (seconds > 0.2).then(|| (others / seconds).max(0.0))
    }
}

/// Ticks of work in the first line of `/proc/stat`: user, nice and system, with interrupts.
fn busy_ticks(text: &str) -> Option<f64> {
    let mut fields = text.lines().next()?.split_whitespace();
    (fields.next()? == "cpu").then_some(())?;
    let ticks: Vec<f64> = fields.map_while(|field| field.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4).unwrap_or(&0.0);
    // The last two, of guests, are part of the first two.
    Some(ticks.iter().take(8).sum::<f64>() - idle)
}

/// Ticks of this process: the fields after its name in brackets, which may hold spaces.
fn own_ticks(text: &str) -> Option<f64> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_by_field() {
        assert_eq!(busy_ticks("cpu  10 1 5 100 7 2 3 4 9 9\ncpu0 1"), Some(25.0));
        assert_eq!(busy_ticks("intr 5"), None);
        assert_eq!(own_ticks("7 (a ) b) S 1 1 1 0 -1 4 0 0 0 0 30 12 0 0 20"), Some(42.0));
        assert_eq!(own_ticks("nothing"), None);
    }

    #[test]
    fn what_this_process_did_is_not_another_s() {
        let now = Instant::now();
        let before = Load { at: now, all: 100.0, own: 40.0 };
        let after = |all, own| Load { at: now + std::time::Duration::from_secs(10), all, own };
        assert_eq!(before.others_until(after(110.0, 50.0)), Some(0.0));
        assert_eq!(before.others_until(after(120.0, 50.0)), Some(1.0));
        assert_eq!(before.others_until(before), None);
    }
}
