//! The rivals, each used as its documentation advises for boxes that move every frame.

use jostle::{Aabb, Pair};
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// A library that finds overlapping pairs.
pub trait Rival {
    /// The library, and how it is used.
    fn name(&self) -> String;

    /// Takes the boxes of a frame in and writes every overlapping pair. This is what is timed.
    /// `moved` lists the boxes that differ from the frame before.
    fn frame(&mut self, boxes: &[Aabb], moved: &[u32], pairs: &mut Vec<(u32, u32)>);

    /// For a rival that reports changes, and boxes that are merely near: the pairs it now holds.
    /// Outside the timing; near ones are dropped before counting.
    fn held(&mut self) -> Option<Vec<(u32, u32)>> {
        None
    }
}

/// All rivals. Those that query box by box come last: they are slow on large sets.
pub fn all() -> Vec<Box<dyn Rival>> {
    vec![
        Box::new(Parry::new(ParryUse::Rebuild)),
        Box::new(Parry::new(ParryUse::Refit)),
        Box::new(Parry::new(ParryUse::Optimise)),
        Box::new(Parry::new(ParryUse::Every16)),
        Box::new(Rapier::default()),
        Box::new(Obvhs::default()),
        Box::new(BvhCrate),
        Box::new(Rstar),
    ]
}

/// How parry3d's tree is kept up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParryUse {
    /// Rebuilt each frame.
    Rebuild,
    /// Built once, then refitted.
    Refit,
    /// Refitted, with its incremental optimiser.
    Optimise,
    /// Rebuilt every 16 frames and refitted in between.
    Every16,
}

/// parry3d's `Bvh`.
pub struct Parry {
    way: ParryUse,
    tree: Bvh,
    workspace: BvhWorkspace,
    frames: usize,
}

impl Parry {
    /// No tree yet.
    pub fn new(way: ParryUse) -> Parry {
        Parry { way, tree: Bvh::new(), workspace: BvhWorkspace::default(), frames: 0 }
    }

    fn rebuild(&mut self, boxes: &[Aabb]) {
        let leaves = boxes.iter().map(parry_box).enumerate();
        self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
    }

    fn refit(&mut self, boxes: &[Aabb], moved: &[u32]) {
        for &index in moved {
            self.tree.insert_or_update_partially(parry_box(&boxes[index as usize]), index, 0.0);
        }
        if !moved.is_empty() {
            if self.way == ParryUse::Optimise {
                self.tree.optimize_incremental(&mut self.workspace);
            }
            self.tree.refit(&mut self.workspace);
        }
    }
}

fn parry_box(aabb: &Aabb) -> parry3d::bounding_volume::Aabb {
    parry3d::bounding_volume::Aabb::new(Vector::from(aabb.min), Vector::from(aabb.max))
}

impl Rival for Parry {
    fn name(&self) -> String {
        match self.way {
            ParryUse::Rebuild => "parry3d rebuild".into(),
            ParryUse::Refit => "parry3d refit".into(),
            ParryUse::Optimise => "parry3d refit+optimise".into(),
            ParryUse::Every16 => "parry3d rebuild/16".into(),
        }
    }

    fn frame(&mut self, boxes: &[Aabb], moved: &[u32], pairs: &mut Vec<(u32, u32)>) {
        let period = match self.way {
            ParryUse::Rebuild => 1,
            ParryUse::Every16 => 16,
            ParryUse::Refit | ParryUse::Optimise => usize::MAX,
        };
        if self.frames % period == 0 {
            self.rebuild(boxes);
        } else {
            self.refit(boxes, moved);
        }
        self.frames += 1;
        let report = &mut |a, b| pairs.push((a, b));
        self.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, report);
    }
}

/// rapier3d's broad phase. It keeps the pair set itself and reports changes, with a margin
/// around each box, so it does a part of what our tracker does.
#[derive(Default)]
pub struct Rapier {
    broad: rapier3d::geometry::BroadPhaseBvh,
    colliders: rapier3d::geometry::ColliderSet,
    bodies: rapier3d::dynamics::RigidBodySet,
    handles: Vec<rapier3d::geometry::ColliderHandle>,
    params: rapier3d::dynamics::IntegrationParameters,
    events: Vec<rapier3d::geometry::BroadPhasePairEvent>,
    known: std::collections::BTreeSet<(u32, u32)>,
}

impl Rapier {
    fn insert(&mut self, boxes: &[Aabb]) {
        use rapier3d::geometry::{ActiveCollisionTypes, ColliderBuilder};
        for _ in boxes {
            let collider =
                ColliderBuilder::ball(1.0).active_collision_types(ActiveCollisionTypes::all());
            self.handles.push(self.colliders.insert(collider));
        }
        for (handle, aabb) in self.handles.iter().zip(boxes) {
            self.broad.set_aabb(&self.params, *handle, parry_box(aabb));
        }
    }

    /// Applies the events to the set of pairs, margins included.
    fn settle(&mut self) {
        use rapier3d::geometry::BroadPhasePairEvent::{AddPair, DeletePair};
        for event in self.events.drain(..) {
            let (AddPair(pair) | DeletePair(pair)) = &event;
            let key = (pair.collider1.into_raw_parts().0, pair.collider2.into_raw_parts().0);
            let key = (key.0.min(key.1), key.0.max(key.1));
            match event {
                AddPair(_) => drop(self.known.insert(key)),
                DeletePair(_) => drop(self.known.remove(&key)),
            }
        }
    }
}

