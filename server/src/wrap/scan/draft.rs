//! What is gathered of a message while its bytes pass.

use std::ops::Range;

use super::kept::{Hashed, Kept};
use super::members::{Members, Step};
use super::message::{Answer, Ending, Kind, Message};
use crate::wrap::flights::Id;
use crate::wrap::limits::{ID_BYTES, METHOD_BYTES};
use crate::wrap::text::{is_like, unescaped};

/// The longest key, as JSON text, that can be one of those below: 10 letters, each perhaps written as an escape of 6 bytes.
const KEY_BYTES: usize = 64;
/// The longest value that is read of a member of `result` or `error`: `"input_required"`, perhaps in escapes.
const DETAIL_BYTES: usize = 96;

/// A member that is read. Those of the message come first, then those of its `result` or `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Id,
    Method,
    Result,
    Error,
    IsError,
    ResultType,
    Task,
    Content,
    Code,
}

const OUTER: [(Member, &[u8]); 4] = [
    (Member::Id, b"id"),
    (Member::Method, b"method"),
    (Member::Result, b"result"),
    (Member::Error, b"error"),
];

const INNER: [(Member, &[u8]); 5] = [
    (Member::IsError, b"isError"),
    (Member::ResultType, b"resultType"),
    (Member::Task, b"task"),
    (Member::Content, b"content"),
    (Member::Code, b"code"),
];

/// An object whose members are followed.
#[derive(Debug, Default)]
struct Object {
    members: Members,
    /// The member whose value comes or passes, if it is read.
    member: Option<Member>,
}

/// The members of `result` that say what kind of result it is.
#[derive(Debug, Default)]
struct Details {
    is_error: bool,
    result_type: Option<Box<[u8]>>,
    task: bool,
    content: bool,
    code: Option<i64>,
}

/// The `id` of a message.
#[derive(Debug)]
enum DraftId {
    Null,
    /// `None` if no request can have it.
    Other(Option<Id>),
}

/// A message that is being read. Places are those of the present piece.
#[derive(Debug)]
pub(super) struct Draft {
    start: usize,
    /// How many brackets are open directly inside the message.
    level: usize,
    outer: Object,
    /// `result` or `error` while it passes, if it is an object.
    inner: Option<Object>,
    key: Kept,
    short: Kept,
    hashed: Hashed,
    id: Option<DraftId>,
    method: Option<Option<Box<str>>>,
    /// `result` or `error`, whichever the message has.
    answer: Option<Member>,
    value: Range<usize>,
    details: Details,
    ambiguous: bool,
}

impl Draft {
    /// Begins with the opening bracket, which stands at `start` in the line and is the `level`th that is open.
    pub(super) fn new(start: usize, level: usize) -> Self {
        Self {
            start,
            level,
            outer: Object::default(),
            inner: None,
            key: Kept::default(),
            short: Kept::default(),
            hashed: Hashed::default(),
            id: None,
            method: None,
            answer: None,
            value: 0..0,
            details: Details::default(),
            ambiguous: false,
        }
    }

    /// Returns how many brackets are open inside the innermost object whose members are followed.
    pub(super) fn followed(&self) -> usize {
        self.level + usize::from(self.inner.is_some())
    }

    /// Hands an event to the object directly around, if it is followed. `passed` bytes of the line came before the piece.
    pub(super) fn step(
        &mut self,
        depth: usize,
        event: impl FnOnce(&mut Members) -> Step,
        piece: &[u8],
        at: usize,
        passed: usize,
    ) {
        if depth > self.followed() {
            return;
        }
        let inner = depth > self.level;
        let Some(object) = (if inner { self.inner.as_mut() } else { Some(&mut self.outer) }) else { return };
        match event(&mut object.members) {
            Step::KeyBegins => self.key.begin(at, KEY_BYTES),
            Step::KeyEnds => self.key_ends(inner, piece, at + 1),
            Step::ValueBegins => self.value_begins(inner, piece, at, passed),
            Step::ValueEnds => self.value_ends(inner, piece, at + 1, passed),
            Step::ValueEnded => self.value_ends(inner, piece, at, passed),
            Step::Other => {}
        }
    }

    /// Returns the id, if it has passed in something that may be a request.
    pub(super) fn request_id(self) -> Option<Id> {
        match self.id {
            Some(DraftId::Other(id)) if self.answer.is_none() && !self.ambiguous => id,
            _ => None,
        }
    }

    /// The piece ends before a place.
    pub(super) fn pause(&mut self, piece: &[u8], to: usize) {
        self.key.pause(piece, to);
        self.short.pause(piece, to);
        self.hashed.pause(piece, to);
    }

