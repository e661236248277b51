//! [`QueryCache`]: the tree that answers a detector's queries when its broad phase cannot.

use std::sync::{Arc, Mutex, PoisonError};

use crate::boxes::Boxes;
use crate::broad::bvh::QueryTree;
use crate::par::Workers;

/// After this many steps without a query the tree is given up.
const PATIENCE: u32 = 8;

/// A tree next to the broad phase, behind a lock, so that the first query after a change can
/// update it from a shared reference.
///
/// Whoever asks keeps an [`Arc`] of the tree and lets go of the lock. The answers borrow the
/// detector, so the boxes cannot change, and the tree is not updated, while one of them lives.
#[derive(Debug, Default)]
pub(crate) struct QueryCache {
    cached: Mutex<Option<Cached>>,
}

#[derive(Debug)]
struct Cached {
    tree: Arc<QueryTree>,
    /// The boxes may differ from what the tree knows.
    stale: bool,
    /// Steps since the last query.
    idle: u32,
}

impl QueryCache {
    /// The tree for the boxes with their pending changes.
    pub(crate) fn tree(&self, boxes: &Boxes, workers: &Workers) -> Arc<QueryTree> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out first: a panic in an update leaves no half-updated tree behind.
        let tree = match cached.take() {
            Some(known) if !known.stale && known.tree.is_at(boxes) => known.tree,
            Some(known) => updated(known.tree, boxes, workers),
            None => updated(Arc::new(QueryTree::new(workers)), boxes, workers),
        };
        *cached = Some(Cached { tree: Arc::clone(&tree), stale: false, idle: 0 });
        tree
    }

    /// Says that the boxes may have changed.
    pub(crate) fn invalidate(&mut self) {
        if let Some(cached) = self.get_mut() {
            cached.stale = true;
        }
    }

    /// Ends the step for the boxes, and for the tree, which follows while it is asked.
    pub(crate) fn commit(&mut self, boxes: &mut Boxes) {
        let Some(cached) = self.get_mut() else { return boxes.commit() };
        // Only a query that was leaked can still hold the tree; then it is left to it.
        let tree = Arc::get_mut(&mut cached.tree);
        let tree = tree.filter(|tree| cached.idle < PATIENCE && tree.is_at(boxes));
        let Some(tree) = tree else {
            *self = QueryCache::default();
            return boxes.commit();
        };
        if cached.stale {
            tree.update(boxes);
        }
        boxes.commit();
        tree.step(boxes);
        (cached.idle, cached.stale) = (cached.idle + 1, false);
    }

    fn get_mut(&mut self) -> Option<&mut Cached> {
        self.cached.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }
}

/// The tree with the boxes' changes; another one if a leaked query still holds it.
fn updated(mut tree: Arc<QueryTree>, boxes: &Boxes, workers: &Workers) -> Arc<QueryTree> {
    if Arc::get_mut(&mut tree).is_none() {
        tree = Arc::new(QueryTree::new(workers));
    }
    if let Some(tree) = Arc::get_mut(&mut tree) {
        tree.update(boxes);
    }
    tree
}
