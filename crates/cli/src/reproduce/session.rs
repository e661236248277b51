//! [`Session`]: runs parts one by one, keeps a record of each that was run to its end, and writes
//! the report again after every part, so that what is finished survives whatever ends the run.

use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::record::{self, Record, Row, Setting};
use super::{Claim, EXPERIMENTS, Experiment, Lab, Part, report};
use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::files;
use crate::support::load::Load;

/// A part and the experiment it is of.
pub(super) type Chosen = (&'static Experiment, &'static Part);

/// The name of a part on the command line.
pub(super) fn name_of((experiment, part): Chosen) -> String {
    format!("{}/{}", experiment.name, part.name)
}

/// Every part there is, in order.
pub(super) fn all_parts() -> impl Iterator<Item = Chosen> {
    EXPERIMENTS
        .iter()
        .flat_map(|experiment| experiment.parts.iter().map(move |part| (experiment, part)))
}

/// A run of some parts into a folder.
#[derive(Debug)]
pub(super) struct Session {
    pub folder: PathBuf,
    pub setting: Setting,
    pub device: Device,
    /// Parts that are finished are kept.
    pub resume: bool,
}

impl Session {
    /// Runs the parts. An error ends the run; what is finished stays in the report.
    pub(super) fn run(&self, chosen: &[Chosen]) -> Result<(), Failure> {
        record::make_folder(&self.folder)?;
        let kept = |part: &Chosen| self.resume && self.finished(&name_of(*part)).is_some();
        let (kept, todo): (Vec<Chosen>, Vec<Chosen>) = chosen.iter().partition(|part| kept(part));
        for part in &todo {
            record::forget(&self.folder, &name_of(*part))?;
        }
        // A bad folder is told before hours of work, and an old report does not outlive its parts.
        self.write_report(chosen)?;
        if !kept.is_empty() {
            writeln!(stdout(), "{} of {} parts are kept", kept.len(), chosen.len())?;
        }
        let mut clock = Estimate::new(&todo, self.setting.quick);
        for &part in &todo {
            clock.announce(&name_of(part), chosen.len());
            let begun = Instant::now();
            self.run_one(part)?;
            clock.done(part.1, begun.elapsed());
            self.write_report(chosen)?;
        }
        writeln!(stdout(), "written to {}", self.folder.join("report.md").display())?;
        Ok(())
    }

    /// The record of a part, if it was run to its end with these settings.
    fn finished(&self, part: &str) -> Option<Record> {
        let record = Record::read(&self.folder, part)?;
        (record.setting == self.setting && record.is_whole(&self.folder)).then_some(record)
    }

    fn run_one(&self, chosen: Chosen) -> Result<(), Failure> {
        let (experiment, part) = chosen;
        let mut lab = Lab::new(experiment.name, self.folder.clone(), self.setting.quick);
        lab.set_device(self.device.clone());
        lab.set_seconds(part.seconds[usize::from(!self.setting.quick)]);
        let (begun, before) = (Instant::now(), Load::now());
        let mut claims = (part.run)(&mut lab)?;
        lab.check_stop()?;
        if self.setting.quick {
            claims = claims.into_iter().map(Claim::indicative).collect();
        }
        let others = before.zip(Load::now()).and_then(|(before, after)| before.others_until(after));
        let record = Record {
            part: name_of(chosen),
            setting: self.setting.clone(),
            date: super::machine::date(),
            seconds: begun.elapsed().as_secs_f64(),
            others,
            files: lab.written().iter().filter_map(|path| file_name(path)).collect(),
            rows: claims.iter().map(row).collect(),
        };
        record.write(&self.folder)?;
        writeln!(stdout(), "{}", report::section(&record))?;
        Ok(())
    }

    /// Writes the report on all parts in the folder that were made with these settings.
    fn write_report(&self, chosen: &[Chosen]) -> Result<(), Failure> {
        let records: Vec<Record> =
            all_parts().filter_map(|part| self.finished(&name_of(part))).collect();
        let wanted = |part: &Chosen| !records.iter().any(|record| record.part == name_of(*part));
        let missing: Vec<String> =
            chosen.iter().filter(|part| wanted(part)).map(|part| name_of(*part)).collect();
        let page = report::page(&self.folder, &self.setting, &records, &missing);
        files::write_text(&self.folder.join("report.md"), &page.markdown())?;
        files::write_text(&self.folder.join("index.html"), &page.html(&self.folder))
    }
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

fn row(claim: &Claim) -> Row {
    Row { cells: claim.cells(), timed: claim.is_timed() }
}

/// How long the parts that are left will take: what was expected of them, corrected by how long
/// those before took.
struct Estimate {
    quick: usize,
    left: f64,
    expected: f64,
    taken: f64,
    number: usize,
    count: usize,
}

impl Estimate {
    fn new(todo: &[Chosen], quick: bool) -> Estimate {
        let quick = usize::from(!quick);
        let left = todo.iter().map(|(_, part)| part.seconds[quick]).sum();
        Estimate { quick, left, expected: 0.0, taken: 0.0, number: 0, count: todo.len() }
    }

    fn seconds_left(&self) -> f64 {
        // A first part that takes long for its own reasons must not decide alone.
        const TRUST: f64 = 10.0;
        self.left * (self.taken + TRUST) / (self.expected + TRUST)
    }

    fn announce(&mut self, name: &str, chosen: usize) {
        self.number += 1;
        let place = self.number + chosen - self.count;
        let left = duration(self.seconds_left());
        // If nobody reads it, the work goes on.
        let _ = writeln!(stderr(), "[{place}/{chosen}] {name}, about {left} left");
    }

    fn done(&mut self, part: &Part, taken: Duration) {
        self.left -= part.seconds[self.quick];
        self.expected += part.seconds[self.quick];
        self.taken += taken.as_secs_f64();
    }
}

/// A length of time for people.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 5400.0 => format!("{:.1} h", seconds / 3600.0),
        seconds if seconds >= 90.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(_: &mut Lab) -> Result<Vec<Claim>, Failure> {
        Ok(Vec::new())
    }

    #[test]
    fn the_estimate_follows_what_parts_take() {
        static PARTS: [Part; 2] = [
            Part { name: "a", about: "", seconds: [10.0, 100.0], run: nothing },
            Part { name: "b", about: "", seconds: [30.0, 300.0], run: nothing },
        ];
        static ALL: Experiment = Experiment { name: "x", about: "", parts: &PARTS };
        let todo: Vec<Chosen> = PARTS.iter().map(|part| (&ALL, part)).collect();
        let mut estimate = Estimate::new(&todo, false);
        assert_eq!(estimate.seconds_left(), 400.0);
        estimate.done(&PARTS[0], Duration::from_secs(210));
        assert_eq!(estimate.seconds_left(), 600.0, "twice as slow as expected");
        assert_eq!(Estimate::new(&todo, true).seconds_left(), 40.0);
        assert_eq!((duration(30.0), duration(600.0)), ("30 s".into(), "10 min".into()));
    }

    #[test]
    fn names_are_unique_and_files_too() {
        let mut names: Vec<String> = all_parts().map(name_of).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        let mut files: Vec<String> = names.iter().map(|name| name.replace('/', "-")).collect();
        files.dedup();
        assert_eq!(files.len(), count);
    }
}
