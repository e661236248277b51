//! Every example runs, and its own assertions hold.

#[path = "../examples/cradle.rs"]
mod cradle;
#[path = "../examples/events.rs"]
mod events;
#[path = "../examples/flat.rs"]
mod flat;
#[path = "../examples/newton.rs"]
mod newton;
#[path = "../examples/pairs.rs"]
mod pairs;
#[path = "../examples/particles.rs"]
mod particles;
#[path = "../examples/pick.rs"]
mod pick;
#[path = "../examples/robot.rs"]
mod robot;
#[path = "../examples/rollback.rs"]
mod rollback;
#[path = "../examples/stack.rs"]
mod stack;
#[path = "../examples/terrain.rs"]
mod terrain;
#[path = "../examples/threads.rs"]
mod threads;
#[path = "../examples/volumes.rs"]
mod volumes;

#[test]
fn pairs_runs() {
    pairs::main().unwrap();
}

#[test]
fn events_runs() {
    events::main().unwrap();
}

#[test]
fn particles_runs() {
    particles::main().unwrap();
}

#[test]
fn pick_runs() {
    pick::main().unwrap();
}

#[test]
fn robot_runs() {
    robot::main().unwrap();
}

#[test]
fn stack_runs() {
    stack::main().unwrap();
}

#[test]
fn cradle_runs() {
    cradle::main().unwrap();
}

#[test]
fn newton_runs() {
    newton::main().unwrap();
}

#[test]
fn flat_runs() {
    flat::main().unwrap();
}

#[test]
fn terrain_runs() {
    terrain::main().unwrap();
}

#[test]
fn threads_runs() {
    threads::main().unwrap();
}

#[test]
fn rollback_runs() {
    rollback::main().unwrap();
}

#[test]
fn volumes_runs() {
    volumes::main().unwrap();
}

/// A file that is added to the examples must be added here too.
#[test]
fn no_example_is_left_out() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let this = include_str!("examples.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(this.contains(&format!("../examples/{name}")), "{name} is not run here");
    }
}
