//! The file of the local note (postgres#witness): a record for each board that this machine has used, with the last call that was
//! acknowledged here. Servers share it. Each writes under the file's lock, and no number ever gets smaller.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use colibri_canonical::HexDigest;

use crate::db::postgres::{Limit, PgError, Session};
use crate::log::head::Head;
use crate::postgres::flight::{only, text};
use crate::private_file;

/// The name of the file.
const NAME: &str = "colibri-witness.json";
/// The form of a record. The first form was one record without a name of its board, in fewer bytes.
const VERSION: u32 = 2;
const NAMELESS: u32 = 1;
/// Each record has this many bytes, so that one write replaces it and nothing of a longer one stays.
const BYTES: usize = 768;
/// The most boards of one file.
const MOST_BOARDS: usize = 64;
/// How long another process may hold the lock, which it needs for moments.
const MOST_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// What tells one board from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Board {
    /// The server's own number, which its standbys share; empty if the login may not read it.
    system: String,
    database: String,
    /// The hash of the log's first exit, which every copy of the board has; empty before the first.
    first: String,
}

impl Board {
    /// Asks the server.
    pub(super) fn of(session: &mut Session) -> Result<Self, PgError> {
        let mut asked = |sql: &str| -> Result<String, PgError> {
            let rows = session.query(sql, &[], Limit::ONE)?;
            Ok(text(&only(&rows)?, 0).unwrap_or_default().to_owned())
        };
        let system = asked("SELECT CAST(system_identifier AS text) FROM pg_control_system()");
        let system = match system {
            Err(PgError::Server(_)) => String::new(),
            other => other?,
        };
        let database = asked("SELECT CAST(current_database() AS text)")?;
        let first = asked("SELECT coalesce((SELECT row_hash FROM exits WHERE exit_no = 1), '')")?;
        Ok(Self { system, database, first })
    }

    /// Returns whether its first exit is still to come, or was when it was asked for.
    pub(super) fn is_new(&self) -> bool {
        self.first.is_empty()
    }
}

/// A record of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    version: u32,
    #[serde(default)]
    system: String,
    #[serde(default)]
    database: String,
    #[serde(default)]
    first: String,
    /// The number and hash of the last acknowledged call's exit.
    exit_no: i64,
    row_hash: String,
}

impl Note {
    /// How well a record fits a board: the log itself tells it best, then the place, and a record without a name may be any board's.
    fn fits(&self, board: &Board) -> Option<u8> {
        let has_first = !self.first.is_empty() && !board.first.is_empty();
        if self.version == NAMELESS {
            Some(1)
        } else if has_first && self.first == board.first {
            Some(3)
        } else if self.system == board.system && self.database == board.database {
            Some(2)
        } else {
            None
        }
    }

    fn head(&self) -> Option<Head> {
        let last_row_hash = HexDigest::parse(&self.row_hash)?;
        Some(Head { last_sequence_no: 0, last_exit_no: self.exit_no, last_row_hash })
    }
}

/// The file, open.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
    file: File,
}

impl Notes {
    /// Opens the file of a folder, or creates it.
    pub(super) fn open(folder: &Path) -> Result<Self, String> {
        let path = folder.join(NAME);
        let file = private_file::open_or_create(&path).map_err(|error| unusable(&path, &error))?;
        Ok(Self { path, file })
    }

    /// Opens it to look, and creates nothing; `None` if it is not there.
    pub(super) fn look(folder: &Path) -> Result<Option<Self>, String> {
        let path = folder.join(NAME);
        match File::open(&path) {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.is_dir() => Ok(None),
            Err(error) => Err(unusable(&path, &error)),
        }
    }

    /// Returns the last acknowledged call of a board.
    pub(super) fn of(&mut self, board: &Board) -> Result<Option<Head>, String> {
        self.lock(File::try_lock_shared)?;
        let read = self.read();
        self.unlock();
        Ok(best(&read?, board).and_then(|(_, note)| note.head()))
    }

    /// Notes a board's last acknowledged call, unless a later one is noted.
    pub(super) fn write(&mut self, board: &Board, head: Head) -> Result<(), String> {
        self.lock(File::try_lock)?;
        let written = self.write_forward(board, head);
        self.unlock();
        written
    }

