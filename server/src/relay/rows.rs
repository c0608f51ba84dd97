//! The rows that wait: one transaction holds those of all replies that came, then those of all calls that came, and one sync covers them.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use colibri_runtime::chain::TURN_LIMIT;
use colibri_runtime::chain::audit::RowOutcome;
use colibri_runtime::chain::foreign::{Exchanged, ForeignEnd};
use colibri_runtime::chain::store::Store as _;
use colibri_runtime::handler::Dispatch;
use tokio::time::Instant;

use super::incoming::{Entering, Note, Waiting};
use super::{Flight, Relay, hash_of};
use crate::tools::cx::Cx;
use crate::wrap::answer::{Answer, Refusal};
use crate::wrap::limits::TURN_ROWS;

/// Which part of a sync's time is waited for further rows at most.
const SHARE_OF_SYNC: f64 = 0.5;
/// However slow the disk, no row waits longer for its neighbours, in milliseconds.
const LONGEST_MS: f64 = 0.5;
/// Syncs below this, in milliseconds, are not worth a look at the clock.
const CHEAP_SYNC_MS: f64 = 0.02;

impl<D: Dispatch<Cx>> Relay<'_, D> {
    /// Returns how many rows wait.
    pub(super) fn rows(&mut self) -> usize {
        let notes = usize::from(self.operator.chain().has_notes());
        notes + self.closing.len() + self.outgoing.waiting().count() + self.incoming.rows()
    }

    /// Reads on until as many rows wait as the larger of the last two turns wrote, or the time is up. One call at a time never waits.
    ///
    /// Of two turns, because calls that were late once have a turn of their own: by the last one alone the rest would never wait for them.
    pub(super) async fn gather(&mut self) {
        let sync_ms = self.operator.chain().sync_ms();
        let expected = self.last_turns.into_iter().max().unwrap_or(0);
        if sync_ms < CHEAP_SYNC_MS || expected < 2 || self.turn_since.is_some() {
            return;
        }
        let clock = self.operator.chain().kernel().clock.clone();
        let until = clock.monotonic_ms() + (sync_ms * SHARE_OF_SYNC).min(LONGEST_MS);
        loop {
            let rows = self.rows();
            if rows == 0 || rows >= expected || clock.monotonic_ms() >= until {
                break;
            }
            self.react_if_ready().await;
        }
        // What has come with the last of them may come along.
        self.react_if_ready().await;
    }

    /// Reacts to an event if there is one; otherwise lets the others have the processor for a moment.
    pub(super) async fn react_if_ready(&mut self) {
        let event = {
            let mut next = std::pin::pin!(self.next_event());
            std::future::poll_fn(|cx| match next.as_mut().poll(cx) {
                Poll::Ready(event) => Poll::Ready(Some(event)),
                Poll::Pending => Poll::Ready(None),
            })
            .await
        };
        match event {
            Some(event) => self.react(event),
            None => {
                std::thread::yield_now();
                // The runtime looks at the streams when a task yields.
                tokio::task::yield_now().await;
            }
        }
    }

    /// Writes one turn's rows, if any wait and this process has the turn to write.
    pub(super) fn write_rows(&mut self) {
        if self.rows() > 0 && self.has_turn() {
            self.exchange();
        }
    }

    /// Returns whether rows wait that can be written at once.
    pub(super) fn can_write(&mut self) -> bool {
        self.rows() > 0 && self.turn_since.is_none()
    }

    /// Returns whether rows can be written now. After a long wait they are tried without the turn, and fail with the reason.
    fn has_turn(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        let ready = self.operator.chain().store.poll_turn(&mut cx).is_ready();
        let since = self.turn_since.unwrap_or_else(Instant::now);
        let go = ready || since.elapsed() >= TURN_LIMIT;
        self.turn_since = (!go).then_some(since);
        go
    }

    /// Writes one turn's rows.
    pub(super) fn exchange(&mut self) {
        let mut exits: Vec<_> = self.closing.drain(..self.closing.len().min(TURN_ROWS)).collect();
        let closing = exits.len();
        exits.extend(self.outgoing.waiting().take(TURN_ROWS - closing).filter_map(|reply| reply.exit.take()));
        let left = TURN_ROWS - exits.len();
        let calls: Vec<_> = self.incoming.entering().take(left).filter_map(|call| call.row.take()).collect();
        self.last_turns = [self.last_turns[1], exits.len() + calls.len()];
        let Exchanged { exits, calls } = self.operator.chain().exchange(exits, calls);
        for (reply, closed) in self.outgoing.waiting().zip(exits.into_iter().skip(closing)) {
            reply.closed = Some(closed);
        }
        for (call, entered) in self.incoming.entering().zip(calls) {
            call.entered = Some(entered);
        }
    }

    /// Passes on what waited for rows that are written now.
    pub(super) fn release(&mut self) {
        while let Some(line) = self.incoming.next() {
            self.leave(line);
        }
        self.outgoing.release(&mut self.to_client.buffer());
    }

    /// A line of the client's leaves for the server, or is answered in its place.
    fn leave(&mut self, mut line: Waiting) {
        let failed = line.calls.iter().find_map(|call| match &call.entered {
            Some(Err(fault)) => Some(fault.to_string()),
            _ => None,
        });
        if let Some(reason) = failed {
            return self.not_recorded(line, &reason);
        }
        if !line.answer.is_empty() {
            self.say(&line.answer);
        }
        if let (Some(outbox), false) = (&self.to_server, line.bytes.is_empty()) {
            outbox.buffer().extend_from_slice(&line.bytes);
        }
        for call in line.calls.drain(..) {
            match (call.entered, call.id, call.arguments) {
                (Some(Ok(Some(ticket))), Some(id), Some(arguments)) => {
                    self.counts.calls += 1;
                    let passed = self.passed(ticket, arguments, call.round);
                    self.begin(id, Flight::Call(Box::new(passed)));
                }
                _ => self.counts.refused += 1,
            }
        }
        for note in line.notes.drain(..) {
            match note {
                Note::Request(id, flight) => self.begin(id, flight),
                Note::Initialized => self.initialized(),
                Note::Cancelled(id, reason) => self.cancel(&id, reason),
            }
        }
    }

    /// A call's row could not be written: nothing of its line reaches the server.
    fn not_recorded(&mut self, line: Waiting, reason: &str) {
        let refusal = Refusal::NotRecorded(reason.to_owned());
        let mut answers = Vec::new();
        for call in line.calls {
            self.counts.refused += 1;
            let Entering { id, tool, stateless, entered, .. } = call;
            if let Some(Ok(Some(ticket))) = entered {
                self.closing.push_back((ticket, self.batch_refused()));
            }
            let Some(id) = id else { continue };
            answers.push(match line.batch {
                false => refusal.answer(&tool, &self.name, None, stateless).message(Some(id.as_str())),
                true => self.batch_answer(
                    Some(&id),
                    &refusal.text(&tool, &self.name, None),
                    self.codes.not_recorded.code,
                ),
            });
        }
        for note in line.notes {
            if let Note::Request(id, _) = note {
                let text = "another message of the batch could not be recorded";
                answers.push(self.batch_answer(Some(&id), text, self.codes.batch_refused.code));
            }
        }
        self.say_all(&answers, line.batch);
    }

    /// Writes a line of this process's own. A line of the server's that has not ended ends before it, unless it holds a message.
    pub(super) fn say(&mut self, line: &[u8]) {
        if self.outgoing.is_open() && self.lines.break_off() {
            self.outgoing.end_line();
        }
        self.outgoing.say(line);
    }

    /// Answers a line with messages of this process's own.
    pub(super) fn say_all(&mut self, answers: &[String], batch: bool) {
        let line = answer_line(answers, batch);
        if !line.is_empty() {
            self.say(&line);
        }
    }

    pub(super) fn batch_answer(&self, id: Option<&super::Id>, text: &str, code: &str) -> String {
        Answer::error(super::INTERNAL_ERROR, text, Some(code), &self.name).message(id.map(super::Id::as_str))
    }

    /// How a row ends whose call was refused for another one of its batch.
    pub(super) fn batch_refused(&self) -> ForeignEnd {
        ForeignEnd {
            outcome: RowOutcome::Denied,
            code: Some(self.codes.batch_refused.code),
            message: Some(self.codes.batch_refused.message.to_owned()),
            // Nothing answers it yet.
            result_hash: hash_of(""),
        }
    }
}

/// Returns the line that answers a message, or an array of them.
pub fn answer_line(answers: &[String], batch: bool) -> Vec<u8> {
    match (answers, batch) {
        ([], _) => Vec::new(),
        (answers, true) => format!("[{}]\n", answers.join(",")).into_bytes(),
        (answers, false) => answers.iter().flat_map(|answer| [answer.as_bytes(), b"\n"].concat()).collect(),
    }
}
