//! Names and numbers as they are given on the command line.

use jostle::{Algorithm, Workers};
use jostle_scenes::parse_count;

use crate::support::failure::Failure;

/// Most threads that may be asked for.
const MOST_THREADS: usize = 1024;

/// One algorithm by name; an unknown name gets a suggestion.
pub fn algorithm(name: &str) -> Result<Algorithm, String> {
    name.parse().map_err(|_: jostle::UnknownAlgorithm| {
        unknown("algorithm", name, Algorithm::ALL.iter().map(|algorithm| algorithm.name()))
    })
}

/// Says that a name is not known, what may be meant, and what there is.
pub fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = names.clone().collect::<Vec<&str>>().join(", ");
    match any_of(&similar(name, names)).as_str() {
        "" => format!("no {what} is called {name:?}; there are: {all}"),
        meant => format!("no {what} is called {name:?}; did you mean {meant}? There are: {all}"),
    }
}

/// An algorithm by name, or every one: `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `all`.
    All,
    /// One by its name.
    One(Algorithm),
}

/// One algorithm by name, or `all`.
pub fn algorithm_or_all(name: &str) -> Result<Choice, String> {
    match name {
        "all" => Ok(Choice::All),
        name => algorithm(name).map(Choice::One),
    }
}

/// The algorithms that are meant, each once, and whether each was named.
pub fn chosen(choices: &[Choice]) -> Vec<(Algorithm, bool)> {
    let mut list: Vec<(Algorithm, bool)> = Vec::new();
    let named = choices.iter().filter_map(|choice| match choice {
        Choice::One(algorithm) => Some((*algorithm, true)),
        Choice::All => None,
    });
    let all = choices.contains(&Choice::All);
    let rest = Algorithm::ALL.iter().filter(|_| all).map(|&algorithm| (algorithm, false));
    for (algorithm, by_name) in named.chain(rest) {
        if !list.iter().any(|(known, _)| *known == algorithm) {
            list.push((algorithm, by_name));
        }
    }
    list
}

/// A count of at least one.
pub fn positive(text: &str) -> Result<usize, String> {
    match parse_count(text)? {
        0 => Err("give at least 1".into()),
        number => Ok(number),
    }
}

/// A number of threads; 0 is one for each core.
pub fn threads(text: &str) -> Result<usize, String> {
    let number =
        parse_count(text).map_err(|_| "give a whole number, as 4, or 0 for one for each core")?;
    if number > MOST_THREADS {
        return Err(format!("at most {MOST_THREADS} threads, or 0 for one for each core"));
    }
    Ok(number)
}

/// Starts threads.
pub fn workers(threads: usize) -> Result<Workers, Failure> {
    Ok(Workers::new(threads)?)
}

/// `a`, `a or b`, `a, b or c`.
pub fn any_of(names: &[&str]) -> String {
    match names {
        [front @ .., last] if !front.is_empty() => format!("{} or {last}", front.join(", ")),
        _ => names.concat(),
    }
}

/// The names that may be meant: those that begin with what was given or contain it as a whole
/// word, or else the one with the fewest typing errors, if more is right than wrong.
pub fn similar<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
    let given = name.to_lowercase();
    let part_of = |other: &&str| {
        let mut words = other.split(['-', '_']);
        other.starts_with(&given) || words.any(|word| word == given)
    };
    let found: Vec<&str> = names.clone().filter(part_of).collect();
    if !found.is_empty() && !given.is_empty() {
        return found;
    }
    let errors = |other: &str| strsim::damerau_levenshtein(&given, other);
    let nearest = names.min_by_key(|other| errors(other));
    nearest.into_iter().filter(|other| errors(other) * 2 < other.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_abbreviated() {
        assert_eq!(parse_count("100_000"), Ok(100_000));
        assert_eq!(parse_count("100k"), Ok(100_000));
        assert_eq!(parse_count("2M"), Ok(2_000_000));
        assert!(parse_count("99999999999999999m").is_err());
        assert!(parse_count("ten").is_err());
        assert!(parse_count("-1").is_err());
        assert!(positive("0").is_err());
    }

    #[test]
    fn parts_of_names_are_suggested_before_typing_errors() {
        let meant = |name: &str| similar(name, Algorithm::ALL.iter().map(|known| known.name()));
        assert_eq!(meant("segmented"), ["segmented-sap", "grid-segmented-sap"]);
        assert!(meant("grid").iter().all(|name| name.contains("grid")) && meant("grid").len() > 2);
        assert_eq!(meant("sort-swep"), ["sort-sweep"]);
        assert_eq!(meant("BVH"), ["bvh"]);
        assert_eq!(meant("bhv"), ["bvh"]);
        assert!(meant("").is_empty() && meant("foo").is_empty() && meant("quadtrees").len() < 2);
    }

    #[test]
    fn all_adds_what_was_not_named() {
        let list = chosen(&[Choice::One(Algorithm::SortSweep), Choice::All]);
        assert_eq!(list[0], (Algorithm::SortSweep, true));
        assert_eq!(list.len(), Algorithm::ALL.len());
        assert_eq!(chosen(&[Choice::One(Algorithm::Auto); 2]).len(), 1);
    }
}
