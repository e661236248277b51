//! The committed list of the public API is true.

use std::collections::BTreeSet;

use jostle_api_check::{free_items, list_path, public_items};

/// So few that a newcomer can read them; methods, fields and variants not counted.
const MOST: usize = 260;

#[test]
fn the_public_api_is_the_committed_list() {
    let items = public_items().unwrap_or_else(|error| panic!("{error}"));
    assert!(items.len() > 300, "rustdoc's JSON lists only {} items", items.len());
    let free = free_items(&items);
    println!("{} items, {} of them not parts of others", items.len(), free.len());
    assert!(free.len() < MOST, "{} public items:\n{}", free.len(), free.join("\n"));

    let text = items.join("\n") + "\n";
    if std::env::var_os("JOSTLE_BLESS").is_some() {
        std::fs::write(list_path(), text).expect("crates/jostle is writable");
        return;
    }
    let known = std::fs::read_to_string(list_path()).expect("crates/jostle/public-api.txt");
    let (now, known): (BTreeSet<&str>, BTreeSet<&str>) =
        (text.lines().collect(), known.lines().collect());
    let list = |sign: char, items: Vec<&&str>| {
        items.iter().map(|item| format!("{sign} {item}\n")).collect::<String>()
    };
    let added = list('+', now.difference(&known).collect());
    let removed = list('-', known.difference(&now).collect());
    assert!(
        added.is_empty() && removed.is_empty(),
        "the public API changed; if that is wanted, run\n\
         JOSTLE_BLESS=1 cargo test -p jostle-api-check\n{removed}{added}"
    );
}

#[test]
fn parts_are_told_from_free_items() {
    let items = [
        "pub mod jostle",
        "pub mod jostle::shape",
        "pub struct jostle::Aabb",
        "pub jostle::Aabb::max: [f32; 3]",
        "pub const fn jostle::Aabb::new(min: [f32; 3], max: [f32; 3]) -> jostle::Aabb",
        "pub const jostle::Aabb::EVERYTHING: jostle::Aabb",
        "pub const jostle::shape::LIMIT: f64",
        "pub fn jostle::overlaps(boxes: &[jostle::Aabb]) -> Vec<jostle::Pair>",
        "pub fn jostle::Aabb::center(&self) -> [f32; 3]",
        "impl jostle::Aabb",
        "pub type jostle::Algorithm::Err = jostle::UnknownAlgorithm",
        "pub type jostle::Visit<'v, T> = &'v mut dyn FnMut(T)",
        "pub use jostle::glam",
        "#[non_exhaustive] #[repr(C)] pub enum jostle::shape::Shape",
    ];
    let items = items.map(String::from);
    let free = free_items(&items);
    let expected = [0, 1, 2, 6, 7, 11, 12, 13].map(|k: usize| items[k].as_str());
    assert_eq!(free, expected);
}
