//! Calls of tools of other servers: rows like those of the chain's own calls, but their handler is another process.
//!
//! A program that passes calls on enters each of them before it passes the call on, and closes its row before it passes the reply on
//! ([`Chain::exchange`]). It checks nothing of the call and stores nothing of the reply but its hash.

use std::sync::Arc;

use crate::chain::Chain;
use crate::chain::audit::RowOutcome;
use crate::chain::client::Client;
use crate::chain::ending::Ending;
use crate::chain::log::Level;
use crate::chain::note::About;
use crate::chain::row::{Named, Row};
use crate::chain::store::{Store, StoreFault};
use crate::handler::Dispatch;

/// A call on its way to another server.
#[derive(Debug, Clone)]
pub struct ForeignCall {
    /// The row's name of the tool. The row keeps 128 characters of it, without secrets.
    pub tool: String,
    /// JSON text of the request's id, as received.
    pub request_id: Box<str>,
    /// SHA-256 (hex) of the arguments.
    pub args_hash: String,
    /// Canonical JSON of the request's trace headers.
    pub trace_context: Option<String>,
    /// Who the call says it comes from.
    pub client: Arc<Client>,
}

/// How a call of another server's tool has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignEnd {
    /// How its row is closed.
    pub outcome: RowOutcome,
    /// The code stored beside the outcome; absent exactly when it is ok.
    pub code: Option<&'static str>,
    /// A sentence of the program's own; never a text of the server's.
    pub message: Option<String>,
    /// SHA-256 (hex) of what answers the call; absent when nothing does.
    pub result_hash: Option<String>,
}

/// A row that is entered and not closed. It is used up by the exchange that closes it.
#[derive(Debug)]
pub struct Ticket(Row);

impl Ticket {
    /// Returns the row's number.
    pub fn sequence_no(&self) -> Option<i64> {
        self.0.sequence_no
    }

    /// Returns the call, for notes.
    pub fn about(&self) -> Option<About> {
        About::of(&self.0)
    }
}

/// What an exchange has stored, in the order in which it was given.
#[derive(Debug)]
pub struct Exchanged {
    /// Of each exit, whether its row is closed. One that is not is closed with the next exchange, as a call whose commit failed.
    pub exits: Vec<Result<(), StoreFault>>,
    /// Of each call, its open row; nothing if it had ended at once.
    pub calls: Vec<Result<Option<Ticket>, StoreFault>>,
}

