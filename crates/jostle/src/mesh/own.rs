//! A mesh against itself: cloth and skin that fold.

use super::data::Mesh;
use super::pairs::{MeshPair, TooManyTrianglePairs};
use crate::shape::Pose;

impl Mesh {
    /// All pairs of triangles of this mesh that touch without being neighbours: they share no
    /// vertex. Each pair once, the lower number first, in ascending order.
    ///
    /// ```
    /// use jostle::mesh::Mesh;
    ///
    /// let corners = [
    ///     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], // flat
    ///     [1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0], // through it
    /// ];
    /// let mesh = Mesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2], [3, 4, 5]])?;
    /// assert_eq!(mesh.self_pairs(100).expect("few"), [(0, 1)]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn self_pairs(&self, limit: usize) -> Result<Vec<(u32, u32)>, TooManyTrianglePairs> {
        let triangles = self.triangles();
        let apart = |a: u32, b: u32| {
            let (one, other) = (&triangles[a as usize], &triangles[b as usize]);
            a < b && !one.iter().any(|vertex| other.contains(vertex))
        };
        MeshPair::new(self, &Pose::IDENTITY, self, &Pose::IDENTITY).touching(limit, apart)
    }
}
