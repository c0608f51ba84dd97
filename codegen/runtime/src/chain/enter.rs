//! Stage 3: the enter rows, in a transaction that first closes what earlier calls left open.

use std::sync::Arc;

use serde_json::Value;

use crate::chain::Chain;
use crate::chain::audit::EnterEvent;
use crate::chain::call::{Call, NO_REQUEST, ReplyTo};
use crate::chain::check::Verdict;
use crate::chain::client::{Client, Introduction, MOST_CLIENTS};
use crate::chain::log::Level;
use crate::chain::row::{Entered, Row};
use crate::chain::store::{Access, Store, StoreFault};
use crate::handler::Dispatch;
use crate::progress::Progress;

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Writes the enter rows of calls in a transaction of their own.
    pub(super) fn enter(&mut self, rows: &mut [&mut Row]) -> Result<(), StoreFault> {
        self.introductions.begin();
        let nothing_first = self.unclosed.is_empty() && self.known(rows) == rows.len();
        if !nothing_first {
            self.begin_entering(rows)?;
            return self.commit_entered();
        }
        self.fatal.clone().map_or(Ok(()), Err)?;
        let first = self.store.enter_batch(&mut events(rows))?;
        number(rows, first);
        Ok(())
    }

    /// Opens a transaction and writes the enter rows.
    pub(super) fn begin_entering(&mut self, rows: &mut [&mut Row]) -> Result<(), StoreFault> {
        if self.store.postpones() {
            // A refusal would show at the commit only, and take the new rows with it.
            self.close_unclosed_apart()?;
        }
        self.begin(Access::Enter)?;
        self.introductions.begin();
        if !self.store.postpones() {
            self.close_unclosed()?;
        }
        self.enter_rows(rows)
    }

    /// Writes the enter rows inside the open transaction, each behind the introduction of its client.
    pub(super) fn enter_rows(&mut self, rows: &mut [&mut Row]) -> Result<(), StoreFault> {
        let mut rest = rows;
        while !rest.is_empty() {
            let (known, others) = rest.split_at_mut(self.known(rest));
            if !known.is_empty() {
                let first = self.store.audit_enter_all(&mut events(known))?;
                number(known, first);
            }
            if let Some(row) = others.first() {
                self.introduce(row)?;
            }
            rest = others;
        }
        Ok(())
    }

    /// Returns how many of these rows come before the first whose client the log does not know.
    fn known(&self, rows: &[&mut Row]) -> usize {
        rows.iter().take_while(|row| self.introductions.knows(&row.client)).count()
    }

    /// Commits what [`Chain::begin_entering`] began.
    pub(super) fn commit_entered(&mut self) -> Result<(), StoreFault> {
        self.commit()?;
        self.forget_closed();
        self.introductions.commit();
        Ok(())
    }

    /// Stores who the call comes from, if the log does not know it yet (people#callers): a whole call of an operation, in the
    /// transaction in which `row` is about to be entered and at its time. So no row is without its caller, and an enter transaction
    /// that fails takes the caller with it.
    pub(super) fn introduce(&mut self, row: &Row) -> Result<(), StoreFault> {
        let Some(introduction) = self.introductions.due(&row.client) else { return Ok(()) };
        let Introduction { operation, arguments, client, crowded } = introduction;
        if crowded {
            self.log(
                Level::Warn,
                format_args!(
                    "[audit] more than {MOST_CLIENTS} changes of client in this process: further names are not stored"
                ),
            );
        }
        let mut call = self.operation_at(operation, arguments, client, row);
        call.row.sequence_no = Some(self.store.audit_enter(&call.row.enter_event(&Value::Null))?);
        let ending = self.stage_dispatch(&call);
        if ending.failed() {
            let reason = ending.error_message.unwrap_or_default();
            return Err(StoreFault(format!("{operation} failed: {reason}")));
        }
        let ending = self.stamp(&call.row, ending);
        call.row.close_in(&mut self.store, &ending)
    }

    /// Returns a call of an operation, entered at the time of another call.
    fn operation_at(&mut self, name: &str, arguments: Value, client: Arc<Client>, at: &Row) -> Entered {
        let mut entered = self.operation(name, arguments, client);
        entered.row.timestamp = at.timestamp;
        entered.row.entered_ms = at.entered_ms;
        entered.row.entered_at.clone_from(&at.entered_at);
        entered
    }

    /// Returns a call of an operation that the chain makes itself.
    pub(super) fn operation(&mut self, name: &str, arguments: Value, client: Arc<Client>) -> Entered {
        let reply_to =
            ReplyTo { id: NO_REQUEST.into(), stateless: true, member: None, progress: Progress::default() };
        let call = Call {
            reply_to,
            name: name.to_owned(),
            arguments: arguments.into(),
            args_hash: None,
            trace_context: None,
            client,
            bytes: 0,
            since_ms: 0.0,
            unreadable: None,
        };
        let checked = self.check_operation(call);
        self.enter_row(checked)
    }

    /// Marks calls as not entered, because stage 3 failed: none has a row, and none goes on.
    pub(super) fn mark_not_entered<'a>(
        &mut self,
        calls: impl IntoIterator<Item = &'a mut Entered>,
        reason: &str,
    ) {
        self.roll_back();
        self.log(Level::Error, format_args!("[audit] enter failed: {reason}"));
        for call in calls {
            call.row.sequence_no = None;
            if call.is_open() {
                call.verdict = Verdict::AuditFailed(reason.to_owned());
            }
        }
    }
}

/// The store keeps a hash of the arguments only, so the events carry none.
fn events<'a>(rows: &'a [&mut Row]) -> impl Iterator<Item = EnterEvent<'a>> {
    rows.iter().map(|row| row.enter_event(&Value::Null))
}

/// Gives the rows their numbers.
fn number(rows: &mut [&mut Row], first: i64) {
    for (row, sequence_no) in rows.iter_mut().zip(first..) {
        row.sequence_no = Some(sequence_no);
    }
}
