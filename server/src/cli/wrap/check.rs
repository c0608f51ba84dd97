//! `colibri wrap --check`: what would be pinned of a server, or how it differs from what is. The database is only read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::Stdio;

use colibri_visible::printable;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::Failure;
use crate::cli::arguments::wrap::Wrap;
use crate::cli::database::{Role, open_and_tell, place_of};
use crate::cli::output::print_json;
use crate::cli::pins::diff::{Told, print_findings, told};
use crate::relay::check::{list_tools, stopped};
use crate::relay::{child, stored_pin};
use crate::settings::environment::Environment;
use crate::wrap::findings::{Comparison, Meaning};
use crate::wrap::list::Tool;
use crate::wrap::name::Name;
use crate::wrap::pin::{Difference, Pin, SeenList, short};
use crate::wrap::policy::Policy;
use crate::wrap::watch::{PinMode, Watch};

/// What was found, as JSON.
#[derive(Serialize)]
struct Checked<'a> {
    name: &'a str,
    pinned: bool,
    pinned_at: Option<&'a str>,
    list_hash: &'a str,
    tools: Vec<Listed<'a>>,
    unclear: &'a [String],
    changed: &'a [String],
    new: &'a [String],
    gone: &'a [String],
    findings: Vec<Told<'a>>,
}

/// A tool as JSON.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    entry_hash: &'a str,
    hints: Map<String, Value>,
    admitted: bool,
}

/// Lists the server's tools and prints what they are; [`Failure::Finding`] if they differ from the pin, or show signs of an attack.
pub(super) fn run(
    arguments: &Wrap,
    (name, policy): (&Name, Policy),
    env: &Environment,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let pin = pin(arguments, name, env)?;
    let seen = list(arguments, name, env)?;
    let meaning = Comparison::new(name.clone(), pin.clone(), seen.clone()).meaning();
    let check = Check { name, policy, pin, seen, meaning };
    if arguments.json {
        check.print_json(out)?;
    } else {
        check.print(out)?;
    }
    out.flush()?;
    if check.differs() || check.shows_signs() || check.is_unclear() { Err(Failure::Finding) } else { Ok(()) }
}

/// A server's tools beside what is pinned.
struct Check<'a> {
    name: &'a Name,
    policy: Policy,
    pin: Option<Pin>,
    seen: SeenList,
    meaning: Meaning,
}

impl Check<'_> {
    fn difference(&self) -> Difference {
        self.pin.as_ref().map(|pin| pin.difference(&self.seen)).unwrap_or_default()
    }

    fn differs(&self) -> bool {
        !self.difference().is_none()
    }

    /// Whether something in the list bears on security.
    fn shows_signs(&self) -> bool {
        self.meaning.findings.iter().any(|finding| finding.security)
    }

    /// Whether there are entries that cannot be pinned.
    fn is_unclear(&self) -> bool {
        !self.seen.list.doubtful.is_empty() || self.seen.list.nameless > 0
    }

    /// Returns the tools in the order of the list, and whether a run with these options admits them.
    fn tools(&self) -> impl Iterator<Item = (&str, &Tool, bool)> {
        let list = &self.seen.list;
        list.order.iter().filter_map(|name| {
            let tool = list.tools.get(name)?;
            let pinned = self.pin.as_ref().and_then(|pin| pin.tools.get(name));
            let reads = tool.read_only && pinned.is_none_or(|pinned| pinned.read_only);
            let admitted = self.policy.admits(name) && (reads || !self.policy.is_read_only());
            Some((name.as_str(), tool, admitted))
        })
    }

    fn print_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let (difference, hash) = (self.difference(), self.seen.hash());
        let listed = self.tools().map(|(name, tool, admitted)| Listed {
            name,
            entry_hash: tool.hash.as_str(),
            hints: hints(tool),
            admitted,
        });
        let checked = Checked {
            name: self.name.as_str(),
            pinned: self.pin.is_some(),
            pinned_at: self.pin.as_ref().map(|pin| pin.since.as_str()),
            list_hash: hash.as_str(),
            tools: listed.collect(),
            unclear: &self.seen.list.doubtful,
            changed: &difference.changed,
            new: &difference.new,
            gone: &difference.gone,
            findings: self.meaning.findings.iter().map(told).collect(),
        };
        print_json(out, &checked)
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let (name, list, hash) = (self.name, &self.seen.list, self.seen.hash());
        let count = list.tools.len();
        let noun = if count == 1 { "tool" } else { "tools" };
        writeln!(out, "{name}: {count} {noun}, list {}", short(&hash))?;
        for (tool_name, tool, admitted) in self.tools() {
            let away = if admitted { "" } else { "; not admitted" };
            writeln!(out, "  {:30}  {}{away}", printable(tool_name), words(&hints(tool)))?;
        }
        for doubtful in &list.doubtful {
            let why = "listed twice, or without one form: cannot be pinned";
            writeln!(out, "  {:30}  {why}", printable(doubtful))?;
        }
        if list.nameless > 0 {
            writeln!(out, "  entries without a name: {}", list.nameless)?;
        }
        print_findings(&self.meaning, out)?;
        match &self.pin {
            None => {
                writeln!(out, "Not pinned yet: the first start with --name {name} pins this list.")?;
                if self.shows_signs() {
                    let cure =
                        "Read what bears on security: until the list is pinned, it ends the check with 1.";
                    writeln!(out, "{cure}")?;
                }
                Ok(())
            }
            Some(pin) if self.differs() => writeln!(
                out,
                "Differs from what was pinned at {}. The next start records it; then: colibri pins diff {name}",
                printable(&pin.since)
            ),
            Some(pin) => writeln!(out, "As pinned at {}.", printable(&pin.since)),
        }
    }
}

