//! A call on its way in, and its reply on the way out.

use std::borrow::Cow;
use std::sync::Arc;

use colibri_canonical::MAX_DEPTH;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::chain::client::Client;
use crate::progress::Progress;

/// The request that a reply answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyTo {
    /// JSON text of the request's id, byte for byte.
    pub id: Box<str>,
    /// The request came in the stateless era (revision 2026-07-28).
    pub stateless: bool,
    /// The request came inside an array.
    pub member: Option<Member>,
    /// What its client hears before the reply.
    pub progress: Progress,
}

/// The request id in the audit row of an operation: it has no request.
pub const NO_REQUEST: &str = "null";

/// A message's place in an array of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Which array.
    pub array: u64,
    /// Which message of it.
    pub place: usize,
}

/// What is wrong with a message's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// It holds half of a surrogate pair.
    LoneSurrogate,
    /// An object names a member twice. Its name, unless that is long.
    Repeated(Option<Box<str>>),
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
    pub fn problem(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::LoneSurrogate => {
                "the text contains an unpaired surrogate, half of a character such as an emoji; send whole characters"
            }
            Self::Repeated(Some(name)) => {
                return Cow::Owned(format!(
                    "an object of the message has the member \"{name}\" twice; send it once"
                ));
            }
            Self::Repeated(None) => "an object of the message has a member twice; send each once",
            Self::TooDeep => {
                return Cow::Owned(format!("the message nests more than {MAX_DEPTH} levels; send fewer"));
            }
            Self::NotUtf8 => "the text is not UTF-8; send it in UTF-8",
            Self::Number => "\"arguments\" holds a number beyond the range of a 64-bit float",
            Self::Syntax => "the message is not JSON",
        })
    }
}

/// A decoded `tools/call`.
#[derive(Debug, Clone)]
pub struct Call {
    /// The request to answer.
    pub reply_to: ReplyTo,
    /// The tool's name as received.
    pub name: String,
    /// The arguments as received.
    pub arguments: Arguments,
    /// Their hash, if the value has lost digits of a number; otherwise it is taken of the value.
    pub args_hash: Option<Box<str>>,
    /// Canonical JSON of the request's trace headers.
    pub trace_context: Option<String>,
    /// Who it says it comes from.
    pub client: Arc<Client>,
    /// Bytes of the line it came in, for the batch's bound.
    pub bytes: usize,
    /// When it came, by the monotonic clock, if the loop was waiting for its turn to write; otherwise 0.
    pub since_ms: f64,
    /// Why its arguments cannot be read, if so. It is refused as invalid.
    pub unreadable: Option<Flaw>,
}

/// What a call is given; absent and `null` are an empty object.
///
/// A client's arguments stay text until stage 1. A value takes up to 36 times as much memory, and calls may wait for long.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// JSON that can be read: its line was sound, and no number is beyond the range of a double.
    Text(Box<str>),
    /// A value of this process's own.
    Value(Box<Value>),
}

impl Arguments {
    /// Returns the value.
    pub fn into_value(self) -> Value {
        match self {
            // What cannot be read was answered when it came.
            Self::Text(text) => parse(&text).unwrap_or_default(),
            Self::Value(value) => *value,
        }
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::Value(Box::new(value))
    }
}

/// Reads arguments, in which no object names a member twice. `None` if a number is beyond the range of a double: that is all that can be
/// wrong with JSON whose line was sound.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The line's nesting has been measured before it was parsed.
    deserializer.disable_recursion_limit();
    match Value::deserialize(&mut deserializer).ok()? {
        Value::Null => Some(Value::Object(Map::new())),
        arguments => Some(arguments),
    }
}

/// What a reply carries.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A tool result.
    Tool {
        /// Compact JSON of the envelope.
        envelope: String,
        /// Whether `isError: true` is set.
        is_error: bool,
    },
    /// A failure of a tool without an envelope: `isError: true`, and a text alone. Clients check structured content by the output
    /// schema even then, and that describes the payload.
    Failure {
        /// Compact JSON of the error.
        text: String,
    },
    /// JSON-RPC error -32602: no such tool.
    UnknownTool {
        /// `error.message`.
        message: String,
        /// `error.data`, compact JSON.
        data: String,
    },
}

/// An answer and its request.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The request.
    pub to: ReplyTo,
    /// The answer.
    pub answer: Answer,
    /// What else the caller should know, compact JSON. It is sent as a second text behind the answer, and the log does not hash it.
    pub notice: Option<String>,
}

/// Takes replies once the effects they report are stored.
pub trait Outlet {
    /// Takes a reply that may leave.
    fn reply(&mut self, reply: Reply);
    /// Takes note of a call that gets no reply, because its client has cancelled it.
    fn unanswered(&mut self, _: &ReplyTo) {}
    /// Sends what is there now; the batch goes on.
    fn flush(&mut self);
}

impl Outlet for Vec<Reply> {
    fn reply(&mut self, reply: Reply) {
        self.push(reply);
    }
    fn flush(&mut self) {}
}
