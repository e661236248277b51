//! Checks that all ways give the same answers.
//!
//! Each pair's contact is asked once by the automatic choice, cold, and must touch or not as the
//! pair was placed. Every other answer must say the same, with a distance or depth that differs
//! by no more than both certified bounds. Before a time of impact nothing may touch.

use jostle::narrow::{self, IMPACT_GAP, Impact, ImpactStatus};

use super::ask::{Answer, View};

/// What rounding may add to the bounds, as a share of the size.
const SLACK: f64 = 1e-11;

/// Signed distances up to this share of the size are too near the tolerance of touch for a
/// yes or no to be compared.
const TOO_NEAR: f64 = 1e-9;

/// Times at which the way to an impact is looked at.
const SAMPLES: u32 = 8;

/// What every way must say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truth {
    /// Distance, or depth with a minus, and its certified bound.
    pub signed: (f64, f64),
    size: f64,
}

impl Truth {
    /// Asks the automatic choice, cold.
    pub(crate) fn of(pair: &View<'_>) -> Truth {
        let [a, b] = pair.placed();
        let contact = narrow::contact(&a, &b);
        Truth { signed: (contact.signed_distance(), contact.bound), size: pair.size() }
    }

    /// What is wrong with a yes or no, if anything.
    pub(crate) fn contradicts(&self, hit: bool) -> Option<String> {
        let (signed, _) = self.signed;
        let wrong = signed.abs() > TOO_NEAR * self.size && hit == (signed > 0.0);
        let said = if hit { "touch" } else { "are apart" };
        wrong.then(|| format!("it says that they {said}, at a signed distance of {signed:e}"))
    }

    /// What is wrong with an answer, if anything.
    pub(crate) fn objection(&self, pair: &View<'_>, answer: &Answer) -> Option<String> {
        if let Some(impact) = &answer.impact {
            return self.wrong_impact(pair, impact);
        }
        self.contradicts(answer.hit).or_else(|| {
            let ((told, bound), (signed, own)) = (answer.signed?, self.signed);
            let apart = (told - signed).abs();
            // Written so that what is no number is wrong.
            let fine = apart <= bound + own + SLACK * self.size;
            (!fine).then(|| {
                format!(
                    "its signed distance is {told:e} within {bound:e}, not {signed:e} within \
                         {own:e}"
                )
            })
        })
    }

    fn wrong_impact(&self, pair: &View<'_>, impact: &Impact) -> Option<String> {
        let (near, time) = (2.0 * IMPACT_GAP * self.size, impact.time);
        let apart = impact.contact.distance;
        match impact.status {
            ImpactStatus::AtStart if self.signed.0 > near => {
                return Some(format!(
                    "it says that they touch at the start, {:e} apart",
                    self.signed.0
                ));
            }
            ImpactStatus::Hit if apart > near => {
                return Some(format!("it says that they touch after {time}, {apart:e} apart"));
            }
            ImpactStatus::AtStart => return None,
            _ => {}
        }
        let early = (0..SAMPLES).map(|k| time * f64::from(k) / f64::from(SAMPLES));
        let met = early.into_iter().find(|&time| touch_at(pair, time))?;
        Some(format!("it says that nothing touches before {time}, but at {met} they do"))
    }
}

fn touch_at(pair: &View<'_>, time: f64) -> bool {
    let [a, b] = pair.moving();
    narrow::intersects(&a.at(time), &b.at(time)).hit
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use jostle::narrow::Motion;
    use jostle::shape::{Pose, Shape};

    fn with_pair(x: f64, test: impl Fn(&View<'_>, &Truth)) {
        let ball = Shape::sphere(1.0).unwrap();
        let poses = [0.0, x].map(|x| Pose::from_translation(DVec3::X * x).unwrap());
        let motions = [Motion::STILL, Motion::new(-DVec3::X, DVec3::ZERO).unwrap()];
        let pair = View { shapes: [&ball; 2], poses: &poses, motions: &motions };
        test(&pair, &Truth::of(&pair));
    }

    #[test]
    fn a_wrong_yes_and_a_wrong_number_are_objected_to() {
        with_pair(3.0, |pair, truth| {
            let right = Answer { signed: Some((1.0, 0.0)), ..Answer::default() };
            assert_eq!(truth.objection(pair, &right), None);
            let hit = Answer { hit: true, ..Answer::default() };
            assert!(truth.objection(pair, &hit).unwrap().contains("they touch"));
            for number in [1.001, f64::NAN] {
                let far = Answer { signed: Some((number, 0.0)), ..Answer::default() };
                assert!(truth.objection(pair, &far).is_some());
            }
        });
    }

    #[test]
    fn a_late_an_early_and_a_missing_impact_are_objected_to() {
        with_pair(2.5, |pair, truth| {
            let right = Answer { impact: Some(pair.impact()), ..Answer::default() };
            assert_eq!(truth.objection(pair, &right), None);
            let Some(impact) = right.impact else { panic!("no impact") };
            for (time, status) in [(0.9, ImpactStatus::Miss), (0.9, ImpactStatus::StepLimit)] {
                let wrong = Answer { impact: Some(Impact { time, status, ..impact }), ..right };
                assert!(truth.objection(pair, &wrong).unwrap().contains("but at"));
            }
            let start = Impact { status: ImpactStatus::AtStart, ..impact };
            let wrong = Answer { impact: Some(start), ..right };
            assert!(truth.objection(pair, &wrong).is_some());
        });
    }
}
