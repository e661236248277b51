//! Inputs that break careless algorithms: each a name and the frames of a small moving world.

use jostle::Aabb;

/// A named sequence of frames with the same boxes in each.
#[derive(Debug)]
pub struct Case {
    /// What is special about it.
    pub name: &'static str,
    /// The boxes of each frame.
    pub frames: Vec<Vec<Aabb>>,
}

fn cube(at: [f32; 3], size: f32) -> Aabb {
    Aabb::new(at, at.map(|bound| bound + size))
}

/// Scattered numbers from 0 to 1, the same every time.
fn scatter(index: usize, salt: u32) -> f32 {
    let mut bits = (index as u32).wrapping_mul(0x9E37_79B9) ^ salt.wrapping_mul(0x85EB_CA6B);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x2C1B_3C6D);
    bits ^= bits >> 13;
    (bits >> 8) as f32 / (1 << 24) as f32
}

fn scattered(index: usize, side: f32, frame: usize) -> [f32; 3] {
    let salt = (frame * 3) as u32;
    std::array::from_fn(|k| side * scatter(index, k as u32 + salt))
}

fn frames(count: usize, boxes: usize, make: impl Fn(usize, usize) -> Aabb) -> Vec<Vec<Aabb>> {
    (0..count).map(|frame| (0..boxes).map(|index| make(frame, index)).collect()).collect()
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![Case { name: "no boxes", frames: vec![vec![], vec![]] }];
    cases.extend(sameness());
    cases.extend(extremes());
    cases.extend(arrangements());
    cases
}

/// Everything equal, flat or in one place.
fn sameness() -> Vec<Case> {
    vec![
        Case { name: "one box", frames: frames(3, 1, |f, _| cube([f as f32; 3], 1.0)) },
        Case { name: "all identical", frames: frames(3, 150, |f, _| cube([f as f32; 3], 1.0)) },
        Case {
            name: "all at one point",
            frames: frames(3, 150, |f, _| Aabb::point([f as f32; 3])),
        },
        Case {
            name: "half identical, half elsewhere, then swapped",
            frames: frames(4, 150, |f, i| cube([((i + f) % 2) as f32 * 5.0; 3], 1.0)),
        },
        Case {
            name: "flat in z",
            frames: frames(3, 300, |f, i| {
                let [x, y, _] = scattered(i, 8.0, f);
                Aabb::new([x, y, 0.0], [x + 0.5, y + 0.5, 0.0])
            }),
        },
        Case {
            name: "flat in x and y",
            frames: frames(3, 300, |f, i| {
                let z = 90.0 * scatter(i, f as u32);
                Aabb::new([1.0, 2.0, z], [1.0, 2.0, z + 0.5])
            }),
        },
        Case {
            name: "negative zero and zero",
            frames: frames(2, 40, |f, i| {
                let zero = if (i + f) % 2 == 0 { 0.0 } else { -0.0 };
                Aabb::new([zero, zero, -1.0], [zero, 1.0, zero])
            }),
        },
        Case {
            name: "lattice of touching cubes",
            frames: frames(2, 216, |f, i| {
                let at = [i % 6, i / 6 % 6, i / 36].map(|k| k as f32 + f as f32);
                cube(at, 1.0)
            }),
        },
    ]
}

