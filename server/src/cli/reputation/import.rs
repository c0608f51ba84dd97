//! `colibri reputation import`: a file of events as one call of the operation, through the chain in this process.
//!
//! The whole file is one savepoint. After Ctrl-C the call fails, and nothing of the file is left. If the process is killed, the call
//! has no end, which the next start of a server closes.

use std::io::{Read, Write};
use std::path::Path;

use colibri_runtime::handler::ToolError;
use colibri_visible::printable;
use serde_json::{Value, json};

use super::super::Failure;
use super::super::arguments::reputation::Import;
use super::super::operator;
use super::super::output::print_json_line;
use super::super::work::Work;
use crate::catalogue::{CATALOGUE, ReputationImportError, ToolId};
use crate::domains::reputation::import::text::{MAX_FILE_BYTES, lines};
use crate::settings::environment::Environment;
use colibri_proof::command;

/// Applies the file and prints the result for its events.
pub fn run(
    arguments: &Import,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
    input: &mut dyn Read,
) -> Result<(), Failure> {
    let text = read(&arguments.file, input)?;
    let lines = match lines(&text) {
        Ok(lines) => lines,
        Err(error) => return Err(refused(err, &[told(&error)])),
    };
    drop(text);
    let envelope = {
        let mut work = Work::begin("reputation import", err, false);
        let _ = work.at("lines", 0, lines.len() as u64);
        let call = json!({ "lines": lines, "dry_run": arguments.dry_run });
        let mut operator = operator::open(env)?;
        work.settle(Ok(()))?;
        let envelope = operator.call(ToolId::ReputationImport, call, work.report("lines"))?;
        match envelope.get("error") {
            Some(_) => work.settle(Ok(envelope))?,
            None => envelope,
        }
    };
    answer(&envelope, out, err)
}

/// Reads the file's bytes; refuses too many.
fn read(file: &Path, input: &mut dyn Read) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let unreadable = |error: std::io::Error| {
        Failure::Usage(format!("cannot read {}: {error}; name the file with the events", file.display()))
    };
    command::input(file, input)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(Failure::Usage(format!(
            "{} is larger than {} MiB; import it in parts, the oldest events first",
            file.display(),
            MAX_FILE_BYTES / (1024 * 1024)
        )));
    }
    Ok(text)
}

/// Prints the counts, or says which lines were refused.
fn answer(envelope: &Value, out: &mut dyn Write, err: &mut dyn Write) -> Result<(), Failure> {
    if let Some(error) = envelope.pointer("/data/error") {
        let text = |member: &str| error[member].as_str().unwrap_or_default().to_owned();
        let line = error["line"].as_i64().unwrap_or_default();
        return Err(refused(err, &[one(line, &text("code"), &text("message"))]));
    }
    if let Some(data) = envelope.get("data") {
        print_json_line(out, data)?;
        return Ok(out.flush()?);
    }
    let error = &envelope["error"];
    if error["code"] == CATALOGUE.codes.invalid_params.code {
        let issues = error.pointer("/details/issues").and_then(Value::as_array);
        let lines: Vec<String> = issues.into_iter().flatten().map(issue).collect();
        return Err(refused(err, &lines));
    }
    Err(Failure::Failed(format!(
        "nothing was imported: {}",
        error["message"].as_str().unwrap_or("no reason given")
    )))
}

/// Returns an issue of the chain's second stage as the line that it is about.
fn issue(issue: &Value) -> String {
    let path = issue["path"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = path.get(1).and_then(Value::as_i64).map_or(0, |index| index + 1);
    let mut place: String = path
        .iter()
        .skip(2)
        .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned) + ".")
        .collect();
    place.pop();
    let message = issue["message"].as_str().unwrap_or_default();
    let reason = if place.is_empty() { message.to_owned() } else { format!("{place}: {message}") };
    told(&ReputationImportError::ErrSchema { line, reason })
}

/// Returns the text of a declared error that was found before the call.
fn told(error: &ReputationImportError) -> String {
    let line = error.fields().get("line").and_then(Value::as_i64).unwrap_or_default();
    one(line, error.code(), &error.message())
}

fn one(line: i64, code: &str, message: &str) -> String {
    format!("line {line}: {code}: {message}")
}

/// Prints which lines were refused.
fn refused(err: &mut dyn Write, lines: &[String]) -> Failure {
    for line in lines {
        // A closed stderr changes nothing about the refusal.
        let _ = writeln!(err, "{}", printable(line));
    }
    Failure::BadInput
}
