//! Ctrl-C: the first asks the command to stop after the step it is in and say what it finished;
//! the second ends it at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen. Where that is not possible, Ctrl-C ends the command as usual.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// True after the first Ctrl-C.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