/// The edges of f32.
fn extremes() -> Vec<Case> {
    let spread = |scale: f32| {
        frames(3, 200, move |f, i| {
            let at = scattered(i, 6.0, f).map(|x| x * scale);
            cube(at, scale)
        })
    };
    vec![
        Case {
            name: "everything, half spaces and points at infinity",
            frames: frames(3, 60, |f, i| match (i + f) % 6 {
                0 => Aabb::EVERYTHING,
                1 => Aabb::new([f32::NEG_INFINITY; 3], [i as f32; 3]),
                2 => Aabb::new([i as f32; 3], [f32::INFINITY; 3]),
                3 => Aabb::point([f32::INFINITY; 3]),
                4 => Aabb::point([f32::NEG_INFINITY; 3]),
                _ => cube([i as f32; 3], 1.0),
            }),
        },
        Case {
            name: "largest finite values",
            frames: frames(3, 80, |f, i| match (i + f) % 4 {
                0 => Aabb::new([f32::MIN; 3], [f32::MAX; 3]),
                1 => Aabb::point([f32::MAX; 3]),
                2 => Aabb::point([f32::MIN, f32::MAX, 0.0]),
                _ => Aabb::new([f32::MIN, 0.0, 0.0], [0.0, f32::MAX, i as f32]),
            }),
        },
        Case { name: "coordinates around 1e30", frames: spread(1e30) },
        Case { name: "coordinates around 1e-30", frames: spread(1e-30) },
        Case { name: "denormals", frames: spread(1e-44) },
        Case {
            name: "far from the origin, a step of f32 apart",
            frames: frames(3, 200, |f, i| {
                let at = scattered(i, 20.0, f).map(|x| 16_777_216.0 + 2.0 * x.floor());
                Aabb::new(at, at.map(|x| x.next_up()))
            }),
        },
        Case {
            name: "a world that grows a thousandfold and shrinks again",
            frames: frames(6, 200, |f, i| {
                let scale = [1.0, 1e3, 1e6, 1e9, 1.0, 1e-6][f];
                cube(scattered(i, 6.0, 0).map(|x| x * scale), scale)
            }),
        },
    ]
}

/// Unlike sizes, crowds and jumps.
fn arrangements() -> Vec<Case> {
    vec![
        Case {
            name: "one giant over many",
            frames: frames(3, 250, |f, i| {
                if i == 7 { cube([-1e6; 3], 2e6) } else { cube(scattered(i, 20.0, f), 1.0) }
            }),
        },
        Case {
            name: "sizes over nine decades",
            frames: frames(3, 250, |f, i| {
                let size = 10f32.powi(i as i32 % 10 - 5);
                cube(scattered(i, 10.0, f), size)
            }),
        },
        Case {
            name: "nested boxes",
            frames: frames(3, 120, |f, i| {
                let half = 1.0 + ((i + f) % 120) as f32;
                Aabb::new([-half; 3], [half; 3])
            }),
        },
        Case {
            name: "a geometric series towards zero",
            frames: frames(3, 120, |f, i| {
                let at = 0.8f32.powi((i + f) as i32);
                cube([at; 3], at * 0.3)
            }),
        },
        Case {
            name: "all overlapping on two axes",
            frames: frames(3, 250, |f, i| {
                let z = 250.0 * scatter(i, f as u32);
                Aabb::new([0.0, 0.0, z], [10.0, 10.0, z + 0.7])
            }),
        },
        Case {
            name: "bars crossing along every axis",
            frames: frames(3, 90, |f, i| {
                let at = scattered(i, 10.0, f);
                let mut bar = cube(at, 0.3);
                bar.min[i % 3] = -100.0;
                bar.max[i % 3] = 100.0;
                bar
            }),
        },
        Case {
            name: "tight clusters far apart",
            frames: frames(3, 300, |f, i| {
                let cluster = [(i % 3) as f32 * 1e5, (i % 5) as f32 * 1e4, 0.0];
                let at = scattered(i, 3.0, f);
                cube(std::array::from_fn(|k| cluster[k] + at[k]), 0.5)
            }),
        },
        Case {
            name: "teleports back and forth",
            frames: frames(6, 200, |f, i| {
                let far = if (f + i) % 2 == 0 { 0.0 } else { 1000.0 };
                cube(scattered(i, 8.0, 0).map(|x| x + far), 1.0)
            }),
        },
        Case {
            name: "order reversed each frame",
            frames: frames(4, 200, |f, i| {
                let place = if f % 2 == 0 { i } else { 199 - i };
                cube([place as f32 * 0.6; 3], 1.0)
            }),
        },
        Case {
            name: "boxes that turn inside out in passing",
            frames: frames(4, 160, |f, i| {
                let low = if f % 2 == 0 { i as f32 } else { i as f32 + 40.0 };
                let size = if (i + f) % 3 == 0 { 60.0 } else { 0.25 };
                cube([low, scatter(i, 1) * 5.0, scatter(i, 2) * 5.0], size)
            }),
        },
    ]
}
