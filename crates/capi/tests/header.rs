//! The header is what cbindgen makes of the sources.

use std::path::Path;

#[test]
fn the_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = cbindgen::generate(root).expect("cbindgen reads the sources");
    let mut text = Vec::new();
    made.write(&mut text);
    let text = String::from_utf8(text).expect("a header is text");
    for name in ["jostle_overlaps(", "jostle_detector_step(", "jostle_contacts(", "JOSTLE_OK = 0"] {
        assert!(text.contains(name), "{name} is missing");
    }
    let path = root.join("include/jostle.h");
    if std::env::var_os("JOSTLE_BLESS").is_some() {
        std::fs::write(&path, text).expect("crates/capi is writable");
        return;
    }
    let known = std::fs::read_to_string(&path).expect("include/jostle.h");
    assert!(
        known == text,
        "include/jostle.h is not what the sources say; run\n\
         JOSTLE_BLESS=1 cargo test -p jostle-capi --test header"
    );
}
