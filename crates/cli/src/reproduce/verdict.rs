//! How a claim of a paper is judged: figures with their spread, bounds that say what would refute
//! it, and the verdict that follows from both.
//!
//! A claim has one or more requirements. Each compares a measured [`Figure`] with a [`Bound`], and
//! a bound always cuts the line into what agrees with the paper and what refutes it. A requirement
//! is decided only if the whole interval of the figure lies on one side; else the claim is
//! undecided. Nothing here looks at an experiment: the tests feed both sides of every bound.

use std::fmt::{self, Display, Formatter};

use jostle_scenes::{Rng, median};

/// Resamples for an interval: enough that its ends move by less than they mean.
const RESAMPLES: usize = 400;

/// What the report says of a claim that does not hold if nothing was measured to say why.
pub(super) const UNEXPLAINED: &str = "why: NOT EXPLAINED by a measurement";

/// What lies outside the interval on each side.
const TAIL: f64 = 0.025;

/// A measured figure: the median of its rounds and an interval that holds 95 of 100 medians of
/// rounds drawn again (bootstrap).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The figure itself.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Figure {
    /// A figure that is counted, not timed: the same in every run.
    pub fn counted(value: f64) -> Figure {
        Figure { value, low: value, high: value }
    }

    /// A figure computed from the rounds of a measurement: `of` gets the indices of the rounds
    /// that count, once all of them and then each resample.
    pub fn resampled(rounds: usize, of: impl Fn(&[usize]) -> f64) -> Figure {
        let all: Vec<usize> = (0..rounds).collect();
        let value = of(&all);
        if rounds < 2 {
            return Figure::counted(value);
        }
        let mut drawn = all;
        Figure::bootstrapped(value, rounds as u64, |rng| {
            drawn.iter_mut().for_each(|at| *at = rng.below(rounds));
            of(&drawn)
        })
    }

    /// A figure with the interval of what `draw` gives. Its own generator and seed: the same
    /// rounds give the same interval.
    fn bootstrapped(value: f64, seed: u64, mut draw: impl FnMut(&mut Rng) -> f64) -> Figure {
        let mut rng = Rng::new(seed);
        let mut values: Vec<f64> = (0..RESAMPLES).map(|_| draw(&mut rng)).collect();
        values.sort_unstable_by(f64::total_cmp);
        let end = |share: f64| values[((RESAMPLES - 1) as f64 * share).round() as usize];
        // A resample may miss the rounds that made the value.
        Figure { value, low: end(TAIL).min(value), high: end(1.0 - TAIL).max(value) }
    }

    /// The median of some rounds.
    pub fn median(rounds: &[f64]) -> Figure {
        Figure::resampled(rounds.len(), |at| median(at.iter().map(|&round| rounds[round])))
    }

    /// The median of one list by that of another. Both lists are of the same frames, and a
    /// resample draws the same frames of both.
    pub fn ratio(one: &[f64], other: &[f64]) -> Figure {
        let rounds = one.len().min(other.len());
        Figure::resampled(rounds, |at| {
            let middle = |list: &[f64]| median(at.iter().map(|&round| list[round]));
            middle(one) / middle(other)
        })
    }

    /// The median of one list by that of another whose rounds are not the same: each is drawn
    /// again on its own.
    pub fn unpaired(one: &[f64], other: &[f64]) -> Figure {
        if one.is_empty() || other.is_empty() {
            return Figure::counted(f64::NAN);
        }
        let value = median(one.iter().copied()) / median(other.iter().copied());
        Figure::bootstrapped(value, (one.len() + other.len()) as u64, |rng| {
            let mut drawn =
                |list: &[f64]| median((0..list.len()).map(|_| list[rng.below(list.len())]));
            drawn(one) / drawn(other)
        })
    }

    /// The power of x by which the medians of the lists grow. Each resample draws rounds of every
    /// list.
    pub fn power(lists: &[(f64, Vec<f64>)]) -> Figure {
        let rounds = lists.iter().map(|(_, list)| list.len()).min().unwrap_or(0);
        Figure::resampled(rounds, |at| {
            let middle = |list: &Vec<f64>| median(at.iter().map(|&round| list[round]));
            let points: Vec<(f64, f64)> =
                lists.iter().map(|(x, list)| (*x, middle(list))).collect();
            super::power_law(&points).unwrap_or(f64::NAN)
        })
    }

    /// Returns true if the interval reaches no further from the figure than this share of it, so
    /// that more rounds would say little more.
    pub fn is_within(&self, share: f64) -> bool {
        let reach = (self.high - self.value).max(self.value - self.low);
        reach <= share * self.value.abs()
    }

    /// This figure by another that was measured apart from it. The interval holds every quotient
    /// of the two, so it is rather too wide than too narrow.
    pub fn over(self, other: Figure) -> Figure {
        let ends = [self.low / other.low, self.low / other.high, self.high / other.low];
        let ends = ends.into_iter().chain([self.high / other.high]);
        Figure {
            value: self.value / other.value,
            low: ends.clone().fold(f64::INFINITY, f64::min),
            high: ends.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The same figure in another unit.
    pub fn scaled(self, by: f64) -> Figure {
        Figure { value: self.value * by, low: self.low * by, high: self.high * by }
    }
}

impl Display for Figure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.low == self.high || self.value.is_nan() {
            return write!(f, "{}", Short(self.value));
        }
        write!(f, "{} ({} to {})", Short(self.value), Short(self.low), Short(self.high))
    }
}

