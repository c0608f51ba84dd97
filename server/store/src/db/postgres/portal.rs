//! Results that the server hands out in parts, for walks over tables that do not fit into memory. Between two parts, other statements may run on the
//! same connection. (PostgreSQL manual, "Extended Query", on portals.)

use std::sync::Arc;

use super::error::PgError;
use super::expect::Expect;
use super::frontend::{self, Name};
use super::rows::Rows;
use super::session::{Execution, Limit, Session, TransactionStatus};
use super::statements::Statement;
use crate::Value;

/// The first part of a result. The longest row that Colibri writes has some 5 MiB.
const FIRST_ROWS: u32 = 8;
/// The most rows of a part, and how much larger than the one before it may be.
const MOST_ROWS: u32 = 1024;
const GROWTH: u32 = 8;
/// What a part should have.
const BYTES: usize = 1 << 20;

/// An open portal. It lives as long as its transaction.
#[derive(Debug)]
pub struct Portal {
    name: Name,
    statement: Arc<Statement>,
    /// The rows of the next part.
    next: u32,
    /// Whether its transaction was opened for it.
    is_alone: bool,
}

impl Portal {
    /// Decides from one part how many rows the next one has.
    fn learn(&mut self, part: &Rows) {
        let most = self.next.saturating_mul(GROWTH).min(MOST_ROWS);
        let fit = part.len().saturating_mul(BYTES) / part.size().max(1);
        self.next = u32::try_from(fit).unwrap_or(MOST_ROWS).clamp(1, most);
    }
}

impl Session {
    /// Runs a query through a portal and returns its first rows; [`Session::fetch`] returns more. Outside of a transaction, a result
    /// of several parts gets one of its own, up to [`Session::close_portal`].
    ///
    /// # Errors
    /// Those of [`Session::query`].
    pub fn open_portal(&mut self, sql: &str, params: &[Value<'_>]) -> Result<(Portal, Rows), PgError> {
        self.portals += 1;
        let name = Name::Portal(self.portals);
        let execution = Execution { portal: name, most_rows: FIRST_ROWS, keep: true, commit: false };
        let statement = self.push(sql, params, execution)?;
        let rows = self.receive(Limit::ALL)?;
        let mut portal = Portal { name, statement, next: FIRST_ROWS, is_alone: false };
        portal.learn(&rows);
        if !rows.suspended() || self.status() != TransactionStatus::Idle {
            return Ok((portal, rows));
        }
        // The end of the boundary was the end of the transaction, and of the portal. No row has been shown yet.
        self.queue("BEGIN", &[])?;
        let (mut portal, rows) = self.open_portal(sql, params)?;
        portal.is_alone = true;
        Ok((portal, rows))
    }

    /// Returns the next rows of a portal.
    ///
    /// # Errors
    /// Those of [`Session::query`]; SQLSTATE 34000 if its transaction has ended.
    pub fn fetch(&mut self, portal: &mut Portal) -> Result<Rows, PgError> {
        self.check()?;
        frontend::execute(self.wire.out(), portal.name, portal.next)?;
        self.expected.push_back(Expect::Executed {
            statement: portal.statement.clone(),
            keep: true,
            commit_at: None,
        });
        self.counters.statements += 1;
        let rows = self.receive(Limit::ALL)?;
        portal.learn(&rows);
        Ok(rows)
    }

    /// Ends a portal. Nothing is waited for: what can fail here has failed before.
    pub fn close_portal(&mut self, portal: Portal) {
        if self.lost.is_some() || frontend::close(self.wire.out(), portal.name).is_err() {
            return;
        }
        self.expected.push_back(Expect::Closed(None));
        if portal.is_alone && self.queue("COMMIT", &[]).is_ok() {
            let _ended = self.boundary();
            let _sent = self.send();
        }
    }
}
