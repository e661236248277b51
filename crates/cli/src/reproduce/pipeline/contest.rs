//! The narrow phases that the thesis chooses from (sections 5.2 and 6.2), on the same pairs in slow
//! motion.
//!
//! Most of what the thesis says about them is quoted from their authors, who had other machines and
//! each other's programs; here all of them ask for the same support vertices, walk over the same
//! features and remember the last frame. Two courses: pairs that stay apart, which every system can
//! answer, and all pairs, half of which overlap. The first frame is not timed. Every answer is
//! compared with the library's.

use std::time::Instant;

use jostle::narrow::{self, PairCache, Placed, Query};
use jostle::shape::{Pose, Shape};
use jostle_scenes::{PairScene, Placing, ShapeKind, ShapePair, median};

use super::super::systems::narrow::{
    Answer, Body, Memory, Pair, Solver, System, Work, separating_vector_against,
};
use super::super::{Bound, Claim, Figure, Lab, power_law};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// The systems compared, in the order of the tables.
const SYSTEMS: [System; 5] = [ISA_GJK, GJK, CHUNG_WANG, LIN_CANNY, V_CLIP];
const ISA_GJK: System = System::IsaGjk(Solver::Seven);
const GJK: System = System::Gjk(Solver::Seven);
const CHUNG_WANG: System = System::SeparatingVector;
const LIN_CANNY: System = System::LinCanny;
const V_CLIP: System = System::VClip;

/// Way and turn in a frame.
const SPEED: f64 = 0.01;

/// Distances that rounding may call either way.
const CLOSE: f64 = 1e-8;

/// Pairs with their courses, and the library's signed distance in every frame.
struct Course {
    bodies: Vec<Body>,
    scene: PairScene,
    truth: Vec<Vec<f64>>,
}

impl Course {
    fn new(kind: &ShapeKind, placing: Placing, pairs: usize) -> Result<Course, Failure> {
        let scene = PairScene::new(kind, placing, pairs, 1);
        let bodies = scene.shapes.iter().map(|shape| match shape {
            Shape::Hull(hull) => Ok(Body::new(hull.clone())),
            other => Err(Failure::Check(format!("{other:?} is no hull"))),
        });
        let bodies = bodies.collect::<Result<_, _>>()?;
        let signed = |pair: &ShapePair, frame: &[Pose; 2]| {
            let shapes = scene.shapes_of(pair);
            let [a, b] = [0, 1].map(|side| Placed::new(shapes[side], frame[side]));
            narrow::contact(&a, &b).signed_distance()
        };
        let of_pair =
            |pair: &ShapePair| pair.frames.iter().map(|frame| signed(pair, frame)).collect();
        let truth = scene.pairs.iter().map(of_pair).collect();
        Ok(Course { bodies, scene, truth })
    }

    /// The pairs that are apart in every frame.
    fn apart(&self) -> Course {
        let stays: Vec<bool> =
            self.truth.iter().map(|list| list.iter().all(|&gap| gap > 1e-3)).collect();
        let mut course = Course {
            bodies: self.bodies.clone(),
            scene: self.scene.clone(),
            truth: self.truth.clone(),
        };
        let mut keep = stays.iter();
        course.scene.pairs.retain(|_| keep.next().is_some_and(|&stays| stays));
        let mut keep = stays.iter();
        course.truth.retain(|_| keep.next().is_some_and(|&stays| stays));
        course
    }

