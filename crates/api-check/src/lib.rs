//! The library's public API as text, from rustdoc's JSON.
//!
//! The list in `crates/jostle/public-api.txt` is what users can name. A change of it is a change
//! for them, so it is reviewed like code: the test in this crate fails if the list and the source
//! differ, and `JOSTLE_BLESS=1 cargo test -p jostle-api-check` writes the list again.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where the committed list is.
pub fn list_path() -> PathBuf {
    root().join("crates/jostle/public-api.txt")
}

/// Lists the public API of the library with all features, one item a line, sorted. Derived, blanket
/// and auto-trait implementations are left out.
///
/// The documentation is built in a folder of its own inside `target`, because a test runs while
/// cargo holds the lock of the usual one. `RUSTC_BOOTSTRAP` is for rustdoc's JSON, which is not
/// stable; nothing else uses it.
pub fn public_items() -> Result<Vec<String>, String> {
    let target = root().join("target/public-api");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root())
        .args(["rustdoc", "--quiet", "--locked", "-p", "jostle", "--lib", "--all-features"])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTDOCFLAGS")
        .output()
        .map_err(|error| format!("cargo rustdoc could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo rustdoc: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let api = public_api::Builder::from_rustdoc_json(target.join("doc/jostle.json"))
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .sorted(true)
        .build()
        .map_err(|error| error.to_string())?;
    Ok(api.items().map(|item| item.to_string()).collect())
}

/// The items that are not parts of another: modules, types, traits, free functions, constants and
/// re-exports. Methods, fields, variants and implementations are parts.
pub fn free_items(items: &[String]) -> Vec<&str> {
    let kinds = ["mod", "struct", "enum", "union", "trait", "type", "use", "macro", "static"];
    let modules: Vec<&str> =
        items.iter().filter_map(|item| item.strip_prefix("pub mod ")).collect();
    let is_free = |item: &&str| {
        let rest = without_attributes(item).strip_prefix("pub ").unwrap_or("");
        let path = |kind: &str| {
            let after = rest.split_once(kind)?.1;
            let end = after.find(|c: char| "(<: ".contains(c) && c != ':').unwrap_or(after.len());
            let path = after[..end].trim_end_matches(':');
            path.rsplit_once("::").map(|(parent, _)| parent)
        };
        let in_module = |kind| path(kind).is_some_and(|parent| modules.contains(&parent));
        // An associated type is a part as well.
        let alias = !rest.starts_with("type ") || in_module("type ");
        (kinds.iter().any(|kind| rest.starts_with(&format!("{kind} "))) && alias)
            || (rest.starts_with("const ") && !rest.contains("fn ") && in_module("const "))
            || (rest.contains("fn ") && in_module("fn "))
    };
    items.iter().map(String::as_str).filter(is_free).collect()
}

fn without_attributes(item: &str) -> &str {
    match item.strip_prefix("#[").and_then(|rest| rest.split_once("] ")) {
        Some((_, rest)) => without_attributes(rest),
        None => item,
    }
}
