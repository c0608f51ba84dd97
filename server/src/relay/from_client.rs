//! What the client wrote: each line is noted and passed on, refused, or set aside until the server's tools are known.

use std::sync::Arc;

use colibri_runtime::chain::audit::RowOutcome;
use colibri_runtime::chain::client::Client;
use colibri_runtime::chain::foreign::{ForeignCall, ForeignEnd};
use colibri_runtime::handler::Dispatch;
use colibri_runtime::spec::ForeignCode;
use tokio::time::Instant;

use super::incoming::{Entering, Note, Waiting};
use super::rows::answer_line;
use super::{Aside, Flight, INTERNAL_ERROR, Id, Relay, hash_of};
use crate::tools::cx::Cx;
use crate::wrap::answer::{Answer, Refusal};
use crate::wrap::limits::{IN_FLIGHT, LIST_WAIT};
use crate::wrap::request::{Asked, BadCall, Call, Line, Message, Told};
use crate::wrap::watch::Decision;

/// What a request is told that is one too many.
const TOO_MANY: &str = "too many requests in flight";

/// Why a message of the client's is not for the server.
struct Refused {
    /// Its own answer, if it has an id that one can carry.
    answer: Option<Answer>,
    /// How the row of a call ends.
    end: ForeignEnd,
}

