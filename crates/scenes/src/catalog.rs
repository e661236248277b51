//! The list of scenes with their parameters, and the errors for names and values not in it.

use std::fmt;

/// A parameter of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParamInfo {
    /// Its name.
    pub name: &'static str,
    /// The value used when none is given.
    pub default: f64,
    /// The smallest allowed value.
    pub min: f64,
    /// The largest allowed value.
    pub max: f64,
    /// Names for the whole values from 0 on, for a parameter that is a choice; else empty.
    pub choices: &'static [&'static str],
    /// What it does.
    pub about: &'static str,
}

/// A scene that can be built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneInfo {
    /// Its name on the command line and in [`Scene::new`](crate::Scene::new).
    pub name: &'static str,
    /// What moves in it, in one sentence.
    pub about: &'static str,
    /// Its parameters.
    pub params: &'static [ParamInfo],
}

const fn param(
    name: &'static str,
    default: f64,
    (min, max): (f64, f64),
    about: &'static str,
) -> ParamInfo {
    ParamInfo { name, default, min, max, choices: &[], about }
}

const DENSITY: ParamInfo =
    param("density", 0.05, (1e-9, 4.0), "sum of the boxes' volumes over the world's volume");
const SPREAD: ParamInfo =
    param("spread", 0.5, (0.0, 0.99), "sides lie between 1 - spread and 1 + spread mean widths");
const SPEED: ParamInfo = param("speed", 0.1, (0.0, 1e3), "distance per frame in mean widths");
const MOVING: ParamInfo = param("moving", 0.1, (0.0, 1.0), "share of the boxes that move");

/// The kinds of `worst`, in the order of their numbers.
pub(crate) const WORST_KINDS: &[&str] =
    &["mixed", "sheets", "giant", "points", "teleports", "flat", "needles", "extremes"];

pub(crate) const SCENES: &[SceneInfo] = &[
    SceneInfo {
        name: "uniform",
        about: "boxes fly through each other in a cube and bounce off its walls",
        params: &[DENSITY, SPREAD, SPEED],
    },
    SceneInfo {
        name: "tenth",
        about: "as uniform, but only a tenth of the boxes moves",
        params: &[DENSITY, SPREAD, SPEED, MOVING],
    },
    SceneInfo { name: "still", about: "as uniform, but nothing moves", params: &[DENSITY, SPREAD] },
    SceneInfo {
        name: "sizes",
        about: "cubes whose sides spread evenly over three decades",
        params: &[
            DENSITY,
            param("decades", 3.0, (0.0, 6.0), "the largest side is 10^decades times the smallest"),
            param("speed", 0.1, (0.0, 1e3), "distance per frame in the box's own widths"),
        ],
    },
    SceneInfo {
        name: "ball",
        about: "boxes rush to the centre of a ball, bounce off each other and scatter",
        params: &[
            param("density", 0.05, (1e-9, 1.0), "sum of the boxes' volumes over the ball's volume"),
            param("spread", 0.25, (0.0, 0.9), SPREAD.about),
            param("arrival", 100.0, (2.0, 1e6), "frame at which unhindered boxes meet"),
        ],
    },
    SceneInfo {
        name: "plane",
        about: "equal cubes on a grid pass through one plane at once, just missing each other",
        params: &[
            param("fill", 0.98, (0.01, 4.0), "side in grid spacings; neighbours collide above 1"),
            param("frames", 500.0, (2.0, 1e6), "frames of one passage; the plane is met halfway"),
            ParamInfo {
                choices: &["x", "y", "z"],
                ..param("axis", 0.0, (0.0, 2.0), "axis across the plane")
            },
        ],
    },
    SceneInfo {
        name: "campbell",
        about: "cubes as rigid bodies in a bounded world, most of them static",
        params: &[
            param("static_share", 0.9, (0.0, 1.0), "share of the cubes that never move"),
            param("speed", 0.1, (0.0, 1e3), "distance per frame in cube widths"),
            ParamInfo {
                choices: &["off", "on"],
                ..param("rotate", 0.0, (0.0, 1.0), "cubes turn, boxes are rebuilt each frame")
            },
            param("spin", 0.05, (0.0, 1.0), "turn per frame in radians, with rotate"),
            param(
                "bounds",
                25.0,
                (4.0, 1e5),
                "world's side in cube widths; grows above 1024 cubes",
            ),
        ],
    },
    SceneInfo {
        name: "churn",
        about: "some boxes move, some are removed and some inserted on every frame",
        params: &[
            DENSITY,
            SPREAD,
            SPEED,
            MOVING,
            param("inserts", 0.005, (0.0, 1.0), "inserts per frame as a share of n"),
            param("removes", 0.005, (0.0, 1.0), "removes per frame as a share of n"),
        ],
    },
    SceneInfo {
        name: "city",
        about: "a flat town of buildings, ground tiles and piled crates with a little traffic",
        params: &[
            param("moving", 0.05, (0.0, 1.0), "share of the boxes that are vehicles"),
            param("speed", 0.5, (0.0, 1e3), "metres per frame of the fastest vehicle"),
        ],
    },
    SceneInfo {
        name: "worst",
        about: "hostile boxes: sheets, a giant, identical points, teleports and extreme numbers",
        params: &[ParamInfo {
            choices: WORST_KINDS,
            ..param(
                "kind",
                0.0,
                (0.0, 7.0),
                "which hostility; mixed gives each a share of the boxes",
            )
        }],
    },
];

