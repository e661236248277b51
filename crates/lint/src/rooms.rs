//! [`Rooms`]: which parts of the library import which, read from the source.
//!
//! A room is a file or folder directly under `src/`; inside the folders of [`SPLIT`] every child is
//! a room of its own and `mod.rs` is the façade, which imports all of them. Data flows one way, so
//! the imports between rooms must not form a cycle: whoever reads a room can then read its
//! imports first and never comes back. Test code is left out, because a test may look at anything.
//!
//! This is a reader of `use` trees and of `crate::` and `super::` paths, not a Rust parser. It
//! sees no path that a macro of another crate writes and no glob's names; neither occurs here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders whose children are rooms of their own.
pub(crate) const SPLIT: &[&str] = &["broad", "narrow"];

/// The imports between the rooms of a crate.
#[derive(Debug, Default)]
pub(crate) struct Rooms {
    /// For each room those it imports, each with the first file that does.
    imports: BTreeMap<String, BTreeMap<String, PathBuf>>,
}

/// One import on the way round a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// The importing room.
    pub(crate) from: String,
    /// The imported room.
    pub(crate) to: String,
    /// A file that imports it.
    pub(crate) file: PathBuf,
}

impl Rooms {
    /// Reads every source file of the crate whose `src/` folder this is.
    pub(crate) fn read(src: &Path) -> io::Result<Rooms> {
        let mut files = Vec::new();
        collect(src, src, &mut files)?;
        let mut texts = BTreeMap::new();
        let mut tests = BTreeSet::new();
        for file in files {
            let text = without_comments(&fs::read_to_string(src.join(&file))?);
            let (text, declared) = without_tests(&text);
            let module = module_of(&file);
            let declared = declared.into_iter().map(|name| [&module[..], &[name]].concat());
            tests.extend(declared);
            texts.insert(file, text);
        }
        texts.retain(|file, _| !is_within(&module_of(file), &tests));
        let names: BTreeSet<String> = texts.keys().map(|file| room_of(file)).collect();
        let mut rooms = Rooms::default();
        for (file, text) in texts.iter().filter(|(file, _)| *file != Path::new("lib.rs")) {
            rooms.add(file, text, &names);
        }
        Ok(rooms)
    }

    fn add(&mut self, file: &Path, text: &str, names: &BTreeSet<String>) {
        let room = room_of(file);
        let imports = self.imports.entry(room.clone()).or_default();
        let mut import = |to: String| {
            if to != room {
                imports.entry(to).or_insert_with(|| file.to_owned());
            }
        };
        for (inline, path) in paths(text) {
            import(target(&absolute(file, inline, &path), names));
        }
        if is_facade(file) {
            for child in names.iter().filter(|name| name.starts_with(&format!("{room}::"))) {
                import(child.clone());
            }
        }
    }

    /// Names of all rooms, each with the rooms it imports.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
        self.imports.iter().map(|(room, to)| (room.as_str(), to.keys().map(String::as_str)))
    }

    /// A cycle of imports, if there is one: the last import leads back to the first room.
    pub(crate) fn cycle(&self) -> Option<Vec<Import>> {
        let mut done = BTreeSet::new();
        self.imports.keys().find_map(|room| self.search(room, &mut Vec::new(), &mut done))
    }

    fn search<'a>(
        &'a self,
        room: &'a str,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
    ) -> Option<Vec<Import>> {
        if let Some(start) = path.iter().position(|&before| before == room) {
            let around: Vec<&str> = path[start..].iter().copied().chain([room]).collect();
            return Some(around.windows(2).map(|two| self.import(two[0], two[1])).collect());
        }
        if !done.insert(room) {
            return None;
        }
        path.push(room);
        let imported = self.imports.get(room).into_iter().flat_map(BTreeMap::keys);
        let cycle = imported.into_iter().find_map(|next| self.search(next, path, done));
        path.pop();
        cycle
    }

    fn import(&self, from: &str, to: &str) -> Import {
        let file = self.imports[from][to].clone();
        Import { from: from.to_owned(), to: to.to_owned(), file }
    }
}