    fn pair(&self, number: usize, frame: usize) -> Pair<'_> {
        let pair = &self.scene.pairs[number];
        Pair::new(pair.shapes.map(|shape| &self.bodies[shape]), &pair.frames[frame])
    }

    fn frames(&self) -> usize {
        self.scene.pairs.first().map_or(0, |pair| pair.frames.len())
    }

    /// Questions that are timed.
    fn questions(&self) -> usize {
        self.scene.pairs.len() * self.frames().saturating_sub(1)
    }

    /// Nanoseconds for each question after the first frame.
    fn time(&self, system: System) -> f64 {
        let mut memories = vec![Memory::default(); self.scene.pairs.len()];
        let mut work = Work::default();
        let mut start = Instant::now();
        let mut apart = 0u64;
        for frame in 0..self.frames() {
            for (number, memory) in memories.iter_mut().enumerate() {
                let answer = system.ask(&self.pair(number, frame), memory, &mut work);
                apart += u64::from(matches!(answer, Answer::Apart(_)));
            }
            if frame == 0 {
                start = Instant::now();
            }
        }
        std::hint::black_box((apart, work));
        start.elapsed().as_secs_f64() * 1e9 / self.questions().max(1) as f64
    }

    /// The same of the library's yes or no.
    fn time_library(&self) -> f64 {
        let mut query = Query::default();
        let mut memories = vec![PairCache::new(); self.scene.pairs.len()];
        let mut start = Instant::now();
        for frame in 0..self.frames() {
            for (pair, memory) in self.scene.pairs.iter().zip(&mut memories) {
                let shapes = self.scene.shapes_of(pair);
                let [a, b] = [0, 1].map(|side| Placed::new(shapes[side], pair.frames[frame][side]));
                std::hint::black_box(query.intersects(&a, &b, memory));
            }
            if frame == 0 {
                start = Instant::now();
            }
        }
        start.elapsed().as_secs_f64() * 1e9 / self.questions().max(1) as f64
    }

    /// What a system counts after the first frame, compared with the library.
    fn count(&self, system: System) -> Result<Counts, Failure> {
        let mut counts = Counts::default();
        for (number, truth) in self.truth.iter().enumerate() {
            let mut memory = Memory::default();
            for (frame, &gap) in truth.iter().enumerate() {
                let mut work = Work::default();
                let answer = system.ask(&self.pair(number, frame), &mut memory, &mut work);
                let wrong = match answer {
                    Answer::Apart(None) => gap < -CLOSE,
                    Answer::Apart(Some(distance)) => (distance - gap).abs() > CLOSE,
                    Answer::Touching => gap > CLOSE,
                    Answer::Endless => false,
                };
                if wrong {
                    let name = system.name();
                    return Err(Failure::Check(format!("{name} says {answer:?}, it is {gap}")));
                }
                counts.missed += u64::from(gap < -CLOSE && answer != Answer::Touching);
                counts.endless += u64::from(answer == Answer::Endless);
                counts.touching += u64::from(gap < -CLOSE);
                if frame > 0 || truth.len() == 1 {
                    counts.add(&work);
                }
            }
        }
        Ok(counts)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    questions: u64,
    searches: u64,
    steps: u64,
    /// The most steps of one question.
    most: u64,
    endless: u64,
    /// Overlaps, and those of them that were not found.
    touching: u64,
    missed: u64,
}

impl Counts {
    fn add(&mut self, work: &Work) {
        self.questions += 1;
        self.searches += work.searches;
        self.steps += work.steps;
        self.most = self.most.max(work.steps.max(work.searches));
    }

    fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.questions.max(1) as f64
    }
}

/// One size of spheres.
struct Row {
    triangles: usize,
    /// Nanoseconds of each round, by system, for pairs that stay apart and for all.
    apart: Vec<Vec<f64>>,
    all: Vec<Vec<f64>>,
    library: [Vec<f64>; 2],
    apart_counts: Vec<Counts>,
    counts: Vec<Counts>,
}

impl Row {
    /// How many times as long one system takes as another.
    fn ratio(&self, one: System, other: System, apart: bool) -> Figure {
        let times = if apart { &self.apart } else { &self.all };
        Figure::ratio(&times[place(one)], &times[place(other)])
    }
}

fn place(system: System) -> usize {
    SYSTEMS.iter().position(|&one| one == system).unwrap_or(0)
}

