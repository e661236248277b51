//! `jostle-lint`: checks on the source that the compiler does not make.
//!
//! - The rooms of the library do not import each other in a circle ([`rooms`]).
//! - No line of source or prose is wider than the formatter's width ([`width`]).
//!
//! It says what is wrong and where, and exits with 1. `--list` prints every room with its imports.

#![forbid(unsafe_code)]

mod rooms;
mod width;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rooms::Rooms;

fn main() -> ExitCode {
    let mut list = false;
    let mut root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for word in std::env::args().skip(1) {
        match word.as_str() {
            "--list" => list = true,
            option if option.starts_with('-') => {
                eprintln!(
                    "jostle-lint: unknown option {option}; usage: jostle-lint [--list] [ROOT]"
                );
                return ExitCode::from(2);
            }
            folder => root = PathBuf::from(folder),
        }
    }
    match check(&root, list) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("jostle-lint: cannot read the sources in {}: {error}", root.display());
            ExitCode::from(2)
        }
    }
}

/// Makes all checks on the repository at `root` and returns true if they pass.
fn check(root: &Path, list: bool) -> io::Result<bool> {
    let rooms = Rooms::read(&root.join("crates/jostle/src"))?;
    if list {
        for (room, imports) in rooms.iter() {
            println!("{room}: {}", imports.collect::<Vec<_>>().join(" "));
        }
    }
    let cycle = rooms.cycle();
    match &cycle {
        None => println!("{} rooms, no cycle of imports", rooms.iter().count()),
        Some(cycle) => {
            eprintln!("rooms import each other in a circle:");
            for import in cycle {
                eprintln!("  {} imports {} in {}", import.from, import.to, import.file.display());
            }
        }
    }
    let (files, wide) = width::wide_lines(root)?;
    if wide.is_empty() {
        println!("{files} files, no line wider than {} characters", width::WIDTH);
    }
    for line in &wide {
        eprintln!("{}:{}: {} characters wide", line.file.display(), line.number, line.width);
    }
    Ok(cycle.is_none() && wide.is_empty())
}