/// A number with three digits that count.
struct Short(f64);

impl Display for Short {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        match size {
            _ if size.is_infinite() => f.write_str("∞"),
            _ if size == 0.0 || size >= 100.0 => write!(f, "{:.0}", self.0),
            _ if size >= 10.0 => write!(f, "{:.1}", self.0),
            _ if size >= 0.1 => write!(f, "{:.2}", self.0),
            _ if size >= 0.001 => write!(f, "{:.4}", self.0),
            _ => write!(f, "{:.1e}", self.0),
        }
    }
}

/// What agrees with the paper; everything else refutes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This much or more; from `better` on it is better than claimed.
    AtLeast {
        /// The least that agrees.
        least: f64,
        /// From here on it is better than claimed.
        better: Option<f64>,
    },
    /// This much or less; down from `better` it is better than claimed.
    AtMost {
        /// The most that agrees.
        most: f64,
        /// From here down it is better than claimed.
        better: Option<f64>,
    },
    /// Between two figures.
    Between {
        /// The least that agrees.
        least: f64,
        /// The most that agrees.
        most: f64,
    },
}

impl Bound {
    /// This much or more.
    pub fn at_least(least: f64) -> Bound {
        Bound::AtLeast { least, better: None }
    }

    /// This much or less.
    pub fn at_most(most: f64) -> Bound {
        Bound::AtMost { most, better: None }
    }

    /// A figure within a distance of the claimed one.
    pub fn near(claimed: f64, within: f64) -> Bound {
        Bound::Between { least: claimed - within, most: claimed + within }
    }

    /// From this figure on, in the direction of the bound, it is better than claimed. Without
    /// effect between two figures.
    pub fn better_from(self, figure: f64) -> Bound {
        match self {
            Bound::AtLeast { least, .. } => Bound::AtLeast { least, better: Some(figure) },
            Bound::AtMost { most, .. } => Bound::AtMost { most, better: Some(figure) },
            between => between,
        }
    }

