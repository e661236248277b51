//! [`Report`]: a page of tables and pictures that opens without a server. Everything is inside it.

use std::fmt::Write;

/// A page as it is put together.
#[derive(Debug)]
pub struct Report {
    title: String,
    head: String,
    links: String,
    body: String,
}

impl Report {
    /// A page with a title and a line below it.
    pub fn new(title: &str, about: &str) -> Report {
        let head = format!("<h1>{}</h1>\n<p>{}</p>\n", escaped(title), escaped(about));
        Report { title: escaped(title), head, links: String::new(), body: String::new() }
    }

    /// Begins a section, to which the head of the page leads.
    pub fn section(&mut self, name: &str, about: &str) {
        let (name, about) = (escaped(name), escaped(about));
        // Writing to a String cannot fail.
        let _ = write!(self.links, "<a href=\"#{name}\">{name}</a> ");
        let _ = write!(self.body, "<h2 id=\"{name}\">{name}</h2>\n<p>{about}</p>\n");
    }

    /// Markup that is put together elsewhere.
    pub fn raw(&mut self, markup: &str) {
        self.body += markup;
    }

    /// A picture. An SVG of ours is markup already; its declaration is left out.
    pub fn picture(&mut self, svg: &str, caption: &str) {
        let svg = svg.find("<svg").map_or("", |start| &svg[start..]);
        let caption = escaped(caption);
        let _ =
            write!(self.body, "<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n");
    }

    /// A table; cells that are numbers are flush right.
    pub fn table(&mut self, header: &[&str], rows: &[Vec<String>]) {
        let cells: String =
            header.iter().map(|name| format!("<th>{}</th>", escaped(name))).collect();
        let _ = write!(self.body, "<div class=\"table\"><table>\n<tr>{cells}</tr>\n");
        for row in rows {
            let cells: String = row
                .iter()
                .map(|cell| format!("<td{}>{}</td>", class(cell), escaped(cell)))
                .collect();
            let _ = writeln!(self.body, "<tr>{cells}</tr>");
        }
        self.body += "</table></div>\n";
    }

    /// The whole page.
    pub fn finish(self) -> String {
        let Report { title, head, links, body } = self;
        let nav = if links.is_empty() { String::new() } else { format!("<nav>{links}</nav>\n") };
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n{head}{nav}{body}\
             </body>\n</html>\n",
            include_str!("report.css")
        )
    }
}

/// How a cell looks: a number, or the verdict on a claim.
fn class(cell: &str) -> &'static str {
    match cell {
        "holds" => " class=\"holds\"",
        "does not hold" => " class=\"fails\"",
        _ if cell.parse::<f64>().is_ok() => " class=\"number\"",
        _ => "",
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_whole_and_what_it_quotes_is_no_markup() {
        let mut report = Report::new("a < b", "\"all\" & more");
        report.section("one", "");
        report.table(
            &["n", "verdict"],
            &[vec!["1.5".into(), "holds".into()], vec!["<b>".into(), String::new()]],
        );
        report.picture("<?xml version=\"1.0\"?>\n<svg></svg>", "a picture");
        let page = report.finish();
        assert!(page.contains("<h1>a &lt; b</h1>") && page.contains("&quot;all&quot; &amp; more"));
        assert!(page.contains("<td class=\"number\">1.5</td><td class=\"holds\">holds</td>"));
        assert!(page.contains("<td>&lt;b&gt;</td>") && page.contains("<figure>\n<svg></svg>"));
        assert!(page.contains("<a href=\"#one\">one</a>") && !page.contains("<?xml"));
    }
}
