//! The report: each paper, what it built, each of its figures next to what was measured here, and
//! its claims with their verdicts.

use std::path::{Component, Path};

use super::documents::{DOCUMENTS, Document, Here, PaperFigure};
use super::page::Page;
use super::record::{Record, Row, Setting};
use super::session::duration;
use super::verdict::UNEXPLAINED;

/// The columns of a table of claims.
const HEADER: [&str; 7] =
    ["claim", "paper", "criterion", "measured", "verdict", "remark", "command"];

/// Other programs that keep more than this much of a core busy disturb times.
const DISTURBED: f64 = 0.1;

/// The verdicts in the order of the summary.
const VERDICTS: [&str; 5] =
    ["holds", "better than claimed", "does not hold", "undecided", "not testable here"];

/// The whole report on some records, and the parts that were asked for and are not finished.
pub(super) fn page(
    folder: &Path,
    setting: &Setting,
    records: &[Record],
    missing: &[String],
) -> Page {
    let mut page = Page::new("Claims and measurements", about(setting, records));
    if !missing.is_empty() {
        let list = missing.iter().map(|part| format!("`{part}`")).collect::<Vec<_>>().join(", ");
        page.text(format!("NOT FINISHED: these parts were asked for and have no results: {list}."));
    }
    page.text(
        "A claim is a statement of a paper in our words. It rests on figures measured here; each \
         has a bound that says what agrees with the paper and what refutes it, and the verdict \
         follows from both. Times are medians with the interval that holds 95 of 100 medians of \
         frames drawn again; a claim whose interval reaches over its bound is undecided. Counts \
         have no interval: they are the same everywhere.",
    );
    page.table(&["paper", "holds", "better", "does not hold", "undecided", "not testable here"], {
        DOCUMENTS.iter().map(|document| summary(document, records)).collect()
    });
    add_refuted(&mut page, records);
    let links = Links::from(folder);
    for document in DOCUMENTS {
        add(&mut page, document, records, &links);
    }
    page
}

/// What does not hold, with what was measured to say why.
fn add_refuted(page: &mut Page, records: &[Record]) {
    let rows = records.iter().flat_map(|record| record.rows.iter().map(move |row| (record, row)));
    let refuted: Vec<(&Record, &Row)> =
        rows.filter(|(_, row)| row.cells[4].starts_with("does not hold")).collect();
    if refuted.is_empty() {
        return;
    }
    page.section("What does not hold");
    let line = |(record, row): &(&Record, &Row)| {
        let [statement, paper, _, measured, _, why] = &row.cells;
        format!("{statement} ({}; paper: {paper}). Measured: {measured}. {why}.", record.part)
    };
    page.list(refuted.iter().map(line).collect());
    let bare = refuted.iter().filter(|(_, row)| row.cells[5].contains(UNEXPLAINED)).count();
    if bare > 0 {
        page.text(format!("{bare} of these {} have no measured reason.", refuted.len()));
    }
}

fn about(setting: &Setting, records: &[Record]) -> String {
    let Setting { quick, device, version, machine } = setting;
    let mut dates: Vec<&str> = records.iter().map(|record| record.date.as_str()).collect();
    dates.sort_unstable();
    dates.dedup();
    let seconds = duration(records.iter().map(|record| record.seconds).sum());
    let kind = if *quick { "A quick run: what it says is indicative." } else { "A full run." };
    let dates = dates.join(", ");
    format!("{kind} Made by {version} on {machine}; device {device}; {dates}; {seconds} of work.")
}

fn rows_of<'a>(document: &Document, records: &'a [Record]) -> Vec<(&'a Record, &'a Row)> {
    let own = |record: &&Record| is_of(document, record);
    let rows = |record: &'a Record| record.rows.iter().map(move |row| (record, row));
    records.iter().filter(own).flat_map(rows).collect()
}

fn summary(document: &Document, records: &[Record]) -> Vec<String> {
    let rows = rows_of(document, records);
    let count = |verdict: &&str| {
        let is = |row: &Row| row.cells[4].trim_end_matches(" (indicative)") == *verdict;
        rows.iter().filter(|(_, row)| is(row)).count().to_string()
    };
    let name = format!("[{0}](#{0})", document.name);
    [name].into_iter().chain(VERDICTS.iter().map(count)).collect()
}

