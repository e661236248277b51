//! One page with some frames inside, that needs no server.

use crate::error::ViewError;
use crate::frame;
use crate::page;
use crate::simulation::{Drawn, Simulation, hello};
use crate::{Setup, Show};

/// Bytes of the frames that a page may hold.
const MOST_BYTES: usize = 100 << 20;

/// A self-contained page that shows the first frames. Fewer are taken if they would grow beyond
/// a hundred megabytes.
pub fn export(show: Show, setup: &Setup, frames: usize) -> Result<String, ViewError> {
    let mut simulation = Simulation::new(show, setup)?;
    simulation.drawn = Drawn { pairs: true, sketch: true };
    let (mut list, mut bytes) = (Vec::new(), 0);
    loop {
        let frame = frame::encode(&simulation);
        bytes += frame.len();
        if bytes > MOST_BYTES && !list.is_empty() {
            break;
        }
        list.push(base64(&frame));
        if list.len() >= frames || !simulation.advance()? {
            break;
        }
    }
    Ok(page_with(&list))
}

/// The page with style, script and frames in it.
fn page_with(frames: &[String]) -> String {
    let data = serde_json::json!({"hello": hello()["hello"], "frames": frames}).to_string();
    // What could end the element early cannot.
    let safe = |text: String| text.replace("</", "<\\/");
    let style = format!("<style>{}</style>", page::text("app.css"));
    let script = format!(
        "<script type=\"application/json\" id=\"exported\">{}</script>\n<script>{}</script>\n\
         <!--\n{}\n-->",
        safe(data),
        safe(page::text("app.js")),
        page::text("LICENSES.txt").replace("--", "- -")
    );
    page::text("index.html")
        .replace("<link rel=\"stylesheet\" href=\"app.css\">", &style)
        .replace("<script src=\"app.js\"></script>", &script)
}

/// Base 64 as in RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
        let word = word << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place > three.len() { '=' } else { digit as char });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_that_of_the_standard() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, encoded) in cases {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }
}
