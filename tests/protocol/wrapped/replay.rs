//! The recorded versions of public servers, one start of the server after the other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::place::{Place, tools};
use super::{ERAS, Setup};
use crate::wrap::history::{history, versions};

/// A recorded version: the instructions, null without, and the tools.
struct Version {
    instructions: Value,
    tools: Vec<Value>,
}

impl Version {
    fn read(path: &Path) -> Self {
        let recorded: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let greeting = &recorded["initialize"];
        let greeting = greeting.get("result").unwrap_or(greeting);
        let tools = recorded["tools"].as_array().unwrap().clone();
        Self { instructions: greeting["instructions"].clone(), tools }
    }
}

/// The tools of a server's newest recorded version.
pub fn newest(server: &str) -> Vec<Value> {
    Version::read(versions(&history().join(server)).last().unwrap()).tools
}

/// What was seen first, and what was accepted over it.
#[derive(Default)]
struct Accepted {
    tools: BTreeMap<String, Value>,
    instructions: Value,
    begun: bool,
}

impl Accepted {
    /// Why a call of the tool is refused.
    fn refuses(&self, name: &str, present: &[Value]) -> Option<&'static str> {
        let listed = present.iter().find(|tool| tool["name"] == name);
        match (self.tools.get(name), listed) {
            (None, _) => Some("WRAP_TOOL_NEW"),
            (Some(pinned), Some(listed)) if pinned != listed => Some("WRAP_TOOL_CHANGED"),
            _ => None,
        }
    }

    fn holds_instructions(&self, version: &Version) -> bool {
        version.instructions.is_null() || version.instructions == self.instructions
    }

    fn lay(&mut self, version: Version) {
        let named = version.tools.into_iter().map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool));
        self.tools.extend(named);
        if !version.instructions.is_null() {
            self.instructions = version.instructions;
        }
        self.begun = true;
    }
}

/// Starts each version of a server behind `wrap --pin refuse`, looks at what a client reads and may call, and accepts the list. Returns how
/// many tools were withheld.
fn replay(folder: &Path) -> usize {
    let place = Place::new();
    let (mut accepted, mut events, mut withheld) = (Accepted::default(), Vec::new(), 0);
    for (path, era) in versions(folder).iter().zip(ERAS.into_iter().cycle()) {
        let (version, shown) = (Version::read(path), path.file_stem().unwrap().display());
        place.gives(&json!([{ "tools": version.tools, "instructions": version.instructions }]).to_string());
        let setup = Setup::new(era).with(&["--pin", "refuse"]).env("COLIBRI_DURABILITY", "normal");
        let (mut wrap, greeting) = place.greeted(setup);
        let greeting: Value = serde_json::from_str(&greeting).unwrap();
        let line = wrap.list("list");
        if !accepted.begun {
            accepted.lay(Version::read(path));
            events.push("pinned");
        }
        let as_pinned = accepted.holds_instructions(&version);
        let instructions = greeting["result"].get("instructions");
        assert_eq!(instructions, as_pinned.then_some(&version.instructions), "{shown}");
        let keeps =
            |tool: &&Value| accepted.refuses(tool["name"].as_str().unwrap(), &version.tools).is_none();
        let expected: Vec<Value> = version.tools.iter().filter(keeps).cloned().collect();
        assert!(tools(&line) == expected, "{shown}: {} tools", expected.len());
        let present = version.tools.iter().map(|tool| tool["name"].as_str().unwrap());
        let mut all: Vec<&str> = accepted.tools.keys().map(String::as_str).chain(present).collect();
        all.sort_unstable();
        all.dedup();
        for name in all {
            let id = format!("{shown} {name}");
            match accepted.refuses(name, &version.tools) {
                Some(code) => drop(wrap.refused(&id, name, code)),
                None => wrap.passes(&id, name),
            }
        }
        let ended = wrap.end();
        withheld += version.tools.len() - expected.len();
        let differs = expected.len() < version.tools.len() || !as_pinned;
        assert_eq!(ended.stderr.contains("; look: colibri pins diff"), differs, "{shown}: {}", ended.stderr);
        if differs {
            place.run(&["pins", "accept", "odd"]).ends(0);
            events.extend(["seen", "accepted"]);
            accepted.lay(version);
        }
        assert_eq!(place.events(), events, "{shown}");
    }
    place.run(&["pins"]).ends(0).says("as pinned");
    place.run(&["verify"]).ends(0);
    withheld
}

#[test]
fn wrap_47_refuse_withholds_exactly_what_each_version_of_twelve_servers_changed() {
    let folders: Vec<_> = fs::read_dir(history()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let folders: Vec<_> = folders.into_iter().filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), 12);
    let withheld: usize = std::thread::scope(|scope| {
        let replays: Vec<_> = folders.iter().map(|folder| scope.spawn(|| replay(folder))).collect();
        replays.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert!(withheld > 100, "{withheld}");
}
