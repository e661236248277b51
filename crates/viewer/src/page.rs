//! The page, its style and its script, from inside the binary.

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "web/dist/"]
struct Dist;

/// A file of the page: its content and its type.
pub(crate) fn file(name: &str) -> Option<(Vec<u8>, &'static str)> {
    let kind = match name {
        "index.html" => "text/html; charset=utf-8",
        "app.js" => "text/javascript; charset=utf-8",
        "app.css" => "text/css; charset=utf-8",
        "LICENSES.txt" => "text/plain; charset=utf-8",
        _ => return None,
    };
    Dist::get(name).map(|file| (file.data.into_owned(), kind))
}

/// A file of the page as text.
pub(crate) fn text(name: &str) -> String {
    let bytes = file(name).map(|(bytes, _)| bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
