//! Boxes and pairs as text. A file holds one frame, a row a line, its numbers separated by commas;
//! if a line has none, by semicolons; if it has neither, by spaces or tabs. A box has six numbers,
//! or four if all are flat: min x y, max x y, and z is 0. A first line without any number is a
//! header. Blank lines, lines that begin with `#`, spaces around numbers and quotes are skipped.
//!
//! Split by hand: a row of numbers has no cell that spans lines, and the crate csv, tried first,
//! states the wrong line after blank ones, while a message should lead to the right one.
//!
//! A number of up to nine digits is read as the nearest float32, because nine digits name every
//! float32: files of float32 numbers come back bit by bit. A longer one is taken for a float64
//! and rounded outward. Either way no overlap is lost, because rounding to the nearest keeps the
//! order of numbers, and rounding outward only makes boxes larger.

use super::{FileError, FileFault, Input, OutputFile};
use jostle::{Aabb, round_down, round_up};
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const BOX_COLUMNS: [&str; 6] = ["min_x", "min_y", "min_z", "max_x", "max_y", "max_z"];
const FLAT_COLUMNS: [&str; 4] = ["min_x", "min_y", "max_x", "max_y"];
const PAIR_COLUMNS: [&str; 2] = ["a", "b"];

/// Far more than a row of six numbers with all their digits needs.
const LONGEST_LINE: u64 = 1 << 16;

/// The boxes of a file, with the line of each for messages.
#[derive(Debug)]
pub(super) struct CsvFrame {
    pub(super) boxes: Vec<Aabb>,
    pub(super) rows: usize,
    pub(super) lines: Vec<u32>,
}

/// Reads the boxes of `input`, which messages call by the name `path`.
pub(super) fn read_boxes(path: &Path, input: Input) -> Result<CsvFrame, FileError> {
    let mut frame = CsvFrame { boxes: Vec::new(), rows: 0, lines: Vec::new() };
    let mut wanted = "6, or 4 in 2D";
    read_rows(path, input, |cells, line| {
        let found = cells.count;
        let fits = matches!((found, wanted), (6, "6") | (4, "4") | (4 | 6, "6, or 4 in 2D"));
        if !fits {
            return Err(FileFault::Columns { wanted, found });
        }
        wanted = if found == 6 { "6" } else { "4" };
        frame.boxes.push(box_of(cells.known())?);
        frame.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        Ok(())
    })?;
    frame.rows = frame.boxes.len();
    Ok(frame)
}

pub(super) fn read_pairs(path: &Path) -> Result<Vec<(u32, u32)>, FileError> {
    let file = File::open(path).map_err(FileError::io(path))?;
    let mut pairs = Vec::new();
    read_rows(path, Box::new(file), |cells, _| {
        if cells.count != 2 {
            return Err(FileFault::Columns { wanted: "2", found: cells.count });
        }
        let id = |column: usize| {
            let text = cells.known()[column];
            text.parse::<u32>().map_err(|_| not_a_number(PAIR_COLUMNS[column], text))
        };
        pairs.push((id(0)?, id(1)?));
        Ok(())
    })?;
    Ok(pairs)
}

/// Gives each line of numbers and its number, from 1, to `take`.
fn read_rows(
    path: &Path,
    input: Input,
    mut take: impl FnMut(Cells<'_>, u64) -> Result<(), FileFault>,
) -> Result<(), FileError> {
    let mut lines = Lines { reader: BufReader::new(input), buffer: Vec::new(), number: 0 };
    let (mut row, mut first) = (0, true);
    loop {
        let (text, line) = match lines.next_line() {
            Ok(Some(text)) => text,
            Ok(None) => break,
            Err(fault) => return Err(FileError::new(path, fault).at_line(lines.number)),
        };
        let cells = Cells::split(text);
        if std::mem::take(&mut first) && cells.are_words() {
            continue;
        }
        let taken = take(cells, line);
        taken.map_err(|fault| FileError::new(path, fault).at_row(row).at_line(line))?;
        row += 1;
    }
    if first { Err(FileError::new(path, FileFault::Empty)) } else { Ok(()) }
}

/// The lines of a file that are neither blank nor comments, with their numbers from 1.
struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn next_line(&mut self) -> Result<Option<(&str, u64)>, FileFault> {
        loop {
            self.buffer.clear();
            let mut line = (&mut self.reader).take(LONGEST_LINE + 1);
            let got = line.read_until(b'\n', &mut self.buffer).map_err(FileFault::Io)?;
            if got == 0 {
                return Ok(None);
            }
            self.number += 1;
            if got as u64 > LONGEST_LINE {
                return Err(FileFault::LongLine);
            }
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if !matches!(self.buffer.trim_ascii(), [] | [b'#', ..]) {
                break;
            }
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| FileFault::NotText)?;
        Ok(Some((text, self.number)))
    }
}

/// The cells of a line: how many there are, and the first ones, and nobody needs more.
struct Cells<'a> {
    count: usize,
    first: [&'a str; 6],
}

