//! The demonstration's second half: an auditor who trusts neither the agent nor the server examines the file.

use std::ffi::OsString;
use std::path::Path;

use super::super::transcript::{Tone, Transcript};
use super::super::{Failure, Next, Streams, run_with};
use super::{DECISION, prefix, unexpected};
use crate::catalogue::{MerkleFinalizeOutput, ThoughtRecordOutput};
use crate::migrations::MIGRATIONS;
use crate::settings::environment::Environment;
use crate::settings::keys;
use colibri_store::sqlite::look::inspect::Inspection;

/// Which letter of the decision's first word is changed, and to what.
const FORGED: (usize, u8) = (3, b'e');

/// The auditor, and where it finds things.
pub struct Auditor<'a> {
    /// The demonstration's folder.
    pub folder: &'a Path,
    /// The database in it.
    pub database: &'a Path,
}

impl Auditor<'_> {
    /// Shows what the server wrote down, read from the file after it has stopped.
    pub fn show_log(&self, page: &mut Transcript<'_>) -> Result<(), Failure> {
        page.heading("The server has stopped. What did it write down?")?;
        let failed = |reason: String| Failure::Failed(format!("cannot read the audit log: {reason}"));
        let look = Inspection::open(self.database, MIGRATIONS).map_err(|error| failed(error.to_string()))?;
        let calls = look.closed_calls().map_err(|fault| failed(fault.to_string()))?;
        page.line(&page.paint(Tone::Faint, &log_line("no", "tool", "outcome", "ms", "follows", "row hash")))?;
        for call in &calls {
            let outcome = call.error_code.as_deref().unwrap_or(&call.outcome);
            let duration = call.duration_ms.map_or_else(String::new, |ms| ms.to_string());
            let (follows, own) = (prefix(&call.prev_hash), prefix(&call.row_hash));
            page.line(&log_line(
                &call.sequence_no.to_string(),
                &call.tool,
                outcome,
                &duration,
                follows,
                own,
            ))?;
        }
        Ok(())
    }

    /// Recomputes everything from the file.
    pub fn verify(&self, page: &mut Transcript<'_>, seal: &MerkleFinalizeOutput) -> Result<(), Failure> {
        page.heading("An auditor recomputes everything")?;
        let (code, text) = self.command(page, &["verify", "--db", "colibri.db"])?;
        expect(code == 0 && text.contains(&seal.tree_head.head_hash), &text)
    }

    /// Proves one record to a reader who has no database.
    pub fn prove(
        &self,
        page: &mut Transcript<'_>,
        seal: &MerkleFinalizeOutput,
        record: &ThoughtRecordOutput,
    ) -> Result<(), Failure> {
        page.heading("One decision is proven to a reader without the database")?;
        let (session, record, root) = (&seal.session_id, &record.id, &seal.tree_head.head_hash);
        let export = ["proof", session, record, "--db", "colibri.db", "--out", "decision.json"];
        let (code, text) = self.command(page, &export)?;
        expect(code == 0, &text)?;
        let (code, text) = self.command(page, &["check-proof", "decision.json", "--root", root])?;
        expect(code == 0, &text)
    }

    /// Changes one byte of the file by hand; the verification names the record.
    pub fn catch(&self, page: &mut Transcript<'_>, record: &ThoughtRecordOutput) -> Result<(), Failure> {
        page.heading("An attacker changes one letter of that decision in the file itself")?;
        let failed = |error: std::io::Error| Failure::Failed(format!("cannot change the database: {error}"));
        let mut bytes = std::fs::read(self.database).map_err(failed)?;
        let at = bytes.windows(DECISION.len()).position(|found| found == DECISION.as_bytes());
        let at = at.ok_or_else(|| unexpected("the decision is not in the database"))?;
        let (letter, forged) = (at + FORGED.0, char::from(FORGED.1));
        let genuine = char::from(std::mem::replace(&mut bytes[letter], FORGED.1));
        std::fs::write(self.database, bytes).map_err(failed)?;
        page.line(&format!("   byte {letter} of colibri.db: {genuine} -> {forged}"))?;
        let (code, text) = self.command(page, &["verify", "--db", "colibri.db"])?;
        expect(code == 1 && text.contains(&record.id), &text)
    }

    /// Runs one of the program's own commands in the folder and shows it; returns its exit code and what it printed.
    fn command(&self, page: &mut Transcript<'_>, arguments: &[&str]) -> Result<(u8, String), Failure> {
        page.line(&page.paint(Tone::Strong, &format!("   $ colibri {}", arguments.join(" "))))?;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let streams = Streams {
            out: &mut out,
            err: &mut err,
            input: &mut std::io::empty(),
            color: page.has_color(),
            width: None,
        };
        let env = Environment::from([(keys::DB_PATH.name, self.database)]);
        let found = run_with(&self.placed(arguments), &env, streams);
        let folder = format!("{}{}", self.folder.display(), std::path::MAIN_SEPARATOR);
        let text = [out, err].map(|bytes| String::from_utf8_lossy(&bytes).replace(&folder, "")).concat();
        for line in text.lines() {
            page.line(&format!("     {line}"))?;
        }
        let code = match found {
            Next::Exit(code) => code,
            Next::Serve { .. } => return Err(unexpected("the command wants to serve")),
        };
        Ok((code, text))
    }

    /// Returns the arguments with the files among them placed in the folder.
    fn placed(&self, arguments: &[&str]) -> Vec<OsString> {
        let is_file = |argument: &str| argument.ends_with(".db") || argument.ends_with(".json");
        let place = |argument: &&str| match is_file(argument) {
            true => self.folder.join(argument).into(),
            false => OsString::from(argument),
        };
        arguments.iter().map(place).collect()
    }
}

fn expect(fits: bool, text: &str) -> Result<(), Failure> {
    if fits { Ok(()) } else { Err(unexpected(text)) }
}

fn log_line(number: &str, tool: &str, outcome: &str, duration: &str, follows: &str, own: &str) -> String {
    format!("   {number:>2}  {tool:20}  {outcome:24}  {duration:>3}  {follows:10}  {own}")
}