fn measure(lab: &Lab, kind: &ShapeKind) -> Result<Row, Failure> {
    let placing = Placing::Moving { frames: lab.pick(16, 40), speed: SPEED };
    let all = Course::new(kind, placing, lab.pick(40, 160))?;
    let apart = all.apart();
    let count = |course: &Course| -> Result<Vec<Counts>, Failure> {
        SYSTEMS.iter().map(|&system| course.count(system)).collect()
    };
    let mut row = Row {
        triangles: kind.triangles().unwrap_or(0),
        apart: vec![Vec::new(); SYSTEMS.len()],
        all: vec![Vec::new(); SYSTEMS.len()],
        library: [Vec::new(), Vec::new()],
        apart_counts: count(&apart)?,
        counts: count(&all)?,
    };
    for _ in 0..lab.pick(5, 21) {
        lab.check_stop()?;
        for (k, &system) in SYSTEMS.iter().enumerate() {
            row.apart[k].push(apart.time(system));
            row.all[k].push(all.time(system));
        }
        row.library[0].push(apart.time_library());
        row.library[1].push(all.time_library());
    }
    Ok(row)
}

/// All claims of the survey that compare systems.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let spheres = ShapeKind::ALL.iter().filter(|kind| kind.triangles().is_some());
    let rows = spheres
        .take(lab.pick(3, 4))
        .map(|kind| measure(lab, kind))
        .collect::<Result<Vec<Row>, Failure>>()?;
    write(lab, &rows)?;
    let mut claims = of_times(&rows);
    claims.extend(of_counts(lab, &rows)?);
    claims.extend(of_growth(&rows));
    Ok(claims)
}

/// Who is faster than whom.
fn of_times(rows: &[Row]) -> Vec<Claim> {
    let at_all = |claim: Claim, one: System, other: System, apart: bool, bound: Bound| {
        rows.iter().fold(claim, |claim, row| {
            let what = format!("times as fast at {} triangles", row.triangles);
            claim.require(what, row.ratio(one, other, apart), bound)
        })
    };
    let small = &rows[0];
    let counts = |system| &small.apart_counts[place(system)];
    let features = counts(LIN_CANNY);
    let axes = counts(ISA_GJK);
    let work = format!(
        "Lin-Canny looks at {:.2} pairs of features, ISA-GJK asks for {:.2} support points and \
         reduces {:.2} simplices",
        features.mean(features.steps),
        axes.mean(axes.searches),
        axes.mean(axes.steps)
    );
    let mut claims = vec![
        Claim::new(
            "ISA-GJK is roughly five times as fast as Lin-Canny",
            "five times, van den Bergen's measurement (sections 5.2.3 and 6.2)",
        )
        .require(
            format!("times as fast at {} triangles", small.triangles),
            small.ratio(LIN_CANNY, ISA_GJK, true),
            Bound::at_least(4.0).better_from(6.0),
        )
        .show(work)
        .show(shown(rows, LIN_CANNY, ISA_GJK, true))
        .at("pairs that stay apart: Lin-Canny has no answer for others")
        .remark("van den Bergen had I-COLLIDE, the authors' program; only its idea is here")
        .because(
            "with the last features at hand one look at them ends the question, as one search does",
            "pairs of features that Lin-Canny looks at by ISA-GJK's searches",
            Figure::counted(features.mean(features.steps) / axes.mean(axes.searches)),
            Bound::at_most(1.5),
        ),
        at_all(
            Claim::new("V-Clip is faster than Lin-Canny", "Mirtich's measurement (section 5.2.1)"),
            LIN_CANNY,
            V_CLIP,
            true,
            Bound::at_least(1.0),
        )
        .show(format!(
            "{:.2} pairs of features looked at by V-Clip, {:.2} by Lin-Canny",
            counts(V_CLIP).mean(counts(V_CLIP).steps),
            features.mean(features.steps)
        ))
        .at("pairs that stay apart")
        .remark("Mirtich had I-COLLIDE, the authors' program")
        .because(
            "both look equally often, and a look of V-Clip clips an edge against all walls where \
             Lin-Canny tests one point",
            "pairs of features that V-Clip looks at by those of Lin-Canny",
            Figure::counted(
                counts(V_CLIP).mean(counts(V_CLIP).steps) / features.mean(features.steps),
            ),
            Bound::near(1.0, 0.1),
        ),
        at_all(
            Claim::new(
                "V-Clip is faster than Cameron's enhanced GJK",
                "Mirtich's measurement (section 5.2.1)",
            ),
            GJK,
            V_CLIP,
            false,
            Bound::at_least(1.0),
        )
        .remark("GJK for distances, with climbing and the last axis"),
    ];
    let averages = [
        (
            true,
            "pairs that stay apart",
            "the first vector that separates ends both, so the vector saves nothing",
            Bound::near(1.0, 0.1),
        ),
        (
            false,
            "all pairs",
            "overlaps are the difference: the vector has to run out of room",
            Bound::at_least(1.25),
        ),
    ];
    for (apart, which, why, searches) in averages {
        let counts = if apart { &small.apart_counts } else { &small.counts };
        let [vector, axis] = [CHUNG_WANG, ISA_GJK].map(|system| counts[place(system)]);
        claims.push(
            Claim::new(
                format!("Chung and Wang's vector is faster than ISA-GJK on the average ({which})"),
                "faster on average, van den Bergen's measurement (sections 5.2.2 and 6.2)",
            )
            .require(
                format!("times as fast at {} triangles", small.triangles),
                small.ratio(ISA_GJK, CHUNG_WANG, apart),
                Bound::at_least(1.0),
            )
            .show(format!(
                "{:.2} searches against {:.2}",
                vector.mean(vector.searches),
                axis.mean(axis.searches)
            ))
            .show(shown(rows, ISA_GJK, CHUNG_WANG, apart))
            .because(
                why,
                "its searches by those of ISA-GJK",
                Figure::counted(vector.mean(vector.searches) / axis.mean(axis.searches)),
                searches,
            ),
        );
    }
    claims
}