/// Every source file below a folder, relative to the root.
fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if name.ends_with(".rs") {
            files.push(path.strip_prefix(root).expect("it lies below the root").to_owned());
        }
    }
    Ok(())
}

/// The names of the module a file holds, from the crate's root.
fn module_of(file: &Path) -> Vec<String> {
    let parts = file.with_extension("");
    let mut names: Vec<String> =
        parts.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    names.pop_if(|last| last == "mod" || last == "lib");
    names
}

/// The room that a file belongs to.
fn room_of(file: &Path) -> String {
    room_name(&module_of(file))
}

fn room_name(module: &[String]) -> String {
    match module {
        [] => "lib".to_owned(),
        [top, child, ..] if SPLIT.contains(&top.as_str()) => format!("{top}::{child}"),
        [top, ..] => top.clone(),
    }
}

fn is_facade(file: &Path) -> bool {
    matches!(module_of(file).as_slice(), [top] if SPLIT.contains(&top.as_str()))
}

/// The room that a path from the crate's root leads to. A name that is no room's is an item of
/// the façade or of the crate's root.
fn target(path: &[String], names: &BTreeSet<String>) -> String {
    let room = room_name(path);
    if names.contains(&room) {
        return room;
    }
    match path.first() {
        Some(top) if names.contains(top) => top.clone(),
        _ => "lib".to_owned(),
    }
}

/// A path from the crate's root for one that begins with `crate` or `super` and stands that many
/// inline modules deep.
fn absolute(file: &Path, inline: usize, path: &[String]) -> Vec<String> {
    if path[0] == "crate" {
        return path[1..].to_vec();
    }
    let mut base = module_of(file);
    base.extend(std::iter::repeat_n("inline".to_owned(), inline));
    let up = path.iter().take_while(|part| *part == "super").count();
    base.truncate(base.len().saturating_sub(up));
    base.extend_from_slice(&path[up..]);
    base
}

/// Every path in the text that begins with `crate::` or `super::`, braces spelt out, with the
/// number of inline modules around it.
fn paths(text: &str) -> Vec<(usize, Vec<String>)> {
    let modules = inline_modules(text);
    let mut found = Vec::new();
    let starts = |at: usize| {
        let free = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        free && (text[at..].starts_with("crate::") || text[at..].starts_with("super::"))
    };
    for at in text.char_indices().map(|(at, _)| at).filter(|&at| starts(at)) {
        let inline = modules.iter().filter(|module| module.contains(&at)).count();
        let mut here = Vec::new();
        Reader { text, at }.tree(&mut Vec::new(), &mut here);
        found.extend(here.into_iter().map(|path| (inline, path)));
    }
    found
}

/// Where the text has modules with a body.
fn inline_modules(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices("mod ").map(|(at, _)| at);
    let body = |at: usize| text[at..].find(['{', ';']).map(|after| at + after);
    starts
        .filter(|&at| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        .filter(|&at| body(at).is_some_and(|open| text[open..].starts_with('{')))
        .map(|at| at..at + item_length(&text[at..]))
        .collect()
}

/// Reads a tree of paths as `use` writes them.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, word: &str) -> bool {
        self.skip_space();
        let there = self.text[self.at..].starts_with(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn name(&mut self) -> &str {
        self.skip_space();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Reads what stands here behind `prefix` and adds all its paths.
    fn tree(&mut self, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
        if self.eat("{") {
            while !self.eat("}") && self.at < self.text.len() {
                let before = self.at;
                self.tree(prefix, found);
                self.eat(",");
                if self.at == before {
                    return;
                }
            }
            return;
        }
        let name = self.name().to_owned();
        if name.is_empty() {
            // A glob, or the generic arguments of an inline path.
            self.eat("*");
            return found.push(prefix.clone());
        }
        if name != "self" {
            prefix.push(name.clone());
        }
        if self.eat("::") {
            self.tree(prefix, found);
        } else {
            found.push(prefix.clone());
            if self.eat("as ") {
                self.name();
            }
        }
        if name != "self" {
            prefix.pop();
        }
    }
}

/// The text without comments and without what stands in string literals.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == '"' {
            kept.push_str("\"\"");
            string_length(rest)
        } else if let Some(length) = char_length(rest) {
            length
        } else {
            kept.push(c);
            c.len_utf8()
        };
        rest = &rest[skipped..];
    }
    kept
}

