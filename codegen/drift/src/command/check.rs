//! `mcp-drift check`: a running server against the state that the repository holds.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::server::{Captured, Server};
use super::snapshot::summary;
use super::{Answer, Failure, Form, Settings, input};
use crate::capture::{Era, NotCaptured};
use crate::report::{Location, Names};
use crate::snapshot::file;
use crate::{Config, Snapshot, Verdict, judge_by};

/// What to compare, and how to say it.
#[derive(Debug, Args)]
#[command(
    after_help = "The server is asked twice, in the era of the snapshot. What it changes between two starts is named on stderr, and the
start that breaks more counts; places that the snapshot lists under `varies` are not compared.

Examples:
  mcp-drift check --against mcp.snapshot.json -- node dist/index.js
  mcp-drift check --against mcp.snapshot.json --update -- node dist/index.js
  mcp-drift check --against mcp.snapshot.json --config accepted.yaml --url http://127.0.0.1:8000/mcp

Exit codes: 0 no client breaks, or --update has written the new snapshot; 1 findings that block; 2 bad command line,
unreadable input or no answer; 130 interrupted."
)]
pub struct Arguments {
    /// The state to compare with: a snapshot, or another file that `compare` takes.
    #[arg(long, value_name = "FILE")]
    against: PathBuf,
    /// Write the new snapshot to that file, after the report.
    #[arg(long)]
    update: bool,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    server: Server,
}

/// Captures a server's surface, compares it, and returns the report.
///
/// # Errors
/// The file cannot be read, or the server has no whole answer.
pub fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let against = arguments.against.as_path();
    if !against.exists() {
        return first(arguments, against);
    }
    let text = input::read(against)?;
    let told = |error| format!("{}: {error}", against.display());
    let old = Snapshot::parse(&text).map_err(told)?;
    if old.is_lock() {
        let against = against.display();
        return Err(Failure::Unusable(format!(
            "{against} is the lock of a catalogue, which says more than a server does; capture a snapshot first"
        )));
    }
    let (config, waivers) = arguments.settings.read()?;
    let (captured, lost) = ask(arguments, era_of(&text))?;
    let verdict = judge(&config, &text, &old, &captured, lost)?;
    let names = Names {
        old: against.display().to_string(),
        new: "the running server".to_owned(),
        version: None,
        waivers,
        below_drift: arguments.settings.below_drift(),
    };
    // A running server has no place in the repository: marks go to the file that it is compared with.
    let place = || Location { path: against.to_owned(), line: 1, column: 1 };
    let report = arguments.form.report(&verdict, &names, &|_| Some(place()));
    let mut answer = Answer::new(report, verdict.passes());
    answer.notes.extend(captured.note("the start that breaks more counts"));
    if arguments.update {
        answer.notes.extend(update(against, &captured)?);
        answer.passes = true;
    }
    Ok(answer)
}

/// Begins the history of a server that has no snapshot yet.
fn first(arguments: &Arguments, against: &Path) -> Result<Answer, Failure> {
    if !arguments.update {
        let against = against.display();
        return Err(Failure::Unusable(format!(
            "{against}: there is no such file; make it with --update, or with `mcp-drift snapshot -o {against}`"
        )));
    }
    let captured = arguments.server.capture(arguments.server.era)?;
    let notes = update(against, &captured)?;
    Ok(Answer { text: String::new(), notes, passes: true })
}

fn update(against: &Path, captured: &Captured) -> Result<Vec<String>, Failure> {
    input::write(against, &Server::file(captured))?;
    Ok(vec![format!("wrote {}: {}", against.display(), summary(captured))])
}

/// The era in which a snapshot was captured.
fn era_of(text: &str) -> Option<Era> {
    let file: Value = serde_json::from_str(text).ok()?;
    [Era::Handshake, Era::Stateless].into_iter().find(|era| file.get(era.greeting()).is_some())
}

/// Asks the server in the era of the snapshot. If it no longer speaks that, in another; then that era is lost.
fn ask(arguments: &Arguments, era: Option<Era>) -> Result<(Captured, Option<Era>), Failure> {
    let server = &arguments.server;
    match server.capture(server.era.or(era)) {
        Err(NotCaptured::OtherEra(_)) if server.era.is_none() && era.is_some() => {
            Ok((server.capture(None)?, era))
        }
        captured => Ok((captured?, None)),
    }
}

/// Judges what each start told, and returns the first verdict that does not pass.
fn judge(
    config: &Config,
    text: &str,
    old: &Snapshot,
    captured: &Captured,
    lost: Option<Era>,
) -> Result<Verdict, Failure> {
    let varying = file::varying(text);
    let mut last = None;
    for content in &captured.contents {
        let content = file::without(&content.to_string(), &varying);
        let mut new = Snapshot::parse(&content).map_err(|error| format!("the running server: {error}"))?;
        if let (Some(lost), Some(revisions)) = (lost, &old.revisions) {
            // What a server says of revisions is not what it answers: some name only those of the era that they are asked in.
            let kept = revisions.iter().filter(|revision| Era::of(revision) != lost);
            new.revisions = Some(kept.cloned().collect());
        }
        let verdict = judge_by(old, &new, config, true);
        if !verdict.passes() {
            return Ok(verdict);
        }
        last.get_or_insert(verdict);
    }
    last.ok_or_else(|| Failure::Unusable("the running server: no answer".to_owned()))
}