/// Reads the pin, if there is a database with one.
fn pin(arguments: &Wrap, name: &Name, env: &Environment) -> Result<Option<Pin>, Failure> {
    let (place, sharing) = place_of(env, arguments.db.as_deref())?;
    // The first start makes the file.
    if place.file().is_some_and(|file| !file.exists()) {
        return Ok(None);
    }
    let db = open_and_tell(&place, &sharing, Role::Database)?;
    stored_pin(&db, name.as_str())
        .map_err(|reason| Failure::Failed(format!("the pin cannot be read: {reason}")))
}

/// Starts the server, and returns what it lists.
fn list(arguments: &Wrap, name: &Name, env: &Environment) -> Result<SeenList, Failure> {
    let kept: Vec<OsString> = arguments.keep_env.iter().map(OsString::from).collect();
    let start =
        || child::start(&arguments.command, env.for_another(super::OWN_VARIABLES, &kept), Stdio::inherit());
    let mut watch = Watch::new(name.clone(), PinMode::Warn, Policy::default(), None);
    let runtime = super::runtime()?;
    runtime.block_on(async {
        tokio::select! {
            listed = list_tools(start, &mut watch) => {
                listed.map_err(|why| Failure::Failed(format!("the server {name} {why}")))
            }
            // What is dropped with the other branch ends the server.
            () = stopped() => Err(Failure::Interrupted(None)),
        }
    })
}

/// Returns the hints of a tool that are true or false.
fn hints(tool: &Tool) -> Map<String, Value> {
    let entry: BTreeMap<String, Value> = serde_json::from_str(&tool.text).unwrap_or_default();
    let given = entry.get("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    given.into_iter().filter(|(name, value)| name.ends_with("Hint") && value.is_boolean()).collect()
}

/// Returns hints in words. Of a tool that only reads the protocol gives two of them no meaning.
fn words(hints: &Map<String, Value>) -> String {
    const WORDS: [(&str, &str, &str); 4] = [
        ("readOnlyHint", "reads", "writes"),
        ("destructiveHint", "destroys", "only adds"),
        ("idempotentHint", "repeatable", "not repeatable"),
        ("openWorldHint", "open world", "closed world"),
    ];
    let reads = hints.get("readOnlyHint") == Some(&Value::Bool(true));
    let said = WORDS
        .into_iter()
        .filter(|(hint, ..)| !reads || !matches!(*hint, "destructiveHint" | "idempotentHint"));
    let said = said.filter_map(|(hint, yes, no)| {
        hints.get(hint).and_then(Value::as_bool).map(|value| if value { yes } else { no })
    });
    let said: Vec<&str> = said.collect();
    if said.is_empty() { "no hints".to_owned() } else { said.join(", ") }
}
