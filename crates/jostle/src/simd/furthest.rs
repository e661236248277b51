//! The furthest of many points in a direction, from one array per coordinate.
//!
//! Dot products are `x·dx + y·dy + z·dz`, rounded after each operation and without fused
//! multiplication, so that they equal the ones of scalar code to the last bit.

/// Arrays must hold a multiple of this many points.
pub(crate) const LANES: usize = 4;

/// The lowest index among the points of the largest dot product; zero if all are NaN.
#[inline]
pub(crate) fn furthest(x: &[f64], y: &[f64], z: &[f64], direction: [f64; 3]) -> u32 {
    portable(x, y, z, direction)
}

fn portable(x: &[f64], y: &[f64], z: &[f64], [dx, dy, dz]: [f64; 3]) -> u32 {
    let mut heights = [f64::NEG_INFINITY; LANES];
    let mut best = [0u32; LANES];
    let chunks = x.chunks_exact(LANES).zip(y.chunks_exact(LANES)).zip(z.chunks_exact(LANES));
    for (chunk, ((x, y), z)) in chunks.enumerate() {
        for lane in 0..LANES {
            let height = x[lane] * dx + y[lane] * dy + z[lane] * dz;
            let better = height > heights[lane];
            heights[lane] = if better { height } else { heights[lane] };
            best[lane] = if better { (chunk * LANES + lane) as u32 } else { best[lane] };
        }
    }
    reduce(heights, best)
}

/// The best lane; the lowest index where several are level.
fn reduce(heights: [f64; LANES], best: [u32; LANES]) -> u32 {
    let mut winner = 0;
    for lane in 1..LANES {
        let level = heights[lane] == heights[winner] && best[lane] < best[winner];
        if heights[lane] > heights[winner] || level {
            winner = lane;
        }
    }
    best[winner]
}
