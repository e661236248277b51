//! Section 6.2.1, figure 9: climbs that go in circles, and artificial neighbours against it.

use std::time::Instant;

use glam::DVec3;
use jostle::shape::{Hull, SupportSearch};
use jostle_scenes::{Rng, median};

use super::super::systems::narrow::neighbours::{Rule, Surface};
use super::super::{Bound, Claim, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// How climbs on a tessellated cube end.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    climbs: u64,
    /// By rule: stuck below the top when only moving up, going in circles, closed in.
    stuck: u64,
    endless: u64,
    closed_in: u64,
    /// Closed in where the neighbours of a vertex are listed in random order.
    closed_in_shuffled: u64,
    /// Below the top with artificial neighbours.
    mended: u64,
}

fn random_directions(count: usize) -> Vec<DVec3> {
    let mut rng = Rng::new(7);
    (0..count).map(|_| DVec3::from_array(rng.direction().map(f64::from))).collect()
}

/// From every vertex, along the axes and along random directions.
fn ends(cuts: usize, random: usize) -> Ends {
    let plain = Surface::tessellated_cube(cuts);
    let mut lifted = plain.clone();
    lifted.lift_flat();
    let mut shuffled = plain.clone();
    shuffled.shuffle(&mut Rng::new(9));
    let axes = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];
    let mut ends = Ends::default();
    for direction in axes.into_iter().chain(random_directions(random)) {
        for start in 0..plain.vertices.len() as u32 {
            let below = |surface: &Surface, rule| {
                let climb = surface.climb(direction, start, rule);
                let short = surface.shortfall(direction, climb.vertex) > 1e-12;
                (u64::from(short && !climb.endless), u64::from(climb.endless))
            };
            ends.climbs += 1;
            ends.stuck += below(&plain, Rule::Rise).0;
            ends.endless += below(&plain, Rule::Level).1;
            ends.closed_in += below(&plain, Rule::NoReturn).0;
            ends.closed_in_shuffled += below(&shuffled, Rule::NoReturn).0;
            ends.mended += below(&lifted, Rule::Rise).0;
        }
    }
    ends
}

/// One sphere: vertices looked at and nanoseconds of a climb, plain and with far neighbours, and of
/// the hierarchy.
struct Row {
    vertices: usize,
    looked: [f64; 2],
    times: [Vec<f64>; 3],
}

fn measure(lab: &Lab, subdivisions: u32) -> Result<Row, Failure> {
    let hull = Hull::icosphere(1.0, subdivisions).map_err(Failure::input)?;
    let nested =
        Hull::with_search(hull.vertices(), SupportSearch::Hierarchy).map_err(Failure::input)?;
    let plain = Surface::of_hull(&hull);
    let mut joined = plain.clone();
    joined.join_far();
    let directions = random_directions(lab.pick(500, 4000));
    let mut row =
        Row { vertices: plain.vertices.len(), looked: [0.0; 2], times: Default::default() };
    let each = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / directions.len() as f64;
    for _ in 0..lab.pick(3, 15) {
        lab.check_stop()?;
        for (k, surface) in [&plain, &joined].into_iter().enumerate() {
            // From where the last search ended: directions are random, so from anywhere.
            let (mut at, mut looked) = (0, 0);
            let start = Instant::now();
            for &direction in &directions {
                let climb = surface.climb(direction, at, Rule::Rise);
                (at, looked) = (climb.vertex, looked + climb.looked);
            }
            row.times[k].push(each(start));
            row.looked[k] = looked as f64 / directions.len() as f64;
        }
        let start = Instant::now();
        let mut at = 0;
        for &direction in &directions {
            nested.support_index_with(SupportSearch::Hierarchy, direction, &mut at);
        }
        row.times[2].push(each(start));
    }
    Ok(row)
}

