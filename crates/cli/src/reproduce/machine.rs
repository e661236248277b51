//! What a report says about where and when it was made.

use std::fs::read_to_string;
use std::time::{SystemTime, UNIX_EPOCH};

use jostle::available_threads;

/// Processor, threads and system, in one line; the same in every run on one machine.
pub(super) fn description() -> String {
    let processor = read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text));
    let processor = processor.unwrap_or_else(|| "unknown processor".into());
    let threads = available_threads();
    format!("{processor}, {threads} threads, {} {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1;
    Some(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The program's version.
pub(super) fn version() -> String {
    format!("jostle {}", env!("CARGO_PKG_VERSION"))
}

/// The date in UTC, as 2026-11-17.
pub(super) fn date() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let (year, month, day) = civil(since.map_or(0, |since| since.as_secs() / 86_400) as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since the first of January 1970. Years begin in March
/// here, so that the leap day is the last of them.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + 400 * era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_774), (2026, 11, 17));
    }

    #[test]
    fn a_processor_has_one_line() {
        let text = "processor : 0\nmodel name\t: Some  CPU @ 2 GHz\nmodel name\t: Other\n";
        assert_eq!(model_name(text).unwrap(), "Some CPU @ 2 GHz");
        assert_eq!(model_name(""), None);
        assert!(description().contains("threads"));
    }
}
