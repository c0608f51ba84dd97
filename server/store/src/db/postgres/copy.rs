//! COPY in both directions, for `colibri copy`: whole tables without a statement a row. (PostgreSQL manual, "COPY Operations".)

use bytes::Bytes;
use postgres_protocol::message::frontend;

use super::error::PgError;
use super::expect::Expect;
use super::session::{Boundary, Session};

/// A writer waits while more than these bytes are on their way.
const MOST_WAITING_BYTES: usize = 256 << 10;

impl Session {
    /// Starts a `COPY … FROM STDIN`.
    ///
    /// # Errors
    /// The server's failure, or one of what was queued before.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, PgError> {
        let boundary = self.start_copy(sql)?;
        Ok(CopyIn { session: self, boundary, ended: false })
    }

    /// Starts a `COPY … TO STDOUT`.
    ///
    /// # Errors
    /// Those of [`Session::copy_in`].
    pub fn copy_out(&mut self, sql: &str) -> Result<CopyOut<'_>, PgError> {
        let boundary = self.start_copy(sql)?;
        Ok(CopyOut { session: self, boundary, ended: false })
    }

    fn start_copy(&mut self, sql: &str) -> Result<Boundary, PgError> {
        self.copied.clear();
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
        Ok(boundary)
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
        let data =
            frontend::CopyData::new(part).map_err(|_| PgError::Usage("a part of a COPY is too large"))?;
        data.write(self.session.wire.out());
        if self.session.wire.waiting() > MOST_WAITING_BYTES {
            self.session.made_progress();
            self.session.send_down_to(MOST_WAITING_BYTES / 2)?;
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
        let _failed = frontend::copy_fail("the client gave up", self.session.wire.out());
        let _ended = self.session.send().and_then(|()| self.session.wait(self.boundary));
    }
}

/// Rows on their way out of a table. Dropping it before its end ends the connection: there may be any number of rows left.
#[derive(Debug)]
pub struct CopyOut<'s> {
    session: &'s mut Session,
    boundary: Boundary,
    ended: bool,
}

impl CopyOut<'_> {
    /// Returns the next part: one row, or the head of the binary form with it. `None` at the end.
    ///
    /// # Errors
    /// The server's failure, which ends the COPY.
    pub fn read(&mut self) -> Result<Option<Bytes>, PgError> {
        loop {
            if let Some(part) = self.session.copied.pop_front() {
                return Ok(Some(part));
            }
            if self.ended {
                return Ok(None);
            }
            if self.session.is_answered(self.boundary) {
                self.ended = true;
                self.session.wait(self.boundary)?;
                continue;
            }
            self.session.step()?;
        }
    }

    /// Returns how many rows there were, once all are read.
    pub fn rows(&self) -> u64 {
        self.session.copied_rows
    }
}

impl Drop for CopyOut<'_> {
    fn drop(&mut self) {
        if !self.ended && self.session.lost.is_none() {
            let _lost = self.session.lose("a COPY was not read to its end".to_owned());
        }
    }
}