    fn write_forward(&mut self, board: &Board, head: Head) -> Result<(), String> {
        let notes = self.read()?;
        let found = best(&notes, board);
        if found.is_some_and(|(_, note)| {
            note.version == VERSION && note.exit_no >= head.last_exit_no && !note.first.is_empty()
        }) {
            return Ok(());
        }
        let place = found.map_or(notes.len(), |(place, _)| place);
        if place >= MOST_BOARDS {
            let path = self.path.display();
            return Err(format!(
                "{path} has notes of {MOST_BOARDS} boards; give this board another COLIBRI_WITNESS_DIR"
            ));
        }
        let exit_no = found.map_or(0, |(_, note)| note.exit_no).max(head.last_exit_no);
        let row_hash = match found {
            Some((_, note)) if note.exit_no > head.last_exit_no => note.row_hash.clone(),
            _ => head.last_row_hash.as_str().to_owned(),
        };
        let Board { system, database, first } = board.clone();
        let note = Note { version: VERSION, system, database, first, exit_no, row_hash };
        let written = serde_json::to_string(&note).map_err(io::Error::from).and_then(|text| {
            let width = BYTES - 1;
            let record = format!("{text:<width$}\n");
            if record.len() != BYTES {
                return Err(io::Error::other("the name of the database is too long"));
            }
            self.file.seek(SeekFrom::Start((place * BYTES) as u64))?;
            self.file.write_all(record.as_bytes())
        });
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }

    /// Reads all records. An empty file is a new one.
    fn read(&mut self) -> Result<Vec<Note>, String> {
        let mut bytes = Vec::new();
        let most = (BYTES * MOST_BOARDS) as u64;
        let read = self.file.rewind().and_then(|()| (&self.file).take(most).read_to_end(&mut bytes));
        read.map_err(|error| unusable(&self.path, &error))?;
        bytes
            .chunks(BYTES)
            .map(|record| {
                let note = serde_json::from_slice::<Note>(record).ok();
                let known =
                    note.filter(|note| matches!(note.version, NAMELESS | VERSION) && note.head().is_some());
                known.ok_or_else(|| unreadable(&self.path))
            })
            .collect()
    }

    fn lock(&self, try_lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<(), String> {
        let until = Instant::now() + MOST_WAIT;
        loop {
            match try_lock(&self.file) {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(format!(
                        "another process keeps the lock of {} for more than {} s; resume or stop it",
                        self.path.display(),
                        MOST_WAIT.as_secs()
                    ));
                }
                Err(TryLockError::Error(error)) => return Err(unusable(&self.path, &error)),
            }
        }
    }

    fn unlock(&self) {
        // Closing the file would unlock it, too, so there is no failure to report.
        let _ = self.file.unlock();
    }
}

/// Returns the record that fits a board best, and its place.
fn best<'a>(notes: &'a [Note], board: &Board) -> Option<(usize, &'a Note)> {
    let fitting = notes.iter().enumerate().filter_map(|(place, note)| Some((note.fits(board)?, place, note)));
    fitting.max_by_key(|(fit, place, _)| (*fit, usize::MAX - place)).map(|(_, place, note)| (place, note))
}

fn unusable(file: &Path, error: &io::Error) -> String {
    format!(
        "cannot use {}: {error}. Make the folder that COLIBRI_WITNESS_DIR names, and let this user write in it",
        file.display()
    )
}

