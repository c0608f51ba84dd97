//! What the server wrote: each message is passed on, closes a row, or is dropped.

use std::time::Duration;

use colibri_runtime::chain::audit::RowOutcome;
use colibri_runtime::chain::foreign::{ForeignEnd, Ticket};
use colibri_runtime::chain::log::Level;
use colibri_runtime::handler::Dispatch;
use tokio::time::Instant;

use super::outgoing::{Fate, Reply, Verdict};
use super::{Flight, INTERNAL_ERROR, Id, Relay};
use crate::catalogue::CATALOGUE;
use crate::tools::cx::Cx;
use crate::wrap::answer::{Answer, greeting_withheld, list_withheld, reply_withheld};
use crate::wrap::limits::{HOLD_BYTES, LIST_BYTES, OWN_LIST_BYTES};
use crate::wrap::lines::Piece;
use crate::wrap::list::{Page, Unreadable};
use crate::wrap::listing::Asked;
use crate::wrap::scan::{Answer as Found, Ending, Kind, Message};

/// How often it is told that messages were dropped.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// Messages that were dropped and not told yet.
#[derive(Debug, Default)]
pub struct Drops {
    unawaited: u64,
    ambiguous: u64,
    told: Option<Instant>,
}

impl<D: Dispatch<Cx>> Relay<'_, D> {
    pub(super) fn take_from_server(&mut self, length: usize) {
        let looked_at = self.looked_at > 0;
        // A line that may have to be cut, or that has to be read whole, is held as long as a list may be.
        self.lines.hold(match looked_at {
            // No part of an answer that is not the client's may leave.
            true if self.is_listing() => OWN_LIST_BYTES,
            true => LIST_BYTES,
            false => HOLD_BYTES,
        });
        let mut pieces = Vec::new();
        self.lines.push(&self.chunk[..length], &mut pieces);
        self.take_pieces(pieces);
    }

    pub(super) fn take_pieces(&mut self, pieces: Vec<Piece>) {
        for piece in pieces {
            match piece {
                Piece::Pass(bytes) => self.outgoing.pass(bytes),
                Piece::Message(message) => self.messages.push(message),
                Piece::Held(held) => {
                    let verdicts = self.verdicts(Some(&held.bytes));
                    self.outgoing.line(held, verdicts);
                }
                Piece::Last(byte) => {
                    let verdicts = self.verdicts(None);
                    self.outgoing.last(byte, verdicts);
                }
                // No reader takes the value, so nothing was answered.
                Piece::Broken => self.messages.clear(),
                Piece::Unfinished => self.outgoing.spoil(),
            }
        }
    }

    /// Decides on the messages of a line, which is there whole unless most of it has left.
    fn verdicts(&mut self, line: Option<&[u8]>) -> Vec<Verdict> {
        let messages = std::mem::take(&mut self.messages);
        let judged = messages.into_iter().map(|message| {
            let place = message.place.clone();
            Verdict { place, fate: self.judge(message, line) }
        });
        judged.collect()
    }

    fn judge(&mut self, message: Message, line: Option<&[u8]>) -> Fate {
        match message.kind {
            Kind::Spoken(method) => {
                if method.as_deref() == Some("notifications/tools/list_changed") {
                    self.watch.changed();
                }
                Fate::Forward
            }
            Kind::Unaddressed => Fate::Forward,
            Kind::Ambiguous => {
                self.drops.ambiguous += 1;
                self.dropped()
            }
            Kind::Answer(answer) => self.answered(*answer, line),
        }
    }

    fn dropped(&mut self) -> Fate {
        self.counts.dropped += 1;
        let now = Instant::now();
        if self.drops.told.is_none_or(|told| now - told >= TELL_AGAIN) {
            self.tell_drops();
            self.drops.told = Some(now);
        }
        Fate::Drop(None)
    }

    /// Tells of the messages that were dropped since it was told last.
    pub(super) fn tell_drops(&mut self) {
        let Drops { unawaited, ambiguous, .. } = std::mem::take(&mut self.drops);
        let many =
            |count: u64, one: &str| format!("dropped {count} {one}{}", if count == 1 { "" } else { "s" });
        if unawaited > 0 {
            let which = if unawaited == 1 {
                "answer that no request waits for"
            } else {
                "answers that no request waits for"
            };
            self.tell(Level::Warn, &format!("dropped {unawaited} {which}"));
        }
        if ambiguous > 0 {
            self.tell(Level::Warn, &many(ambiguous, "ambiguous message"));
        }
    }

    fn answered(&mut self, answer: Found, line: Option<&[u8]>) -> Fate {
        let place = answer.id.as_ref().and_then(|id| self.flights.oldest(id));
        let flight = place.and_then(|place| Some((place, self.end(place)?)));
        let Some((place, (id, flight))) = flight else {
            self.drops.unawaited += 1;
            return self.dropped();
        };
        match flight {
            Flight::Call(passed) => {
                self.remember(place, &passed, &answer, line.and_then(|line| line.get(answer.value.clone())));
                Fate::Reply(Box::new(self.reply(&id, passed.ticket, &answer)))
            }
            Flight::Task(asked) => {
                self.task_answered(&asked, &answer, line.and_then(|line| line.get(answer.value.clone())));
                Fate::Forward
            }
            Flight::Tools(asked) => self.listed(&id, &asked, &answer, line),
            Flight::OwnTools(asked) => {
                self.own_listed(&asked, &answer, line);
                Fate::Drop(None)
            }
            Flight::Initialize(info) => {
                let info = info.as_deref().and_then(|text| serde_json::from_str(text).ok());
                let revision = line.and_then(|line| line.get(answer.value.clone())).and_then(revision_of);
                let redactor = &self.operator.chain().kernel().redactor;
                self.identities.greeted(info, revision, redactor);
                self.greeted(&id, &answer, line)
            }
            Flight::Discover => self.greeted(&id, &answer, line),
            Flight::Listen | Flight::Other => Fate::Forward,
        }
    }

    fn reply(&self, id: &Id, ticket: Ticket, answer: &Found) -> Reply {
        let code = CATALOGUE.codes.store_commit_failed.code;
        let text = reply_withheld(&self.name);
        let otherwise = Answer::error(INTERNAL_ERROR, &text, Some(code), &self.name).line(Some(id.as_str()));
        Reply { exit: Some((ticket, self.end_of(answer))), otherwise, closed: None }
    }

    /// How a row ends whose call is answered.
    fn end_of(&self, answer: &Found) -> ForeignEnd {
        let codes = self.codes;
        let (outcome, code) = match answer.ending {
            Ending::Ok => (RowOutcome::Ok, None),
            Ending::ToolError => (RowOutcome::DomainError, Some(codes.tool_error)),
            Ending::InputRequired => (RowOutcome::DomainError, Some(codes.input_required)),
            Ending::TaskCreated => (RowOutcome::DomainError, Some(codes.task_created)),
            Ending::ResultUnknown => (RowOutcome::DomainError, Some(codes.result_unknown)),
            Ending::RpcError(_) => (RowOutcome::Error, Some(codes.rpc_error)),
        };
        let message = code.map(|code| match answer.ending {
            Ending::RpcError(Some(number)) => code.with("number", &number.to_string()),
            Ending::RpcError(None) => code.with("number", "without a number"),
            _ => code.message.to_owned(),
        });
        let code = code.map(|code| code.code);
        ForeignEnd { outcome, code, message, result_hash: Some(answer.hash.as_str().to_owned()) }
    }

    /// An answer to the client's `tools/list`.
    fn listed(&mut self, id: &Id, asked: &Asked, answer: &Found, line: Option<&[u8]>) -> Fate {
        if matches!(answer.ending, Ending::RpcError(_)) {
            return Fate::Forward;
        }
        match self.read_page(asked, answer, line) {
            Ok(page) if self.watch.cuts() => {
                let mut cuts = self.watch.withheld(&page);
                if !cuts.is_empty() {
                    // A pin that a command has changed meanwhile counts on each page.
                    self.renew_pin();
                    cuts = self.watch.withheld(&page);
                }
                Fate::Cut(cuts)
            }
            Ok(_) => Fate::Forward,
            Err(_) if self.watch.cuts() => self.withhold(id, &list_withheld(&self.name)),
            Err(_) => Fate::Forward,
        }
    }

    /// An error takes the place of an answer that cannot be read whole, and that might have to be cut.
    fn withhold(&self, id: &Id, text: &str) -> Fate {
        let error = Answer::error(INTERNAL_ERROR, text, Some(self.codes.list_unknown.code), &self.name);
        Fate::Drop(Some(error.line(Some(id.as_str()))))
    }

    /// Reads a page of tools, and takes in the list that it completes. Tells why it cannot be read.
    pub(super) fn read_page(
        &mut self,
        asked: &Asked,
        answer: &Found,
        line: Option<&[u8]>,
    ) -> Result<Page, Unreadable> {
        let read = match line {
            Some(line) => self.watch.page(asked, line, &answer.value),
            None => {
                self.watch.overlong();
                Err(Unreadable::Long)
            }
        };
        match read {
            Ok((page, list)) => {
                if let Some(list) = list {
                    self.complete(list);
                }
                Ok(page)
            }
            Err(why) => {
                if let Some((level, text)) = self.watch.unreadable(why) {
                    self.log.write(level, &text);
                }
                Err(why)
            }
        }
    }

    fn greeted(&mut self, id: &Id, answer: &Found, line: Option<&[u8]>) -> Fate {
        if matches!(answer.ending, Ending::RpcError(_)) {
            return Fate::Forward;
        }
        let Some(line) = line else {
            return match self.watch.cuts() {
                true => {
                    let text = greeting_withheld(&self.name);
                    self.tell(Level::Warn, &text);
                    self.withhold(id, &text)
                }
                false => Fate::Forward,
            };
        };
        if self.watch.cuts() {
            self.renew_pin();
        }
        let (cuts, again) = self.watch.greeted(line, &answer.value);
        if let Some(list) = again {
            self.complete(list);
        }
        if cuts.is_empty() { Fate::Forward } else { Fate::Cut(cuts) }
    }
}

/// Returns the revision that an `initialize` was answered with.
fn revision_of(result: &[u8]) -> Option<&'static str> {
    #[derive(serde::Deserialize)]
    struct Answered<'a> {
        #[serde(rename = "protocolVersion", borrow)]
        version: std::borrow::Cow<'a, str>,
    }
    let answered: Answered<'_> = serde_json::from_slice(result).ok()?;
    colibri_runtime::wire::era::supported(&answered.version)
}
