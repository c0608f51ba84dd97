//! The last call that this process has acknowledged. A database that does not hold it has lost acknowledged calls: a fail-over to a server
//! that was behind, or an old copy. This process then says so and ends (postgres#witness).

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use colibri_canonical::HexDigest;

use crate::db::postgres::{PgError, Session};
use crate::log::head::Head;
use crate::postgres::{ask, flight};
use crate::private_file;

/// What the file beside the process holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    /// The form of this file.
    version: u32,
    /// The number and hash of the last acknowledged call's exit.
    exit_no: i64,
    row_hash: String,
}

const VERSION: u32 = 1;
/// The name of the file.
const NAME: &str = "colibri-witness.json";
/// The file always has this many bytes, so that a shorter text leaves nothing of a longer one.
const BYTES: usize = 160;

/// The witness of one process.
#[derive(Debug)]
pub(super) struct Witness {
    /// The end of the log with the last acknowledged call.
    pub seen: Option<Head>,
    file: Option<(PathBuf, File)>,
}

impl Witness {
    /// Reads what an earlier process has left in the folder; without a folder, the witness lives in memory alone.
    pub(super) fn open(folder: Option<&Path>) -> Result<Self, String> {
        let Some(folder) = folder else { return Ok(Self { seen: None, file: None }) };
        let path = folder.join(NAME);
        let mut file = private_file::open_or_create(&path).map_err(|error| unusable(&path, &error))?;
        let seen = read(&mut file, &path)?;
        Ok(Self { seen, file: Some((path, file)) })
    }

    /// Reads the same, and creates nothing.
    pub(super) fn look(folder: &Path) -> Result<Self, String> {
        let path = folder.join(NAME);
        let seen = match File::open(&path) {
            Ok(mut file) => read(&mut file, &path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.is_dir() => None,
            Err(error) => return Err(unusable(&path, &error)),
        };
        Ok(Self { seen, file: None })
    }

    /// Returns what to say if the database does not hold what was acknowledged. Who only reads does not ask
    /// a standby, which may be behind.
    pub(super) fn loss_in(&self, session: &mut Session, reads_only: bool) -> Result<Option<String>, PgError> {
        let Some(head) = self.seen else { return Ok(None) };
        if reads_only && ask::is_standby(session) || flight::holds_exit(session, &head)? {
            return Ok(None);
        }
        Ok(Some(loss(&head)))
    }

    /// Returns what to say if a log with this end cannot hold what was acknowledged. It looks at nothing but the end.
    pub(super) fn loss_at(&self, end: &Head) -> Option<String> {
        let seen = self.seen.filter(|seen| {
            let (number, noted) = (end.last_exit_no, seen.last_exit_no);
            number < noted || number == noted && end.last_row_hash != seen.last_row_hash
        })?;
        Some(loss(&seen))
    }

    /// Notes that all calls up to this end are acknowledged.
    pub(super) fn acknowledge(&mut self, head: Head) -> Result<(), String> {
        self.seen = Some(head);
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let note = Note {
            version: VERSION,
            exit_no: head.last_exit_no,
            row_hash: head.last_row_hash.as_str().to_owned(),
        };
        let written = serde_json::to_string(&note).map_err(io::Error::from).and_then(|text| {
            file.rewind()?;
            file.write_all(format!("{text:<BYTES$}").as_bytes())
        });
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

/// Reads the note in the file. An empty file is a new one.
fn read(file: &mut File, path: &Path) -> Result<Option<Head>, String> {
    let mut text = String::new();
    file.take(BYTES as u64).read_to_string(&mut text).map_err(|error| unusable(path, &error))?;
    match text.is_empty() {
        true => Ok(None),
        false => parse(&text).map(Some).ok_or_else(|| unreadable(path)),
    }
}

fn unusable(file: &Path, error: &io::Error) -> String {
    format!(
        "cannot use {}: {error}. Make the folder that COLIBRI_WITNESS_DIR names, and let this user write in it",
        file.display()
    )
}

fn parse(text: &str) -> Option<Head> {
    let note: Note = serde_json::from_str(text).ok()?;
    let last_row_hash = HexDigest::parse(&note.row_hash)?;
    (note.version == VERSION).then_some(Head {
        last_sequence_no: 0,
        last_exit_no: note.exit_no,
        last_row_hash,
    })
}

fn unreadable(file: &Path) -> String {
    format!(
        "{} is not a witness of this version; move it away to start without one, after `colibri verify` with your last checkpoint",
        file.display()
    )
}

fn loss(head: &Head) -> String {
    format!(
        "the database has lost acknowledged calls: it does not hold exit {} with hash {}, which this process has seen. It may be an old \
         copy, or a server that was behind when it took over. Keep it as it is, look for the server that has the call, and run \
         `colibri verify` with your last checkpoint",
        head.last_exit_no,
        head.last_row_hash.as_str()
    )
}
