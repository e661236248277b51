//! Prints the narrow phase's speed beside parry3d-f64's and beside its own cold starts.
//!
//! Words on the command line narrow it down: `parry` or `coherent` for one of the tables, and parts
//! of the names of kinds, as in `narrow coherent hulls-42 boxes`.

use jostle_bench::narrow::{KINDS, against_parry, coherent, table};

fn main() {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |words: &[String], name: &str| words.iter().any(|word| word == name);
    let both = !wanted(&words, "parry") && !wanted(&words, "coherent");
    let (parry, warm) = (both || wanted(&words, "parry"), both || wanted(&words, "coherent"));
    words.retain(|word| word != "parry" && word != "coherent");
    let chosen = |kind: &&str| words.is_empty() || words.iter().any(|word| kind.contains(word));
    let kinds: Vec<&str> = KINDS.into_iter().filter(chosen).collect();
    if parry {
        println!("against parry3d-f64\n{}", table(&against_parry(&kinds, 1000, 21)));
    }
    if warm {
        for speed in [0.01, 0.001] {
            let rows = coherent(&kinds, speed, 40, 60, 9);
            println!("caches against cold starts, {speed} of the size a frame\n{}", table(&rows));
        }
    }
}
