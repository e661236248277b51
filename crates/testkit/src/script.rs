//! Step scripts: histories with expected events, as text. One operation per line:
//!
//! ```text
//! # what this shows
//! insert wall  0 0 0  9 1 9   still
//! insert ball  0 5 0  1 6 1   member=1 mask=3 owner=4
//! step
//! move ball    0 1 0  1 2 1
//! step
//! began ball wall
//! filter ball  mask=0
//! exclude ball wall
//! include ball wall
//! remove wall
//! step
//! ended ball wall
//! refuse insert bad  0 0 0  nan 1 1
//! rebuild
//! ```
//!
//! Each `step` must give exactly the `began` and `ended` lines that follow it, and agree
//! with the model. Numbers may be `inf`, `-inf`, `nan`, `max`, `-max`, `tiny`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jostle::{Aabb, BoxId, Filter, Pair};

use crate::Build;
use crate::replay::{Failure, Replay, compare};

/// A script by name.
#[derive(Clone, Debug)]
pub struct Script {
    /// The file's name without its ending.
    pub name: String,
    text: String,
}

impl Script {
    /// A script from its text.
    pub fn new(name: &str, text: &str) -> Script {
        Script { name: name.into(), text: text.into() }
    }

    /// Every script in `testdata/scripts`, by name.
    pub fn all() -> Vec<Script> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
            .expect("testdata/scripts is there")
            .map(|entry| entry.expect("testdata/scripts can be listed").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
            .collect();
        paths.sort();
        paths.iter().map(|path| read(path)).collect()
    }

    /// Runs the script.
    pub fn run(&self, build: Build<'_>, threads: usize) -> Result<(), Failure> {
        let mut run = Run::new(build, threads);
        for (number, line) in self.text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if !line.is_empty() {
                run.line(line)
                    .map_err(|failure| format!("{} line {}: {failure}", self.name, number + 1))?;
            }
        }
        run.check_events().map_err(|failure| format!("{} at its end: {failure}", self.name))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scripts")
}

fn read(path: &Path) -> Script {
    let text = std::fs::read_to_string(path).expect("a script can be read");
    let name = path.file_stem().expect("a script has a name").to_string_lossy();
    Script::new(&name, &text)
}

struct Run<'a> {
    replay: Replay<'a>,
    names: BTreeMap<String, BoxId>,
    expected: [Vec<Pair>; 2],
    stepped: bool,
}

impl<'a> Run<'a> {
    fn new(build: Build<'a>, threads: usize) -> Run<'a> {
        let replay = Replay::new(build, threads);
        Run { replay, names: BTreeMap::new(), expected: [vec![], vec![]], stepped: false }
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !["began", "ended"].contains(&words[0]) {
            self.check_events()?;
        }
        match words[0] {
            "insert" => {
                let id = self.replay.insert(aabb(&words)?, filter(&words[8..])?)?;
                self.names.insert(words[1].into(), id);
                Ok(())
            }
            "move" => {
                let id = self.id(words[1])?;
                self.replay.set(id, aabb(&words)?)
            }
            "filter" => {
                let id = self.id(words[1])?;
                self.replay.refilter(id, filter(&words[2..])?)
            }
            "remove" => {
                let id = self.id(words[1])?;
                self.replay.remove(id)
            }
            "exclude" | "include" => {
                let (one, other) = (self.id(words[1])?, self.id(words[2])?);
                self.replay.exclude(one, other, words[0] == "exclude")
            }
            "refuse" => match self.line(&words[1..].join(" ")) {
                Ok(()) => Err("this should have been refused".into()),
                Err(_) => Ok(()),
            },
            "rebuild" => self.replay.apply(&crate::replay::Op::Rebuild),
            "step" => {
                self.stepped = true;
                self.replay.step()
            }
            "began" | "ended" => {
                let pair = Pair::new(self.id(words[1])?, self.id(words[2])?);
                self.expected[usize::from(words[0] == "ended")].push(pair);
                Ok(())
            }
            other => Err(format!("unknown word {other:?}")),
        }
    }

    /// Compares the last step with the lines that followed it.
    fn check_events(&mut self) -> Result<(), Failure> {
        if !std::mem::take(&mut self.stepped) {
            return Ok(());
        }
        let [mut began, mut ended] = std::mem::take(&mut self.expected);
        began.sort();
        ended.sort();
        let events = self.replay.detector().events();
        compare("began, by the script,", events.began, &began)?;
        compare("ended, by the script,", events.ended, &ended)
    }

    fn id(&self, name: &str) -> Result<BoxId, Failure> {
        self.names.get(name).copied().ok_or_else(|| format!("no box is called {name}"))
    }
}

fn aabb(words: &[&str]) -> Result<Aabb, Failure> {
    let bound = |at: usize| number(words.get(at).ok_or("a box needs six numbers")?);
    Ok(Aabb::new([bound(2)?, bound(3)?, bound(4)?], [bound(5)?, bound(6)?, bound(7)?]))
}

fn number(word: &str) -> Result<f32, Failure> {
    match word {
        "max" => Ok(f32::MAX),
        "-max" => Ok(f32::MIN),
        "tiny" => Ok(f32::from_bits(1)),
        "-tiny" => Ok(-f32::from_bits(1)),
        _ => word.parse().map_err(|_| format!("{word} is not a number")),
    }
}

fn filter(words: &[&str]) -> Result<Filter, Failure> {
    let mut filter = Filter::ALL;
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, "1"));
        let value: u32 = value.parse().map_err(|_| format!("{word} is not a filter"))?;
        match key {
            "member" => filter.membership = value,
            "mask" => filter.mask = value,
            "owner" => filter.owner = value,
            "still" => filter.still = value != 0,
            _ => return Err(format!("{word} is not a filter")),
        }
    }
    Ok(filter)
}
