//! The layout of `work`, the one small buffer that every kernel sees: what the host asks for, what
//! the kernels count, and their tables. The kernels get these names as constants in front of their
//! source, so that both sides agree by construction.

use std::fmt::Write as _;

/// The most workgroups of a dispatch.
pub(crate) const MOST_GROUPS: u32 = 256;

/// Threads in a workgroup, in every kernel.
pub(crate) const THREADS: u32 = 256;

/// The most runs (column and filter group): one number below 2^16 is left for giants.
pub(crate) const MOST_RUNS: u32 = 65_535;

/// The most candidates of one sweep.
pub(crate) const MOST_CANDIDATES: u32 = 0x7fff_ffff;

/// Levels of the grid, each half as fine as the one before.
pub(crate) const LEVELS: u32 = 11;

/// The longest bucket, and the longest list of pairs of one box, that one thread sorts.
pub(crate) const LONGEST_LOCAL: u32 = 32;

/// A word that no kernel reads: totals nobody needs go there.
pub(crate) const IGNORED: u32 = 55;

/// Words that the host writes before each submission.
pub(crate) const INPUTS: u32 = 32;

/// Words that the host reads after each submission, inputs included.
pub(crate) const HEADER: u32 = 128;

/// What a word that is not given is: no end of a range, no place for a sum.
pub(crate) const NONE: u32 = u32::MAX;

macro_rules! words {
    ($($name:ident = $value:expr;)*) => {
        $(
            #[allow(dead_code, reason = "some words only kernels look at")]
            pub(crate) const $name: u32 = $value;
        )*

        /// The same names for the kernels.
        const NAMES: &[(&str, u32)] = &[$((stringify!($name), $value),)*];
    };
}

words! {
    SLOTS = 0;
    GROUPS = 1;
    FILTERED = 2;
    OLD_PAIRS = 3;
    COLUMN_FIRST = 4;
    COLUMN_END = 5;
    ITEM_FIRST = 6;
    ITEM_END = 7;
    CANDIDATE_FIRST = 8;
    CANDIDATE_END = 9;
    CHANGED = 10;
    LOCAL = 11;
    RUNS_AT = 12;
    RUN_BOUND = 13;
    LEVEL_WANTED = 14;
    BY_ENTRY = 15;
    MAY_PAIR = 16;

    LIVE = INPUTS;
    LOW_INVERTED = 33;
    HIGH = 36;
    AXIS = 40;
    CELLS = 41;
    LEVEL = 43;
    COLUMNS_IN_ROW = 44;
    COLUMNS = 45;
    RUNS = 46;
    GIANTS = 47;
    REACH = 48;
    FINE = 49;
    ENTRIES = 50;
    CANDIDATES = 51;
    PAIRS = 52;
    BEGAN = 53;
    EVENTS = 54;
    SLICE_SHIFT = 56;
    BUCKETS = 57;
    LONGEST = 58;
    LONGEST_LIST = 59;
    SEEN = 60;
    LEVEL_ENTRIES = 64;
    LEVEL_GIANTS = LEVEL_ENTRIES + LEVELS;
    GUESS = LEVEL_GIANTS + LEVELS;

    BORDERS = HEADER;
    MOMENTS = BORDERS + 3072;
    PARTIALS = MOMENTS + MOST_GROUPS * 10;
    DIGITS = PARTIALS + MOST_GROUPS;
    HITS = DIGITS + 16 * MOST_GROUPS;
}

/// Where the table of runs begins. Before it, from `HITS` on, are two words for each thread.
pub(crate) fn runs_at(groups: u32) -> u32 {
    HITS + 2 * groups * THREADS
}

/// Length of the whole buffer in words.
pub(crate) fn length(groups: u32, most_runs: u32) -> u32 {
    runs_at(groups) + most_runs + 1
}

/// The constants in front of every kernel.
pub(crate) fn preamble() -> String {
    let mut text = String::new();
    for (name, value) in NAMES {
        writeln!(text, "const {name}: u32 = {value}u;").expect("strings take everything");
    }
    let others = [("MOST_CANDIDATES", MOST_CANDIDATES), ("LONGEST_LOCAL", LONGEST_LOCAL)];
    for (name, value) in others {
        writeln!(text, "const {name}: u32 = {value}u;").expect("strings take everything");
    }
    text
}
