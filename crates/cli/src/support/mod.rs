//! What the subcommands share.
//!
//! | for | modules |
//! |---|---|
//! | input | [`source`]: the command line, [`feed`]: frames, [`names`]: names and numbers |
//! | work | [`device`] says where, [`runner`] steps one broad phase, [`interrupt`] hears Ctrl-C |
//! | trust | [`load`] tells whether other programs disturbed a measurement |
//! | output | [`files`], [`plot`] and [`text`]; [`progress`] on the terminal; [`failure`] ends it |

pub mod device;
pub mod failure;
pub mod feed;
pub mod files;
pub mod interrupt;
pub mod load;
pub mod names;
pub mod plot;
pub mod progress;
pub mod report;
pub mod runner;
pub mod source;
pub mod text;
