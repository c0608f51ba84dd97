//! JSON-RPC errors: the table of protocol#faults.

use std::borrow::Cow;

use super::array::MEMBERS;
use super::message::RequestId;
use super::reply::encode_error;
use crate::chain::redact::Redactor;

/// Not JSON, not UTF-8, or nested too deeply.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// JSON, but no request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// No such method in the request's era.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// Wrong parameters of a protocol method, or an unknown tool.
pub(crate) const INVALID_PARAMS: i32 = -32602;
/// A defect of the server.
pub(crate) const INTERNAL_ERROR: i32 = -32603;
/// Too many calls wait, or the server is going down.
pub(crate) const UNAVAILABLE: i32 = -32000;
/// The requested protocol revision is not served (defined by revision 2026-07-28).
pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;

/// A message that is answered with a JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolFault<'a> {
    /// One of this module's codes.
    pub code: i32,
    /// One sentence.
    pub message: Cow<'static, str>,
    /// JSON text of `error.data`.
    pub data: Option<String>,
    /// The request's id; `None` is written as `null`.
    pub id: Option<RequestId<'a>>,
}

impl<'a> ProtocolFault<'a> {
    /// A fault without `data`.
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>, id: Option<RequestId<'a>>) -> Self {
        Self { code, message: message.into(), data: None, id }
    }

    /// Not JSON, not UTF-8, or nested too deeply; with the id, if the text is a request's and its id could be read.
    pub(crate) fn parse_error(id: Option<RequestId<'a>>) -> Self {
        Self::new(PARSE_ERROR, "Parse error", id)
    }

    /// JSON, but no request.
    pub(crate) fn invalid_request(id: Option<RequestId<'a>>) -> Self {
        Self::new(INVALID_REQUEST, "Invalid Request", id)
    }

    /// A request under the id of a call that is not answered yet.
    pub(crate) fn repeated(id: RequestId<'a>) -> Self {
        let message = "Invalid Request: a call with this id was in flight; send it again under a new id";
        Self::new(INVALID_REQUEST, message, Some(id))
    }

    /// A line over the limit.
    pub(crate) fn too_large(id: Option<RequestId<'a>>) -> Self {
        Self::new(INVALID_REQUEST, "Invalid Request: message too large", id)
    }

    /// An array with too many messages.
    pub fn too_many() -> Self {
        let message = format!("Invalid Request: a batch has at most {MEMBERS} messages");
        Self::new(INVALID_REQUEST, message, None)
    }

    /// A method that does not exist in the request's era.
    pub(crate) fn unknown_method(method: &str, id: RequestId<'a>) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("Method not found: {method}"), Some(id))
    }

    /// Wrong parameters of a protocol method; `problem` says which.
    pub fn invalid_params(problem: &str, id: RequestId<'a>) -> Self {
        Self::new(INVALID_PARAMS, format!("Invalid params: {problem}"), Some(id))
    }

    /// Too many calls wait.
    pub fn busy(id: RequestId<'a>) -> Self {
        Self::new(UNAVAILABLE, "Server busy", Some(id))
    }

    /// A defect outside a handler.
    pub fn internal(id: Option<RequestId<'a>>) -> Self {
        Self::new(INTERNAL_ERROR, "Internal error", id)
    }

    /// Without secrets of the server's: a fault repeats what the client wrote.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        Self {
            code: self.code,
            message: match redactor.redact(&self.message) {
                Cow::Borrowed(_) => self.message,
                Cow::Owned(clean) => Cow::Owned(clean),
            },
            data: self.data.map(|data| redactor.redact_json(&data).into_owned()),
            id: self.id.map(|id| id.redacted(redactor)),
        }
    }

    /// The fault as a line for stdout.
    pub fn to_line(&self) -> Vec<u8> {
        let id = self.id.as_ref().map(RequestId::as_str);
        encode_error(id, self.code, &self.message, self.data.as_deref())
    }
}
