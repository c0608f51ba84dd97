//! COPY into a table, for `colibri copy`: whole tables without a statement a row. (PostgreSQL manual, "COPY Operations".)

use super::error::PgError;
use super::expect::Expect;
use super::frontend;
use super::session::{Boundary, Session};

/// A writer waits while more than these bytes are on their way.
const MOST_WAITING_BYTES: usize = 256 << 10;

impl Session {
    /// Starts a `COPY … FROM STDIN`.
    ///
    /// # Errors
    /// The server's failure, or one of what was queued before.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, PgError> {
        self.copied_rows = 0;
        self.copying = false;
        let boundary = self.start_script(sql, Expect::Copy)?;
        while !self.copying {
            if self.is_answered(boundary) {
                let _answer = self.wait(boundary)?;
                return Err(PgError::Usage("this statement is no COPY through the connection"));
            }
            self.step()?;
        }
        Ok(CopyIn { session: self, boundary, ended: false })
    }
}

/// Rows on their way into a table. Without [`CopyIn::finish`] none of them stays.
#[derive(Debug)]
pub struct CopyIn<'s> {
    session: &'s mut Session,
    boundary: Boundary,
    ended: bool,
}

impl CopyIn<'_> {
    /// Sends a part of the rows, cut anywhere.
    ///
    /// # Errors
    /// The server's failure, which ends the COPY.
    pub fn write(&mut self, part: &[u8]) -> Result<(), PgError> {
        self.session.check()?;
        if self.session.is_answered(self.boundary) {
            self.ended = true;
            return self.session.wait(self.boundary).map(drop);
        }
        frontend::copy_data(self.session.wire.out(), part)?;
        if self.session.wire.waiting() > MOST_WAITING_BYTES {
            self.session.made_progress();
            // A step reads, too, even if the server takes all that is sent: it may have refused an earlier row.
            while self.session.wire.waiting() > MOST_WAITING_BYTES / 2 {
                self.session.step()?;
            }
        }
        Ok(())
    }

    /// Ends the COPY; returns how many rows it had.
    ///
    /// # Errors
    /// The server's failure.
    pub fn finish(mut self) -> Result<u64, PgError> {
        self.ended = true;
        frontend::copy_done(self.session.wire.out());
        self.session.send()?;
        self.session.wait(self.boundary)?;
        Ok(self.session.copied_rows)
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if self.ended || self.session.lost.is_some() {
            return;
        }
        // The server reports the end that was asked for as a failure; a true one loses the connection, which shows at its next use.
        let _failed = frontend::copy_fail(self.session.wire.out(), "the client gave up");
        let _ended = self.session.send().and_then(|()| self.session.wait(self.boundary));
    }
}
