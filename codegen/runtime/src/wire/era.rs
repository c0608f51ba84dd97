//! The two eras of the protocol, which each request's `_meta` distinguishes (`protocol#eras`).

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::fault::{ProtocolFault, UNSUPPORTED_VERSION};
use super::message::Request;
use super::params::{Params, members, text_of};
use colibri_canonical::{NumberRule, canonical_json};

/// Revisions served, newest first.
pub(crate) const SUPPORTED_VERSIONS: [&str; 5] =
    ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Revisions that begin with `initialize`, newest first.
pub(crate) const HANDSHAKE_VERSIONS: &[&str] = SUPPORTED_VERSIONS.split_at(1).1;

/// `_meta`: the revision a stateless request speaks.
pub const PROTOCOL_VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// `_meta`: what the client of a stateless request can do.
pub const CLIENT_CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
/// `_meta`: who sends a stateless request.
pub const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
/// `_meta` of a stateless result: who answered.
pub(crate) const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The only revision whose servers must receive batches.
pub(crate) const BATCH_VERSION: &str = "2025-03-26";

/// The revision whose notifications of progress have no messages.
pub(crate) const WORDLESS_VERSION: &str = "2024-11-05";

/// The stateless era's way in.
pub(crate) const DISCOVER: &str = "server/discover";

/// The longest trace header that is kept, in characters (protocol#trace-headers).
const TRACE_VALUE_LIMIT: usize = 8192;

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Revisions 2024-11-05 to 2025-11-25.
    Handshake,
    /// Revision 2026-07-28.
    Stateless,
}

/// What a stateless request says about itself.
#[derive(Debug, Clone, Copy)]
pub struct Stateless<'a> {
    /// The revision it speaks.
    pub revision: &'static str,
    /// Who sends it, as JSON text of any form.
    pub client_info: Option<&'a RawValue>,
}

impl PartialEq for Stateless<'_> {
    fn eq(&self, other: &Self) -> bool {
        let info = |it: &Self| it.client_info.map(|raw| raw.get().to_owned());
        self.revision == other.revision && info(self) == info(other)
    }
}

/// Returns the revision with that name, if it is one that is served.
pub fn supported(revision: &str) -> Option<&'static str> {
    SUPPORTED_VERSIONS.into_iter().find(|supported| *supported == revision)
}

/// Finds a request's era, with what a stateless request says about itself, and checks what the stateless era demands of it. It
/// remembers nothing between requests.
///
/// # Errors
/// A missing or mistyped `_meta` member, or an unsupported revision.
pub fn detect<'a>(
    request: &Request<'a>,
    params: &Params<'a>,
) -> Result<(Era, Option<Stateless<'a>>), ProtocolFault<'a>> {
    let discover = request.method == DISCOVER;
    const KEYS: [&str; 3] = [PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY, CLIENT_INFO_KEY];
    let [version, capabilities, client_info] =
        params.meta.and_then(|meta| members(meta, KEYS)).unwrap_or_default();
    if version.is_none() && !discover {
        return Ok((Era::Handshake, None));
    }
    let Some(version) = version.and_then(|raw| text_of(raw.get())) else {
        return Err(lacks("string", PROTOCOL_VERSION_KEY, request));
    };
    if !capabilities.is_some_and(|raw| raw.get().starts_with('{')) {
        return Err(lacks("object", CLIENT_CAPABILITIES_KEY, request));
    }
    let Some(revision) = supported(&version) else {
        let data = serde_json::json!({ "supported": SUPPORTED_VERSIONS, "requested": version }).to_string();
        let id = Some(request.id.clone());
        return Err(ProtocolFault {
            data: Some(data),
            ..ProtocolFault::new(UNSUPPORTED_VERSION, "Unsupported protocol version", id)
        });
    };
    Ok((Era::Stateless, Some(Stateless { revision, client_info })))
}

fn lacks<'a>(kind: &str, key: &str, request: &Request<'a>) -> ProtocolFault<'a> {
    let article = if kind == "object" { "an" } else { "a" };
    let problem = format!("_meta requires {article} {kind} \"{key}\"");
    ProtocolFault::invalid_params(&problem, request.id.clone())
}

/// Returns what a call's `_meta` says in any era: the trace headers as one canonical JSON object, without those that are not
/// strings or are too long, and the JSON text of the progress token, if it is one.
pub fn call_meta(meta: Option<&RawValue>) -> (Option<String>, Option<&str>) {
    const KEYS: [&str; 4] = ["traceparent", "tracestate", "baggage", "progressToken"];
    let Some([parent, state, baggage, token]) = meta.and_then(|meta| members(meta, KEYS)) else {
        return (None, None);
    };
    let headers = KEYS.into_iter().zip([parent, state, baggage]);
    (trace_context(headers), token.map(RawValue::get).filter(|token| is_token(token)))
}

/// Returns whether the JSON text is a string or an integer.
fn is_token(json: &str) -> bool {
    let digits = json.strip_prefix('-').unwrap_or(json);
    json.starts_with('"') || digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn trace_context<'a>(headers: impl Iterator<Item = (&'a str, Option<&'a RawValue>)>) -> Option<String> {
    let mut kept = Map::new();
    for (header, value) in headers {
        if let Some(text) = value.and_then(|raw| text_of(raw.get()))
            && text.chars().count() <= TRACE_VALUE_LIMIT
        {
            kept.insert(header.to_owned(), Value::String(text.into_owned()));
        }
    }
    if kept.is_empty() {
        return None;
    }
    canonical_json(&Value::Object(kept), NumberRule::Wire).ok()
}