/// Why a scene could not be built.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneError {
    /// There is no scene of this name.
    UnknownScene {
        /// The name given.
        name: String,
    },
    /// The scene has no parameter of this name.
    UnknownParam {
        /// The scene.
        scene: &'static SceneInfo,
        /// The name given.
        name: String,
    },
    /// The value lies outside the parameter's range, or is not a number.
    OutOfRange {
        /// The scene's name.
        scene: &'static str,
        /// The parameter.
        param: &'static ParamInfo,
        /// The value given.
        value: f64,
    },
    /// The text is neither a number nor one of the parameter's choices.
    UnknownChoice {
        /// The scene's name.
        scene: &'static str,
        /// The parameter.
        param: &'static ParamInfo,
        /// The text given.
        text: String,
    },
    /// The text is not of the form `name=value`.
    NotAParam {
        /// The text given.
        text: String,
    },
    /// More boxes than [`MAX_BOXES`](crate::MAX_BOXES).
    TooMany {
        /// The number asked for.
        n: usize,
    },
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SceneError::UnknownScene { name } => {
                let known: Vec<_> = SCENES.iter().map(|scene| scene.name).collect();
                write!(f, "there is no scene '{name}'")?;
                suggest(f, name, &known, "The scenes are")
            }
            SceneError::UnknownParam { scene, name } => {
                let known: Vec<_> = scene.params.iter().map(|param| param.name).collect();
                write!(f, "scene '{}' has no parameter '{name}'", scene.name)?;
                suggest(f, name, &known, "It has")
            }
            SceneError::OutOfRange { scene, param, value } => {
                let ParamInfo { name, min, max, .. } = param;
                let whole = if param.choices.is_empty() { "" } else { "a whole number " };
                write!(
                    f,
                    "scene '{scene}': {name} = {value} is not allowed; \
                     give {whole}from {min} to {max}"
                )
            }
            SceneError::UnknownChoice { scene, param, text } => {
                let name = param.name;
                if param.choices.is_empty() {
                    let ParamInfo { min, max, .. } = param;
                    return write!(
                        f,
                        "scene '{scene}': {name} = '{text}' is not a number; \
                         give one from {min} to {max}"
                    );
                }
                write!(f, "scene '{scene}': {name} = '{text}' is not known")?;
                suggest(f, text, param.choices, "Give one of")
            }
            SceneError::NotAParam { text } => {
                write!(f, "'{text}' is not a parameter; write name=value, such as density=0.05")
            }
            SceneError::TooMany { n } => {
                write!(f, "{n} boxes are too many; a scene holds at most {}", crate::MAX_BOXES)
            }
        }
    }
}

impl std::error::Error for SceneError {}

/// Ends a message with the nearest known name, if one is near, and with all of them. `all` is the
/// beginning of the sentence that lists them.
fn suggest(f: &mut fmt::Formatter<'_>, name: &str, known: &[&str], all: &str) -> fmt::Result {
    let nearest = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(&name.to_lowercase(), known), known))
        .min_by_key(|&(distance, _)| distance);
    if let Some((distance, nearest)) = nearest
        && distance <= 1 + nearest.len() / 3
    {
        write!(f, "; did you mean '{nearest}'?")?;
    } else {
        write!(f, ".")?;
    }
    write!(f, " {all} {}", known.join(", "))
}

/// The scene of a name.
pub(crate) fn find_scene(name: &str) -> Result<&'static SceneInfo, SceneError> {
    let found = SCENES.iter().find(|scene| scene.name == name);
    found.ok_or_else(|| SceneError::UnknownScene { name: name.to_owned() })
}