    fn judge(self, figure: &Figure) -> Verdict {
        let Figure { value, low, high } = *figure;
        if value.is_nan() {
            return Verdict::Undecided;
        }
        let (holds, fails, better) = match self {
            Bound::AtLeast { least, better } => {
                (low >= least, high < least, better.is_some_and(|from| low >= from))
            }
            Bound::AtMost { most, better } => {
                (high <= most, low > most, better.is_some_and(|from| high <= from))
            }
            Bound::Between { least, most } => {
                (low >= least && high <= most, high < least || low > most, false)
            }
        };
        match (holds, fails) {
            (true, _) if better => Verdict::Better,
            (true, _) => Verdict::Holds,
            (_, true) => Verdict::Fails,
            _ => Verdict::Undecided,
        }
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (better, words) = match *self {
            Bound::AtLeast { least, better } => {
                let least = Short(least);
                write!(f, "holds from {least} on, refuted below")?;
                (better, "on")
            }
            Bound::AtMost { most, better } => {
                write!(f, "holds up to {}, refuted above", Short(most))?;
                (better, "down")
            }
            Bound::Between { least, most } => {
                let (least, most) = (Short(least), Short(most));
                write!(f, "holds from {least} to {most}, refuted outside")?;
                (None, "")
            }
        };
        better.map_or(Ok(()), |from| write!(f, ", better from {} {words}", Short(from)))
    }
}

/// How a claim fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What is measured agrees with it.
    Holds,
    /// What is measured exceeds it in the direction of the claim.
    Better,
    /// What is measured contradicts it.
    Fails,
    /// The spread of what is measured reaches over the bound.
    Undecided,
    /// It cannot be tested here.
    Untestable,
}

impl Verdict {
    /// The words in the table.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Better => "better than claimed",
            Verdict::Fails => "does not hold",
            Verdict::Undecided => "undecided",
            Verdict::Untestable => "not testable here",
        }
    }

    /// The verdict on two requirements of one claim.
    fn and(self, other: Verdict) -> Verdict {
        use Verdict::{Better, Fails, Holds, Undecided, Untestable};
        match (self, other) {
            (Fails, _) | (_, Fails) => Fails,
            (Untestable, _) | (_, Untestable) => Untestable,
            (Undecided, _) | (_, Undecided) => Undecided,
            (Better, Better) => Better,
            _ => Holds,
        }
    }
}

/// One comparison that a claim rests on.
#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    what: String,
    figure: Figure,
    bound: Bound,
}

/// Why a claim does not hold here: a sentence, and a measurement that would refute it as well.
#[derive(Clone, Debug, PartialEq)]
struct Explanation {
    sentence: String,
    support: Requirement,
}

impl Explanation {
    fn text(&self) -> String {
        let Explanation { sentence, support: Requirement { what, figure, bound } } = self;
        let agrees = match bound.judge(figure) {
            Verdict::Holds | Verdict::Better => "measured",
            Verdict::Fails => "REFUTED by the measurement",
            Verdict::Undecided | Verdict::Untestable => "not decided by the measurement",
        };
        format!("why: {sentence} ({agrees}: {what} {figure}, {bound})")
    }
}

/// Whether a short run may decide a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// One size is enough.
    Single,
    /// Growth and crossing points need the sizes of a full run.
    Sizes,
}

/// A statement of a paper, what would refute it, and what is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    statement: String,
    paper: String,
    requirements: Vec<Requirement>,
    /// Figures that are shown and not judged.
    shown: Vec<String>,
    sizes: String,
    remark: String,
    explanations: Vec<Explanation>,
    untestable: Option<String>,
    reach: Reach,
    indicative: bool,
}

impl Claim {
    /// A statement in our words, and the paper's figure with its place in the paper.
    pub fn new(statement: impl Into<String>, paper: impl Into<String>) -> Claim {
        Claim {
            statement: statement.into(),
            paper: paper.into(),
            requirements: Vec::new(),
            shown: Vec::new(),
            sizes: String::new(),
            remark: String::new(),
            explanations: Vec::new(),
            untestable: None,
            reach: Reach::Single,
            indicative: false,
        }
    }

    /// Rests it on a figure. All requirements must hold.
    pub fn require(mut self, what: impl Into<String>, figure: Figure, bound: Bound) -> Claim {
        self.requirements.push(Requirement { what: what.into(), figure, bound });
        self
    }

    /// Rests it on something that is counted and either is so or is not.
    pub fn require_true(self, what: impl Into<String>, so: bool) -> Claim {
        let share = if so { 1.0 } else { 0.0 };
        self.require(what, Figure::counted(share), Bound::at_least(1.0))
    }

