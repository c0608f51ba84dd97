//! The last call that this process has acknowledged. A database that does not hold it has lost acknowledged calls: a fail-over to a server
//! that was behind, or an old copy. This process then says so and ends (postgres#witness).

use std::path::Path;

use crate::db::postgres::{PgError, Session};
use crate::log::head::Head;
use crate::postgres::note::{Board, Notes};
use crate::postgres::{ask, flight};

/// The witness of one process.
#[derive(Debug, Default)]
pub(super) struct Witness {
    /// The end of the log with the last acknowledged call.
    pub seen: Option<Head>,
    /// The board, and the file that all processes of this machine share.
    note: Option<(Board, Notes)>,
}

/// The reason why no witness was found.
#[derive(Debug, thiserror::Error)]
pub(super) enum WitnessError {
    /// The file.
    #[error("{0}")]
    File(String),
    /// The server.
    #[error("{0}")]
    Server(#[from] PgError),
}

impl Witness {
    /// Reads what an earlier process has noted of this board in the folder; without a folder, the witness lives in memory alone.
    pub(super) fn open(folder: Option<&Path>, session: &mut Session) -> Result<Self, WitnessError> {
        let Some(folder) = folder else { return Ok(Self::default()) };
        let mut notes = Notes::open(folder).map_err(WitnessError::File)?;
        let board = Board::of(session)?;
        let seen = notes.of(&board).map_err(WitnessError::File)?;
        Ok(Self { seen, note: Some((board, notes)) })
    }

    /// Reads the same, and creates nothing.
    pub(super) fn look(folder: &Path, session: &mut Session) -> Result<Self, WitnessError> {
        let Some(mut notes) = Notes::look(folder).map_err(WitnessError::File)? else {
            return Ok(Self::default());
        };
        let seen = notes.of(&Board::of(session)?).map_err(WitnessError::File)?;
        Ok(Self { seen, note: None })
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

    /// Notes that all calls up to this end are acknowledged. The first note of a new board asks the session for its first exit.
    pub(super) fn acknowledge(&mut self, head: Head, session: &mut Session) -> Result<(), String> {
        self.seen = Some(head);
        let Some((board, notes)) = &mut self.note else { return Ok(()) };
        if board.is_new()
            && let Ok(known) = Board::of(session)
        {
            *board = known;
        }
        notes.write(board, head)
    }
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
