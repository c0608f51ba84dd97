//! Messages that cannot be read whole. What can be read of them says which id the answer has (protocol#faults).

use std::fmt;

use colibri_canonical::HexDigest;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::ProtocolFault;
use super::message::{Incoming, Parsed, Request, RequestId};
use super::params::{ByteKey, raw_form, text_of};
use super::scan::Refusal;
use crate::chain::call::Flaw;

impl From<Refusal> for Flaw {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooDeep => Self::TooDeep,
            Refusal::LoneSurrogate => Self::LoneSurrogate,
            Refusal::Repeated(name) => Self::Repeated(name),
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
    let mut read = Read { lossy: flaw == Flaw::NotUtf8, ..Read::default() };
    let json = read.top_level(text.as_bytes()).is_ok() && flaw != Flaw::Syntax;
    let whole = json && !read.twice;
    let method = read.method.and_then(|raw| text_of(raw.get()));
    match (read.request_id(), method) {
        (Some(id), Some(method)) if whole => {
            Incoming::Request(Request { id, method, params: read.params, flaw: Some(flaw) })
        }
        (id, _) if json && matches!(flaw, Flaw::Repeated(_)) => {
            Incoming::Fault(ProtocolFault::invalid_request(id))
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
    /// The text holds replacement characters for what is not UTF-8. An id with one is not the id that was sent.
    lossy: bool,
    id: Option<&'a RawValue>,
    id_twice: bool,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    /// It has `id`, `method` or `params` twice.
    twice: bool,
    /// It has `result` or `error`.
    answers: bool,
}

impl<'a> Read<'a> {
    fn request_id(&self) -> Option<RequestId<'a>> {
        let id = self.id.filter(|_| self.method.is_some() && !self.answers && !self.id_twice)?;
        let whole = !(self.lossy && id.get().contains(char::REPLACEMENT_CHARACTER));
        RequestId::of(id).filter(|_| whole)
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
                b"id" => {
                    self.id_twice = self.id.replace(map.next_value()?).is_some();
                    self.twice |= self.id_twice;
                }
                b"method" => self.twice |= self.method.replace(map.next_value()?).is_some(),
                b"params" => self.twice |= self.params.replace(map.next_value()?).is_some(),
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