/// Bytes of the string literal at the beginning of the text.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of a character literal that could be taken for a quote or a brace.
fn char_length(text: &str) -> Option<usize> {
    ["'\"'", "'{'", "'}'", "'\\''", "'\\\"'"]
        .iter()
        .find(|literal| text.starts_with(**literal))
        .map(|literal| literal.len())
}

/// Returns true if the module is one of these or lies inside one.
fn is_within(module: &[String], modules: &BTreeSet<Vec<String>>) -> bool {
    (1..=module.len()).any(|length| modules.contains(&module[..length]))
}

/// The text without the items that `#[cfg(test)]` marks, and the modules in other files among
/// them.
fn without_tests(text: &str) -> (String, Vec<String>) {
    let mut kept = String::with_capacity(text.len());
    let mut modules = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at + "#[cfg(test)]".len()..];
        let (item, after) = rest.split_at(item_length(rest));
        let declared = item.trim_end().strip_suffix(';').and_then(|item| item.rsplit_once("mod "));
        modules.extend(declared.map(|(_, name)| name.trim().to_owned()));
        rest = after;
    }
    (kept + rest, modules)
}

/// Bytes up to the end of the item at the beginning of the text: its semicolon or closing brace.
fn item_length(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files, reads the rooms and gives the cycle as text.
    fn cycle_of(files: &[(&str, &str)]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let cycle = Rooms::read(folder.path()).unwrap().cycle()?;
        Some(cycle.iter().map(|import| format!("{} -> {}; ", import.from, import.to)).collect())
    }

    #[test]
    fn a_straight_flow_has_no_cycle() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::B;"),
            (
                "a.rs",
                "pub struct A; // use crate::b::B;\n#[cfg(test)]\nmod tests { use crate::b; }",
            ),
            ("b.rs", "use crate::{a::{self, A}}; const TEXT: &str = \"crate::c::C\";"),
            ("c/mod.rs", "mod d; #[cfg(test)] pub(crate) mod checks; use crate::b::B;"),
            ("c/checks.rs", "use crate::e::E;"),
            ("e.rs", "use crate::c::C;"),
            ("c/d.rs", "use super::D; use super::super::a::A;"),
        ];
        assert_eq!(cycle_of(&files), None);
    }

    #[test]
    fn planted_cycles_are_found_however_they_are_written() {
        let a = ("a.rs", "use crate::b::B;");
        for text in [
            "use crate::a::A;",
            "use crate::{c::C, a::{A, Other}};",
            "use super::a::A as Other;",
            "fn f() -> crate::a::A { todo() }",
            "pub(crate) use super::{c, a::A};",
        ] {
            let files = [a, ("b.rs", text), ("c.rs", "")];
            assert_eq!(cycle_of(&files).as_deref(), Some("a -> b; b -> a; "), "{text}");
        }
        let around = [a, ("b.rs", "use crate::c::C;"), ("c.rs", "use crate::a::A;")];
        assert_eq!(cycle_of(&around).as_deref(), Some("a -> b; b -> c; c -> a; "));
    }

    #[test]
    fn a_child_must_not_import_its_facade() {
        let facade = ("broad/mod.rs", "pub mod one; pub mod two; pub use one::Contract;");
        let good = [facade, ("broad/one.rs", ""), ("broad/two.rs", "use super::one::Contract;")];
        assert_eq!(cycle_of(&good), None);
        for text in ["use super::Contract;", "use crate::broad::Contract;"] {
            let bad = [facade, ("broad/one.rs", ""), ("broad/two.rs", text)];
            let found = cycle_of(&bad);
            assert_eq!(found.as_deref(), Some("broad -> broad::two; broad::two -> broad; "));
        }
    }
}
