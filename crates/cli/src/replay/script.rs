//! Acts as a step script, the text in which the project keeps histories that once went wrong: one
//! act a line, and after each step what must begin and end.

use std::fmt::Write as _;

use jostle::{Aabb, Algorithm, Filter, Pair, Workers};

use super::history::Act;
use super::shrink::Stage;
use crate::support::runner::Runner;
use crate::support::text::count_of;

/// The script; its expectations are those of brute force.
pub(super) fn text(acts: &[Act], failed: &str) -> String {
    let mut text = format!("# Found by `jostle replay --shrink`: wrong with {failed}.\n");
    let mut oracle = Runner::new(Algorithm::BruteForce, &Workers::one());
    let mut stage = Stage::default();
    // The numbers of removed boxes are needed until their pairs have ended.
    let mut names: Vec<(jostle::Slot, u32)> = Vec::new();
    for act in acts {
        if let Act::Remove(number) = act {
            let slots = stage.boxes.live_slots();
            names.extend(slots.filter_map(|slot| {
                stage.number(slot).filter(|other| other == number).map(|number| (slot, number))
            }));
        }
        text += &line(act);
        stage.act(act);
        if *act == Act::Step && oracle.guarded_step(&stage.boxes, false).is_ok() {
            let name = |slot: jostle::Slot| {
                let gone = names.iter().find(|(other, _)| *other == slot);
                stage.number(slot).or(gone.map(|(_, number)| *number)).unwrap_or(u32::MAX)
            };
            let events = oracle.events();
            for (word, pairs) in [("began", events.began), ("ended", events.ended)] {
                for pair in pairs {
                    // Writing to a String cannot fail.
                    let _ = writeln!(text, "{word} {}", couple(*pair, name));
                }
            }
            stage.boxes.commit();
            names.clear();
        }
    }
    text
}

/// `2 boxes, 3 steps`.
pub(super) fn size(acts: &[Act]) -> String {
    let count = |wanted: fn(&Act) -> bool| acts.iter().filter(|act| wanted(act)).count() as u64;
    let boxes = count_of(count(|act| matches!(act, Act::Insert(..))), "box", "boxes");
    let steps = count_of(count(|act| *act == Act::Step), "step", "steps");
    format!("{boxes}, {steps}")
}

fn couple(pair: Pair, name: impl Fn(jostle::Slot) -> u32) -> String {
    format!("b{} b{}", name(pair.a()), name(pair.b()))
}

fn line(act: &Act) -> String {
    match act {
        Act::Insert(number, aabb, filter) => {
            format!("insert b{number} {}{}\n", bounds(aabb), words(filter))
        }
        Act::Set(number, aabb) => format!("move b{number} {}\n", bounds(aabb)),
        Act::SetFilter(number, filter) => format!("filter b{number}{}\n", words(filter)),
        Act::Remove(number) => format!("remove b{number}\n"),
        Act::Exclude(one, other) => format!("exclude b{one} b{other}\n"),
        Act::Include(one, other) => format!("include b{one} b{other}\n"),
        Act::Step => "step\n".into(),
    }
}

/// Six numbers that read back as the same bits.
fn bounds(aabb: &Aabb) -> String {
    let numbers = aabb.min.iter().chain(&aabb.max).map(f32::to_string);
    numbers.collect::<Vec<String>>().join(" ")
}

fn words(filter: &Filter) -> String {
    let Filter { membership, mask, owner, still } = *filter;
    let mut text = String::new();
    let parts = [("member", membership, u32::MAX), ("mask", mask, u32::MAX), ("owner", owner, 0)];
    for (word, value, _) in parts.into_iter().filter(|(_, value, usual)| value != usual) {
        let _ = write!(text, " {word}={value}");
    }
    if still { text + " still" } else { text }
}
