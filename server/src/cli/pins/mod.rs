//! `colibri pins`: which tools of wrapped servers are pinned, how another list differs, and accepting it (wrap#pins).

pub(super) mod diff;
mod stored;

use std::io::{self, Write};

use colibri_runtime::progress::Progress;
use colibri_visible::printable;
use serde::Serialize;
use serde_json::json;

use self::stored::{Noted, Pinned, all, choose, one};
use super::Failure;
use super::arguments::pins::{Accept, Command, Pins};
use super::database::{on_database, open_for_reading};
use super::operator;
use super::output::print_json;
use crate::catalogue::ToolId;
use crate::settings::environment::Environment;

/// Runs one of the commands.
pub fn run(arguments: &Pins, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    match &arguments.command {
        None => list(arguments, env, out),
        Some(Command::Diff(asked)) => diff::run(asked, env, out),
        Some(Command::Accept(asked)) => accept(asked, env, out),
    }
}

/// A pin, as the list shows it.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    tools: usize,
    pinned_at: &'a str,
    /// Since when the server has another list, the newest that waits; null if none does.
    another_since: Option<&'a str>,
    changed: usize,
    new: usize,
    /// The hashes of the lists that wait, the one that was seen last at the end.
    waiting: Vec<&'a str>,
    /// Those of the lists that were never accepted and that the server has left since.
    left: Vec<&'a str>,
}

fn hashes(lists: &[Noted]) -> Vec<&str> {
    lists.iter().map(|list| list.list_hash.as_str()).collect()
}

fn row(pinned: &Pinned) -> Row<'_> {
    let newest = pinned.waiting.last();
    let difference = newest.map(|list| pinned.pin.difference(&list.seen)).unwrap_or_default();
    Row {
        name: &pinned.name,
        tools: pinned.pin.tools.len(),
        pinned_at: &pinned.pin.since,
        another_since: newest.map(|list| list.seen_at.as_str()),
        changed: difference.changed.len(),
        new: difference.new.len(),
        waiting: hashes(&pinned.waiting),
        left: hashes(&pinned.left),
    }
}

fn list(arguments: &Pins, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let db = open_for_reading(env, arguments.db.as_deref())?;
    let pins = all(&db)?;
    if arguments.json {
        let rows: Vec<Row<'_>> = pins.iter().map(row).collect();
        return Ok(print_json(out, &rows)?);
    }
    Ok(print(&pins, out)?)
}

fn print(pins: &[Pinned], out: &mut dyn Write) -> io::Result<()> {
    if pins.is_empty() {
        return writeln!(out, "No pins: no server was wrapped, or none has listed its tools.");
    }
    let width = pins.iter().map(|pinned| pinned.name.len()).max().unwrap_or(0).max("NAME".len());
    writeln!(out, "{:width$}  {:>5}  {:24}  STATE", "NAME", "TOOLS", "PINNED")?;
    for pinned in pins {
        let Row { name, tools, pinned_at, .. } = row(pinned);
        let state = match pinned.waiting.last() {
            None => "as pinned".to_owned(),
            Some(list) => {
                let counts = pinned.pin.difference(&list.seen).counts();
                format!("another list since {}: {counts}", printable(&list.seen_at))
            }
        };
        writeln!(out, "{:width$}  {tools:>5}  {:24}  {state}", printable(name), printable(pinned_at))?;
    }
    for pinned in pins {
        let name = printable(&pinned.name);
        let several = pinned.also_waiting(None);
        let left = pinned.left.iter().map(|list| pinned.left_behind(list));
        for text in several.into_iter().chain(left) {
            writeln!(out, "{name}: {text}")?;
        }
    }
    Ok(())
}

fn accept(asked: &Accept, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let db = open_for_reading(env, asked.db.as_deref())?;
    let pinned = one(&db, &asked.name)?;
    let hash = match (&asked.list, pinned.waiting.as_slice()) {
        (Some(part), _) => choose(&db, &pinned.name, part)?.list_hash,
        (None, [list]) => list.list_hash.clone(),
        (None, []) => {
            writeln!(out, "{}", pinned.none_waits())?;
            return Err(Failure::Finding);
        }
        (None, several) => {
            let hashes: Vec<String> = several.iter().map(|list| list.shown()).collect();
            return Err(Failure::Usage(format!(
                "{} lists of {} wait; name one with --list: {}",
                several.len(),
                printable(&pinned.name),
                hashes.join(", ")
            )));
        }
    };
    drop(db);
    let input = json!({ "name": pinned.name, "list_hash": hash });
    let named = asked.db.as_deref();
    let environment = named.map_or_else(|| env.clone(), |db| on_database(env, db));
    let envelope = operator::open(&environment)?.call(ToolId::PinsAccept, input, Progress::default())?;
    let data = &envelope["data"];
    let message = |error: &serde_json::Value| {
        printable(error["message"].as_str().unwrap_or("the operation failed")).into_owned()
    };
    if envelope["ok"] != true {
        return Err(Failure::Failed(message(&envelope["error"])));
    }
    if data["error"].is_object() {
        writeln!(out, "{}.", message(&data["error"]))?;
        return Err(Failure::Finding);
    }
    let count = data["tools"].as_i64().unwrap_or_default();
    let tools = if count == 1 { "1 tool" } else { "tools" };
    let tools = if count == 1 { tools.to_owned() } else { format!("{count} {tools}") };
    writeln!(out, "Accepted {tools} of {}.", printable(&pinned.name))?;
    Ok(out.flush()?)
}