    fn key_ends(&mut self, inner: bool, piece: &[u8], to: usize) {
        let key = self.key.end(piece, to).and_then(unescaped);
        let known = if inner { &INNER[..] } else { &OUTER[..] };
        let member = key.and_then(|key| {
            let (member, name) = known.iter().find(|(_, name)| is_like(&key, name))?;
            Some((*member, key == *name))
        });
        let member = match member {
            Some((member, true)) => Some(member),
            // Some readers do not look at case.
            Some((_, false)) => {
                self.ambiguous |= !inner;
                None
            }
            None => None,
        };
        match member {
            Some(Member::Id) => self.ambiguous |= self.id.replace(DraftId::Other(None)).is_some(),
            Some(Member::Method) => self.ambiguous |= self.method.replace(None).is_some(),
            Some(Member::Result | Member::Error) => {
                self.ambiguous |= self.answer.is_some();
                self.answer = self.answer.or(member);
            }
            Some(Member::Task) => self.details.task = true,
            Some(Member::Content) => self.details.content = true,
            _ => {}
        }
        if let Some(object) = if inner { self.inner.as_mut() } else { Some(&mut self.outer) } {
            object.member = member;
        }
    }

    fn value_begins(&mut self, inner: bool, piece: &[u8], at: usize, passed: usize) {
        match self.present(inner) {
            Some(Member::Id) => self.short.begin(at, ID_BYTES),
            Some(Member::Method) => self.short.begin(at, METHOD_BYTES),
            Some(Member::IsError | Member::ResultType | Member::Code) => self.short.begin(at, DETAIL_BYTES),
            // Of an ambiguous message neither hash nor details are asked for.
            Some(Member::Result | Member::Error) if !self.ambiguous => {
                self.value.start = passed + at;
                self.hashed.begin(at);
                self.inner = (piece.get(at) == Some(&b'{')).then(Object::default);
            }
            _ => {}
        }
    }

    fn value_ends(&mut self, inner: bool, piece: &[u8], to: usize, passed: usize) {
        let member = self.present(inner);
        match member {
            Some(Member::Id) => {
                let raw = self.short.end(piece, to);
                let null = raw == Some(b"null");
                self.id = Some(if null { DraftId::Null } else { DraftId::Other(raw.and_then(Id::read)) });
            }
            Some(Member::Method) => {
                let text = self.short.end(piece, to).and_then(unescaped);
                self.method = Some(text.and_then(|text| Some(std::str::from_utf8(&text).ok()?.into())));
            }
            Some(Member::IsError) => self.details.is_error = self.short.end(piece, to) == Some(b"true"),
            Some(Member::ResultType) => {
                let text = self.short.end(piece, to).and_then(unescaped);
                self.details.result_type = Some(text.map(|text| (*text).into()).unwrap_or_default());
            }
            Some(Member::Code) => {
                let text = self.short.end(piece, to).and_then(|raw| std::str::from_utf8(raw).ok());
                self.details.code = text.and_then(|text| text.parse().ok());
            }
            Some(Member::Result | Member::Error) if !self.ambiguous => {
                self.hashed.end(piece, to);
                self.value.end = passed + to;
                self.inner = None;
            }
            _ => {}
        }
    }

    /// The member whose value comes or passes.
    fn present(&self, inner: bool) -> Option<Member> {
        if inner { self.inner.as_ref()?.member } else { self.outer.member }
    }

    /// Returns the message, whose last byte stands before `end` in the line; `None` if nothing makes it a message.
    pub(super) fn finish(self, end: usize) -> Option<Message> {
        let place = self.start..end;
        let Some(answer) = self.answer else {
            let kind = match (self.method, self.id) {
                _ if self.ambiguous => Kind::Ambiguous,
                (Some(method), _) => Kind::Spoken(method),
                // Some readers take an id alone for an answer.
                (None, Some(DraftId::Other(_))) => Kind::Ambiguous,
                (None, Some(DraftId::Null) | None) => return None,
            };
            return Some(Message { place, kind });
        };
        let error = answer == Member::Error;
        let kind = match self.id {
            _ if self.ambiguous || self.method.is_some() => Kind::Ambiguous,
            None | Some(DraftId::Null) if error => Kind::Unaddressed,
            id => Kind::Answer(Box::new(Answer {
                id: id.and_then(|id| if let DraftId::Other(id) = id { id } else { None }),
                value: self.value,
                hash: self.hashed.digest(),
                ending: if error { Ending::RpcError(self.details.code) } else { self.details.ending() },
            })),
        };
        Some(Message { place, kind })
    }
}

impl Details {
    fn ending(&self) -> Ending {
        match self.result_type.as_deref() {
            Some(b"input_required") => Ending::InputRequired,
            Some(b"task") => Ending::TaskCreated,
            None | Some(b"complete") if self.task && !self.content => Ending::TaskCreated,
            None | Some(b"complete") if self.is_error => Ending::ToolError,
            None | Some(b"complete") => Ending::Ok,
            Some(_) => Ending::ResultUnknown,
        }
    }
}
