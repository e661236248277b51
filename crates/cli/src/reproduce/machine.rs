//! What a report says about where and when it was made.

use std::fs::read_to_string;
use std::time::{SystemTime, UNIX_EPOCH};

use jostle::available_threads;

/// Processor, threads, memory and system, in one line; the same in every run on one machine. No
/// name and no path of the machine: reports are published.
pub(super) fn description() -> String {
    let read = |path: &str| read_to_string(path).unwrap_or_default();
    let processor = model_name(&read("/proc/cpuinfo")).unwrap_or("unknown processor".into());
    let memory = memory(&read("/proc/meminfo")).unwrap_or("unknown memory".into());
    let system = system(&read("/etc/os-release")).unwrap_or(std::env::consts::OS.into());
    let threads = available_threads();
    format!("{processor}, {threads} threads, {memory}, {system} on {}", std::env::consts::ARCH)
}

/// The memory in whole GiB: the kernel's own share differs from boot to boot.
fn memory(meminfo: &str) -> Option<String> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(format!("{:.0} GiB of memory", kib / f64::from(1 << 20)))
}

/// The system's name with its version, without quotes.
fn system(os_release: &str) -> Option<String> {
    let line = os_release.lines().find(|line| line.starts_with("PRETTY_NAME="))?;
    Some(line.split_once('=')?.1.trim_matches('"').to_owned())
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

    #[test]
    fn memory_and_system_are_read_from_their_lines() {
        let text = "MemFree: 1 kB\nMemTotal:       16301234 kB\n";
        assert_eq!(memory(text).unwrap(), "16 GiB of memory");
        assert_eq!(memory("MemTotal: much"), None);
        let text = "NAME=x\nPRETTY_NAME=\"Some Linux 12 (word)\"\n";
        assert_eq!(system(text).unwrap(), "Some Linux 12 (word)");
        assert_eq!(system(""), None);
    }
}
