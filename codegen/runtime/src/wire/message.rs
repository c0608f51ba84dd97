//! Decodes one line into a JSON-RPC message, borrowing from it (protocol#faults).

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::array::MEMBERS;
use super::fault::ProtocolFault;
use super::flaw::flawed;
use super::params::{Key, member, text_of};
use crate::chain::call::Flaw;
use crate::chain::redact::Redactor;
use crate::wire::scan;
use colibri_canonical::{MAX_DEPTH, sha256_hex};

/// The content of a line.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// An array of messages, at most one more than [`MEMBERS`] of them.
    Array(Vec<&'a RawValue>),
    /// A request, which expects an answer.
    Request(Request<'a>),
    /// A notification, which expects no answer.
    Notification(Notification<'a>),
    /// An answer to a request that this server never sends. Ignored.
    Response,
    /// A fault, which is answered with an error.
    Fault(ProtocolFault<'a>),
}

/// A message with an id and a method.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// Echoed byte for byte.
    pub id: RequestId<'a>,
    /// The method's name.
    pub method: Cow<'a, str>,
    /// JSON text of the parameters; of any type.
    pub params: Option<&'a RawValue>,
    /// What is wrong with its text, if its parameters cannot be read whole.
    pub flaw: Option<Flaw>,
}

impl Request<'_> {
    /// Removes secrets of the server's from its id and method. A well-meaning client does not use an id with a secret in it;
    /// such an id is echoed and stored with the mark in the secret's place. Every other id stays byte for byte.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        let method = match redactor.redact(&self.method) {
            Cow::Borrowed(_) => self.method,
            Cow::Owned(clean) => Cow::Owned(clean),
        };
        Self { id: self.id.redacted(redactor), method, ..self }
    }
}

/// A message with a method and without an id.
#[derive(Debug, Clone)]
pub struct Notification<'a> {
    /// The method's name.
    pub method: Cow<'a, str>,
    /// JSON text of the parameters; of any type.
    pub params: Option<&'a RawValue>,
}

impl<'a> Notification<'a> {
    /// Returns, for `notifications/cancelled`, the id of the cancelled request.
    pub fn cancelled(&self) -> Option<RequestId<'a>> {
        if self.method != "notifications/cancelled" {
            return None;
        }
        RequestId::of(member(self.params?, "requestId")?)
    }

    /// Returns, for `notifications/cancelled`, the SHA-256 (hex) of the reason's text.
    pub fn reason_hash(&self) -> Option<String> {
        reason_hash(self.params?)
    }
}

/// Returns the SHA-256 (hex) of the text that the parameters of `notifications/cancelled` give as the reason.
pub fn reason_hash(params: &RawValue) -> Option<String> {
    let reason = text_of(member(params, "reason")?.get())?;
    Some(sha256_hex(reason.as_bytes()))
}

/// A request's id: a string or a number, kept as the JSON text it came in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestId<'a>(Cow<'a, str>);

impl<'a> RequestId<'a> {
    /// `None` unless `raw` is a string or a number.
    pub(super) fn of(raw: &'a RawValue) -> Option<Self> {
        let text = raw.get();
        matches!(text.as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
            .then_some(Self(Cow::Borrowed(text)))
    }

    /// Returns the JSON text: `"call-1"` with its quotes, or `7`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// See [`Request::redacted`].
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        match redactor.redact_json(&self.0) {
            Cow::Borrowed(_) => self,
            Cow::Owned(clean) => RequestId(Cow::Owned(clean)),
        }
    }

    /// Returns an id that outlives its line.
    pub fn into_owned(self) -> RequestId<'static> {
        RequestId(Cow::Owned(self.0.into_owned()))
    }

    /// Returns whether two ids mean the same request: `"a"` and `"\u0061"` do.
    pub fn matches(&self, other: &RequestId<'_>) -> bool {
        self.0 == other.0 || matches!((text_of(&self.0), text_of(&other.0)), (Some(a), Some(b)) if a == b)
    }
}

/// Decodes a line. Never fails: errors become [`Incoming::Fault`].
pub fn decode(line: &[u8]) -> Incoming<'_> {
    match std::str::from_utf8(line) {
        Ok(text) => decode_text(text),
        Err(_) => Incoming::Fault(ProtocolFault::parse_error(None)),
    }
}

/// Does the same with a line that is UTF-8.
pub(super) fn decode_text(text: &str) -> Incoming<'_> {
    if let Err(refusal) = scan::check(text.as_bytes(), MAX_DEPTH) {
        return flawed(text, refusal.into());
    }
    match serde_json::from_str(text) {
        Ok(Parsed::Object(members)) => classify(members),
        Ok(Parsed::Array(members)) => Incoming::Array(members),
        Ok(Parsed::Other) => Incoming::Fault(ProtocolFault::invalid_request(None)),
        Err(_) => flawed(text, Flaw::Syntax),
    }
}

/// Decodes a line in which replacement characters stand for what is not UTF-8.
pub fn decode_lossy(text: &str) -> Incoming<'_> {
    flawed(text, Flaw::NotUtf8)
}

/// Decodes a member of an array, `lossy` if replacement characters stand for what is not UTF-8: one that holds them may not be what was
/// sent. An array inside an array is not a message.
pub fn decode_member(member: &RawValue, lossy: bool) -> Incoming<'_> {
    if lossy && member.get().contains(char::REPLACEMENT_CHARACTER) {
        return flawed(member.get(), Flaw::NotUtf8);
    }
    if let Err(refusal) = scan::check(member.get().as_bytes(), MAX_DEPTH - 1) {
        return flawed(member.get(), refusal.into());
    }
    match serde_json::from_str(member.get()) {
        Ok(Parsed::Object(members)) => classify(members),
        Ok(Parsed::Array(_) | Parsed::Other) | Err(_) => {
            Incoming::Fault(ProtocolFault::invalid_request(None))
        }
    }
}

fn classify(members: Members<'_>) -> Incoming<'_> {
    if members.method.is_none() && members.answers {
        return Incoming::Response;
    }
    let id = members.id.map(RequestId::of);
    let version = members.jsonrpc.and_then(|raw| text_of(raw.get()));
    let method = members.method.and_then(|raw| text_of(raw.get()));
    let params = members.params;
    match (version.as_deref(), method, id) {
        (Some("2.0"), Some(method), Some(Some(id))) => {
            Incoming::Request(Request { id, method, params, flaw: None })
        }
        (Some("2.0"), Some(method), None) => Incoming::Notification(Notification { method, params }),
        (_, _, id) => Incoming::Fault(ProtocolFault::invalid_request(id.flatten())),
    }
}

/// A line's top level.
pub(super) enum Parsed<'a> {
    Object(Members<'a>),
    Array(Vec<&'a RawValue>),
    Other,
}

#[derive(Default)]
pub(super) struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    /// It has `result` or `error`.
    answers: bool,
}

impl<'de> Deserialize<'de> for Parsed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopLevel)
    }
}

struct TopLevel;

impl<'de> Visitor<'de> for TopLevel {
    type Value = Parsed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(Key(key)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            match &*key {
                "jsonrpc" => members.jsonrpc = Some(value),
                "id" => members.id = Some(value),
                "method" => members.method = Some(value),
                "params" => members.params = Some(value),
                "result" | "error" => members.answers = true,
                _ => {}
            }
        }
        Ok(Parsed::Object(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while members.len() <= MEMBERS {
            let Some(member) = seq.next_element()? else { return Ok(Parsed::Array(members)) };
            members.push(member);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Parsed::Array(members))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Parsed::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Parsed::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Parsed::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Parsed::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Parsed::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Parsed::Other)
    }
}
