//! [`Record`]: what is kept of a part that was run to its end.
//!
//! A record is written after all files of its part. So a part is finished if and only if its
//! record is there; a run that is stopped, or a full disk, leaves none.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::failure::Failure;
use crate::support::files;

/// The folder of the records in the folder of results.
const FOLDER: &str = "parts";

/// What the rows of a report have to have in common to stand in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub quick: bool,
    pub device: String,
    pub version: String,
    pub machine: String,
}

/// A claim as the report shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Statement, paper, criterion, what was measured, verdict, remark.
    pub cells: [String; 6],
    /// It rests on times, so other programs may have disturbed it.
    pub timed: bool,
}

/// A part that was run to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    /// `EXPERIMENT/PART`, as on the command line.
    pub part: String,
    pub setting: Setting,
    pub date: String,
    pub seconds: f64,
    /// Cores that other programs kept busy on the mean, if the system tells.
    pub others: Option<f64>,
    /// The names of the files that belong to it.
    pub files: Vec<String>,
    pub rows: Vec<Row>,
}

/// Makes the folder of the records.
pub(super) fn make_folder(results: &Path) -> Result<(), Failure> {
    let folder = results.join(FOLDER);
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(&folder).map_err(|error| Failure::unwritable(&folder, error))
}

fn place(results: &Path, part: &str) -> PathBuf {
    results.join(FOLDER).join(format!("{}.json", part.replace('/', "-")))
}

/// Removes the record of a part, which is then not finished.
pub(super) fn forget(results: &Path, part: &str) -> Result<(), Failure> {
    let path = place(results, part);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::unwritable(&path, error))
        }
        _ => Ok(()),
    }
}

impl Record {
    /// Writes it as a whole.
    pub(super) fn write(&self, results: &Path) -> Result<(), Failure> {
        let Setting { quick, device, version, machine } = &self.setting;
        let rows: Vec<Value> =
            self.rows.iter().map(|row| json!({ "cells": row.cells, "timed": row.timed })).collect();
        let value = json!({
            "part": self.part, "quick": quick, "device": device, "version": version,
            "machine": machine, "date": self.date, "seconds": self.seconds, "others": self.others,
            "files": self.files, "claims": rows,
        });
        let text = serde_json::to_string_pretty(&value).map_err(Failure::input)?;
        files::write_text(&place(results, &self.part), &text)
    }

    /// Reads the record of a part; none if there is none, or if it is no record of this part.
    pub(super) fn read(results: &Path, part: &str) -> Option<Record> {
        let text = std::fs::read_to_string(place(results, part)).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        Record::from_value(&value).filter(|record| record.part == part)
    }

    fn from_value(value: &Value) -> Option<Record> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let files = value["files"].as_array()?.iter().map(|file| file.as_str().map(str::to_owned));
        Some(Record {
            part: text("part")?,
            setting: Setting {
                quick: value["quick"].as_bool()?,
                device: text("device")?,
                version: text("version")?,
                machine: text("machine")?,
            },
            date: text("date")?,
            seconds: value["seconds"].as_f64()?,
            others: value["others"].as_f64(),
            files: files.collect::<Option<_>>()?,
            rows: value["claims"].as_array()?.iter().map(row).collect::<Option<_>>()?,
        })
    }

    /// Returns true if all its files are there.
    pub(super) fn is_whole(&self, results: &Path) -> bool {
        self.files.iter().all(|file| results.join(file).is_file())
    }
}

fn row(value: &Value) -> Option<Row> {
    let cells = value["cells"].as_array()?.iter().map(|cell| cell.as_str().map(str::to_owned));
    let cells: Vec<String> = cells.collect::<Option<_>>()?;
    Some(Row { cells: cells.try_into().ok()?, timed: value["timed"].as_bool()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            part: "tracy/figure-8".into(),
            setting: Setting {
                quick: true,
                device: "cpu".into(),
                version: "jostle 1".into(),
                machine: "a machine".into(),
            },
            date: "2026-11-17".into(),
            seconds: 1.25,
            others: None,
            files: vec!["tracy-figure-8.csv".into()],
            rows: vec![Row {
                cells: ["a", "b", "c", "d", "e", "f"].map(String::from),
                timed: true,
            }],
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        make_folder(folder.path()).unwrap();
        record().write(folder.path()).unwrap();
        assert_eq!(Record::read(folder.path(), "tracy/figure-8"), Some(record()));
        assert!(!record().is_whole(folder.path()));
        std::fs::write(folder.path().join("tracy-figure-8.csv"), "").unwrap();
        assert!(record().is_whole(folder.path()));
        forget(folder.path(), "tracy/figure-8").unwrap();
        assert_eq!(Record::read(folder.path(), "tracy/figure-8"), None);
        forget(folder.path(), "tracy/figure-8").unwrap();
    }

    #[test]
    fn what_is_no_record_is_none() {
        let folder = tempfile::tempdir().unwrap();
        make_folder(folder.path()).unwrap();
        for text in ["", "{}", "[1]", "{\"part\": \"a/b\", \"claims\": [{\"cells\": []}]}"] {
            std::fs::write(folder.path().join("parts/a-b.json"), text).unwrap();
            assert_eq!(Record::read(folder.path(), "a/b"), None, "{text}");
        }
        record().write(folder.path()).unwrap();
        let from = folder.path().join("parts/tracy-figure-8.json");
        std::fs::copy(from, folder.path().join("parts/a-b.json")).unwrap();
        assert_eq!(Record::read(folder.path(), "a/b"), None, "a record of another part");
    }
}
