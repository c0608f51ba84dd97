//! The end of a run: what ends it, what is due by when, and what is still said and written.

use std::time::Duration;

use colibri_runtime::chain::TURN_LIMIT;
use colibri_runtime::chain::audit::RowOutcome;
use colibri_runtime::chain::foreign::ForeignEnd;
use colibri_runtime::chain::log::Level;
use colibri_runtime::chain::store::Store as _;
use colibri_runtime::handler::Dispatch;
use colibri_visible::counted;
use tokio::time::Instant;

use super::child::{code_of, is_absent, words_of};
use super::ending::Cause;
use super::notes::Cancelled;
use super::outgoing::Reply;
use super::streams::Last;
use super::{Flight, INTERNAL_ERROR, Relay};
use crate::lifecycle::exit;
use crate::tools::cx::Cx;
use crate::wrap::answer::{Answer, server_ended};
use crate::wrap::limits::{GIVEN_UP, REAP_WAIT, TERM_WAIT};

/// A server that ends closes its output a moment before. Only one that lives on longer has closed it by itself.
const OUTPUT_GRACE: Duration = Duration::from_millis(100);

impl<D: Dispatch<Cx>> Relay<'_, D> {
    /// The client writes no more.
    pub(super) fn client_closed(&mut self) {
        self.from_client = None;
        let mut lines = Vec::new();
        self.requests.finish(&mut lines);
        lines.into_iter().for_each(|line| self.take_line(line, None));
    }

    /// The client reads no more.
    pub(super) fn client_gone(&mut self, error: &std::io::Error) {
        self.tell(Level::Warn, &format!("the client no longer reads: {error}"));
        self.from_client = None;
        self.to_client.discard();
        self.to_server = None;
        let act = self.ending.client_gone(Instant::now());
        self.act(act);
    }

    /// The server writes no more.
    pub(super) fn server_closed(&mut self) {
        self.from_server = None;
        let mut pieces = Vec::new();
        self.lines.finish(&mut pieces);
        self.take_pieces(pieces);
        self.outgoing.end_line();
        self.closed_at = Some(Instant::now());
    }

    /// The server's process has ended.
    pub(super) fn exited(&mut self) {
        self.exited_at = Some(Instant::now());
        self.to_server = None;
        let act = self.ending.server_ended(Instant::now());
        self.act(act);
    }

    /// Writes what can be written without waiting, and closes the server's input once the client's last line has left.
    pub(super) fn flush_now(&mut self) {
        self.to_client.flush_now();
        if let Some(outbox) = &self.to_server {
            outbox.flush_now();
            let done = self.from_client.is_none() && self.incoming.is_empty() && self.aside.is_empty();
            if done && outbox.is_empty() {
                self.to_server = None;
                self.ending.client_closed(!self.flights.is_empty(), Instant::now());
            }
        } else if self.flights.is_empty() && self.ending.cause() == Some(Cause::ClientGone) {
            self.ending.idle(Instant::now());
        }
    }

    /// Returns when something is due next.
    pub(super) fn next_due(&self) -> Option<Instant> {
        let times = [
            self.ending.next(),
            self.aside.front().map(|aside| aside.until),
            self.listing_until(),
            self.cancelled.front().map(|cancelled| cancelled.until),
            self.exited_at.map(|at| at + REAP_WAIT),
            self.closed_at.filter(|_| self.exited_at.is_none()).map(|at| at + OUTPUT_GRACE),
            self.turn_since.map(|at| at + TURN_LIMIT),
            self.chatter.next(),
        ];
        times.into_iter().flatten().min()
    }

    /// Does what is due.
    pub(super) fn ring(&mut self) {
        let now = Instant::now();
        if let Some(act) = self.ending.due(now) {
            self.act(act);
        }
        self.chatter.ring(now);
        if self.listing_until().is_some_and(|until| until <= now) {
            self.listing_is_late();
        }
        while self.aside.front().is_some_and(|aside| aside.until <= now)
            && let Some(aside) = self.aside.pop_front()
        {
            self.take_line(aside.line, Some(aside.until));
        }
        while self.cancelled.front().is_some_and(|cancelled| cancelled.until <= now)
            && let Some(Cancelled { place, .. }) = self.cancelled.pop_front()
        {
            let Some((id, flight)) = self.end(place) else { continue };
            if self.given_up.len() == GIVEN_UP {
                self.given_up.pop_front();
            }
            self.given_up.push_back(id);
            if let Flight::Call(passed) = flight {
                self.counts.aborted += 1;
                let end = aborted(self.codes.cancelled.code, self.codes.cancelled.message);
                self.closing.push_back((passed.ticket, end));
            }
        }
        if self.exited_at.is_none() && self.closed_at.is_some_and(|at| at + OUTPUT_GRACE <= now) {
            self.closed_at = None;
            self.to_server = None;
            let act = self.ending.server_ended(now);
            self.act(act);
            self.fail_flights("closed its output");
        }
    }

    /// Returns whether the server has ended, and everything that it wrote is here.
    pub(super) fn is_over(&self) -> bool {
        let late = self.exited_at.is_some_and(|at| at.elapsed() >= REAP_WAIT);
        late || (self.exited_at.is_some() && self.from_server.is_none())
    }

    /// Closes the rows of all requests in flight and answers them.
    fn fail_flights(&mut self, how: &str) {
        let code = match self.ending.cause() {
            Some(Cause::ClientGone) => self.codes.client_gone,
            Some(Cause::Stopped) => self.codes.stopped,
            Some(Cause::ServerEnded) | None => self.codes.server_ended,
        };
        let message = code.with("how", how);
        let places: Vec<_> = self.flights.iter().map(|(place, ..)| place).collect();
        for place in places {
            let Some((id, flight)) = self.end(place) else { continue };
            let line = self.unanswered(how, flight.may_take_effect()).line(Some(id.as_str()));
            match flight {
                Flight::Call(passed) => {
                    self.ended_withdrawn(place, &passed.ticket);
                    self.counts.aborted += 1;
                    let exit = Some((passed.ticket, aborted(code.code, &message)));
                    self.outgoing.answer(Reply { exit, otherwise: line.clone(), closed: None }, line);
                }
                Flight::Listen | Flight::OwnTools(_) => {}
                _ => self.say(&line),
            }
        }
    }

    /// Returns what the client is told of a request that the server has not answered.
    fn unanswered(&self, how: &str, may_take_effect: bool) -> Answer {
        let text = server_ended(&self.name, how, may_take_effect);
        Answer::error(INTERNAL_ERROR, &text, Some(self.codes.server_ended.code), &self.name)
    }

    /// Ends the run: writes and says what is left, and returns the exit code.
    pub(super) async fn finish(mut self) -> u8 {
        let status = self.child.end();
        if self.from_server.is_some() {
            self.server_closed();
        }
        let how = status.as_ref().map_or_else(|_| "an unknown status".to_owned(), |status| words_of(*status));
        // Calls that wait for the tools are answered like those that were sent, and leave no row: no server saw them.
        self.say_to_aside(&how);
        self.chatter.finish();
        self.write_all();
        self.fail_flights(&how);
        self.take_held();
        self.write_all();
        if self.operator.chain().fatal().is_some() {
            return exit::FAILURE;
        }
        self.flush_all().await;
        self.store_lists().await;
        self.tell_drops();
        if let Some((level, text)) = self.watch.unrecorded() {
            self.log.write(level, &text);
        }
        let super::Counts { calls, refused, aborted, dropped } = self.counts;
        self.tell(
            Level::Info,
            &format!(
                "ended ({how}): {}, {refused} refused, {aborted} aborted, {} dropped",
                counted(calls, "call"),
                counted(dropped, "message")
            ),
        );
        match (self.ending.cause(), status) {
            // Such a server was never there, even if the client's end came first.
            (Some(Cause::ClientGone), Ok(status)) if !self.killed && is_absent(status) => code_of(status),
            (Some(Cause::ClientGone | Cause::Stopped), Ok(_)) if !self.killed => exit::SUCCESS,
            (Some(Cause::ServerEnded) | None, Ok(status)) if !self.killed => code_of(status),
            _ => exit::FAILURE,
        }
    }

    fn say_to_aside(&mut self, how: &str) {
        for aside in std::mem::take(&mut self.aside) {
            for id in aside.line.messages.iter().filter_map(|message| message.id()) {
                let answer = self.unanswered(how, false);
                self.say(&answer.line(Some(id.as_str())));
            }
        }
    }

    /// Writes all rows that wait, and waits for each turn on this thread: nothing else is left to do.
    fn write_all(&mut self) {
        while self.rows() > 0 && self.operator.chain().fatal().is_none() {
            // Without the turn, the exchange reports what is in the way.
            let _ = self.operator.chain().store.wait_turn(TURN_LIMIT);
            self.exchange();
            self.release();
        }
        self.release();
    }

    /// Writes what the client still takes. After a signal it has little time, and after its own end as long as it goes on reading.
    async fn flush_all(&mut self) {
        let mut stopped = self.ending.cause() == Some(Cause::Stopped);
        loop {
            let (before, limited) = (self.to_client.waiting(), stopped || self.from_client.is_none());
            let last = std::future::poll_fn(|cx| self.poll_last(cx));
            let last = match limited {
                true => tokio::time::timeout(TERM_WAIT, last).await,
                false => Ok(last.await),
            };
            match last {
                Ok(Last::Signal) if !stopped => stopped = true,
                Ok(Last::ClientClosed) => {}
                Err(_) if !stopped && self.to_client.waiting() < before => {}
                Ok(Last::Written | Last::Signal) | Err(_) => return,
            }
        }
    }
}

fn aborted(code: &'static str, message: &str) -> ForeignEnd {
    ForeignEnd {
        outcome: RowOutcome::Aborted,
        code: Some(code),
        message: Some(message.to_owned()),
        result_hash: None,
    }
}