impl Rival for Rapier {
    fn name(&self) -> String {
        "rapier3d broad phase".into()
    }

    fn held(&mut self) -> Option<Vec<(u32, u32)>> {
        self.settle();
        Some(self.known.iter().copied().collect())
    }

    fn frame(&mut self, boxes: &[Aabb], moved: &[u32], _pairs: &mut Vec<(u32, u32)>) {
        if self.handles.is_empty() {
            self.insert(boxes);
        } else {
            for &index in moved {
                let aabb = parry_box(&boxes[index as usize]);
                self.broad.set_aabb(&self.params, self.handles[index as usize], aabb);
            }
        }
        let (colliders, bodies) = (&self.colliders, &self.bodies);
        self.broad.update(&self.params, colliders, bodies, &[], &[], &mut self.events);
    }
}

/// obvhs: PLOC build each frame, one box query per box.
#[derive(Default)]
pub struct Obvhs {
    builder: obvhs::ploc::PlocBuilder,
}

impl Rival for Obvhs {
    fn name(&self) -> String {
        "obvhs rebuild+query".into()
    }

    fn frame(&mut self, boxes: &[Aabb], _moved: &[u32], pairs: &mut Vec<(u32, u32)>) {
        use obvhs::ploc::{PlocSearchDistance, SortPrecision};
        let convert =
            |aabb: &Aabb| obvhs::aabb::Aabb { min: aabb.min.into(), max: aabb.max.into() };
        let theirs: Vec<obvhs::aabb::Aabb> = boxes.iter().map(convert).collect();
        let indices = (0..boxes.len() as u32).collect();
        let distance = PlocSearchDistance::VeryLow;
        let tree = self.builder.build(distance, &theirs, indices, SortPrecision::U64, 0);
        for (index, aabb) in theirs.iter().enumerate() {
            tree.aabb_traverse(*aabb, |tree, node| {
                let node = &tree.nodes[node as usize];
                for place in node.first_index..node.first_index + node.prim_count {
                    let other = tree.primitive_indices[place as usize];
                    // Inner loop of the leaf: more than one box may share it.
                    if (index as u32) < other && boxes[index].overlaps(&boxes[other as usize]) {
                        pairs.push((index as u32, other));
                    }
                }
                true
            });
        }
    }
}

/// The `bvh` crate: SAH build each frame, one box query per box.
pub struct BvhCrate;

#[derive(Clone)]
struct Shape {
    aabb: bvh::aabb::Aabb<f32, 3>,
    index: u32,
    node: usize,
}

impl bvh::aabb::Bounded<f32, 3> for Shape {
    fn aabb(&self) -> bvh::aabb::Aabb<f32, 3> {
        self.aabb
    }
}

impl bvh::bounding_hierarchy::BHShape<f32, 3> for Shape {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node
    }
}

impl Rival for BvhCrate {
    fn name(&self) -> String {
        "bvh rebuild+query".into()
    }

    fn frame(&mut self, boxes: &[Aabb], _moved: &[u32], pairs: &mut Vec<(u32, u32)>) {
        let shape = |(index, aabb): (usize, &Aabb)| Shape {
            aabb: bvh::aabb::Aabb::with_bounds(aabb.min.into(), aabb.max.into()),
            index: index as u32,
            node: 0,
        };
        let mut shapes: Vec<Shape> = boxes.iter().enumerate().map(shape).collect();
        let tree = bvh::bvh::Bvh::build(&mut shapes);
        for shape in &shapes {
            for other in tree.traverse_iterator(&shape.aabb, &shapes) {
                let touching =
                    || boxes[shape.index as usize].overlaps(&boxes[other.index as usize]);
                if shape.index < other.index && touching() {
                    pairs.push((shape.index, other.index));
                }
            }
        }
    }
}

/// rstar: bulk load each frame, its own tree-against-tree search.
pub struct Rstar;

type RstarBox = rstar::primitives::GeomWithData<rstar::primitives::Rectangle<[f32; 3]>, u32>;

impl Rival for Rstar {
    fn name(&self) -> String {
        "rstar bulk load".into()
    }

    fn frame(&mut self, boxes: &[Aabb], _moved: &[u32], pairs: &mut Vec<(u32, u32)>) {
        let entry = |(index, aabb): (usize, &Aabb)| {
            let corners = rstar::primitives::Rectangle::from_corners(aabb.min, aabb.max);
            RstarBox::new(corners, index as u32)
        };
        let tree = rstar::RTree::bulk_load(boxes.iter().enumerate().map(entry).collect());
        for (one, other) in tree.intersection_candidates_with_other_tree(&tree) {
            if one.data < other.data {
                pairs.push((one.data, other.data));
            }
        }
    }
}

/// Drops pairs that are merely near, puts the rest in order.
pub fn exact(boxes: &[Aabb], pairs: &[(u32, u32)]) -> Vec<Pair> {
    let touching = |&&(a, b): &&(u32, u32)| boxes[a as usize].overlaps(&boxes[b as usize]);
    let mut exact: Vec<Pair> = pairs.iter().filter(touching).map(|&pair| pair.into()).collect();
    exact.sort_unstable();
    exact
}
