//! `jostle replay`: does the calls of a recording again, with one or many algorithms, and tells at
//! which step and in which pair they first differ from what was recorded.

mod command;
mod contest;
mod history;
mod script;
mod shrink;

pub(crate) use command::{ReplayArgs, run};
