//! The last call that this process has acknowledged. A database that does not hold it has lost acknowledged calls: a fail-over to a server
//! that was behind, or an old copy. This process then says so and ends (postgres#witness).

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use colibri_canonical::HexDigest;

use crate::log::head::Head;
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
        let path = folder.join("colibri-witness.json");
        let opened = private_file::open_or_create(&path).and_then(|mut file| {
            let mut text = String::new();
            Read::by_ref(&mut file).take(BYTES as u64).read_to_string(&mut text)?;
            Ok((file, text))
        });
        let (file, text) = opened.map_err(|error| format!("cannot use {}: {error}", path.display()))?;
        let seen = match text.is_empty() {
            true => None,
            false => Some(read(&text).ok_or_else(|| unreadable(&path))?),
        };
        Ok(Self { seen, file: Some((path, file)) })
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

fn read(text: &str) -> Option<Head> {
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

/// What is said when the database does not hold what was acknowledged.
pub(super) fn loss(head: &Head) -> String {
    format!(
        "the database has lost acknowledged calls: it does not hold exit {} with hash {}, which this process has seen. It may be an old \
         copy, or a server that was behind when it took over. Keep it as it is, look for the server that has the call, and run \
         `colibri verify` with your last checkpoint",
        head.last_exit_no,
        head.last_row_hash.as_str()
    )
}
