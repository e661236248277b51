//! Checks that the library's rooms do not import each other in a circle, and prints the circle
//! if they do. `--list` prints every room with its imports.

use std::path::Path;
use std::process::ExitCode;

use jostle_testkit::rooms::Rooms;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../jostle/src");
    let src = arguments.iter().find(|word| !word.starts_with("--")).map_or(default, |word| word);
    let rooms = match Rooms::read(Path::new(src)) {
        Ok(rooms) => rooms,
        Err(error) => {
            eprintln!("rooms: cannot read the sources in {src}: {error}");
            return ExitCode::from(2);
        }
    };
    if arguments.iter().any(|word| word == "--list") {
        for (room, imports) in rooms.iter() {
            println!("{room}: {}", imports.collect::<Vec<_>>().join(" "));
        }
    }
    let Some(cycle) = rooms.cycle() else {
        println!("{} rooms, no cycle of imports", rooms.iter().count());
        return ExitCode::SUCCESS;
    };
    eprintln!("rooms import each other in a circle:");
    for import in cycle {
        eprintln!("  {} imports {} in {}", import.from, import.to, import.file.display());
    }
    ExitCode::FAILURE
}
