//! A check that the report leaves out no figure, table, algorithm or listing of a document.
//!
//! The lists are of what each document numbers, read off the documents themselves; how
//! `PaperFigure::number` puts several into one line is taken apart here.

use super::DOCUMENTS;

/// Name of a document, kind, and the numbers it has of that kind.
const NUMBERED: &[(&str, &str, &[&str])] = &[
    (
        "campbell",
        "figure",
        &[
            "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "4.1", "4.2", "4.3", "4.4",
            "4.5", "4.6", "4.7", "4.8", "5.1", "5.2", "5.3", "5.4", "5.5",
        ],
    ),
    (
        "campbell",
        "listing",
        &["4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10", "4.11", "4.12"],
    ),
    ("capannini", "algorithm", &["1", "2", "3", "4"]),
    ("capannini", "figure", &["1", "2", "3", "4", "5", "6"]),
    ("tracy", "figure", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]),
    ("tracy", "table", &["1", "2"]),
    (
        "grids",
        "figure",
        &[
            "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.7", "4.8", "4.9", "4.10", "4.11", "4.12",
            "4.13",
        ],
    ),
    ("grids", "algorithm", &["6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"]),
    ("loi", "algorithm", &["1", "2", "3"]),
    ("loi", "figure", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13"]),
];

/// Kind and number of everything that a line like `Figures 4.5 to 4.7, table 2` names.
fn named(line: &str) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let (mut kind, mut through) = (String::new(), false);
    for word in line.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and") {
        if word == "to" {
            through = true;
        } else if !word.starts_with(|c: char| c.is_ascii_digit()) {
            kind = word.to_lowercase().trim_end_matches('s').to_owned();
        } else if std::mem::take(&mut through) {
            let first = list.last().map(|last| last.1.clone()).unwrap_or_default();
            let (chapter, from) = split(&first);
            let (_, to) = split(word);
            list.extend((from + 1..=to).map(|at| (kind.clone(), format!("{chapter}{at}"))));
        } else {
            list.push((kind.clone(), word.to_owned()));
        }
    }
    list
}

/// The chapter with its point, and the number in it.
fn split(number: &str) -> (&str, u32) {
    let at = number.find('.').map_or(0, |at| at + 1);
    (&number[..at], number[at..].parse().expect("a number"))
}

#[test]
fn lines_are_taken_apart() {
    let found = |line: &str| {
        let list = named(line).into_iter().map(|(kind, number)| format!("{kind} {number}"));
        list.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(found("Figure 8"), "figure 8");
    assert_eq!(found("Figures 2.6, 2.7 and 2.8"), "figure 2.6, figure 2.7, figure 2.8");
    assert_eq!(
        found("Figures 4.9 to 4.11, algorithms 3 and 4"),
        "figure 4.9, figure 4.10, figure 4.11, algorithm 3, algorithm 4"
    );
}

#[test]
fn nothing_that_a_document_numbers_is_left_out_or_made_up() {
    for document in DOCUMENTS {
        let mut shown: Vec<(String, String)> =
            document.figures.iter().flat_map(|figure| named(figure.number)).collect();
        let mut wanted: Vec<(String, String)> = Vec::new();
        for (_, kind, numbers) in NUMBERED.iter().filter(|entry| entry.0 == document.name) {
            wanted.extend(numbers.iter().map(|at| ((*kind).to_owned(), (*at).to_owned())));
        }
        shown.sort();
        wanted.sort();
        assert_eq!(shown, wanted, "{}", document.name);
    }
}
