//! What the client's messages ask for.

use colibri_canonical::HexDigest;

use crate::wrap::flights::Id;
use crate::wrap::rounds::LaterRound;

/// A line of the client's.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line as it was written, newline included. Empty if it was too long to be kept.
    pub bytes: Vec<u8>,
    /// Its message, or the elements of its array. None of them: the line is blank.
    pub messages: Vec<Message>,
    /// It is an array. If one element has to be refused, all have.
    pub batch: bool,
}

impl Line {
    /// Returns whether this is one message with that id, and nothing else.
    pub(crate) fn is_only(&self, id: &Id) -> bool {
        matches!(self.messages.as_slice(), [message] if message.id() == Some(id))
    }

    /// Makes refusals of the requests whose ids are taken. The server does not get such a line.
    pub(crate) fn refuse_repeated(&mut self, mut is_taken: impl FnMut(&Id) -> bool) {
        self.bytes = Vec::new();
        for message in &mut self.messages {
            if message.id().is_some_and(&mut is_taken) {
                let repeated = std::mem::replace(message, Message::Answer);
                *message = repeated.refused(REPEATED, INVALID_REQUEST, INVALID_REQUEST);
            }
        }
    }

    /// Returns how many requests of it the server may get.
    pub fn requests(&self) -> usize {
        let is_request = |message: &&Message| matches!(message, Message::Call(_) | Message::Request(..));
        self.messages.iter().filter(is_request).count()
    }
}

/// A message of the client's.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// `tools/call`.
    Call(Box<Call>),
    /// `tools/call` as readers would understand it differently, or not at all. It is recorded, and not for the server.
    BadCall(Box<BadCall>),
    /// Any other request.
    Request(Id, Asked),
    /// A notification.
    Notification(Told),
    /// An answer to a request of the server's.
    Answer,
    /// Not for the server.
    Refused(Refusal),
}

impl Message {
    /// Returns the id that an answer to the message would carry.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Call(call) => Some(&call.id),
            Self::BadCall(call) => call.id.as_ref(),
            Self::Request(id, _) => Some(id),
            Self::Refused(refusal) => refusal.id.as_ref(),
            Self::Notification(_) | Self::Answer => None,
        }
    }

    /// Returns what takes the place of a message that is not for the server, for that problem. A call leaves its row and has `code`;
    /// another message gets an error with the code `other`. What is refused already stays.
    pub(super) fn refused(self, problem: &'static str, code: i32, other: i32) -> Self {
        let id = match self {
            Self::Call(call) => {
                let Call { id, name, args_hash, .. } = *call;
                return Self::BadCall(Box::new(BadCall {
                    id: Some(id),
                    waits: true,
                    name: Some(name),
                    args_hash,
                    problem,
                    code,
                }));
            }
            Self::BadCall(_) | Self::Refused(_) => return self,
            Self::Request(id, _) => Some(id),
            Self::Notification(_) | Self::Answer => None,
        };
        Self::Refused(match other {
            INVALID_REQUEST => Refusal::invalid(id, problem),
            _ => Refusal::parse_error(id),
        })
    }
}

/// A `tools/call` that the server may get.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The request's id.
    pub id: Id,
    /// The tool's name as the client wrote it, escapes undone.
    pub name: String,
    /// What the call asks for, hashed.
    pub args_hash: HexDigest,
    /// A stateless call's protocol members of `_meta`, as the text of a JSON object: what a request of `wrap`'s own to the same
    /// server has to carry. `None` for calls behind a handshake.
    pub stateless: Option<String>,
    /// Canonical JSON of the call's trace headers.
    pub trace_context: Option<String>,
    /// The hash of its arguments alone.
    pub arguments_hash: HexDigest,
    /// Which call it continues, if it brings the input that one asked for.
    pub round: Option<LaterRound>,
}

/// A malformed `tools/call`.
#[derive(Debug, Clone, PartialEq)]
pub struct BadCall {
    /// The request's id; `None` if it has none that an answer could carry.
    pub id: Option<Id>,
    /// It has an id, usable or not, and so waits for an answer.
    pub waits: bool,
    /// The tool's name, the last one if there are several.
    pub name: Option<String>,
    /// What of its parameters could be read, hashed.
    pub args_hash: HexDigest,
    /// What is wrong with it, as a sentence for its answer and its row.
    pub problem: &'static str,
    /// JSON-RPC's code for that.
    pub code: i32,
}

/// JSON-RPC's code for parameters that do not fit.
pub(super) const WRONG_PARAMETERS: i32 = -32602;
/// JSON-RPC's code for what is not JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// JSON-RPC's code for a message that is not a request.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// What is said of a request whose id another one has.
const REPEATED: &str = "Invalid Request: a request with this id was in flight; send it again under a new id";

/// What a request asks for, where that matters on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// `tools/list`.
    Tools {
        /// Where the list goes on; `None` for the first page.
        cursor: Option<String>,
    },
    /// `initialize`.
    Initialize {
        /// The client's `clientInfo`, JSON text.
        client_info: Option<Box<str>>,
    },
    /// `server/discover`.
    Discover,
    /// `subscriptions/listen`, which need never be answered.
    Listen,
    /// `tasks/get`, `tasks/result` or `tasks/cancel`.
    Task(TaskRequest),
    /// Anything else.
    Other,
}

/// A request about a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRequest {
    /// `taskId`.
    pub task_id: String,
    /// It asks for the result, not for the state.
    pub is_result: bool,
}

/// What a notification tells, where that matters on the way.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// `notifications/initialized`.
    Initialized,
    /// `notifications/cancelled` with the id of the request, and the hash of the reason's text if it gave one.
    Cancelled(Id, Option<String>),
    /// Anything else.
    Other,
}

/// A message that the server does not get, and the error that answers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The id to answer to; null without one.
    pub id: Option<Id>,
    /// JSON-RPC's code.
    pub code: i32,
    /// What is wrong, as a sentence.
    pub message: &'static str,
}

impl Refusal {
    /// Not JSON, or more than one value; with the id, if the text is a request's and its id could be read.
    pub(super) fn parse_error(id: Option<Id>) -> Self {
        Self { id, code: PARSE_ERROR, message: "Parse error" }
    }

    /// JSON, but not a message that all servers understand alike.
    pub(super) fn invalid(id: Option<Id>, message: &'static str) -> Self {
        Self { id, code: INVALID_REQUEST, message }
    }

    /// A line over the limit.
    pub(super) fn too_large(id: Option<Id>) -> Self {
        Self::invalid(id, "message too large")
    }
}
