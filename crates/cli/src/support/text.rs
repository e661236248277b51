//! Numbers and tables for people.

use std::time::Duration;

/// A whole number with a thin gap between thousands: `1 234 567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number with about three digits that matter.
pub fn brief(number: f64) -> String {
    match number.abs() {
        size if !number.is_finite() || size == 0.0 => format!("{number}"),
        size if size >= 1e7 => format!("{number:.2e}"),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        size if size >= 0.001 => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// Bytes in the unit that suits.
pub fn bytes(count: usize) -> String {
    match count as f64 {
        size if size >= 1e9 => format!("{:.2} GB", size / 1e9),
        size if size >= 1e6 => format!("{:.1} MB", size / 1e6),
        size if size >= 1e3 => format!("{:.1} kB", size / 1e3),
        size => format!("{size} B"),
    }
}

/// Milliseconds of a duration.
pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Rounded to the microsecond, for files.
pub fn rounded_ms(time: f64) -> f64 {
    (time * 1e3).round() / 1e3
}

/// `1 box`, `2 boxes`.
pub fn count_of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// Lines of at most this many characters fit a terminal.
pub const WIDTH: usize = 100;

/// Text behind a label, broken between words so that no line is longer than [`WIDTH`]; the lines
/// after the first are indented by the label's width. Ends in a line break.
pub fn wrapped(label: &str, text: &str) -> String {
    let indent = label.chars().count();
    let (mut out, mut width) = (label.to_owned(), indent);
    for (index, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && width + 1 + length > WIDTH && width > indent {
            out += "\n";
            out.extend(std::iter::repeat_n(' ', indent));
            width = indent;
        } else if index > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += length;
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// A table of text: the first column and those named in `left` flush left, the others right.
pub fn table(header: &[&str], rows: &[Vec<String>], left: &[usize]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|name| name.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let mut text = String::new();
        for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            text += gap;
            text += &match left.contains(&column) {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            };
        }
        text.trim_end().to_owned() + "\n"
    };
    let header: Vec<String> = header.iter().map(|&name| name.to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(&header) + &line(&rule) + &rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(brief(0.0), "0");
        assert_eq!(brief(12.345), "12.3");
        assert_eq!(brief(1234.5), "1234");
        assert_eq!(brief(f64::INFINITY), "inf");
        assert_eq!(count_of(1, "box", "boxes"), "1 box");
        assert_eq!(bytes(1_500_000), "1.5 MB");
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "word ".repeat(50);
        let broken = wrapped("label  ", text.trim());
        assert_eq!(broken.split_whitespace().count(), 51);
        assert_eq!(broken.lines().count(), 3);
        for (index, line) in broken.lines().enumerate() {
            assert!(line.chars().count() <= WIDTH, "{line}");
            assert!(line.starts_with(if index == 0 { "label  word" } else { "       word" }));
        }
        let long = "x".repeat(150);
        assert_eq!(wrapped("a ", &long), format!("a {long}\n"));
        assert_eq!(wrapped("a", ""), "a\n");
    }

    #[test]
    fn a_table_lines_up() {
        let rows = vec![vec!["a".into(), "1".into()], vec!["long".into(), "12".into()]];
        assert_eq!(table(&["name", "n"], &rows, &[0]), "name   n\n────  ──\na      1\nlong  12\n");
    }
}
