//! What the relay notes of calls besides their outcomes: the client withdrew one, one continues an earlier one, a task has ended.

use colibri_canonical::HexDigest;
use colibri_runtime::chain::foreign::Ticket;
use colibri_runtime::chain::note::{About, Note, Withdrawal};
use colibri_runtime::handler::Dispatch;
use colibri_runtime::kernel::rfc3339_ms;
use serde_json::json;
use tokio::time::Instant;

use super::Relay;
use crate::catalogue::NoteKind;
use crate::tools::cx::Cx;
use crate::wrap::flights::{Id, Ticket as Place};
use crate::wrap::limits::CANCEL_WAIT;
use crate::wrap::request::TaskRequest;
use crate::wrap::rounds::{LaterRound, asked_state, ended_status, task_id};
use crate::wrap::scan::{Answer, Ending};

/// A call that was passed on.
#[derive(Debug)]
pub(super) struct Passed {
    /// Its open row.
    pub ticket: Ticket,
    /// The hash of its arguments alone.
    pub arguments: HexDigest,
    /// The first call that it continues.
    pub first: Option<First>,
}

/// The first call of several rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct First {
    sequence_no: i64,
    arguments: HexDigest,
}

/// A request that the client has cancelled.
#[derive(Debug)]
pub(super) struct Cancelled {
    pub place: Place,
    /// Until when it may be answered.
    pub until: Instant,
    withdrawal: Withdrawal,
}

impl<D: Dispatch<Cx>> Relay<'_, D> {
    fn now(&mut self) -> String {
        rfc3339_ms(self.operator.chain().kernel().clock.wall_ms())
    }

    fn note(&mut self, about: Option<About>, kind: NoteKind, body: serde_json::Value) {
        if let Some(about) = about {
            self.operator.chain().note(Note { about, kind: kind.as_str(), body });
        }
    }

    /// Notes which earlier call a passed-on call continues.
    pub(super) fn passed(
        &mut self,
        ticket: Ticket,
        arguments: HexDigest,
        round: Option<LaterRound>,
    ) -> Passed {
        let Some(LaterRound { state, actions }) = round else {
            return Passed { ticket, arguments, first: None };
        };
        let first = self.asked.get(&state).cloned();
        // A run does not know what an earlier one was asked for.
        let number = first.as_ref().map(|first| first.sequence_no);
        let body = json!({ "first": number, "state_hash": state.as_str(), "actions": actions });
        self.note(ticket.about(), NoteKind::LaterRound, body);
        if let Some(first) = first.as_ref().filter(|first| first.arguments != arguments) {
            self.note(ticket.about(), NoteKind::ArgumentsChanged, json!({ "first": first.sequence_no }));
        }
        Passed { ticket, arguments, first }
    }

    /// Remembers how a later message continues a call, once the call is answered. `result` is there unless it was too long to be held.
    pub(super) fn remember(&mut self, place: Place, passed: &Passed, answer: &Answer, result: Option<&[u8]>) {
        self.ended_withdrawn(place, &passed.ticket);
        match answer.ending {
            Ending::InputRequired => {
                let of = |sequence_no| First { sequence_no, arguments: passed.arguments };
                let first = passed.first.clone().or_else(|| passed.ticket.sequence_no().map(of));
                if let (Some(state), Some(first)) = (result.and_then(asked_state), first) {
                    self.asked.add(state, first);
                }
            }
            Ending::TaskCreated => {
                if let (Some(id), Some(about)) = (result.and_then(task_id), passed.ticket.about()) {
                    self.tasks.add(id, about);
                }
            }
            _ => {}
        }
    }

    /// Notes that the client had withdrawn a call that ends now, if it had.
    pub(super) fn ended_withdrawn(&mut self, place: Place, ticket: &Ticket) {
        if let Some(cancelled) = self.cancelled.iter().find(|cancelled| cancelled.place == place)
            && let Some(about) = ticket.about()
        {
            self.operator.chain().note_withdrawn(about, &cancelled.withdrawal);
        }
    }

    /// Notes the end of a task, if an answer brings it.
    pub(super) fn task_answered(&mut self, asked: &TaskRequest, answer: &Answer, result: Option<&[u8]>) {
        let status = match asked.is_result {
            // The answer is the result itself.
            true => {
                (answer.ending == Ending::Ok || answer.ending == Ending::ToolError).then_some("completed")
            }
            false => result.and_then(ended_status),
        };
        let Some(status) = status else { return };
        let Some(about) = self.tasks.take(&asked.task_id) else { return };
        let body = json!({
            "at": self.now(),
            "status": status,
            "task_hash": HexDigest::of(asked.task_id.as_bytes()).as_str(),
            "result_hash": answer.hash.as_str(),
        });
        self.note(Some(about), NoteKind::TaskEnded, body);
    }

    /// The client withdraws a request.
    pub(super) fn cancel(&mut self, id: &Id, reason_hash: Option<String>) {
        let Some(place) = self.flights.oldest(id) else { return };
        while self.cancelled.front().is_some_and(|cancelled| self.flights.get(cancelled.place).is_none()) {
            self.cancelled.pop_front();
        }
        let own = matches!(self.flights.get(place), Some((_, super::Flight::OwnTools(_))));
        if !own && self.cancelled.iter().all(|other| other.place != place) {
            let withdrawal = Withdrawal { at: self.now(), reason_hash };
            self.cancelled.push_back(Cancelled { place, until: Instant::now() + CANCEL_WAIT, withdrawal });
        }
    }
}
