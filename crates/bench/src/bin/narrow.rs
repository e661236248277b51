//! Prints the narrow phase's speed beside parry3d-f64's and beside its own cold starts.

use jostle_bench::narrow::{KINDS, against_parry, coherent, table};

fn main() {
    let wish: Vec<String> = std::env::args().skip(1).collect();
    let kinds: Vec<&str> = KINDS
        .into_iter()
        .filter(|kind| wish.is_empty() || wish.iter().any(|w| kind.contains(w)))
        .collect();
    println!("against parry3d-f64\n{}", table(&against_parry(&kinds, 1000, 21)));
    println!("caches against cold starts\n{}", table(&coherent(&kinds, 40, 60, 9)));
}
