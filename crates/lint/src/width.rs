//! Lines that are wider than the formatter's width, which it leaves alone in comments, strings and
//! prose.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Most characters of a line.
pub(crate) const WIDTH: usize = 100;

/// A line that is too wide.
#[derive(Debug)]
pub(crate) struct WideLine {
    pub(crate) file: PathBuf,
    pub(crate) number: usize,
    pub(crate) width: usize,
}

/// Number of files read, and their wide lines. Rows of tables in prose and doc comments cannot be
/// wrapped, nor can a line that is one long word; they are passed over.
pub(crate) fn wide_lines(root: &Path) -> io::Result<(usize, Vec<WideLine>)> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    let mut wide = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file)?;
        for (index, line) in text.lines().enumerate() {
            let width = line.chars().count();
            if width > WIDTH && can_be_wrapped(line) {
                let file = file.strip_prefix(root).unwrap_or(file).to_owned();
                wide.push(WideLine { file, number: index + 1, width });
            }
        }
    }
    Ok((files.len(), wide))
}

fn can_be_wrapped(line: &str) -> bool {
    let text = line.trim_start().trim_start_matches(['/', '!', '#', '-']).trim_start();
    !text.starts_with('|') && text.contains(' ')
}

/// The sources and pages of the repository: no build output, no data, no lock files, and no reports
/// (`record`), which a command wrote.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kind = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.')
                && !["target", "node_modules", "record"].contains(&name.as_str())
            {
                collect(&path, files)?;
            }
        } else if ["rs", "md", "wgsl", "sh", "py", "ts"].contains(&kind.as_str()) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_prose_is_found_and_tables_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("# Title\n{0}\n| {0} |\n{1}\n", "word ".repeat(21), "x".repeat(120));
        fs::write(folder.path().join("page.md"), text).unwrap();
        fs::create_dir(folder.path().join("target")).unwrap();
        fs::write(folder.path().join("target/made.rs"), "made ".repeat(30)).unwrap();
        let (files, wide) = wide_lines(folder.path()).unwrap();
        let lines: Vec<_> = wide.iter().map(|line| (line.number, line.width)).collect();
        assert_eq!((files, lines), (1, vec![(2, 105)]));
    }
}