/// Cells of a claim, with the command that measures it again; disturbed times are marked.
fn cells(record: &Record, row: &Row) -> Vec<String> {
    let mut cells = row.cells.to_vec();
    let others = record.others.filter(|others| row.timed && *others > DISTURBED);
    if let Some(others) = others {
        let mark = format!("times disturbed: other programs kept {others:.2} cores busy");
        let remark = &mut cells[5];
        *remark = if remark.is_empty() { mark } else { format!("{remark}; {mark}") };
    }
    let quick = if record.setting.quick { " --quick" } else { "" };
    cells.push(format!("`jostle reproduce {}{quick}`", record.part));
    cells
}

fn add(page: &mut Page, document: &Document, records: &[Record], links: &Links) {
    page.section(document.name);
    page.text(document.reference);
    page.text(document.about);
    page.heading("Its systems");
    let system = |system: &(&str, &str, &str)| {
        let (name, module, note) = system;
        vec![(*name).to_owned(), links.to(module), (*note).to_owned()]
    };
    page.table(&["system", "module", "note"], document.systems.iter().map(system).collect());
    page.heading("Left out");
    page.list(document.left_out.iter().map(|(what, why)| format!("{what}: {why}")).collect());
    page.heading("Its figures, tables and algorithms");
    for figure in document.figures {
        add_figure(page, figure, records, links);
    }
    add_further(page, document, records);
    page.heading("Its claims");
    let rows = rows_of(document, records);
    page.table(&HEADER, rows.into_iter().map(|(record, row)| cells(record, row)).collect());
}

fn add_figure(page: &mut Page, figure: &PaperFigure, records: &[Record], links: &Links) {
    let PaperFigure { number, showed, here } = figure;
    match here {
        Here::Plot(files) => {
            page.text(format!("{number}. {showed}"));
            for file in *files {
                let name = format!("{file}.svg");
                let done = records.iter().any(|record| record.files.contains(&name));
                match done {
                    true => {
                        page.picture(name, format!("{number}, measured here; data: {file}.csv"))
                    }
                    false => page.text(format!("`{name}`: not measured in this run.")),
                }
            }
        }
        Here::Claims(part) => {
            page.text(format!("{number}. {showed} Numbers: see the claims of `{part}`."));
        }
        Here::Module(path) => page.text(format!("{number}. {showed} Here: {}.", links.to(path))),
        Here::Words(words) => page.text(format!("{number}. {showed} {words}")),
    }
}

/// Pictures of what the document says in words and shows in no figure.
fn add_further(page: &mut Page, document: &Document, records: &[Record]) {
    let shown = |file: &str| {
        let stem = file.trim_end_matches(".svg");
        let shows = |figure: &PaperFigure| match figure.here {
            Here::Plot(files) => files.contains(&stem),
            _ => false,
        };
        document.figures.iter().any(shows)
    };
    for record in records.iter().filter(|record| is_of(document, record)) {
        for file in record.files.iter().filter(|file| file.ends_with(".svg") && !shown(file)) {
            let table = file.replace(".svg", ".csv");
            page.picture(file, format!("No figure of the paper: {}; data: {table}", record.part));
        }
    }
}

/// Returns true if a record is of an experiment of the document.
fn is_of(document: &Document, record: &Record) -> bool {
    let experiment = record.part.split('/').next().unwrap_or_default();
    document.experiments.contains(&experiment)
}

/// Links to source files, if the results are in the repository.
struct Links {
    /// The way up to the repository.
    up: Option<String>,
}

impl Links {
    fn from(folder: &Path) -> Links {
        let up = folder.canonicalize().ok().and_then(|folder| {
            let is_root = |place: &&Path| place.join("crates/jostle/src/lib.rs").is_file();
            let root = folder.ancestors().find(is_root)?;
            let below = folder.strip_prefix(root).ok()?;
            let depth = below.components().filter(|part| matches!(part, Component::Normal(_)));
            Some("../".repeat(depth.count()))
        });
        Links { up }
    }

