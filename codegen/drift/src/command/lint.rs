//! `mcp-drift lint`: what hosts and model providers are known to refuse.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use colibri_visible::printable;
use serde_json::{Value, json};

use super::server::Server;
use super::{Answer, Failure, input};
use crate::Snapshot;
use crate::hosts::{Effect, Remark, remarks};

/// What to look at, and how to say it.
#[derive(Debug, Args)]
#[command(
    after_help = "LIST REFUSED: a host or provider answers nothing while the list has such a tool. TOOL REFUSED: it refuses the tool
alone. DEGRADED: it drops something. `mcp-drift rules` lists what is looked for, each with its source and date.

Examples:
  mcp-drift lint mcp.snapshot.json
  mcp-drift lint --format json mcp.snapshot.json
  mcp-drift lint -- npx -y my-server --stdio

Exit codes: 0 nothing is refused, 1 something is, 2 bad command line or unreadable input."
)]
pub struct Arguments {
    /// A snapshot, or another file that `compare` takes.
    #[arg(conflicts_with_all = ["url", "command"])]
    file: Option<PathBuf>,
    /// The name that users give the server in their hosts [default: the server's own].
    #[arg(long, value_name = "NAME")]
    server_name: Option<String>,
    /// The form of the report.
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = ["text", "json"])]
    format: String,
    #[command(flatten)]
    server: Server,
}

/// Looks at a file or a server, and returns the remarks.
///
/// # Errors
/// The file cannot be read, or the server has no whole answer.
pub fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let mut state = state(arguments)?;
    if let Some(name) = &arguments.server_name {
        state.name = Some(name.clone());
    }
    let found = remarks(&state);
    let passes = found.iter().all(|remark| remark.row.effect == Effect::Degraded);
    let headline = headline(&found, state.tools.len());
    let text = match arguments.format.as_str() {
        "json" => as_json(&found, &headline, passes),
        _ => as_text(&found, &headline),
    };
    Ok(Answer::new(text, passes))
}

fn state(arguments: &Arguments) -> Result<Snapshot, Failure> {
    let (text, place) = match &arguments.file {
        Some(file) => (input::read(file)?, file.display().to_string()),
        None if arguments.server.is_given() => {
            let captured = arguments.server.capture(arguments.server.era)?;
            (captured.contents[0].to_string(), "the running server".to_owned())
        }
        None => {
            let message = "name a file, or a server: its command behind `--`, or its address with --url";
            return Err(Failure::Unusable(message.to_owned()));
        }
    };
    Ok(Snapshot::parse(&text).map_err(|error| format!("{place}: {error}"))?)
}

/// Remarks of one row with the same detail, put together.
fn groups(found: &[Remark]) -> Vec<Vec<&Remark>> {
    let mut groups: Vec<Vec<&Remark>> = Vec::new();
    for remark in found {
        let same =
            |group: &&mut Vec<&Remark>| group.first().is_some_and(|first| first.row.name == remark.row.name);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(remark),
            None => groups.push(vec![remark]),
        }
    }
    groups
}

/// The most places of a row that are listed.
const MOST_PLACES: usize = 20;

/// The verdict in words.
fn headline(found: &[Remark], tools: usize) -> String {
    let count = |effect: Effect| found.iter().filter(|remark| remark.row.effect == effect).count();
    let refused = count(Effect::ListRefused) + count(Effect::ToolRefused);
    let noun = if tools == 1 { "tool" } else { "tools" };
    match (refused, count(Effect::Degraded)) {
        (0, 0) => format!("{tools} {noun}: no known host or provider refuses anything."),
        (0, degraded) => format!("{tools} {noun}: nothing is refused, {degraded} degraded."),
        (refused, degraded) => format!("{tools} {noun}: {refused} refused, {degraded} degraded."),
    }
}

fn as_text(found: &[Remark], headline: &str) -> String {
    let mut text = format!("{headline}\n");
    for group in groups(found) {
        let Some(first) = group.first() else { continue };
        let row = first.row;
        let _ = writeln!(text, "\n{} [{}] {}", row.effect.word(), row.name, row.title);
        for remark in group.iter().take(MOST_PLACES) {
            let place = [remark.tool.as_deref().unwrap_or_default(), &remark.pointer].join(" ");
            let _ = writeln!(text, "  {}: {}", printable(place.trim()), printable(&remark.detail));
        }
        if group.len() > MOST_PLACES {
            let _ = writeln!(text, "  and {} more", group.len() - MOST_PLACES);
        }
        let _ = writeln!(text, "  Why it matters: {}", row.seen);
        let _ = writeln!(text, "  To go on: {}.", row.help);
        let _ = writeln!(text, "  Reported on {}: {}", row.date, row.source);
    }
    text
}

fn as_json(found: &[Remark], headline: &str, passes: bool) -> String {
    let remark = |remark: &Remark| {
        let row = remark.row;
        json!({
            "name": row.name,
            "effect": row.effect.word(),
            "tool": remark.tool,
            "pointer": remark.pointer,
            "detail": remark.detail,
            "seen": row.seen,
            "help": row.help,
            "source": row.source,
            "date": row.date,
        })
    };
    let remarks: Value = found.iter().map(remark).collect();
    let text = format!("{:#}\n", json!({ "verdict": headline, "passes": passes, "remarks": remarks }));
    colibri_visible::json(&text).into_owned()
}
