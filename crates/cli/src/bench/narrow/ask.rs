//! One question about one pair, in one way.

use jostle::narrow::{
    self, Contact, Ending, Impact, ImpactStatus, Method, Motion, Moving, PairCache, Placed, Query,
};
use jostle::shape::{Pose, Shape};
use jostle_scenes::ShapeKind;

use super::Case;

/// What is asked of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Do they touch?
    Intersects,
    /// How far apart are they?
    Distance,
    /// How deep, where and along which normal, if they touch?
    Contact,
    /// Which points hold them apart, if they touch?
    Manifold,
    /// When do they first touch?
    Impact,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 5] = [
        Question::Intersects,
        Question::Distance,
        Question::Contact,
        Question::Manifold,
        Question::Impact,
    ];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Question::Intersects => "intersects",
            Question::Distance => "distance",
            Question::Contact => "contact",
            Question::Manifold => "manifold",
            Question::Impact => "impact",
        }
    }
}

/// All methods, by their names on the command line and in files.
pub(crate) const METHODS: [(&str, Method); 3] =
    [("auto", Method::Auto), ("gjk-epa", Method::GjkEpa), ("gjk-sat", Method::GjkSat)];

/// A question asked in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The question.
    pub question: Question,
    /// Which algorithm answers.
    pub method: Method,
    /// True if the pair remembers the frame before.
    pub cached: bool,
}

impl Way {
    /// The ways worth a row on a course, question by question.
    pub fn of(
        kind: &ShapeKind,
        case: Case,
        questions: &[Question],
        methods: &[Method],
    ) -> Vec<Way> {
        // Without closed forms `auto` is GJK and EPA step by step: one row says it.
        let same = methods.contains(&Method::Auto) && !kind.has_closed_forms();
        let mut ways = Vec::new();
        for &question in questions {
            for &method in methods {
                if !answers(question, method, case) || same && method == Method::GjkEpa {
                    continue;
                }
                ways.push(Way { question, method, cached: false });
                // SAT starts from scratch each time.
                if case == Case::Moving && method != Method::GjkSat {
                    ways.push(Way { question, method, cached: true });
                }
            }
        }
        ways
    }

    /// The method's name.
    pub fn method_name(&self) -> &'static str {
        METHODS.iter().find(|(_, method)| *method == self.method).map_or("", |(name, _)| name)
    }

    /// `cold` or `cached`.
    pub fn memory_name(&self) -> &'static str {
        if self.cached { "cached" } else { "cold" }
    }

    /// Asks. The pair's memory is not looked at by ways without one.
    #[inline]
    pub fn ask(&self, pair: &View<'_>, query: &mut Query, cache: &mut PairCache) -> Answer {
        match self.cached {
            true => self.ask_with(pair, query, cache),
            false => self.ask_with(pair, query, &mut PairCache::none()),
        }
    }

    #[inline]
    fn ask_with(&self, pair: &View<'_>, query: &mut Query, cache: &mut PairCache) -> Answer {
        let [a, b] = &pair.placed();
        let answer = match self.question {
            Question::Intersects => {
                let found = query.intersects(a, b, cache);
                Answer { hit: found.hit, early: is_early(found.ending), ..Answer::default() }
            }
            Question::Distance => {
                let found = query.closest_points(a, b, cache);
                let signed = (found.distance > 0.0).then_some((found.distance, found.bound));
                Answer {
                    hit: signed.is_none(),
                    signed,
                    early: is_early(found.ending),
                    ..Answer::default()
                }
            }
            Question::Contact => {
                Answer::of_contact(query.contact_within(a, b, 0.0, cache).as_ref())
            }
            Question::Manifold => {
                let found = query.manifold(a, b, 0.0, cache);
                Answer::of_contact(found.as_ref().map(|manifold| &manifold.contact))
            }
            Question::Impact => return Answer::of_impact(pair.impact()),
        };
        Answer { steps: cache.searches(), ..answer }
    }
}

/// Returns true if a method has an answer of its own to a question.
fn answers(question: Question, method: Method, case: Case) -> bool {
    match question {
        Question::Intersects | Question::Distance => method != Method::GjkSat,
        Question::Contact => true,
        Question::Manifold => method == Method::Auto,
        // Overlapping shapes have met already, and courses are followed by their frames.
        Question::Impact => {
            method == Method::Auto && matches!(case, Case::Separated | Case::Touching)
        }
    }
}

fn is_early(ending: Ending) -> bool {
    matches!(ending, Ending::Stalled | Ending::StepLimit)
}

/// A pair in one of its frames.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The shapes.
    pub shapes: [&'a Shape; 2],
    /// Where they are.
    pub poses: &'a [Pose; 2],
    /// How they go on.
    pub motions: &'a [Motion; 2],
}

impl View<'_> {
    /// Sum of the radii.
    pub fn size(&self) -> f64 {
        self.shapes.iter().map(|shape| shape.bounding_radius()).sum()
    }

    /// The shapes in their places.
    #[inline]
    pub fn placed(&self) -> [Placed<'_>; 2] {
        [0, 1].map(|side| Placed::new(self.shapes[side], self.poses[side]))
    }

    /// The shapes with their motions.
    pub fn moving(&self) -> [Moving<'_>; 2] {
        let [a, b] = self.placed();
        [Moving::new(a, self.motions[0]), Moving::new(b, self.motions[1])]
    }

    /// When they first touch within one unit of time.
    pub fn impact(&self) -> Impact {
        let [a, b] = self.moving();
        narrow::time_of_impact(&a, &b, 1.0)
    }
}

/// What was answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer {
    /// True if they touch; of an impact, if they do at some time.
    pub hit: bool,
    /// Distance, or depth with a minus, and its certified bound, if it was measured.
    pub signed: Option<(f64, f64)>,
    /// Of an impact.
    pub impact: Option<Impact>,
    /// True if the bounds did not meet.
    pub early: bool,
    /// Support searches; of an impact, measurements of the distance.
    pub steps: u32,
}

impl Answer {
    /// A contact, or none within reach.
    pub fn of_contact(contact: Option<&Contact>) -> Answer {
        contact.map_or(Answer::default(), |contact| Answer {
            hit: contact.distance == 0.0,
            signed: Some((contact.signed_distance(), contact.bound)),
            early: is_early(contact.ending),
            ..Answer::default()
        })
    }

    fn of_impact(impact: Impact) -> Answer {
        Answer {
            hit: matches!(impact.status, ImpactStatus::Hit | ImpactStatus::AtStart),
            early: impact.status == ImpactStatus::StepLimit,
            steps: impact.steps,
            impact: Some(impact),
            ..Answer::default()
        }
    }
}
