//! `jostle reproduce`: the papers' experiments, each claim compared with what is measured here.
//!
//! An experiment is one file or folder here and one line in [`EXPERIMENTS`]; its [`Part`]s are run,
//! kept and resumed one by one (`session`). A part measures with [`Lab::measure`] or a loop of its
//! own, leaves tables and pictures with [`Lab::csv`] and [`Lab::plot`], and returns its [`Claim`]s.
//! What the papers are, and what each of their figures showed, is in `documents`; `report` puts
//! both together. `systems` holds the papers' algorithms as printed, where the library does
//! something better. An experiment names the figures a claim rests on and the bounds that would
//! refute it; the verdict follows from both (`verdict`), never from the experiment's own opinion.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jostle_scenes::SceneSpec;

use crate::bench::{Course, Entrant, Measured};
use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::files;
use crate::support::interrupt;
use crate::support::plot::{self, Chart};

mod baseline;
mod campbell;
mod capannini;
pub mod command;
mod documents;
mod grids;
mod loi;
mod machine;
mod page;
mod pipeline;
mod record;
mod report;
mod session;
mod systems;
mod tracy;
mod verdict;

pub use verdict::{Bound, Claim, Figure, Verdict};

/// Every experiment, in the order of the table. To add one: its file, and its line here.
pub const EXPERIMENTS: &[Experiment] = &[
    campbell::EXPERIMENT,
    capannini::EXPERIMENT,
    baseline::EXPERIMENT,
    tracy::EXPERIMENT,
    grids::EXPERIMENT,
    loi::EXPERIMENT,
];

/// The experiments of a paper, or some of them.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is measured, in one line.
    pub about: &'static str,
    /// What can be run alone, as `NAME/PART`, and is kept when a run is resumed.
    pub parts: &'static [Part],
}

/// A part of an experiment: usually what one figure of the paper showed.
#[derive(Debug)]
pub struct Part {
    /// Its name behind that of the experiment.
    pub name: &'static str,
    /// What is measured, in one line.
    pub about: &'static str,
    /// Seconds of a quick and of a full run on two cores, for the estimate of the time left. In a
    /// full run loops over frames end when they are over (see [`Lab::units`]), so a slow or busy
    /// machine gets wider intervals instead of a longer run.
    pub seconds: [f64; 2],
    /// Measures, writes files, and tells how the paper's claims fare.
    pub run: fn(&mut Lab) -> Result<Vec<Claim>, Failure>,
}

/// What an experiment works with.
#[derive(Debug)]
pub struct Lab {
    experiment: &'static str,
    folder: PathBuf,
    quick: bool,
    device: Device,
    written: Vec<PathBuf>,
    /// When the part should be done, and how many of its units have not begun.
    end: Instant,
    units: Cell<usize>,
}

impl Lab {
    /// A lab whose files go to `folder`.
    pub fn new(experiment: &'static str, folder: PathBuf, quick: bool) -> Lab {
        let (end, units) = (Instant::now(), Cell::new(0));
        Lab {
            experiment,
            folder,
            quick,
            device: Device::default(),
            written: Vec::new(),
            end,
            units,
        }
    }

    /// Gives the part that begins now some seconds.
    pub fn set_seconds(&mut self, seconds: f64) {
        self.end = Instant::now() + Duration::from_secs_f64(seconds);
    }

    /// Announces loops over frames that will ask for their time, one after the other.
    pub fn units(&self, count: usize) {
        self.units.set(count);
    }

    /// When the loop that begins now should end: it gets an equal share of the time that is left,
    /// so what short loops leave over goes to the later ones. Every loop runs the frames it needs
    /// at least. A quick run has no such end: its frames are few and always the same.
    pub fn unit_end(&self) -> Option<Instant> {
        let left = self.units.get().max(1);
        self.units.set(left - 1);
        let now = Instant::now();
        let time = self.end.saturating_duration_since(now) / left as u32;
        (!self.quick).then_some(now + time)
    }

    /// Lets experiments that can use a GPU have one.
    pub fn set_device(&mut self, device: Device) {
        self.device = device;
    }