/// A ratio at all sizes but the first, which is judged.
fn shown(rows: &[Row], one: System, other: System, apart: bool) -> String {
    let others = rows[1..]
        .iter()
        .map(|row| format!("{:.2} at {}", row.ratio(one, other, apart).value, row.triangles));
    others.collect::<Vec<_>>().join(", ")
}

/// What is counted, and the same on every machine.
fn of_counts(lab: &Lab, rows: &[Row]) -> Result<Vec<Claim>, Failure> {
    let sum = |system: System, value: &dyn Fn(&Counts) -> u64| -> f64 {
        rows.iter().map(|row| value(&row.counts[place(system)]) as f64).sum()
    };
    let most = |system: System| -> f64 {
        rows.iter().map(|row| row.counts[place(system)].most as f64).fold(0.0, f64::max)
    };
    let searches = |system| sum(system, &|counts| counts.searches);
    let deep = deep(lab)?;
    let reflected = reflections(lab)?;
    Ok(vec![
        Claim::new(
            "ISA-GJK has a tighter worst case than Chung and Wang's vector",
            "said without a figure (sections 5.2.2 and 6.2)",
        )
        .require(
            "most rounds of the vector by those of ISA-GJK",
            Figure::counted(most(CHUNG_WANG) / most(ISA_GJK)),
            Bound::at_least(1.0),
        )
        .show(format!(
            "{:.0} questions of {:.0} ran into the limit of rounds",
            sum(CHUNG_WANG, &|counts| counts.endless),
            sum(CHUNG_WANG, &|counts| counts.questions)
        )),
        Claim::new(
            "A reflection may lead away from a separating axis",
            "equation 6 may fail, after van den Bergen (section 5.2.2)",
        )
        .require(
            "reflections that do",
            Figure::counted(reflected.lost as f64),
            Bound::at_least(1.0),
        )
        .at(format!("{} reflections of pairs that are apart", reflected.compared))
        .because(
            "it cannot: the corner has a positive product with every separating axis and none with \
             the vector, so each reflection comes nearer. What fails is convergence: gains shrink, \
             and the questions above that ran into the limit are those",
            "percent of the reflections that come nearer",
            Figure::counted(100.0 * reflected.gained as f64 / reflected.compared.max(1) as f64),
            Bound::at_least(99.0),
        ),
        Claim::new(
            "ISA-GJK finds collisions that Lin-Canny misses",
            "one, in van den Bergen's experiment (section 5.2.3)",
        )
        .require(
            "overlaps that Lin-Canny does not report",
            Figure::counted(sum(LIN_CANNY, &|counts| counts.missed)),
            Bound::at_least(1.0),
        )
        .require(
            "overlaps that ISA-GJK does not report",
            Figure::counted(sum(ISA_GJK, &|counts| counts.missed)),
            Bound::at_most(0.0),
        )
        .show(format!("of {:.0} overlaps", sum(ISA_GJK, &|counts| counts.touching))),
        Claim::new(
            "Lin-Canny cycles for ever if the hulls overlap from the start",
            "Mirtich's remark (section 5.2.1)",
        )
        .require(
            "share of deep pairs on which its state comes back",
            Figure::counted(deep[0].endless as f64 / deep[0].questions as f64),
            Bound::at_least(1.0),
        )
        .show(format!(
            "{} of {} with Ponamgi's inner regions, {} with V-Clip",
            deep[1].endless, deep[1].questions, deep[2].endless
        )),
        Claim::new("V-Clip is more robust than Lin-Canny", "Mirtich's claim (section 5.2.1)")
            .require(
                "questions that V-Clip does not end",
                Figure::counted(sum(V_CLIP, &|counts| counts.endless) + deep[2].endless as f64),
                Bound::at_most(0.0),
            )
            .show(format!(
                "Lin-Canny {:.0}",
                sum(LIN_CANNY, &|counts| counts.endless) + deep[0].endless as f64
            )),
        Claim::new(
            "ISA-GJK needs fewer iterations than GJK",
            "because a separating axis ends it (section 6.2.1)",
        )
        .require(
            "support searches of GJK by those of ISA-GJK",
            Figure::counted(searches(GJK) / searches(ISA_GJK)),
            Bound::at_least(1.0),
        ),
    ])
}

