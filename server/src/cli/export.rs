//! `colibri export`: a session as JSON Lines that can be verified alone. Rows are written as they are read; memory does not
//! grow with them.

use std::io::Write;

use colibri_visible::{counted, printable};
use serde::Serialize;

use super::Failure;
use super::arguments::audit::Export;
use super::database::open_for_reading;
use super::output::{print_json, write_to};
use super::session::{Found, find, unreadable};
use super::work::Work;
use crate::domains::proof::tips_of_seal;
use crate::domains::trail::{
    TrailRow, Unpacker, content_of, each_hash_of_session_ascending, each_row_of_session,
};
use crate::settings::environment::Environment;
use crate::shell_word::quoted;
use colibri_canonical::HexDigest;
use colibri_proof::chain::Content;
use colibri_proof::head::{SessionFacts, SignedTreeHead};
use colibri_proof::session_export::{
    ExportHeader, ExportRecord, ExportState, MAX_LINE_BYTES, head_line, tips_line,
};
use colibri_store::db::Db;

/// Records between two looks at how far the export is.
const RECORDS_BETWEEN: i64 = 64;

/// What the command prints of an export that it wrote to a file.
#[derive(Serialize)]
struct Written<'a> {
    file: &'a str,
    session_id: &'a str,
    state: ExportState,
    record_count: i64,
    head_hash: Option<&'a str>,
}

/// Writes a session's export.
pub fn run(
    arguments: &Export,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let mut work = Work::of_product("export", arguments.out.as_deref(), err);
    let db = open_for_reading(env, arguments.database.db.as_deref())?;
    let found = find(&db, &arguments.session)?;
    let done = write_to(arguments.out.as_deref(), out, |to| {
        let written = Lines::new(to, &mut work).session(&db, &found);
        work.settle(written)
    })?;
    work.clear();
    if let Some(file) = &arguments.out {
        let file = file.to_string_lossy();
        let head_hash = found.head().map(|head| head.head_hash.as_str());
        if arguments.json {
            let written = Written {
                file: &file,
                session_id: &found.session.session_id,
                state: state_of(&found),
                record_count: done.records,
                head_hash,
            };
            print_json(out, &written)?;
        } else {
            let root = head_hash.map_or_else(String::new, |hash| format!(" --root {hash}"));
            let (file, records) = (quoted(&file), done.records);
            let file = printable(&file);
            let records = counted(records, "record");
            writeln!(out, "{records} in {file}; check it with: colibri verify-export {file}{root}")?;
        }
    }
    out.flush()?;
    match done.first_lost {
        None => Ok(()),
        Some(id) => Err(Failure::Failed(format!(
            "the export is written, but the content of record {id} is damaged: the file has null instead; \
             `colibri verify` lists all damage"
        ))),
    }
}

fn state_of(found: &Found) -> ExportState {
    if found.seal.is_some() { ExportState::Sealed } else { ExportState::Open }
}

/// What was written.
#[derive(Default)]
struct Done {
    records: i64,
    /// The first record whose content could not be read.
    first_lost: Option<String>,
}

/// The writer of the lines.
struct Lines<'a, 'w> {
    out: &'a mut dyn Write,
    work: &'a mut Work<'w>,
    total: u64,
    buffer: Vec<u8>,
    unpacker: Unpacker,
}

impl<'a, 'w> Lines<'a, 'w> {
    fn new(out: &'a mut dyn Write, work: &'a mut Work<'w>) -> Self {
        Self { out, work, total: 0, buffer: Vec::new(), unpacker: Unpacker::default() }
    }

    fn session(&mut self, db: &Db, found: &Found) -> Result<Done, Failure> {
        let session_id = found.session.session_id.as_str();
        let mut count = 0;
        each_hash_of_session_ascending(db, session_id, |_| count += 1).map_err(unreadable)?;
        self.total = u64::try_from(count).unwrap_or(0);
        let facts = SessionFacts {
            session_id,
            intent: &found.session.intent,
            task_id: found.session.task_id.as_deref(),
            started_at: &found.session.started_at,
        };
        self.line(ExportHeader::new(&facts, state_of(found), count).line())?;
        let done = self.records(db, session_id)?;
        if let Some(head) = found.head() {
            self.seal(db, session_id, head)?;
        }
        Ok(done)
    }

    fn records(&mut self, db: &Db, session_id: &str) -> Result<Done, Failure> {
        let (mut done, mut failed) = (Done::default(), None);
        let walked = each_row_of_session(db, session_id, |row| {
            failed = self.record(row, session_id, &mut done).err();
            Ok(failed.is_none())
        });
        match failed {
            Some(failure) => Err(failure),
            None => walked.map(|()| done).map_err(unreadable),
        }
    }

    fn record(&mut self, row: &TrailRow<'_>, session_id: &str, done: &mut Done) -> Result<(), Failure> {
        done.records += 1;
        if done.records % RECORDS_BETWEEN == 0 {
            let _ = self.work.at("records", done.records.unsigned_abs(), self.total);
        }
        let (content, digest) = match content_of(row, &mut self.unpacker) {
            Content::Kept(text) => (Some(text), Some(HexDigest::of(text.as_bytes()))),
            Content::Dropped => (None, None),
            Content::Lost => {
                done.first_lost.get_or_insert_with(|| row.id.to_owned());
                (None, None)
            }
        };
        let content_hash = digest.as_ref().map_or(row.content_hash.unwrap_or_default(), HexDigest::as_str);
        let record = ExportRecord {
            agent_id: row.agent_id.into(),
            content: content.map(Into::into),
            content_hash: content_hash.into(),
            hash: row.hash.into(),
            id: row.id.into(),
            prev_hash: row.prev_hash.into(),
            session_id: session_id.into(),
            task_id: row.task_id.into(),
            timestamp: row.timestamp.into(),
            kind: row.kind.into(),
        };
        self.buffer.clear();
        record.write(&mut self.buffer);
        self.end_line()
    }

    fn seal(&mut self, db: &Db, session_id: &str, head: &SignedTreeHead) -> Result<(), Failure> {
        let mut tips = tips_of_seal(db, session_id).map_err(unreadable)?;
        self.line(tips_line(&mut tips))?;
        self.line(head_line(head))
    }

    /// Writes a line. `None` means a number that no sound row has.
    fn line(&mut self, line: Option<String>) -> Result<(), Failure> {
        let line = line.ok_or_else(|| {
            Failure::Failed(
                "the session cannot be exported: its seal holds a number beyond 2^53-1; `colibri verify` lists \
                 all damage"
                    .to_owned(),
            )
        })?;
        self.buffer = line.into_bytes();
        self.end_line()
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if self.buffer.len() > MAX_LINE_BYTES {
            return Err(Failure::Failed(format!(
                "the session cannot be exported: one of its lines is longer than {} MiB, the limit of an export; \
                 write single records with `colibri proof`",
                MAX_LINE_BYTES / (1024 * 1024)
            )));
        }
        self.buffer.push(b'\n');
        Ok(self.out.write_all(&self.buffer)?)
    }
}
