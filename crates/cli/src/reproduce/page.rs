//! [`Page`]: headings, sentences, tables and pictures, written as HTML and as Markdown.
//!
//! Texts are one line each and may hold `` `code` `` and `[words](target)`; everything else is
//! shown as it is.

use std::fmt::Write;
use std::path::Path;

use crate::support::report::Report;

/// What a page is made of.
#[derive(Clone, Debug)]
enum Block {
    /// A heading of level 2 or 3.
    Heading(u8, String),
    Text(String),
    List(Vec<String>),
    Table(Vec<String>, Vec<Vec<String>>),
    /// The name of an SVG file in the folder of the page, and what it shows.
    Picture(String, String),
}

/// A page as it is put together.
#[derive(Debug, Default)]
pub(super) struct Page {
    title: String,
    about: String,
    blocks: Vec<Block>,
}

impl Page {
    pub(super) fn new(title: impl Into<String>, about: impl Into<String>) -> Page {
        Page { title: title.into(), about: about.into(), blocks: Vec::new() }
    }

    /// A heading to which the top of the page leads.
    pub(super) fn section(&mut self, name: impl Into<String>) {
        self.blocks.push(Block::Heading(2, name.into()));
    }

    pub(super) fn heading(&mut self, name: impl Into<String>) {
        self.blocks.push(Block::Heading(3, name.into()));
    }

    pub(super) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// A list; nothing if it is empty.
    pub(super) fn list(&mut self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.blocks.push(Block::List(lines));
        }
    }

    /// A table; nothing if it has no rows.
    pub(super) fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>) {
        if !rows.is_empty() {
            let header = header.iter().map(|name| (*name).to_owned()).collect();
            self.blocks.push(Block::Table(header, rows));
        }
    }

    pub(super) fn picture(&mut self, file: impl Into<String>, caption: impl Into<String>) {
        self.blocks.push(Block::Picture(file.into(), caption.into()));
    }

    /// The page as Markdown; pictures are linked.
    pub(super) fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n{}\n", self.title, self.about);
        for block in &self.blocks {
            // Writing to a String cannot fail.
            let _ = match block {
                Block::Heading(2, name) => write!(out, "\n## {name}\n"),
                Block::Heading(_, name) => write!(out, "\n### {name}\n"),
                Block::Text(text) => write!(out, "\n{text}\n"),
                Block::List(lines) => write!(out, "\n- {}\n", lines.join("\n- ")),
                Block::Table(header, rows) => write!(out, "\n{}", markdown_table(header, rows)),
                Block::Picture(file, caption) => write!(out, "\n![{caption}]({file})\n"),
            };
        }
        out
    }

    /// The page as HTML with everything inside it. Pictures are read from `folder`; one that
    /// cannot be read is named.
    pub(super) fn html(&self, folder: &Path) -> String {
        let mut report = Report::new(&self.title, &self.about);
        for block in &self.blocks {
            match block {
                Block::Heading(2, name) => report.section(name, ""),
                Block::Heading(_, name) => report.raw(&format!("<h3>{}</h3>\n", inline(name))),
                Block::Text(text) => report.raw(&format!("<p>{}</p>\n", inline(text))),
                Block::List(lines) => {
                    let lines: String =
                        lines.iter().map(|line| format!("<li>{}</li>\n", inline(line))).collect();
                    report.raw(&format!("<ul>\n{lines}</ul>\n"));
                }
                Block::Table(header, rows) => report.raw(&html_table(header, rows)),
                Block::Picture(file, caption) => match std::fs::read_to_string(folder.join(file)) {
                    Ok(svg) => report.picture(&svg, &format!("{caption} ({file})")),
                    Err(error) => {
                        report.raw(&format!("<p>{}</p>\n", inline(&format!("{file}: {error}"))))
                    }
                },
            }
        }
        report.finish()
    }
}

fn markdown_table(header: &[String], rows: &[Vec<String>]) -> String {
    let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
    let line = |row: &Vec<String>| row.iter().map(cell).collect::<Vec<_>>().join(" | ");
    let rows: String = rows.iter().map(|row| format!("| {} |\n", line(row))).collect();
    format!("| {} |\n|{}\n{rows}", header.join(" | "), "---|".repeat(header.len()))
}

fn html_table(header: &[String], rows: &[Vec<String>]) -> String {
    let header: String = header.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
    let row = |row: &Vec<String>| {
        let cell = |text: &String| format!("<td{}>{}</td>", class(text), inline(text));
        format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>())
    };
    let rows: String = rows.iter().map(row).collect();
    format!("<div class=\"table\"><table>\n<tr>{header}</tr>\n{rows}</table></div>\n")
}

/// How a cell looks: a number, or a verdict.
fn class(cell: &str) -> &'static str {
    let verdict = cell.strip_suffix(" (indicative)").unwrap_or(cell);
    match verdict {
        "holds" | "better than claimed" => " class=\"holds\"",
        "does not hold" => " class=\"fails\"",
        _ if cell.parse::<f64>().is_ok() => " class=\"number\"",
        _ => "",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Code and links of a text as HTML.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        match index % 2 {
            0 => linked(part, &mut out),
            _ => out += &format!("<code>{}</code>", escaped(part)),
        }
    }
    out
}

/// Appends a text without code; `[words](target)` becomes a link.
fn linked(text: &str, out: &mut String) {
    let Some((before, rest)) = text.split_once('[') else { return *out += &escaped(text) };
    let link = rest.split_once("](").and_then(|(words, rest)| {
        let (target, rest) = rest.split_once(')')?;
        (!words.contains(['[', ']']) && !target.contains(' ')).then_some((words, target, rest))
    });
    *out += &escaped(before);
    match link {
        Some((words, target, rest)) => {
            *out += &format!("<a href=\"{}\">{}</a>", escaped(target), escaped(words));
            linked(rest, out);
        }
        None => {
            out.push('[');
            linked(rest, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_say_the_same() {
        let mut page = Page::new("Title", "about <it>");
        page.section("one");
        page.heading("part");
        page.text("see `a < b` in [the file](x/y.rs), 3 [2.9 to 3.1]");
        page.list(vec!["first".into()]);
        page.table(&["a", "b"], vec![vec!["x|y".into(), "holds (indicative)".into()]]);
        page.table(&["never"], Vec::new());
        page.picture("none.svg", "a picture");
        let text = page.markdown();
        assert!(text.starts_with("# Title\n\nabout <it>\n\n## one\n\n### part\n"), "{text}");
        assert!(text.contains("\n| a | b |\n|---|---|\n| x\\|y | holds (indicative) |\n"));
        assert!(text.contains("![a picture](none.svg)") && !text.contains("never"));
        let html = page.html(Path::new("no such folder"));
        assert!(
            html.contains("<code>a &lt; b</code> in <a href=\"x/y.rs\">the file</a>"),
            "{html}"
        );
        assert!(html.contains("3 [2.9 to 3.1]") && html.contains("<li>first</li>"));
        assert!(html.contains("<td class=\"holds\">holds (indicative)</td>"));
        assert!(html.contains("none.svg: "), "a missing picture is told");
    }
}
