//! The stopwatch itself, and the table of comparisons that several subcommands print.

use std::io::Write;
use std::time::Instant;

use jostle_cli::Failure;
use jostle_cli::support::text::table;
use jostle_scenes::Sorted;

/// Milliseconds that the work takes.
pub fn milliseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    1e3 * start.elapsed().as_secs_f64()
}

/// The best time of several in milliseconds; `prepare` is not timed.
pub fn best<T>(repeats: usize, mut prepare: impl FnMut() -> T, mut work: impl FnMut(T)) -> f64 {
    let time = |_| {
        let input = prepare();
        milliseconds(|| work(input))
    };
    Sorted::new((0..repeats.max(1)).map(time)).least()
}

/// One comparison: our time and the yardstick's in milliseconds, best of several.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What is compared with what.
    pub name: &'static str,
    /// Our time.
    pub ours: f64,
    /// The yardstick's time.
    pub yardstick: f64,
}

/// Prints comparisons with their ratios.
pub fn write_comparisons(rows: &[Comparison], out: &mut dyn Write) -> Result<(), Failure> {
    let cells = rows.iter().map(|row| {
        vec![
            row.name.to_owned(),
            format!("{:.2}", row.ours),
            format!("{:.2}", row.yardstick),
            format!("{:.2}", row.ours / row.yardstick),
        ]
    });
    let header = ["ours / yardstick", "ours ms", "yardstick ms", "ratio"];
    write!(out, "{}", table(&header, &cells.collect::<Vec<_>>(), &[0]))?;
    Ok(())
}