/// Lin and Canny's walk, the same with inner regions, and V-Clip, on deep pairs.
fn deep(lab: &Lab) -> Result<[Counts; 3], Failure> {
    let kind = &ShapeKind::ALL[0];
    let course = Course::new(kind, Placing::Deep, lab.pick(100, 1000))?;
    let count = |system| course.count(system);
    Ok([count(LIN_CANNY)?, count(System::InnerRegions)?, count(V_CLIP)?])
}

/// Reflections of the vector on pairs that are apart, compared with the axis between the nearest
/// points.
fn reflections(lab: &Lab) -> Result<Work, Failure> {
    let course = Course::new(&ShapeKind::ALL[0], Placing::Separated, lab.pick(200, 4000))?;
    let mut work = Work::default();
    for (number, pair) in course.scene.pairs.iter().enumerate() {
        let shapes = course.scene.shapes_of(pair);
        let frame = &pair.frames[0];
        let [a, b] = [0, 1].map(|side| Placed::new(shapes[side], frame[side]));
        // From b to a, in the frame of a.
        let axis = frame[0].inverse_apply_vector(-narrow::closest_points(&a, &b).normal);
        let mut memory = Memory::default();
        separating_vector_against(&course.pair(number, 0), axis, &mut memory, &mut work);
    }
    Ok(work)
}