impl<D: Dispatch<Cx>> Relay<'_, D> {
    pub(super) fn take_from_client(&mut self, length: usize) {
        let mut lines = Vec::new();
        self.requests.push(&self.chunk[..length], &mut lines);
        lines.into_iter().for_each(|line| self.take_line(line, None));
    }

    /// Takes a line. One that waited for the tools has the time until which it may.
    pub(super) fn take_line(&mut self, line: Line, until: Option<Instant>) {
        let Some(line) = self.apart(line, until.is_some()) else { return };
        let expired = until.is_some_and(|until| until <= Instant::now());
        let admissions: Vec<Decision> = line
            .messages
            .iter()
            .map(|message| match message {
                Message::Call(call) => self.admit(call, expired),
                _ => Decision::Pass,
            })
            .collect();
        let crowded = self.is_crowded(&line);
        if admissions.contains(&Decision::Wait) && !crowded {
            let until = until.unwrap_or_else(|| Instant::now() + LIST_WAIT);
            let meta = line.messages.iter().find_map(|message| match message {
                Message::Call(call) => Some(call.stateless.clone()),
                _ => None,
            });
            self.aside.push_back(Aside { line, until });
            return self.ask_for_tools(meta.flatten());
        }
        let refused: Vec<Option<Refused>> = line
            .messages
            .iter()
            .zip(&admissions)
            .map(|(message, admission)| self.refused(message, admission, crowded))
            .collect();
        if refused.iter().any(Option::is_some) {
            return self.refuse(line, refused);
        }
        let told_beside = self.watch.asks() && self.watch.is_stale();
        let meta = self.pass(line);
        if let Some(meta) = meta.filter(|_| told_beside) {
            self.ask_for_tools(meta);
        }
    }

    /// Holds a line back while a request with an id of its messages waits for its answer: the client could take the answer to one
    /// for that to the other, and the log could, too. The line is refused then, and never passed on.
    fn apart(&mut self, mut line: Line, was_aside: bool) -> Option<Line> {
        let ids: Vec<&Id> = line.messages.iter().filter_map(Message::id).collect();
        let waits = !was_aside && ids.iter().any(|id| self.is_in_flight(id));
        let twice = ids.iter().enumerate().any(|(at, id)| ids[..at].contains(id));
        if waits || twice || ids.iter().any(|id| self.given_up.contains(id)) {
            let mut seen = Vec::new();
            line.refuse_repeated(|id| {
                let repeated = seen.contains(id);
                seen.push(id.clone());
                repeated || self.given_up.contains(id) || !was_aside && self.is_in_flight(id)
            });
        }
        if waits {
            self.held.push(line);
            return None;
        }
        Some(line)
    }

    /// Returns whether a request with that id waits for its answer.
    fn is_in_flight(&self, id: &Id) -> bool {
        self.flights.oldest(id).is_some()
            || self.incoming.has(id)
            || self
                .aside
                .iter()
                .any(|aside| aside.line.messages.iter().any(|message| message.id() == Some(id)))
    }

    /// Refuses the lines that were held back for an id whose request is answered now.
    pub(super) fn take_held(&mut self) {
        for line in std::mem::take(&mut self.held) {
            match line.messages.iter().filter_map(Message::id).any(|id| self.is_in_flight(id)) {
                true => self.held.push(line),
                false => self.take_line(line, None),
            }
        }
    }

    /// Decides on a call. A pin that a command has changed meanwhile counts.
    fn admit(&mut self, call: &Call, expired: bool) -> Decision {
        let mut admission = self.watch.admit(&call.name);
        let hangs_on_pin = matches!(
            admission,
            Decision::Refuse(
                Refusal::ToolChanged | Refusal::ToolNew | Refusal::ToolUnlisted | Refusal::ReadOnlySince
            )
        );
        if hangs_on_pin {
            self.renew_pin();
            admission = self.watch.admit(&call.name);
        }
        match admission {
            Decision::Wait if expired => Decision::Refuse(Refusal::ListUnknown),
            other => other,
        }
    }

    /// Returns why a message is refused, if it is.
    fn refused(&self, message: &Message, admission: &Decision, crowded: bool) -> Option<Refused> {
        match (message, admission) {
            (Message::Call(call), Decision::Refuse(refusal)) => Some(self.denied(call, refusal)),
            (Message::Call(_) | Message::Request(..), _) if crowded => {
                let code = self.codes.denied.code;
                let answer = Answer::error(INTERNAL_ERROR, TOO_MANY, Some(code), &self.name);
                let end = self.ended_at_once(RowOutcome::Denied, code, TOO_MANY, Some(&answer));
                Some(Refused { answer: Some(answer), end })
            }
            (Message::BadCall(call), _) => {
                let (code, problem) =
                    (self.codes.bad_call.code, self.codes.bad_call.with("problem", call.problem));
                let answer = Answer::error(call.code, &problem, Some(code), &self.name);
                let answer = Some(answer).filter(|_| call.waits);
                let end = self.ended_at_once(RowOutcome::Invalid, code, &problem, answer.as_ref());
                Some(Refused { answer, end })
            }
            (Message::Refused(refusal), _) => {
                let answer = Answer::error(refusal.code, refusal.message, None, &self.name);
                let end = self.batch_refused();
                Some(Refused { answer: Some(answer), end })
            }
            _ => None,
        }
    }

    /// Returns whether more requests would be in flight with a line than may be. Calls that wait for the tools count.
    fn is_crowded(&self, line: &Line) -> bool {
        let aside: usize = self.aside.iter().map(|aside| aside.line.requests()).sum();
        let more = line.requests();
        more > 0 && self.flights.len() + self.incoming.requests() + aside + more > IN_FLIGHT
    }

    fn denied(&self, call: &Call, refusal: &Refusal) -> Refused {
        let ForeignCode { code, message } = match refusal {
            Refusal::Denied => self.codes.denied,
            Refusal::NotReadOnly | Refusal::ReadOnlySince => self.codes.not_read_only,
            Refusal::ToolChanged => self.codes.tool_changed,
            Refusal::ToolNew | Refusal::ToolUnlisted => self.codes.tool_new,
            Refusal::ListUnknown => self.codes.list_unknown,
            Refusal::NotRecorded(_) => self.codes.not_recorded,
        };
        let list = self.watch.waiting();
        let answer = refusal.answer(&call.name, &self.name, list.as_deref(), call.stateless.is_some());
        let end = self.ended_at_once(RowOutcome::Denied, code, message, Some(&answer));
        Refused { answer: Some(answer), end }
    }

    fn ended_at_once(
        &self,
        outcome: RowOutcome,
        code: &'static str,
        sentence: &str,
        answer: Option<&Answer>,
    ) -> ForeignEnd {
        let result_hash = hash_of(answer.map_or("", Answer::value));
        ForeignEnd { outcome, code: Some(code), message: Some(sentence.to_owned()), result_hash }
    }

    /// Answers a line in the server's place. If one message of an array is refused, all of them are.
    fn refuse(&mut self, line: Line, refused: Vec<Option<Refused>>) {
        let Line { messages, batch, .. } = line;
        let (mut answers, mut calls) = (Vec::new(), Vec::new());
        for (message, refused) in messages.into_iter().zip(refused) {
            let is_call = matches!(message, Message::Call(_) | Message::BadCall(_));
            let id = message.id().cloned();
            let own = refused.is_some();
            let Refused { answer, mut end } = refused.unwrap_or_else(|| self.beside_refused());
            let waits = match &message {
                Message::BadCall(call) => call.waits,
                Message::Refused(_) => true,
                _ => id.is_some(),
            };
            if let Some(answer) = answer.filter(|_| waits) {
                // Only calls alone are answered as models read it; an array gets errors.
                let text = match (batch, &end.message) {
                    (true, Some(sentence)) if own && is_call => {
                        let answer = Answer::error(INTERNAL_ERROR, sentence, end.code, &self.name);
                        end.result_hash = hash_of(answer.value());
                        answer
                    }
                    _ => answer,
                };
                answers.push(text.message(id.as_ref().map(Id::as_str)));
            }
            match message {
                Message::Call(call) => calls.push(self.entering(*call, Some(end))),
                Message::BadCall(call) => calls.push(self.entering_bad(*call, end)),
                _ => {}
            }
        }
        let answer = answer_line(&answers, batch);
        self.incoming.push(Waiting { calls, answer, batch, ..Waiting::default() });
    }

    /// How a message of an array is refused because of another one.
    fn beside_refused(&self) -> Refused {
        let text = "another message of the batch was refused";
        let answer = Answer::error(INTERNAL_ERROR, text, Some(self.codes.batch_refused.code), &self.name);
        let end = ForeignEnd { result_hash: hash_of(answer.value()), ..self.batch_refused() };
        Refused { answer: Some(answer), end }
    }

    /// Passes a line on. Returns the stateless members of its first call's `_meta`, if it has a call.
    fn pass(&mut self, line: Line) -> Option<Option<String>> {
        let Line { bytes, messages, batch } = line;
        let (mut calls, mut notes, mut first) = (Vec::new(), Vec::new(), None);
        for message in messages {
            match message {
                Message::Call(call) => {
                    first.get_or_insert_with(|| call.stateless.clone());
                    calls.push(self.entering(*call, None));
                }
                Message::Request(id, asked) => notes.push(Note::Request(id, self.flight(asked))),
                Message::Notification(Told::Initialized) => notes.push(Note::Initialized),
                Message::Notification(Told::Cancelled(id, reason)) => {
                    // A call that still waits for the tools is gone without a trace.
                    self.aside.retain(|aside| !aside.line.is_only(&id));
                    self.held.retain(|line| !line.is_only(&id));
                    notes.push(Note::Cancelled(id, reason));
                }
                _ => {}
            }
        }
        self.incoming.push(Waiting { bytes, calls, notes, answer: Vec::new(), batch });
        first
    }

    fn flight(&self, asked: Asked) -> Flight {
        match asked {
            Asked::Tools { cursor } => Flight::Tools(self.watch.asked(false, cursor.as_deref())),
            Asked::Initialize { client_info } => Flight::Initialize(client_info),
            Asked::Discover => Flight::Discover,
            Asked::Listen => Flight::Listen,
            Asked::Task(task) => Flight::Task(task),
            Asked::Other => Flight::Other,
        }
    }

    fn entering(&mut self, call: Call, end: Option<ForeignEnd>) -> Entering {
        let client = self.client_of(call.stateless.as_deref());
        let Call { id, name, args_hash, stateless, trace_context, arguments_hash, round } = call;
        let row = ForeignCall {
            tool: self.row_name(&name),
            request_id: id.as_str().into(),
            args_hash: args_hash.as_str().to_owned(),
            trace_context,
            client,
        };
        Entering {
            id: Some(id),
            tool: name,
            stateless: stateless.is_some(),
            row: Some((row, end)),
            arguments: Some(arguments_hash),
            round,
            entered: None,
        }
    }

    fn entering_bad(&mut self, call: BadCall, end: ForeignEnd) -> Entering {
        let BadCall { id, name, args_hash, .. } = call;
        let name = name.unwrap_or_default();
        let row = ForeignCall {
            tool: self.row_name(&name),
            request_id: id.as_ref().map_or("null", Id::as_str).into(),
            args_hash: args_hash.as_str().to_owned(),
            trace_context: None,
            client: self.client_of(None),
        };
        let row = Some((row, Some(end)));
        Entering { id, tool: name, stateless: false, row, arguments: None, round: None, entered: None }
    }

    /// Returns who a call comes from.
    fn client_of(&mut self, stateless: Option<&str>) -> Arc<Client> {
        let redactor = &self.operator.chain().kernel().redactor;
        self.identities.of_foreign(stateless, redactor)
    }
}
