//! [`Command`]: what a client may ask for, as JSON of bounded size.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Bytes of the longest message that is read.
pub(crate) const LONGEST: usize = 4096;

/// A message: a command, and a number that the answer repeats.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    #[serde(default)]
    pub(crate) re: u32,
    #[serde(flatten)]
    pub(crate) command: Command,
}

/// What is asked for. Slots name boxes as frames do.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    Play,
    Pause,
    Step,
    Seek { frame: u64 },
    Speed { steps: f64 },
    Scene { name: String, n: usize, seed: u64, params: BTreeMap<String, f64>, world: bool },
    Algorithm { name: String },
    Compare { name: Option<String> },
    Threads { count: usize },
    Draw { pairs: bool, sketch: bool },
    Throw { min: [f32; 3], max: [f32; 3], velocity: [f32; 3] },
    Remove { slot: u32 },
    Inspect { slot: u32 },
    Ray { origin: [f32; 3], direction: [f32; 3] },
    Nearest { point: [f32; 3], count: usize },
    Record { on: bool },
}

impl Message {
    /// Reads a message.
    pub(crate) fn parse(text: &str) -> Result<Message, String> {
        serde_json::from_str(text).map_err(|error| format!("not understood: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_others_refused_in_words() {
        let message = Message::parse(r#"{"re": 7, "do": "seek", "frame": 12}"#).unwrap();
        assert!(message.re == 7 && matches!(message.command, Command::Seek { frame: 12 }));
        assert!(Message::parse(r#"{"do": "play"}"#).is_ok());
        for text in
            ["", "[]", "{}", r#"{"do":"open","path":"/etc"}"#, r#"{"do":"seek","frame":-1}"#]
        {
            assert!(Message::parse(text).unwrap_err().starts_with("not understood"), "{text}");
        }
        let deep = "[".repeat(LONGEST);
        assert!(Message::parse(&deep).is_err());
    }
}
