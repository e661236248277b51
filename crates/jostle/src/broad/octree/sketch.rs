//! What the tree looks like: the cells that hold boxes, the roots on level 0.

use super::tree::LooseTree;
use crate::aabb::Aabb;
use crate::broad::sketch::Sketch;

pub(super) fn draw(tree: &LooseTree, sketch: &mut Sketch) {
    for (cube, depth, total) in tree.cells() {
        let edge = |k: usize, side: f64| match cube.axes[k] {
            true => (cube.centre[k] + side * cube.half) as f32,
            false => side as f32 * f32::INFINITY,
        };
        let corner = |side: f64| std::array::from_fn(|k| edge(k, side));
        sketch.add(Aabb::new(corner(-1.0), corner(1.0)), u32::from(depth), total);
    }
}