impl SceneInfo {
    pub(crate) fn find_param(&'static self, name: &str) -> Result<&'static ParamInfo, SceneError> {
        let found = self.params.iter().find(|param| param.name == name);
        found.ok_or_else(|| SceneError::UnknownParam { scene: self, name: name.to_owned() })
    }
}

impl ParamInfo {
    /// Reads a value: a number, or one of the choices' names.
    pub(crate) fn parse(&'static self, scene: &'static str, text: &str) -> Result<f64, SceneError> {
        if let Some(at) = self.choices.iter().position(|&choice| choice == text) {
            return Ok(at as f64);
        }
        let unknown = || SceneError::UnknownChoice { scene, param: self, text: text.to_owned() };
        let value = text.parse().map_err(|_| unknown())?;
        self.check(scene, value)
    }

    pub(crate) fn check(&'static self, scene: &'static str, value: f64) -> Result<f64, SceneError> {
        let whole = self.choices.is_empty() || value.fract() == 0.0;
        // NaN lies in no range.
        if (self.min..=self.max).contains(&value) && whole {
            return Ok(value);
        }
        Err(SceneError::OutOfRange { scene, param: self, value })
    }
}

/// The values in force for one scene: the given ones, else the defaults.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Values {
    pub(crate) info: &'static SceneInfo,
    values: Vec<f64>,
}

impl Values {
    pub(crate) fn new(
        info: &'static SceneInfo,
        given: &[(&str, f64)],
    ) -> Result<Values, SceneError> {
        let mut values: Vec<f64> = info.params.iter().map(|param| param.default).collect();
        for &(name, value) in given {
            let param = info.find_param(name)?;
            let at = info.params.iter().position(|p| p.name == name).unwrap_or_default();
            values[at] = param.check(info.name, value)?;
        }
        Ok(Values { info, values })
    }

    pub(crate) fn find(&self, name: &str) -> Option<f64> {
        let at = self.info.params.iter().position(|param| param.name == name)?;
        Some(self.values[at])
    }

    /// The value of a parameter, or `other` for a scene without it.
    pub(crate) fn get_or(&self, name: &str, other: f64) -> f64 {
        self.find(name).unwrap_or(other)
    }
}

/// Reads a count as people write it: `100000`, `100_000`, `100k` or `2m`.
///
/// ```
/// assert_eq!(jostle_scenes::parse_count("100k"), Ok(100_000));
/// assert!(jostle_scenes::parse_count("ten").is_err());
/// ```
pub fn parse_count(text: &str) -> Result<usize, String> {
    let plain = text.replace('_', "").to_lowercase();
    let (digits, unit) = match plain.strip_suffix(['k', 'm']) {
        Some(digits) => (digits, if plain.ends_with('k') { 1_000 } else { 1_000_000 }),
        None => (plain.as_str(), 1),
    };
    let number: usize = digits.parse().map_err(|_| "give a whole number, as 100000 or 100k")?;
    number.checked_mul(unit).ok_or_else(|| "the number is too large".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_in_their_ranges_and_names_are_distinct() {
        for (i, scene) in SCENES.iter().enumerate() {
            assert!(SCENES[..i].iter().all(|other| other.name != scene.name));
            for (j, param) in scene.params.iter().enumerate() {
                assert_eq!(param.check(scene.name, param.default), Ok(param.default));
                assert!(scene.params[..j].iter().all(|other| other.name != param.name));
                let choices = param.choices.len() as f64;
                assert!(param.choices.is_empty() || param.max == choices - 1.0);
            }
        }
    }

    #[test]
    fn errors_suggest_the_nearest_name_and_state_the_range() {
        let text = find_scene("unifrom").unwrap_err().to_string();
        assert!(text.contains("did you mean 'uniform'?") && text.contains("city"), "{text}");
        let uniform = find_scene("uniform").unwrap();
        let text = uniform.find_param("densty").unwrap_err().to_string();
        assert!(text.contains("'density'") && text.contains("spread"), "{text}");
        let text = Values::new(uniform, &[("density", -1.0)]).unwrap_err().to_string();
        assert!(text.contains("density = -1") && text.contains("to 4"), "{text}");
        assert!(Values::new(uniform, &[("density", f64::NAN)]).is_err());
        let text = find_scene("zzzzzzzzzzzzzzz").unwrap_err().to_string();
        assert!(!text.contains("did you mean"), "{text}");
    }

    #[test]
    fn choices_are_read_by_name_and_by_number() {
        let kind = find_scene("worst").unwrap().find_param("kind").unwrap();
        assert_eq!(kind.parse("worst", "giant"), Ok(2.0));
        assert_eq!(kind.parse("worst", "2"), Ok(2.0));
        assert!(kind.parse("worst", "1.5").unwrap_err().to_string().contains("whole number"));
        assert!(kind.parse("worst", "gaint").unwrap_err().to_string().contains("'giant'"));
    }
}
