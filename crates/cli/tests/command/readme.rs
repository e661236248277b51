//! Every `jostle` command in the README works as it stands there.

use std::path::Path;

use assert_cmd::Command;

#[test]
fn the_readme_commands_work() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let commands = shell_commands(&text);
    assert!(commands.len() >= 8, "the README shows only {} commands", commands.len());
    let folder = tempfile::tempdir().unwrap();
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let mut run = Command::new(assert_cmd::cargo::cargo_bin!("jostle"));
        let output = run.args(&words).current_dir(folder.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
    }
    for made in ["world.npy", "speed.svg", "results"] {
        assert!(folder.path().join(made).exists(), "{made} was not made");
    }
}

/// The lines of `sh` blocks that call `jostle`.
fn shell_commands(text: &str) -> Vec<&str> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.flat_map(str::lines).filter(|line| line.starts_with("jostle ")).collect()
}