    /// Shows a figure that is not judged.
    pub fn show(mut self, text: impl Into<String>) -> Claim {
        self.shown.push(text.into());
        self
    }

    /// The sizes at which it was measured.
    pub fn at(mut self, sizes: impl Into<String>) -> Claim {
        self.sizes = sizes.into();
        self
    }

    /// What to know when reading it.
    pub fn remark(mut self, remark: impl Into<String>) -> Claim {
        self.remark = remark.into();
        self
    }

    /// If it does not hold: why, and what was measured to support that. Not shown otherwise.
    pub fn because(
        mut self,
        sentence: impl Into<String>,
        what: impl Into<String>,
        figure: Figure,
        bound: Bound,
    ) -> Claim {
        let support = Requirement { what: what.into(), figure, bound };
        self.explanations.push(Explanation { sentence: sentence.into(), support });
        self
    }

    /// It is about this many cores: on a machine with fewer there is no verdict.
    pub fn needs_cores(mut self, needed: usize, available: usize) -> Claim {
        if available < needed {
            self.untestable = Some(format!("needs {needed} cores, here are {available}"));
        }
        self
    }

    /// It cannot be tested here, for this reason; what is measured is shown all the same.
    pub fn untestable(mut self, why: impl Into<String>) -> Claim {
        self.untestable = Some(why.into());
        self
    }

    /// It is about growth or a crossing point: a quick run gives no verdict.
    pub fn over_sizes(mut self) -> Claim {
        self.reach = Reach::Sizes;
        self
    }

    /// Marks what a quick run says.
    pub(super) fn indicative(mut self) -> Claim {
        self.indicative = true;
        if self.reach == Reach::Sizes && self.untestable.is_none() {
            self.untestable = Some("a quick run has too few sizes".into());
        }
        self
    }

    /// Returns true if a figure that it rests on is a time and not a count.
    pub fn is_timed(&self) -> bool {
        self.requirements.iter().any(|part| part.figure.low != part.figure.high)
    }

    /// A row of a table: statement, paper, criterion, what was measured, verdict, remark.
    pub fn cells(&self) -> [String; 6] {
        let (statement, paper) = (self.statement.clone(), self.paper.clone());
        [statement, paper, self.criterion(), self.measured(), self.words(), self.why()]
    }

    /// What agrees with the claim and what refutes it.
    pub fn criterion(&self) -> String {
        let parts = self.requirements.iter().map(|part| format!("{}: {}", part.what, part.bound));
        parts.collect::<Vec<_>>().join("; ")
    }

    /// What was measured, with spread and sizes.
    pub fn measured(&self) -> String {
        let judged = self.requirements.iter().map(|part| format!("{}: {}", part.what, part.figure));
        let all: Vec<String> = judged.chain(self.shown.iter().cloned()).collect();
        match self.sizes.is_empty() {
            true => all.join("; "),
            false => format!("{} [{}]", all.join("; "), self.sizes),
        }
    }

