//! `colibri pins diff`: how a list differs from the pin, in the words of the drift rules.

use std::io::{self, Write};

use colibri_drift::Finding;
use colibri_visible::printable;
use serde::Serialize;
use serde_json::Value;

use super::stored::{Noted, Pinned, choose, one};
use crate::cli::Failure;
use crate::cli::arguments::pins::Diff;
use crate::cli::database::open_for_reading;
use crate::cli::output::print_json;
use crate::settings::environment::Environment;
use crate::wrap::findings::{Comparison, Meaning, title};
use crate::wrap::pin::{Difference, short};

/// The comparison as JSON.
#[derive(Serialize)]
struct Compared<'a> {
    name: &'a str,
    pinned_at: &'a str,
    /// Null if no list waits, as is the hash.
    seen_at: Option<&'a str>,
    list_hash: Option<&'a str>,
    /// The hashes of the other lists that wait.
    also_waiting: Vec<&'a str>,
    changed: &'a [String],
    new: &'a [String],
    gone: &'a [String],
    findings: Vec<Told<'a>>,
}

/// A finding as JSON.
#[derive(Serialize)]
pub(in crate::cli) struct Told<'a> {
    rule: &'a str,
    severity: &'a str,
    security: bool,
    tool: Option<&'a str>,
    pointer: &'a str,
    old: &'a Value,
    new: &'a Value,
    message: &'a str,
    why: &'a str,
}

/// Compares and prints; [`Failure::Finding`] if the list differs.
pub(super) fn run(asked: &Diff, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let db = open_for_reading(env, asked.database.db.as_deref())?;
    let mut pinned = one(&db, &asked.name)?;
    let list = match &asked.list {
        Some(part) => Some(choose(&db, &pinned.name, part)?),
        None => pinned.waiting.pop(),
    };
    let Some(list) = list else {
        if asked.json {
            print_json(out, &compared(&pinned, None, &Difference::default(), &Meaning::default()))?;
        } else {
            writeln!(out, "{}", pinned.none_waits())?;
        }
        return Ok(out.flush()?);
    };
    let difference = pinned.pin.difference(&list.seen);
    let name =
        pinned.name.parse().map_err(|_| Failure::Usage("the name is not one of a server".to_owned()))?;
    let meaning = Comparison::new(name, Some(pinned.pin.clone()), list.seen.clone()).meaning();
    if asked.json {
        print_json(out, &compared(&pinned, Some(&list), &difference, &meaning))?;
    } else {
        print(&pinned, &list, &difference, &meaning, out)?;
    }
    out.flush()?;
    if difference.is_none() { Ok(()) } else { Err(Failure::Finding) }
}

fn compared<'a>(
    pinned: &'a Pinned,
    list: Option<&'a Noted>,
    difference: &'a Difference,
    meaning: &'a Meaning,
) -> Compared<'a> {
    let others = pinned.waiting.iter().map(|other| other.list_hash.as_str());
    let also = others.filter(|hash| list.is_none_or(|list| list.list_hash != **hash));
    Compared {
        name: &pinned.name,
        pinned_at: &pinned.pin.since,
        seen_at: list.map(|list| list.seen_at.as_str()),
        list_hash: list.map(|list| list.list_hash.as_str()),
        also_waiting: also.collect(),
        changed: &difference.changed,
        new: &difference.new,
        gone: &difference.gone,
        findings: meaning.findings.iter().map(told).collect(),
    }
}

/// Returns a finding as JSON has it.
pub(in crate::cli) fn told(finding: &Finding) -> Told<'_> {
    Told {
        rule: finding.rule,
        severity: finding.severity.word(),
        security: finding.security,
        tool: finding.tool.as_deref(),
        pointer: &finding.pointer,
        old: &finding.old,
        new: &finding.new,
        message: &finding.message,
        why: finding.why,
    }
}

fn print(
    pinned: &Pinned,
    list: &Noted,
    difference: &Difference,
    meaning: &Meaning,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = printable(&pinned.name);
    writeln!(out, "{name}: list {}, seen {}", list.shown(), printable(&list.seen_at))?;
    print_findings(meaning, out)?;
    let Difference { changed, new, gone, instructions } = difference;
    writeln!(out, "\n{} changed, {} new, {} gone.", changed.len(), new.len(), gone.len())?;
    if *instructions {
        writeln!(out, "The instructions changed.")?;
    }
    for other in pinned.also_waiting(Some(&list.list_hash)) {
        writeln!(out, "{other}")?;
    }
    if !difference.is_none() {
        writeln!(out, "Accept: colibri pins accept {name} --list {}", list.shown())?;
    }
    Ok(())
}

/// Prints each finding with what was there before, and why it matters.
pub(in crate::cli) fn print_findings(meaning: &Meaning, out: &mut dyn Write) -> io::Result<()> {
    for finding in &meaning.findings {
        writeln!(out, "\n{}: {}", printable(&title(finding)), printable(&finding.message))?;
        for (word, value) in [("before", &finding.old), ("now", &finding.new)] {
            if !value.is_null() {
                writeln!(out, "  {word}: {}", printable(&value.to_string()))?;
            }
        }
        writeln!(out, "  Why it matters: {}", finding.why)?;
    }
    for (tool, hash) in &meaning.untold {
        writeln!(out, "\nno rule tells what changed in {} (entry {})", printable(tool), short(hash))?;
    }
    Ok(())
}
