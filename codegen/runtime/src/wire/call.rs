//! A `tools/call` request, decoded for the chain.

use std::borrow::Cow;

use serde_json::value::RawValue;

use colibri_canonical::{HexDigest, NumberRule, canonical_text, keeps_numbers};

use super::era::{Era, Stateless, call_meta};
use super::fault::ProtocolFault;
use super::flaw::raw_hash;
use super::message::{Request, RequestId};
use super::params::{Params, raw_form, text_of};
use crate::chain::call::{Flaw, parse};

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
    /// JSON text of the arguments as received, of any type; `{}` when absent.
    pub arguments: &'a str,
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
        let sent = params.arguments.map_or("{}", RawValue::get);
        let keeps_all = request.flaw.is_some() || keeps_numbers(sent);
        let args_hash = match request.flaw {
            Some(_) => Some(raw_hash(request.params).as_str().into()),
            None => (!keeps_all).then(|| hash_of_sent(sent, request.params)),
        };
        let unreadable = match request.flaw {
            // Of sound JSON this is all that can be wrong.
            None if !keeps_all && parse(sent).is_none() => Some(Flaw::Number),
            flaw => flaw,
        };
        let arguments = if unreadable.is_some() { "{}" } else { sent };
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
/// as sent. Arguments without such a form, which the decoder has refused before, would have that of the bytes of `params`.
fn hash_of_sent(arguments: &str, params: Option<&RawValue>) -> Box<str> {
    let text = canonical_text(arguments, NumberRule::Sent);
    let text = text.unwrap_or_else(|| raw_form(params.map_or(arguments, RawValue::get)));
    HexDigest::of(text.as_bytes()).as_str().into()
}
