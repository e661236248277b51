//! Runs the built command and keeps its files in a folder of their own.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

/// A folder, and the command run in it.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Names of all files, hidden ones too.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        assert_cmd::cargo::cargo_bin_cmd!("jostle")
            .current_dir(self.folder.path())
            .args(args)
            .output()
            .unwrap()
    }

    /// What it prints; it must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// One object per line.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let text = self.ok(args);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What it says on stderr; it must fail with `code` and without a panic.
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked at"), "{args:?}: {stderr}");
        stderr
    }
}

/// The keys of an object in their order.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The folder of shared data, if it is there; tests say so when they skip.
pub(crate) fn shared_data() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("JOSTLE_DATA").map_or(default, PathBuf::from);
    folder.join("expected.json").is_file().then_some(folder)
}