impl<'a> Cells<'a> {
    fn split(text: &'a str) -> Cells<'a> {
        let mut cells = Cells { count: 0, first: [""; 6] };
        let text = text.trim();
        match [',', ';'].into_iter().find(|&separator| text.contains(separator)) {
            Some(separator) => text.split(separator).for_each(|cell| cells.push(cell.trim())),
            None => text.split_whitespace().for_each(|cell| cells.push(cell)),
        }
        cells
    }

    fn push(&mut self, cell: &'a str) {
        if let Some(place) = self.first.get_mut(self.count) {
            *place = unquoted(cell);
        }
        self.count += 1;
    }

    fn known(&self) -> &[&'a str] {
        &self.first[..self.count.min(self.first.len())]
    }

    /// Returns true if nothing is a number, as in a header.
    fn are_words(&self) -> bool {
        self.known().iter().all(|text| !text.is_empty() && text.parse::<f64>().is_err())
    }
}

fn unquoted(cell: &str) -> &str {
    let inside = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    inside.map_or(cell, str::trim)
}

fn not_a_number(column: &'static str, text: &str) -> FileFault {
    // Enough of the text to find it; a cell may be as long as the file.
    let text = text.chars().take(40).collect();
    FileFault::NotANumber { column, text }
}

/// The box of a row of six cells, or of four if it is flat.
fn box_of(cells: &[&str]) -> Result<Aabb, FileFault> {
    let names = if cells.len() == 4 { &FLAT_COLUMNS[..] } else { &BOX_COLUMNS };
    let axes = cells.len() / 2;
    let mut corners = [[0.0f32; 3]; 2];
    for (column, (&text, &name)) in cells.iter().zip(names).enumerate() {
        let round = if column < axes { round_down } else { round_up };
        let bound = decimal(text, round).ok_or_else(|| not_a_number(name, text))?;
        corners[column / axes][column % axes] = bound;
    }
    Ok(Aabb::new(corners[0], corners[1]))
}

/// A number from text: nearest float32 if short, else rounded from float64.
fn decimal(text: &str, round: impl Fn(f64) -> f32) -> Option<f32> {
    if significant_digits(text) <= 9 { text.parse().ok() } else { text.parse().ok().map(round) }
}

/// Digits from the first to the last that is not zero, without the exponent.
fn significant_digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit);
    let digits = digits.skip_while(|&digit| digit == b'0').enumerate();
    digits.filter(|&(_, digit)| digit != b'0').last().map_or(0, |(at, _)| at + 1)
}

/// Writes the line of column names for boxes.
pub(super) fn write_box_header(output: &mut OutputFile) -> Result<(), FileError> {
    output.put(format!("{}\n", BOX_COLUMNS.join(",")).as_bytes())
}

/// Writes boxes with the fewest digits that read back as the same numbers.
pub(super) fn write_boxes(output: &mut OutputFile, boxes: &[Aabb]) -> Result<(), FileError> {
    let mut line = String::new();
    for aabb in boxes {
        line.clear();
        for (column, &bound) in aabb.min.iter().chain(&aabb.max).enumerate() {
            line.push_str(if column == 0 { "" } else { "," });
            push_shortest(&mut line, bound);
        }
        line.push('\n');
        output.put(line.as_bytes())?;
    }
    Ok(())
}

/// Appends a number, with an exponent if it would be long without one.
fn push_shortest(line: &mut String, value: f32) {
    let size = value.abs();
    let plain = size == 0.0 || (1e-5..1e9).contains(&size) || !value.is_finite();
    let written = if plain { write!(line, "{value}") } else { write!(line, "{value:e}") };
    debug_assert!(written.is_ok(), "a String takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_counted_without_zeros_at_the_ends() {
        for (text, want) in [
            ("0", 0),
            ("-0.0", 0),
            ("0.1", 1),
            ("1200", 2),
            ("-1.5e300", 2),
            ("0.10000000149011612", 17),
            ("100.0625", 7),
            ("inf", 0),
            ("nan", 0),
        ] {
            assert_eq!(significant_digits(text), want, "{text}");
        }
    }

    #[test]
    fn short_numbers_are_nearest_and_long_ones_round_outward() {
        assert_eq!(decimal("0.1", round_down), Some(0.1));
        assert_eq!(decimal("0.1", round_up), Some(0.1));
        let low = decimal("0.1000000000", round_down);
        assert_eq!(low, Some(0.1));
        let low = decimal("0.10000000001", round_down).unwrap();
        let high = decimal("0.10000000001", round_up).unwrap();
        assert!(f64::from(low) <= 0.10000000001 && f64::from(high) >= 0.10000000001);
        assert_eq!(low.next_up(), high);
        assert_eq!(decimal("1e999", round_up), Some(f32::INFINITY));
        assert_eq!(decimal("x", round_up), None);
        assert_eq!(decimal("", round_up), None);
    }

    #[test]
    fn every_float_survives_the_text() {
        let mut rng = crate::Rng::new(8);
        let special = [0.0, -0.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, f32::INFINITY, 1e-45];
        let random = (0..100_000).map(|_| f32::from_bits(rng.next_u64() as u32));
        for value in special.into_iter().chain(random).filter(|value| !value.is_nan()) {
            let mut text = String::new();
            push_shortest(&mut text, value);
            let back = decimal(&text, round_down).unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{text}");
        }
    }
}