    /// The reason if there is no verdict, the remark, and why the claim does not hold if so.
    pub fn why(&self) -> String {
        let mut parts = vec![self.untestable.clone().unwrap_or_default(), self.remark.clone()];
        if self.verdict() == Verdict::Fails {
            parts.extend(self.explanations.iter().map(Explanation::text));
            if self.explanations.is_empty() {
                parts.push(UNEXPLAINED.to_owned());
            }
        }
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// What follows from the requirements. A claim without any cannot be tested.
    pub fn verdict(&self) -> Verdict {
        match self.untestable {
            Some(_) => Verdict::Untestable,
            None => self.judged(),
        }
    }

    /// What the requirements would say on a machine on which it can be tested.
    pub(super) fn judged(&self) -> Verdict {
        let verdicts = self.requirements.iter().map(|part| part.bound.judge(&part.figure));
        verdicts.reduce(Verdict::and).unwrap_or(Verdict::Untestable)
    }

    /// The verdict's words, marked where a quick run gave it.
    pub fn words(&self) -> String {
        let words = self.verdict().words();
        match self.indicative && self.verdict() != Verdict::Untestable {
            true => format!("{words} (indicative)"),
            false => words.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64) -> Figure {
        Figure { value, low, high }
    }

    fn verdict(figure: Figure, bound: Bound) -> Verdict {
        Claim::new("s", "p").require("x", figure, bound).verdict()
    }

    #[test]
    fn both_sides_of_every_bound_are_told_apart() {
        let least = Bound::at_least(3.0).better_from(3.3);
        assert_eq!(verdict(figure(3.1, 3.0, 3.2), least), Verdict::Holds);
        assert_eq!(verdict(figure(3.5, 3.3, 3.6), least), Verdict::Better);
        assert_eq!(verdict(figure(3.5, 3.2, 3.6), least), Verdict::Holds);
        assert_eq!(verdict(figure(2.9, 2.8, 2.99), least), Verdict::Fails);
        assert_eq!(verdict(figure(3.0, 2.9, 3.1), least), Verdict::Undecided);
        let most = Bound::at_most(1.5).better_from(1.0);
        assert_eq!(verdict(figure(1.4, 1.3, 1.5), most), Verdict::Holds);
        assert_eq!(verdict(figure(0.9, 0.8, 1.0), most), Verdict::Better);
        assert_eq!(verdict(figure(1.6, 1.51, 1.7), most), Verdict::Fails);
        assert_eq!(verdict(figure(1.5, 1.4, 1.6), most), Verdict::Undecided);
        let near = Bound::near(1.0, 0.25);
        assert_eq!(verdict(figure(1.0, 0.75, 1.25), near), Verdict::Holds);
        assert_eq!(verdict(figure(1.5, 1.3, 1.6), near), Verdict::Fails);
        assert_eq!(verdict(figure(0.5, 0.4, 0.7), near), Verdict::Fails);
        assert_eq!(verdict(figure(1.2, 1.1, 1.3), near), Verdict::Undecided);
        assert_eq!(verdict(Figure::counted(f64::NAN), least), Verdict::Undecided);
    }

    #[test]
    fn all_requirements_count() {
        let good = Figure::counted(2.0);
        let claim = |other: f64| {
            let claim = Claim::new("s", "p").require("one", good, Bound::at_least(1.0));
            claim.require("other", Figure::counted(other), Bound::at_most(1.0))
        };
        assert_eq!(claim(1.0).verdict(), Verdict::Holds);
        assert_eq!(claim(1.1).verdict(), Verdict::Fails);
        assert_eq!(claim(f64::NAN).verdict(), Verdict::Undecided);
        assert!(Claim::new("s", "p").require_true("so", true).verdict() == Verdict::Holds);
        assert!(Claim::new("s", "p").require_true("so", false).verdict() == Verdict::Fails);
        assert_eq!(Claim::new("s", "p").verdict(), Verdict::Untestable);
    }

    #[test]
    fn missing_cores_and_quick_runs_give_no_verdict() {
        let good = || Claim::new("s", "p").require("x", Figure::counted(2.0), Bound::at_least(1.0));
        assert_eq!(good().needs_cores(16, 2).verdict(), Verdict::Untestable);
        assert!(good().needs_cores(16, 2).why().contains("16 cores"));
        assert_eq!(good().needs_cores(2, 2).verdict(), Verdict::Holds);
        assert_eq!(good().indicative().words(), "holds (indicative)");
        assert_eq!(good().over_sizes().verdict(), Verdict::Holds);
        assert_eq!(good().over_sizes().indicative().words(), "not testable here");
    }

    #[test]
    fn an_interval_follows_the_spread_and_the_frames() {
        let steady = Figure::median(&[2.0; 20]);
        assert_eq!((steady.value, steady.low, steady.high), (2.0, 2.0, 2.0));
        let noisy: Vec<f64> = (0..101).map(|at| f64::from(at * 37 % 101)).collect();
        let noisy = Figure::median(&noisy);
        assert!(noisy.low < noisy.value && noisy.value < noisy.high, "{noisy:?}");
        // Frames that are long for both cancel out of their ratio.
        let one: Vec<f64> = (1..=50).map(f64::from).collect();
        let other: Vec<f64> = one.iter().map(|time| time / 2.0).collect();
        assert_eq!(Figure::ratio(&one, &other), Figure::counted(2.0));
        assert!(Figure::ratio(&[], &[]).value.is_nan());
    }

    #[test]
    fn other_frames_and_powers_have_intervals_too() {
        let (calm, peak) = ([1.0, 1.1, 0.9, 1.0, 1.05], [3.0, 3.3, 2.7]);
        let figure = Figure::unpaired(&peak, &calm);
        assert_eq!(figure.value, 3.0);
        assert!(figure.low < 3.0 && figure.low > 2.0 && figure.high > 3.0, "{figure:?}");
        assert!(Figure::unpaired(&[], &calm).value.is_nan());
        let over = Figure { value: 6.0, low: 5.0, high: 8.0 }.over(Figure::counted(2.0));
        assert_eq!((over.value, over.low, over.high), (3.0, 2.5, 4.0));
        let over = over.over(Figure { value: 2.0, low: 1.0, high: 4.0 });
        assert_eq!((over.value, over.low, over.high), (1.5, 0.625, 4.0));
        let exact: Vec<(f64, Vec<f64>)> =
            [1.0, 10.0, 100.0].map(|x: f64| (x, vec![x.powf(1.5); 4])).into();
        let power = Figure::power(&exact);
        assert!((power.value - 1.5).abs() < 1e-12 && power.is_within(1e-9));
        let noisy = exact.iter().map(|(x, list)| (*x, vec![list[0], 2.0 * list[0], 3.0]));
        assert!(!Figure::power(&noisy.collect::<Vec<_>>()).is_within(0.01));
        assert!(Figure::power(&[]).value.is_nan());
    }

    #[test]
    fn only_a_claim_that_fails_is_explained_and_the_explanation_is_judged() {
        let claim =
            |value: f64, support: f64| {
                Claim::new("s", "p")
                    .require("x", Figure::counted(value), Bound::at_least(1.0))
                    .because("the cache", "misses", Figure::counted(support), Bound::at_least(2.0))
            };
        assert_eq!(claim(1.0, 3.0).why(), "");
        let why = claim(0.5, 3.0).why();
        assert_eq!(
            why,
            "why: the cache (measured: misses 3.00, holds from 2.00 on, refuted below)"
        );
        assert!(claim(0.5, 1.0).why().contains("REFUTED"));
        assert!(claim(0.5, f64::NAN).why().contains("not decided"));
        let bare = Claim::new("s", "p").require("x", Figure::counted(0.0), Bound::at_least(1.0));
        assert_eq!(bare.why(), UNEXPLAINED);
        assert_eq!(claim(0.5, 3.0).needs_cores(9, 2).why(), "needs 9 cores, here are 2");
        assert_eq!(claim(0.5, 3.0).needs_cores(9, 2).judged(), Verdict::Fails);
    }

    #[test]
    fn a_claim_says_what_would_refute_it() {
        let claim = Claim::new("it is three times as fast", "3 times (figure 8)")
            .require("times as fast", figure(3.1, 3.0, 3.2), Bound::at_least(3.0).better_from(3.3))
            .at("3 000 boxes");
        assert_eq!(
            claim.criterion(),
            "times as fast: holds from 3.00 on, refuted below, better from 3.30 on"
        );
        assert_eq!(claim.measured(), "times as fast: 3.10 (3.00 to 3.20) [3 000 boxes]");
        let near = Bound::near(1.67, 0.1).to_string();
        assert_eq!(near, "holds from 1.57 to 1.77, refuted outside");
        assert_eq!(Bound::at_most(0.01).to_string(), "holds up to 0.0100, refuted above");
    }
}