/// Almost constant time in coherent motion.
fn of_growth(rows: &[Row]) -> Vec<Claim> {
    let groups: [(&str, &str, &[System]); 3] = [
        ("Feature walks take almost constant time", "section 5.2.1", &[LIN_CANNY, V_CLIP]),
        ("The separating vector takes constant time", "section 5.2.2", &[CHUNG_WANG]),
        (
            "GJK with all its improvements takes almost constant time",
            "section 5.2.3",
            &[GJK, ISA_GJK],
        ),
    ];
    let claims = groups.into_iter().map(|(statement, section, systems)| {
        let claim = Claim::new(
            format!("{statement} in coherent motion"),
            format!("whatever the number of triangles ({section})"),
        );
        let claim = systems.iter().fold(claim, |claim, &system| {
            let points: Vec<(f64, f64)> = rows
                .iter()
                .map(|row| (row.triangles as f64, middle(&row.apart[place(system)])))
                .collect();
            let power = power_law(&points).unwrap_or(f64::NAN);
            let what = format!("power of the time of {}", system.name());
            claim.require(what, Figure::counted(power), Bound::at_most(0.2))
        });
        let [first, last] = [&rows[0], &rows[rows.len() - 1]];
        let steps = |row: &Row, system: System| {
            let counts = &row.apart_counts[place(system)];
            counts.mean(counts.steps.max(counts.searches))
        };
        let grown = systems.iter().map(|&system| {
            format!("{} {:.2} to {:.2}", system.name(), steps(first, system), steps(last, system))
        });
        claim
            .show(format!("rounds: {}", grown.collect::<Vec<_>>().join(", ")))
            .at("pairs that stay apart; a power of 0.2 is a factor of 2.3 from 80 to 5120")
            .over_sizes()
            .because(
                "the turn in a frame stays while features shrink, so walks pass over more of them",
                format!(
                    "rounds of {} at {} triangles by those at {}",
                    systems[0].name(),
                    last.triangles,
                    first.triangles
                ),
                Figure::counted(steps(last, systems[0]) / steps(first, systems[0])),
                Bound::at_least(1.5),
            )
    });
    claims.collect()
}

fn middle(times: &[f64]) -> f64 {
    median(times.iter().copied())
}

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let header = [
        "triangles",
        "system",
        "apart_ns",
        "all_ns",
        "apart_steps",
        "steps",
        "searches",
        "most_steps",
        "endless",
        "missed",
    ];
    let mut cells = Vec::new();
    for row in rows {
        for (k, system) in SYSTEMS.iter().enumerate() {
            let (counts, apart) = (&row.counts[k], &row.apart_counts[k]);
            let means = [
                middle(&row.apart[k]),
                middle(&row.all[k]),
                apart.mean(apart.steps),
                counts.mean(counts.steps),
                counts.mean(counts.searches),
            ];
            let mut line = vec![row.triangles.to_string(), system.name().to_owned()];
            line.extend(means.map(|mean| format!("{mean:.3}")));
            line.extend([counts.most, counts.endless, counts.missed].map(|n| n.to_string()));
            cells.push(line);
        }
        let [apart, all] = [0, 1].map(|k| format!("{:.3}", middle(&row.library[k])));
        let mut line = vec![row.triangles.to_string(), "the library".into(), apart, all];
        line.resize(header.len(), String::new());
        cells.push(line);
    }
    lab.csv("narrow-phases", &header, &cells)?;
    let chart = |title: &str, apart: bool| {
        let of = |row: &Row, k: usize| middle(if apart { &row.apart[k] } else { &row.all[k] });
        let points = |value: &dyn Fn(&Row) -> f64| {
            rows.iter().map(|row| (row.triangles as f64, value(row))).collect()
        };
        let mut series: Vec<Series> = SYSTEMS
            .iter()
            .enumerate()
            .map(|(k, system)| Series::new(system.name(), points(&|row| of(row, k))))
            .collect();
        let library = usize::from(!apart);
        let times = points(&|row| middle(&row.library[library]));
        series.push(Series::new("the library, yes or no", times));
        Chart::Lines(Lines {
            title: title.into(),
            note: "two triangulated spheres in slow motion, warm; both axes logarithmic".into(),
            x: Axis::log("triangles of a sphere"),
            y: Axis::log("nanoseconds for a question"),
            series,
        })
    };
    let charts = [chart("Pairs that stay apart", true), chart("All pairs", false)];
    lab.plot("narrow-phases", &charts)
}
