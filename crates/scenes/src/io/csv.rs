//! Boxes and pairs as comma-separated text. A file holds one frame; a first line without any
//! number is a header. Blank lines, spaces around numbers and quotes are passed over.
//!
//! Split by hand: a row of numbers has no cell that spans lines, and the crate csv, tried first,
//! states the wrong line after blank ones, where a message should lead to the right one.
//!
//! A number of up to nine digits is read as the nearest float32, because nine digits name every
//! float32: files of float32 numbers come back bit by bit. A longer one is taken for a float64
//! and rounded outward. Either way no overlap is lost, because rounding to the nearest keeps the
//! order of numbers, and rounding outward only makes boxes larger.

use super::output::Output;
use super::{FileError, FileFault};
use jostle::{Aabb, round_down, round_up};
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

const BOX_COLUMNS: [&str; 6] = ["min_x", "min_y", "min_z", "max_x", "max_y", "max_z"];
const PAIR_COLUMNS: [&str; 2] = ["a", "b"];

/// The boxes of a file, with the line of each for messages.
pub(super) struct CsvFrame {
    pub(super) boxes: Vec<Aabb>,
    pub(super) lines: Vec<u64>,
}

pub(super) fn read_boxes(path: &Path) -> Result<CsvFrame, FileError> {
    let mut frame = CsvFrame { boxes: Vec::new(), lines: Vec::new() };
    read_rows(path, |cells, line| {
        frame.boxes.push(box_of(&cells)?);
        frame.lines.push(line);
        Ok(())
    })?;
    Ok(frame)
}

pub(super) fn read_pairs(path: &Path) -> Result<Vec<(u32, u32)>, FileError> {
    let mut pairs = Vec::new();
    read_rows(path, |cells: [&str; 2], _| {
        let id = |column: usize| {
            let text = cells[column];
            text.parse::<u32>().map_err(|_| not_a_number(PAIR_COLUMNS[column], text))
        };
        pairs.push((id(0)?, id(1)?));
        Ok(())
    })?;
    Ok(pairs)
}

/// Gives each line of numbers, checked for its number of columns, to `take`.
fn read_rows<const N: usize>(
    path: &Path,
    mut take: impl FnMut([&str; N], u64) -> Result<(), FileFault>,
) -> Result<(), FileError> {
    let file = File::open(path).map_err(FileError::io(path))?;
    let mut lines = Lines { reader: BufReader::new(file), buffer: Vec::new(), number: 0 };
    let (mut row, mut first) = (0, true);
    loop {
        let text = lines.next_line();
        let (text, line) = match text {
            Ok(Some(text)) => text,
            Ok(None) => break,
            Err(fault) => return Err(FileError::new(path, fault).at_line(lines.number)),
        };
        let result = split::<N>(text);
        if std::mem::take(&mut first) && result.as_ref().is_ok_and(is_header) {
            continue;
        }
        let taken = result.and_then(|cells| take(cells, line));
        taken.map_err(|fault| FileError::new(path, fault).at_row(row).at_line(line))?;
        row += 1;
    }
    if first { Err(FileError::new(path, FileFault::Empty)) } else { Ok(()) }
}

/// The lines of a file that are not blank, with their numbers from 1.
struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn next_line(&mut self) -> Result<Option<(&str, u64)>, FileFault> {
        loop {
            self.buffer.clear();
            if self.reader.read_until(b'\n', &mut self.buffer).map_err(FileFault::Io)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| FileFault::NotText)?;
        Ok(Some((text, self.number)))
    }
}

/// The cells of a line, if it has the right number of them.
fn split<const N: usize>(text: &str) -> Result<[&str; N], FileFault> {
    let mut cells = [""; N];
    let mut found = 0;
    for cell in text.split(',') {
        if let Some(place) = cells.get_mut(found) {
            *place = unquoted(cell.trim());
        }
        found += 1;
    }
    if found == N { Ok(cells) } else { Err(FileFault::Columns { wanted: N, found }) }
}

fn unquoted(cell: &str) -> &str {
    let inside = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
    inside.map_or(cell, str::trim)
}

/// A line in which nothing is a number.
fn is_header<const N: usize>(cells: &[&str; N]) -> bool {
    cells.iter().all(|text| !text.is_empty() && text.parse::<f64>().is_err())
}

fn not_a_number(column: &'static str, text: &str) -> FileFault {
    // Enough of the text to find it; a cell may be as long as the file.
    let text = text.chars().take(40).collect();
    FileFault::NotANumber { column, text }
}

fn box_of(cells: &[&str; 6]) -> Result<Aabb, FileFault> {
    let mut bounds = [0.0f32; 6];
    for (column, bound) in bounds.iter_mut().enumerate() {
        let round = if column < 3 { round_down } else { round_up };
        *bound = decimal(cells[column], round)
            .ok_or_else(|| not_a_number(BOX_COLUMNS[column], cells[column]))?;
    }
    let [a, b, c, d, e, f] = bounds;
    Ok(Aabb::new([a, b, c], [d, e, f]))
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
pub(super) fn write_box_header(output: &mut Output) -> Result<(), FileError> {
    output.write(format!("{}\n", BOX_COLUMNS.join(",")).as_bytes())
}

/// Writes boxes with the fewest digits that read back as the same numbers.
pub(super) fn write_boxes(output: &mut Output, boxes: &[Aabb]) -> Result<(), FileError> {
    let mut line = String::new();
    for aabb in boxes {
        line.clear();
        for (column, &bound) in aabb.min.iter().chain(&aabb.max).enumerate() {
            line.push_str(if column == 0 { "" } else { "," });
            push_shortest(&mut line, bound);
        }
        line.push('\n');
        output.write(line.as_bytes())?;
    }
    Ok(())
}

/// Appends a number, with an exponent where it would be long without one.
fn push_shortest(line: &mut String, value: f32) {
    let size = value.abs();
    let plain = size == 0.0 || (1e-5..1e9).contains(&size) || !value.is_finite();
    let written = if plain { write!(line, "{value}") } else { write!(line, "{value:e}") };
    debug_assert!(written.is_ok(), "a String takes everything");
}

/// Writes pairs, with column names.
pub(super) fn write_pairs(
    output: &mut Output,
    pairs: impl Iterator<Item = (u32, u32)>,
) -> Result<(), FileError> {
    output.write(format!("{}\n", PAIR_COLUMNS.join(",")).as_bytes())?;
    for (a, b) in pairs {
        output.write(format!("{a},{b}\n").as_bytes())?;
    }
    Ok(())
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
