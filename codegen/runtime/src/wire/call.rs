//! A `tools/call` request, decoded for the chain.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use colibri_canonical::{HexDigest, NumberRule, canonical_text, keeps_numbers};

use super::era::{Era, Stateless, call_meta};
use super::fault::ProtocolFault;
use super::flaw::{Flaw, raw_hash};
use super::message::{Request, RequestId};
use super::params::{Params, raw_form, text_of};

/// What the chain needs of a `tools/call`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall<'a> {
    /// Echoed in the answer.
    pub id: RequestId<'a>,
    /// How the answer is written.
    pub era: Era,
    /// What a stateless call says about itself.
    pub stateless: Option<Stateless<'a>>,
    /// The tool's name as received; not empty, perhaps unknown.
    pub name: Cow<'a, str>,
    /// The arguments as received, of any type; `{}` when absent or `null`.
    pub arguments: Value,
    /// The arguments' hash, if their value has lost digits of a number.
    pub args_hash: Option<Box<str>>,
    /// Canonical JSON of the trace headers.
    pub trace_context: Option<String>,
    /// JSON text of the token under which the client wants to hear of the call's progress.
    pub progress_token: Option<&'a str>,
    /// Why its arguments cannot be read; they are then `{}`.
    pub unreadable: Option<Flaw>,
}

impl<'a> ToolCall<'a> {
    /// Decodes the parameters of a `tools/call`.
    ///
    /// # Errors
    /// No usable `name`.
    pub fn decode(
        request: Request<'a>,
        params: &Params<'a>,
        era: Era,
        stateless: Option<Stateless<'a>>,
    ) -> Result<Self, ProtocolFault<'a>> {
        let name = params.name.and_then(|raw| text_of(raw.get())).filter(|name| !name.is_empty());
        let Some(name) = name else {
            let problem = "tools/call requires a non-empty string \"name\"";
            return Err(ProtocolFault::invalid_params(problem, request.id));
        };
        let arguments = match request.flaw {
            Some(flaw) => Err(flaw),
            // Of sound JSON this is all that can be wrong.
            None => parse(params.arguments).ok_or(Flaw::Number),
        };
        let args_hash = match (request.flaw, params.arguments) {
            (None, Some(raw)) => hash_of_sent(raw, request.params),
            (None, None) => None,
            (Some(_), _) => Some(raw_hash(request.params).as_str().into()),
        };
        let unreadable = arguments.as_ref().err().copied();
        let arguments = arguments.unwrap_or_else(|_| Value::Object(Map::new()));
        let (trace_context, progress_token) = call_meta(params.meta);
        Ok(Self {
            era,
            stateless,
            name,
            arguments,
            args_hash,
            trace_context,
            progress_token,
            unreadable,
            id: request.id,
        })
    }
}

/// Returns the hash of arguments with a number that their value does not keep (chain#hashes): of their canonical form with the digits
/// as sent or, if an object names a member twice, of the bytes of `params`. `None` if the value keeps every number.
fn hash_of_sent(arguments: &RawValue, params: Option<&RawValue>) -> Option<Box<str>> {
    if keeps_numbers(arguments.get()) {
        return None;
    }
    let text = canonical_text(arguments.get(), NumberRule::Sent);
    let text = text.unwrap_or_else(|| raw_form(params.unwrap_or(arguments).get()));
    Some(HexDigest::of(text.as_bytes()).as_str().into())
}

/// The arguments as a value; a repeated key keeps its last value.
fn parse(raw: Option<&RawValue>) -> Option<Value> {
    let Some(raw) = raw else { return Some(Value::Object(Map::new())) };
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    // The line's nesting has been measured before it was parsed.
    deserializer.disable_recursion_limit();
    match Value::deserialize(&mut deserializer).ok()? {
        Value::Null => Some(Value::Object(Map::new())),
        arguments => Some(arguments),
    }
}