    fn to(&self, path: &str) -> String {
        match &self.up {
            Some(up) => format!("[{path}]({up}{path})"),
            None => format!("`{path}`"),
        }
    }
}

/// What is printed when a part is finished.
pub(super) fn section(record: &Record) -> String {
    let mut page = Page::new(&record.part, format!("{} of work", duration(record.seconds)));
    page.table(&HEADER, record.rows.iter().map(|row| cells(record, row)).collect());
    let files: Vec<String> = record.files.iter().map(|file| format!("`{file}`")).collect();
    if !files.is_empty() {
        page.text(format!("Files: {}", files.join(", ")));
    }
    // One level lower than a page of its own.
    format!("#{}", page.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(others: Option<f64>, timed: bool) -> Record {
        let setting = Setting {
            quick: false,
            device: "cpu".into(),
            version: "jostle 1".into(),
            machine: "m".into(),
        };
        let cells = ["s", "p", "c", "m", "does not hold", ""].map(String::from);
        Record {
            part: "tracy/figure-8".into(),
            setting,
            date: "2026-11-17".into(),
            seconds: 1.0,
            others,
            files: vec!["tracy-figure-8.csv".into(), "tracy-figure-8.svg".into()],
            rows: vec![Row { cells, timed }],
        }
    }

    #[test]
    fn disturbed_times_are_marked_and_counts_are_not() {
        let remark = |others, timed| {
            let record = record(others, timed);
            cells(&record, &record.rows[0])[5].clone()
        };
        assert!(remark(Some(0.5), true).contains("0.50 cores busy"));
        assert_eq!(remark(Some(0.05), true), "");
        assert_eq!(remark(Some(0.5), false), "");
        assert_eq!(remark(None, true), "");
    }

    #[test]
    fn a_report_names_what_is_missing_and_how_to_measure_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let record = record(None, true);
        let missing = ["loi/cells".to_owned()];
        let text = page(folder.path(), &record.setting, std::slice::from_ref(&record), &missing)
            .markdown();
        assert!(text.contains("NOT FINISHED") && text.contains("`loi/cells`"));
        assert!(
            text.contains("| does not hold |  | `jostle reproduce tracy/figure-8` |"),
            "{text}"
        );
        assert!(text.contains("![Figure 8, measured here; data: tracy-figure-8.csv]"), "{text}");
        let all =
            page(folder.path(), &record.setting, std::slice::from_ref(&record), &[]).markdown();
        assert!(!all.contains("NOT FINISHED"));
        assert!(all.contains("| [tracy](#tracy) | 0 | 0 | 1 | 0 | 0 |"), "{all}");
    }

    #[test]
    fn what_does_not_hold_is_listed_with_its_reason_or_the_lack_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let text = |why: &str, verdict: &str| {
            let mut record = record(None, true);
            record.rows[0].cells[4] = verdict.into();
            record.rows[0].cells[5] = why.into();
            page(folder.path(), &record.setting, std::slice::from_ref(&record), &[]).markdown()
        };
        let explained = text("why: the cache", "does not hold");
        assert!(explained.contains("- s (tracy/figure-8; paper: p). Measured: m. why: the cache."));
        assert!(!explained.contains("no measured reason"));
        let bare = text(UNEXPLAINED, "does not hold (indicative)");
        assert!(bare.contains("1 of these 1 have no measured reason"), "{bare}");
        assert!(!text("", "holds").contains("## What does not hold"));
    }

    #[test]
    fn links_lead_to_the_repository_if_there_is_one() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("crates/jostle/src")).unwrap();
        std::fs::create_dir_all(root.path().join("record/here")).unwrap();
        let inside = root.path().join("record/here");
        assert_eq!(Links::from(&inside).to("a/b.rs"), "`a/b.rs`");
        std::fs::write(root.path().join("crates/jostle/src/lib.rs"), "").unwrap();
        assert_eq!(Links::from(&inside).to("a/b.rs"), "[a/b.rs](../../a/b.rs)");
    }
}