/// A row with its ending, if the call has ended.
type Written = (Row, Option<Ending>);

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Writes the notes that wait, then closes the rows of calls that have ended and enters calls that have come, all in one transaction,
    /// and syncs once. A call with an end has both halves of its row in it. Uses the turn to write; the caller has waited for it ([`Store::poll_turn`]).
    ///
    /// If the store refuses the transaction, the exits and the calls are tried apart, then each by itself, so that a row which cannot be
    /// written does not hold up the others. After a failed sync nothing of this may be acted on: see [`Chain::fatal`].
    pub fn exchange(
        &mut self,
        exits: Vec<(Ticket, ForeignEnd)>,
        calls: Vec<(ForeignCall, Option<ForeignEnd>)>,
    ) -> Exchanged {
        self.write_notes_first();
        let mut exits: Vec<Written> = exits
            .into_iter()
            .map(|(Ticket(row), end)| {
                let ending = self.foreign_ending(&row, end);
                (row, Some(ending))
            })
            .collect();
        let mut calls: Vec<Written> = calls
            .into_iter()
            .map(|(call, end)| {
                let ForeignCall { tool: name, request_id, args_hash, trace_context, client } = call;
                let row = self.row_of(Named { name, request_id, args_hash, trace_context, client });
                let ending = end.map(|end| self.foreign_ending(&row, end));
                (row, ending)
            })
            .collect();
        let stored = match self.write_exchange(&mut exits, &mut calls) {
            Ok(()) => (exits.iter().map(|_| Ok(())).collect(), calls.iter().map(|_| Ok(())).collect()),
            Err(_) => (self.exits_apart(&mut exits), self.calls_apart(&mut calls)),
        };
        self.store.leave_queue();
        self.sync();
        for ((row, ending), stored) in exits.iter().zip(&stored.0).chain(calls.iter().zip(&stored.1)) {
            if let (Some(ending), Ok(())) = (ending, stored) {
                self.log_exit(row, ending);
            }
        }
        let ticket = |(row, ending): Written| ending.is_none().then_some(Ticket(row));
        Exchanged {
            exits: stored.0,
            calls: calls
                .into_iter()
                .zip(stored.1)
                .map(|(call, stored)| stored.map(|()| ticket(call)))
                .collect(),
        }
    }

    /// Writes everything in one transaction. If it fails, nothing of it is stored.
    fn write_exchange(&mut self, exits: &mut [Written], calls: &mut [Written]) -> Result<(), StoreFault> {
        let written = self.write_all(exits, calls);
        if written.is_err() {
            self.lose_transaction();
            for (row, _) in calls {
                row.sequence_no = None;
            }
        }
        written
    }

    fn write_all(&mut self, exits: &[Written], calls: &mut [Written]) -> Result<(), StoreFault> {
        self.begin_entering(&mut [])?;
        self.close_ended(exits)?;
        let mut rows: Vec<&mut Row> = calls.iter_mut().map(|(row, _)| row).collect();
        self.enter_rows(&mut rows)?;
        self.close_ended(calls)?;
        let postpones = self.store.postpones();
        let committing = self.kernel.clock.monotonic_ms();
        self.commit_entered()?;
        if postpones {
            self.commit_ms = self.kernel.clock.monotonic_ms() - committing;
        }
        Ok(())
    }

    fn close_ended(&mut self, rows: &[Written]) -> Result<(), StoreFault> {
        rows.iter()
            .filter_map(|(row, ending)| Some((row, ending.as_ref()?)))
            .try_for_each(|(row, ending)| row.close_in(&mut self.store, ending))
    }

    /// Closes the rows in a transaction of their own, or each in one. A row that cannot be closed is closed later.
    fn exits_apart(&mut self, exits: &mut [Written]) -> Vec<Result<(), StoreFault>> {
        if self.write_exchange(exits, &mut []).is_ok() {
            return exits.iter().map(|_| Ok(())).collect();
        }
        let each = exits.iter_mut().map(|exit| {
            let closed = self.write_exchange(std::slice::from_mut(exit), &mut []);
            if let Err(fault) = &closed {
                self.exit_failed_outside(&exit.0, fault);
            }
            closed
        });
        each.collect()
    }

    /// Notes a row that could not be closed. The reply is withheld, so the row says that the commit failed.
    fn exit_failed_outside(&mut self, row: &Row, fault: &StoreFault) {
        self.log(Level::Error, format_args!("[audit] exit of {} failed: {fault}", row.tool));
        let ending = self.stamp(row, self.words(&row.tool).commit_failed(&fault.0));
        self.note_unclosed(row, &ending, false);
    }

    /// Enters the calls in a transaction of their own, or each in one.
    fn calls_apart(&mut self, calls: &mut [Written]) -> Vec<Result<(), StoreFault>> {
        if self.write_exchange(&mut [], calls).is_ok() {
            return calls.iter().map(|_| Ok(())).collect();
        }
        let each = calls.iter_mut().map(|call| {
            let entered = self.write_exchange(&mut [], std::slice::from_mut(call));
            if let Err(fault) = &entered {
                self.log(Level::Error, format_args!("[audit] enter of {} failed: {fault}", call.0.tool));
            }
            entered
        });
        each.collect()
    }

    fn foreign_ending(&self, row: &Row, end: ForeignEnd) -> Ending {
        let ForeignEnd { outcome, code, message, result_hash } = end;
        let ending = Ending {
            answer: None,
            outcome,
            error_code: code.map(str::to_owned),
            error_message: message,
            result_hash,
            result: None,
            notices: Vec::new(),
            duration_ms: 0,
            exited_at: String::new(),
        };
        self.stamp(row, ending)
    }
}