/// Figure 9 and what is said about it.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let cubes: Vec<(usize, Ends)> = lab
        .pick(vec![2, 4], vec![2, 4, 8, 12])
        .into_iter()
        .map(|cuts| (cuts, ends(cuts, lab.pick(20, 60))))
        .collect();
    let rows = (1..=lab.pick(3, 5))
        .map(|subdivisions| measure(lab, subdivisions))
        .collect::<Result<Vec<Row>, Failure>>()?;
    write(lab, &cubes, &rows)?;
    let sum = |value: &dyn Fn(&Ends) -> u64| -> f64 {
        cubes.iter().map(|(_, ends)| value(ends) as f64).sum()
    };
    let climbs = sum(&|ends| ends.climbs);
    let last = &rows[rows.len() - 1];
    let at = format!("{climbs:.0} climbs on tessellated cubes");
    Ok(vec![
        Claim::new(
            "A climb that may move to a neighbour as high can go in circles",
            "between two vertices of a face (figure 9)",
        )
        .require("that do", Figure::counted(sum(&|ends| ends.endless)), Bound::at_least(1.0))
        .show(format!("{:.0} get stuck if they only move up", sum(&|ends| ends.stuck)))
        .at(at.clone())
        .remark("the library's hulls have no vertices within faces, and its climbs only move up"),
        Claim::new(
            "A climb that visits no vertex twice can close itself in",
            "in three dimensions (figure 9)",
        )
        .require(
            "that end below the top",
            Figure::counted(sum(&|ends| ends.closed_in + ends.closed_in_shuffled)),
            Bound::at_least(1.0),
        )
        .show(format!(
            "{:.0} with neighbours in the order of the grid, {:.0} in random order",
            sum(&|ends| ends.closed_in),
            sum(&|ends| ends.closed_in_shuffled)
        ))
        .show(format!("{:.0} go in circles without the rule", sum(&|ends| ends.endless)))
        .at(format!("twice {at}"))
        .remark(
            "on the face that lies lowest all neighbours are equally high, and the first in the \
             list is taken: in the order of the grid that leads straight to the rim, in random \
             order the walk winds and can run into itself",
        ),
        Claim::new(
            "An artificial neighbour out of the plane leads every climb to the top",
            "solves the problem (figure 9)",
        )
        .require(
            "that end below the top",
            Figure::counted(sum(&|ends| ends.mended)),
            Bound::at_most(0.0),
        )
        .at(at),
        Claim::new(
            "Artificial neighbours speed up the search",
            "Ericson's remark (section 6.2.1, figure 9)",
        )
        .require(
            format!("vertices looked at, plain by artificial, {} vertices", last.vertices),
            Figure::counted(last.looked[0] / last.looked[1]),
            Bound::at_least(1.0),
        )
        .require(
            "times as fast",
            Figure::ratio(&last.times[0], &last.times[1]),
            Bound::at_least(1.0),
        )
        .remark("a neighbour on the far side for every vertex; random directions"),
        Claim::new(
            "Climbing with artificial neighbours is slower than a hierarchy on fine hulls",
            "`might be slower for highly tessellated` hulls (section 6.2.1)",
        )
        .require(
            format!("times as long at {} vertices", last.vertices),
            Figure::ratio(&last.times[1], &last.times[2]),
            Bound::at_least(1.0),
        )
        .show(
            rows[..rows.len() - 1]
                .iter()
                .map(|row| {
                    let ratio = Figure::ratio(&row.times[1], &row.times[2]).value;
                    format!("{ratio:.2} at {}", row.vertices)
                })
                .collect::<Vec<_>>()
                .join(", "),
        )
        .over_sizes()
        .remark("random directions; between near ones a climb has hardly any way to go"),
    ])
}

fn write(lab: &mut Lab, cubes: &[(usize, Ends)], rows: &[Row]) -> Result<(), Failure> {
    let cells = cubes.iter().map(|(cuts, ends)| {
        let closed_in = [ends.closed_in, ends.closed_in_shuffled];
        let counts =
            [ends.climbs, ends.stuck, ends.endless, closed_in[0], closed_in[1], ends.mended];
        [vec![cuts.to_string()], counts.map(|count| count.to_string()).to_vec()].concat()
    });
    let header = [
        "cuts",
        "climbs",
        "stuck_rising",
        "circling",
        "closed_in",
        "closed_in_shuffled",
        "artificial_wrong",
    ];
    lab.csv("figure-9", &header, &cells.collect::<Vec<_>>())?;
    let middle = |times: &[f64]| median(times.iter().copied());
    let cells = rows.iter().map(|row| {
        let looked = row.looked.map(|looked| format!("{looked:.2}"));
        let times = [0, 1, 2].map(|k| format!("{:.1}", middle(&row.times[k])));
        [vec![row.vertices.to_string()], looked.to_vec(), times.to_vec()].concat()
    });
    let header = ["vertices", "looked", "looked_far", "climb_ns", "climb_far_ns", "hierarchy_ns"];
    lab.csv("neighbours", &header, &cells.collect::<Vec<_>>())?;
    let names = ["plain climb", "with far neighbours", "hierarchy"];
    let line = |k: usize| {
        let points = rows.iter().map(|row| (row.vertices as f64, middle(&row.times[k])));
        Series::new(names[k], points.collect())
    };
    lab.plot(
        "neighbours",
        &[Chart::Lines(Lines {
            title: "Support search in random directions".into(),
            note: "triangulated spheres; both axes logarithmic".into(),
            x: Axis::log("vertices"),
            y: Axis::log("nanoseconds for a search"),
            series: (0..3).map(line).collect(),
        })],
    )
}
