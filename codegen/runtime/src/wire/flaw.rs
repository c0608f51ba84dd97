//! Messages that cannot be read whole. What can be read of them says whom to answer (protocol#faults).

use std::borrow::Cow;
use std::fmt;

use colibri_canonical::{HexDigest, MAX_DEPTH};
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::ProtocolFault;
use super::message::{Incoming, Parsed, Request, RequestId};
use super::params::{ByteKey, raw_form, text_of};
use super::scan::Refusal;

/// What is wrong with a message's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// It holds half of a surrogate pair.
    LoneSurrogate,
    /// It nests too deeply.
    TooDeep,
    /// It is not UTF-8.
    NotUtf8,
    /// It holds a number that no double can hold.
    Number,
    /// It is not JSON from some place on.
    Syntax,
}

impl Flaw {
    /// Returns what is wrong, as the end of a sentence.
    pub fn problem(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::LoneSurrogate => {
                "the text contains an unpaired surrogate, half of a character such as an emoji; send whole characters"
            }
            Self::TooDeep => {
                return Cow::Owned(format!("the message nests more than {MAX_DEPTH} levels; send fewer"));
            }
            Self::NotUtf8 => "the text is not UTF-8; send it in UTF-8",
            Self::Number => "\"arguments\" holds a number beyond the range of a 64-bit float",
            Self::Syntax => "the message is not JSON",
        })
    }
}

impl From<Refusal> for Flaw {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooDeep => Self::TooDeep,
            Refusal::LoneSurrogate => Self::LoneSurrogate,
        }
    }
}

/// Returns the hash of parameters that cannot be read: of their bytes as they were written.
pub(super) fn raw_hash(params: Option<&RawValue>) -> HexDigest {
    HexDigest::of(raw_form(params.map_or("{}", RawValue::get)).as_bytes())
}

/// Returns the id of a request, as far as the text is JSON. An answer has none: a client may use its id for a request of its own.
pub fn request_id(text: &str) -> Option<RequestId<'_>> {
    let mut read = Read::default();
    // What was found before the first fault stays.
    let _ = read.top_level(text.as_bytes());
    read.request_id()
}

/// Decodes what can be read of a message or an array of them.
pub(super) fn flawed(text: &str, flaw: Flaw) -> Incoming<'_> {
    if let Ok(Parsed::Array(members)) = serde_json::from_str(text)
        && members.first().is_some_and(|first| first.get().starts_with('{'))
    {
        return Incoming::Array(members);
    }
    let mut read = Read::default();
    let whole = read.top_level(text.as_bytes()).is_ok() && flaw != Flaw::Syntax;
    let method = read.method.and_then(|raw| text_of(raw.get()));
    match (read.request_id(), method) {
        (Some(id), Some(method)) if whole => {
            Incoming::Request(Request { id, method, params: read.params, flaw: Some(flaw) })
        }
        (id, _) => Incoming::Fault(ProtocolFault::parse_error(id)),
    }
}

/// Returns the id of a message of which only the start is there: its top level is read until the id has come.
pub(crate) fn id_at_start(start: &[u8]) -> Option<RequestId<'static>> {
    let mut read = Read { until_id: true, ..Read::default() };
    // The text is cut off, so reading it fails. What was found before that stays.
    let _ = read.top_level(start);
    let id = read.id?;
    // A number at the very end may go on.
    let whole = id.get().as_bytes().as_ptr_range().end < start.as_ptr_range().end;
    RequestId::of(id).filter(|_| whole).map(RequestId::into_owned)
}

/// The members of an object that have been read before the first fault.
#[derive(Default)]
struct Read<'a> {
    until_id: bool,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    /// It has `result` or `error`.
    answers: bool,
}

impl<'a> Read<'a> {
    fn request_id(&self) -> Option<RequestId<'a>> {
        let id = self.id.filter(|_| self.method.is_some() && !self.answers)?;
        RequestId::of(id)
    }

    fn top_level(&mut self, text: &'a [u8]) -> serde_json::Result<()> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        deserializer.deserialize_map(&mut *self)?;
        deserializer.end()
    }
}

impl<'de> Visitor<'de> for &mut Read<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(ByteKey(key)) = map.next_key()? {
            match &*key {
                b"id" => self.id = Some(map.next_value()?),
                b"method" => self.method = Some(map.next_value()?),
                b"params" => self.params = Some(map.next_value()?),
                other => {
                    self.answers |= matches!(other, b"result" | b"error");
                    map.next_value::<IgnoredAny>()?;
                }
            }
            if self.until_id && self.id.is_some() {
                break;
            }
        }
        Ok(())
    }
}
