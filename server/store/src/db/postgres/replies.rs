//! What comes back from the server, matched with what was asked. (PostgreSQL manual, "Message Formats".)
//!
//! Anything out of order ends the connection. Notifications are dropped, and notices, too, but for a warning about a commit.

use std::sync::Arc;

use super::backend::{Frame, Message, column_types};
use super::body::Body;
use super::buffer::Buffer;
use super::error::{PgError, ServerError};
use super::expect::Expect;
use super::rows::Rows;
use super::session::{Session, TransactionStatus};
use super::statements::Statement;
use super::wire::{broken, reason};
use super::words::CONFLICT;

/// The most answers that are kept for a later wait.
const MOST_ANSWERS: usize = 1 << 10;

impl Session {
    /// Takes in all whole messages that have come.
    pub(super) fn absorb(&mut self) -> Result<(), PgError> {
        // Messages are views of the buffer, which is out of the wire meanwhile.
        let mut came = std::mem::take(&mut self.wire.came);
        let taken = self.take_all(&mut came);
        came.tidy();
        self.wire.came = came;
        taken
    }

    fn take_all(&mut self, came: &mut Buffer) -> Result<(), PgError> {
        loop {
            let message = match Frame::take(came, self.wire.most_bytes) {
                Ok(None) => return Ok(()),
                Ok(Some(frame)) => Message::read(frame.tag, came.at(frame.body)),
                Err(error) => Err(error),
            };
            match message {
                Ok(message) => self.take(message)?,
                Err(error) => return Err(self.lose(reason(&error))),
            }
        }
    }

    fn take(&mut self, message: Message<'_>) -> Result<(), PgError> {
        match message {
            Message::NotificationResponse => Ok(()),
            Message::NoticeResponse(fields) => {
                self.take_notice(fields);
                Ok(())
            }
            Message::ParameterStatus(name, value) => {
                self.started.keep(name, value);
                Ok(())
            }
            Message::ErrorResponse(fields) => self.take_error(fields),
            // Rows are most of what comes, and the statement that they belong to goes on.
            Message::DataRow(row) => match self.expected.front() {
                Some(Expect::Executed { statement, keep: true, .. }) => {
                    let rows = self.rows.get_or_insert_with(|| Rows::of(statement.clone()));
                    if rows.size() > self.most_bytes {
                        let error = PgError::TooLarge(format!("{} bytes", self.most_bytes));
                        self.failed.get_or_insert(error);
                        return Ok(());
                    }
                    match rows.push(row) {
                        Some(()) => Ok(()),
                        None => Err(self.out_of_order("a row that does not fit its description")),
                    }
                }
                Some(Expect::Executed { keep: false, .. } | Expect::Script(_)) => Ok(()),
                _ => Err(self.out_of_order("a row")),
            },
            other => self.take_step(other),
        }
    }

    /// Takes an answer that ends a step.
    fn take_step(&mut self, message: Message<'_>) -> Result<(), PgError> {
        let steps = self.expected.len();
        let taken = self.take_in_order(message);
        // Only what brings the end nearer gives the server more time.
        if self.expected.len() < steps {
            self.made_progress();
        }
        taken
    }

    fn take_in_order(&mut self, message: Message<'_>) -> Result<(), PgError> {
        match (message, self.expected.pop_front()) {
            (Message::ParseComplete, Some(Expect::Parsed(statement))) => statement.set_ready(),
            (Message::ParameterDescription, Some(front @ Expect::Described(_))) => {
                self.expected.push_front(front)
            }
            (Message::NoData, Some(Expect::Described(statement))) => statement.set_columns(Vec::new()),
            (Message::RowDescription(columns), Some(Expect::Described(statement))) => {
                match column_types(columns) {
                    Some(columns) => statement.set_columns(columns),
                    None => return Err(self.out_of_order("a description that ends early")),
                }
            }
            (Message::BindComplete, Some(Expect::Bound))
            | (Message::CloseComplete, Some(Expect::Closed(_))) => {}
            (Message::CommandComplete(tag), Some(Expect::Executed { statement, keep, commit_at })) => {
                match (commit_at, tag) {
                    (None, _) => {}
                    (Some(_), "COMMIT") => self.has_committed = true,
                    (Some(_), _) => drop(self.failed.get_or_insert_with(rolled_back)),
                }
                let changed = count(tag);
                self.end_rows(statement, keep, changed, false);
            }
            (Message::PortalSuspended, Some(Expect::Executed { statement, keep, .. })) => {
                self.end_rows(statement, keep, 0, true);
            }
            (Message::EmptyQueryResponse, Some(Expect::Executed { statement, keep, .. })) => {
                self.end_rows(statement, keep, 0, false);
            }
            (Message::RowDescription(_), Some(front @ Expect::Script(_))) => self.expected.push_front(front),
            (Message::CommandComplete(_) | Message::EmptyQueryResponse, Some(Expect::Script(left @ 1..))) => {
                self.expected.push_front(Expect::Script(left - 1));
                self.made_progress();
            }
            (Message::CopyInResponse, Some(front @ Expect::Copy)) if !self.copying => {
                self.copying = true;
                self.expected.push_front(front);
            }
            (Message::CommandComplete(tag), Some(front @ Expect::Copy)) => {
                self.copied_rows = count(tag);
                self.expected.push_front(front);
            }
            (Message::ReadyForQuery(status), front) => {
                let ready = match front {
                    Some(Expect::Script(_) | Expect::Copy) => self.expected.pop_front(),
                    front => front,
                };
                return self.take_ready(status, ready);
            }
            _ => return Err(self.out_of_order("an answer")),
        }
        Ok(())
    }

