//! Lines and words of text formats.

use super::{Result, fault_at};

/// Longest line: a polygon of a hundred thousand corners fits, a binary file does not.
const LONGEST_LINE: usize = 1 << 20;

/// The lines of a text with their numbers from 1. Ends of lines are those of any system.
#[derive(Clone, Debug)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Lines<'a> {
        // Some programs put a byte order mark at the beginning of a file.
        Lines { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), number: 0 }
    }

    /// The next line without its end; none after the last.
    pub(super) fn next(&mut self) -> Result<Option<(u64, &'a str)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let window = &self.rest[..self.rest.len().min(LONGEST_LINE)];
        let end = window.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        if end.is_none() && self.rest.len() > LONGEST_LINE {
            return fault_at(self.number, "the line is longer than 1 MiB; is this a text file?");
        }
        let end = end.unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        let skip = if rest.starts_with(b"\r\n") { 2 } else { usize::from(!rest.is_empty()) };
        self.rest = &rest[skip..];
        match std::str::from_utf8(line) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(_) => fault_at(self.number, "not text in UTF-8"),
        }
    }

    /// What follows the last line that was returned.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// A word as it is shown in a message.
pub(super) fn shown(word: &str) -> String {
    let mut text: String = word.chars().take(24).collect();
    if text.len() < word.len() {
        text.push('…');
    }
    format!("{text:?}")
}

/// A coordinate, in double precision.
pub(super) fn coordinate(line: u64, word: &str) -> Result<f64> {
    match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => fault_at(line, format!("the coordinate {} is not finite", shown(word))),
        Err(_) => fault_at(line, format!("{} is not a number", shown(word))),
    }
}

/// A coordinate of a format that stores single precision: rounded as its binary twin is.
pub(super) fn single(line: u64, word: &str) -> Result<f64> {
    match word.parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(f64::from(number)),
        Ok(_) => fault_at(line, format!("the coordinate {} is not finite", shown(word))),
        Err(_) => fault_at(line, format!("{} is not a number", shown(word))),
    }
}
