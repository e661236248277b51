//! What the trees look like: the nodes above the boxes, the root on level 0.

use super::forest::Forest;
use super::order::NONE;
use super::tree::Tree;
use crate::broad::sketch::Sketch;
use crate::simd::node8::WIDTH;

pub(super) fn draw(forest: &Forest, sketch: &mut Sketch) {
    draw_tree(&forest.moving, sketch);
    forest.still.iter().for_each(|tree| draw_tree(tree, sketch));
}

fn draw_tree(tree: &Tree, sketch: &mut Sketch) {
    let used = tree.levels.iter().take_while(|level| !level.is_empty()).count();
    for (depth, height) in (1..used).rev().enumerate() {
        // Each lane holds the bounds of a node one level below.
        let below = WIDTH.pow(height as u32);
        for (index, node) in tree.levels[height].iter().enumerate() {
            for lane in 0..WIDTH {
                let first = (index * WIDTH + lane) * below;
                let ids = tree.ids.get(first..).unwrap_or(&[]);
                let held = ids.iter().take(below).filter(|&&id| id != NONE).count();
                if held > 0 {
                    sketch.add(node.get(lane), depth as u32, held as u32);
                }
            }
        }
    }
}