    fn take_ready(&mut self, status: u8, expected: Option<Expect>) -> Result<(), PgError> {
        let Some(Expect::Ready(boundary)) = expected else {
            return Err(self.out_of_order("the end of a boundary"));
        };
        self.status = match status {
            b'I' => TransactionStatus::Idle,
            b'T' => TransactionStatus::Open,
            b'E' => TransactionStatus::Failed,
            _ => return Err(self.out_of_order("an unknown state of a transaction")),
        };
        self.copying = false;
        self.has_committed = false;
        let answer = self.failed.take().map_or(Ok(self.status), Err);
        if self.answered.len() >= MOST_ANSWERS {
            self.answered.pop_front();
        }
        self.answered.push_back((boundary, answer));
        Ok(())
    }

    /// Notes a failure, and drops what the server skips because of it.
    fn take_error(&mut self, fields: Body<'_>) -> Result<(), PgError> {
        let Some(error) = ServerError::read(fields) else {
            return Err(self.out_of_order("an error without fields"));
        };
        if error.ends_connection() {
            let said: String = match error.code.as_str() {
                "40001" => CONFLICT.to_owned(),
                _ => error.to_string().chars().filter(|c| !c.is_control()).collect(),
            };
            return Err(self.lose(format!("the server ended it: {said}")));
        }
        if self.expected.is_empty() {
            return Err(self.out_of_order("an error that belongs to nothing"));
        }
        if let Some(Expect::Bound | Expect::Executed { .. }) = self.expected.front() {
            // Another connection may have changed a table: the plan is made anew.
            let stale =
                error.code == "26000" || (error.code == "0A000" && error.message.contains("cached plan"));
            let of = self.expected.iter().find_map(|expect| match expect {
                Expect::Executed { statement, .. } => Some(statement.clone()),
                _ => None,
            });
            if let (true, Some(statement)) = (stale, of) {
                self.statements.forget(&statement);
                self.statements.close(statement);
            }
        }
        self.failed.get_or_insert(PgError::Server(Box::new(error)));
        while let Some(skipped) = self.expected.pop_front() {
            match skipped {
                Expect::Ready(boundary) => {
                    self.expected.push_front(Expect::Ready(boundary));
                    break;
                }
                Expect::Parsed(statement) => self.statements.forget(&statement),
                Expect::Closed(Some(statement)) => self.statements.close(statement),
                _ => {}
            }
            self.made_progress();
        }
        Ok(())
    }

    /// Drops a notice, unless it is a warning about a commit. An operator who cancels a commit that waits for standbys gets one, and the commit
    /// succeeds: it has happened on one server alone, which is not what was asked for. (postgres#batch; PostgreSQL manual, "Synchronous Replication".)
    fn take_notice(&mut self, fields: Body<'_>) {
        let commits = matches!(
            self.expected.front(),
            Some(Expect::Ready(_) | Expect::Executed { commit_at: Some(_), .. })
        );
        if let Some(warning) = commits.then(|| ServerError::read(fields)).flatten()
            && warning.severity == "WARNING"
        {
            self.failed.get_or_insert(PgError::Server(Box::new(warning)));
        }
    }

    /// Ends a result that the caller takes, which may be empty.
    fn end_rows(&mut self, statement: Arc<Statement>, keep: bool, changed: u64, suspended: bool) {
        if keep {
            let rows = self.rows.get_or_insert_with(|| Rows::of(statement));
            rows.changed = changed;
            rows.suspended = suspended;
        }
    }

    fn out_of_order(&mut self, what: &str) -> PgError {
        self.lose(reason(&broken(&format!("it sent {what} out of order"))))
    }
}

fn rolled_back() -> PgError {
    PgError::Server(Box::new(ServerError {
        severity: "ERROR".to_owned(),
        code: "25P02".to_owned(),
        message: "the transaction had failed before its commit, and is rolled back".to_owned(),
        ..ServerError::default()
    }))
}

/// Returns the number at the end of a command's tag: `INSERT 0 5`, `UPDATE 5`, `COPY 5`.
fn count(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
