//! The fate of each call, as its client knows it.

use std::collections::HashMap;

use serde_json::Value;

/// What a client knows of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Fate {
    /// No answer: it may be stored or not.
    #[default]
    Open,
    /// Acknowledged.
    Done,
    /// Refused, in these words.
    Failed(String),
    /// Refused because a sync had failed: it may be stored or not.
    Unsure,
}

/// Reads a whole line as the fate of a call.
pub fn read(line: &[u8]) -> (usize, Fate) {
    let reply: Value = serde_json::from_slice(line)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(line)));
    let id = reply["id"].as_u64().unwrap_or_else(|| panic!("no id: {reply}"));
    let envelope = &reply["result"]["structuredContent"];
    let done = envelope["ok"] == true && envelope["data"]["ok"] != false;
    let fate = match failure(&reply) {
        _ if done => Fate::Done,
        // It was in the log when the sync failed, or could not be tried; the next start may find it there.
        why if why.starts_with("STORE_COMMIT_FAILED: log sync: ") => Fate::Unsure,
        why => Fate::Failed(why),
    };
    (usize::try_from(id).expect("a place in the script"), fate)
}

fn failure(reply: &Value) -> String {
    let envelope = &reply["result"]["structuredContent"];
    let messages =
        [&envelope["error"]["message"], &envelope["data"]["error"]["message"], &reply["error"]["message"]];
    messages.iter().find_map(|message| message.as_str()).unwrap_or("no reason").to_owned()
}

/// A stream of replies that was recorded in pieces, by process.
#[derive(Debug, Default)]
pub struct Streams(HashMap<u32, Vec<u8>>);

impl Streams {
    /// The calls that this piece answers. A line that never ends answers none.
    pub fn add(&mut self, process: u32, piece: &[u8]) -> Vec<(usize, Fate)> {
        let rest = self.0.entry(process).or_default();
        rest.extend_from_slice(piece);
        let mut fates = Vec::new();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            fates.push(read(&rest[..end]));
            rest.drain(..=end);
        }
        fates
    }
}