    /// Where experiments that can use a GPU run.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns true if seconds count: take fewer sizes and frames, and test the same claims.
    pub fn quick(&self) -> bool {
        self.quick
    }

    /// One value for a quick run, another for a full one.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Runs entrants over a scene, interleaved; all must find the same pairs. The first frame is
    /// in [`Measured::build`], the others in [`Measured::samples`].
    pub fn measure(
        &self,
        scene: &SceneSpec,
        frames: usize,
        entrants: &[Entrant],
    ) -> Result<Vec<Measured>, Failure> {
        self.check_stop()?;
        let budget = Duration::from_secs(self.pick(5, 60));
        let course = Course::Scene(scene.clone());
        let rows = crate::bench::measure(&course, frames, entrants, Some(budget))?;
        self.check_stop()?;
        Ok(rows)
    }

    /// Ends the experiment after Ctrl-C; call it in loops that do not measure with the lab.
    pub fn check_stop(&self) -> Result<(), Failure> {
        match interrupt::requested() {
            true => Err(Failure::Stopped(format!("in experiment {}", self.experiment))),
            false => Ok(()),
        }
    }

    /// Writes `NAME-file.csv`.
    pub fn csv(
        &mut self,
        file: &str,
        header: &[&str],
        rows: &[Vec<String>],
    ) -> Result<(), Failure> {
        let path = self.place(file, "csv");
        files::write_text(&path, &files::csv_text(header, rows)?)?;
        self.written.push(path);
        Ok(())
    }

    /// Draws `NAME-file.svg`, one panel per chart.
    pub fn plot(&mut self, file: &str, charts: &[Chart]) -> Result<(), Failure> {
        let path = self.place(file, "svg");
        files::write_text(&path, &plot::svg(charts)?)?;
        self.written.push(path);
        Ok(())
    }

    fn place(&self, file: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{}-{file}.{ending}", self.experiment))
    }

    /// The files written so far.
    pub fn written(&self) -> &[PathBuf] {
        &self.written
    }
}

/// The power p of the law y = c x^p through points, by least squares of the logarithms; points
/// that are not above zero are left out. None if fewer than two sizes are left.
pub fn power_law(points: &[(f64, f64)]) -> Option<f64> {
    let usable = points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0);
    let logs: Vec<(f64, f64)> = usable.map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|log| log.0).sum::<f64>() / count;
    let mean_y = logs.iter().map(|log| log.1).sum::<f64>() / count;
    let spread: f64 = logs.iter().map(|log| (log.0 - mean_x).powi(2)).sum();
    let common: f64 = logs.iter().map(|log| (log.0 - mean_x) * (log.1 - mean_y)).sum();
    (spread > 0.0).then(|| common / spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_share_the_time_of_their_part() {
        let mut lab = Lab::new("x", PathBuf::new(), false);
        lab.set_seconds(100.0);
        lab.units(4);
        let seconds = |lab: &Lab| {
            let end = lab.unit_end().unwrap();
            end.saturating_duration_since(Instant::now()).as_secs_f64().round()
        };
        // The loops here take no time, so each leaves its share to the others.
        assert_eq!([0; 4].map(|_| seconds(&lab)), [25.0, 33.0, 50.0, 100.0]);
        assert_eq!(seconds(&lab), 100.0, "one that was not announced gets what is left");
        lab.set_seconds(0.0);
        assert_eq!(seconds(&lab), 0.0);
        assert_eq!(Lab::new("x", PathBuf::new(), true).unit_end(), None);
    }

    #[test]
    fn the_power_of_a_law_is_found() {
        let points: Vec<(f64, f64)> =
            [1.0, 2.0, 5.0, 9.0].map(|x: f64| (x, 3.0 * x.powf(1.7))).into();
        assert!((power_law(&points).unwrap() - 1.7).abs() < 1e-12);
        assert_eq!(power_law(&points[..1]), None);
        assert_eq!(power_law(&[]), None);
        assert_eq!(power_law(&[(0.0, 1.0), (3.0, 0.0), (2.0, 2.0)]), None);
    }
}