fn unreadable(file: &Path) -> String {
    format!(
        "{} is not a witness of this version; move it away to start without one, after `colibri verify` with your last checkpoint",
        file.display()
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn board(database: &str, first: &str) -> Board {
        Board { system: "1".to_owned(), database: database.to_owned(), first: first.to_owned() }
    }

    fn head(number: i64) -> Head {
        let hash = HexDigest::parse(&format!("{number:064x}")).unwrap();
        Head { last_sequence_no: 0, last_exit_no: number, last_row_hash: hash }
    }

    #[test]
    fn the_larger_number_stays_whoever_writes_last() {
        let folder = tempfile::tempdir().unwrap();
        let (mut early, mut late) =
            (Notes::open(folder.path()).unwrap(), Notes::open(folder.path()).unwrap());
        let board = board("board", "f");
        late.write(&board, head(150)).unwrap();
        early.write(&board, head(100)).unwrap();
        assert_eq!(early.of(&board).unwrap(), Some(head(150)));
        late.write(&board, head(151)).unwrap();
        assert_eq!(Notes::look(folder.path()).unwrap().unwrap().of(&board).unwrap(), Some(head(151)));
    }

    #[test]
    fn each_board_has_its_own_note_and_a_copy_elsewhere_is_the_same_board() {
        let folder = tempfile::tempdir().unwrap();
        let mut notes = Notes::open(folder.path()).unwrap();
        let (one, other) = (board("one", "f"), board("other", "g"));
        notes.write(&one, head(7)).unwrap();
        assert_eq!(notes.of(&other).unwrap(), None);
        notes.write(&other, head(3)).unwrap();
        notes.write(&one, head(8)).unwrap();
        assert_eq!((notes.of(&one).unwrap(), notes.of(&other).unwrap()), (Some(head(8)), Some(head(3))));
        assert_eq!(notes.of(&board("restored", "f")).unwrap(), Some(head(8)), "it is a copy");
        assert_eq!(notes.of(&board("one", "")).unwrap(), Some(head(8)), "it is the place");
        assert_eq!(notes.of(&board("third", "")).unwrap(), None);
    }

    #[test]
    fn a_board_gets_its_first_exit_later() {
        let folder = tempfile::tempdir().unwrap();
        let mut notes = Notes::open(folder.path()).unwrap();
        notes.write(&board("one", ""), head(1)).unwrap();
        notes.write(&board("one", "f"), head(1)).unwrap();
        notes.write(&board("one", "f"), head(2)).unwrap();
        assert_eq!(notes.of(&board("copy", "f")).unwrap(), Some(head(2)));
        assert_eq!(std::fs::metadata(folder.path().join(NAME)).unwrap().len(), BYTES as u64);
    }

    #[test]
    fn a_note_without_a_name_is_read_and_gets_one() {
        let folder = tempfile::tempdir().unwrap();
        let hash = "ab".repeat(32);
        let text = format!("{:<160}", format!(r#"{{"version":1,"exit_no":9,"row_hash":"{hash}"}}"#));
        std::fs::write(folder.path().join(NAME), text).unwrap();
        let mut notes = Notes::open(folder.path()).unwrap();
        let (one, other) = (board("one", "f"), board("other", "g"));
        assert_eq!(notes.of(&one).unwrap().map(|head| head.last_exit_no), Some(9));
        notes.write(&one, head(10)).unwrap();
        assert_eq!((notes.of(&one).unwrap(), notes.of(&other).unwrap()), (Some(head(10)), None));
    }

    #[test]
    fn what_is_no_note_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        for text in ["x", "{}", r#"{"version":3,"exit_no":1,"row_hash":"00"}"#] {
            std::fs::write(&path, text).unwrap();
            let mut notes = Notes::open(folder.path()).unwrap();
            assert!(notes.of(&board("one", "f")).unwrap_err().contains("not a witness of this version"));
            assert!(notes.write(&board("one", "f"), head(1)).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_lock_that_another_process_keeps_is_waited_for_within_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let (mut notes, other) = (Notes::open(folder.path()).unwrap(), Notes::open(folder.path()).unwrap());
        other.file.lock().unwrap();
        let refused = notes.write(&board("one", "f"), head(1)).unwrap_err();
        assert!(refused.contains("resume or stop it"), "{refused}");
        other.file.unlock().unwrap();
        notes.write(&board("one", "f"), head(1)).unwrap();
    }

    #[test]
    fn writers_at_once_leave_the_largest_number_of_each_board() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8_i64 {
                let folder = folder.path();
                scope.spawn(move || {
                    let mut notes = Notes::open(folder).unwrap();
                    for number in 1..=200 {
                        let name = if writer % 2 == 0 { "even" } else { "odd" };
                        notes.write(&board(name, name), head(number * 8 + writer)).unwrap();
                    }
                });
            }
        });
        let mut notes = Notes::open(folder.path()).unwrap();
        assert_eq!(notes.of(&board("even", "even")).unwrap(), Some(head(1606)));
        assert_eq!(notes.of(&board("odd", "odd")).unwrap(), Some(head(1607)));
    }
}
