//! What is known of a message of the server's.

use std::ops::Range;

use colibri_canonical::HexDigest;

use crate::wrap::flights::Id;

/// A message in a line of the server's: an outermost object, or one that is an element of an outermost array.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Where it stands in its line, brackets included.
    pub place: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a message of the server's is. An object without any of the members that make a message is not reported at all.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A notification or a request of the server's, with its method. `None` if that is not a text, or longer than
    /// `METHOD_BYTES`.
    Spoken(Option<Box<str>>),
    /// An answer to a request.
    Answer(Box<Answer>),
    /// An `error` whose id is null or absent. It answers no request.
    Unaddressed,
    /// A message on which readers disagree: `id`, `method`, `result` or `error` stands in it twice, or in another case, as some
    /// readers take for the same; it has `result` and `error`, or `method` with either; or it has an id and none of the three,
    /// which some readers take for an answer.
    Ambiguous,
}

/// An answer of the server's.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The id. `None` if no request can have it, or it is absent.
    pub id: Option<Id>,
    /// Where the value of `result` or `error` stands in the line, first byte to last.
    pub value: Range<usize>,
    /// The SHA-256 of that value's bytes as they were written.
    pub hash: HexDigest,
    /// How the call ended that it answers.
    pub ending: Ending,
}

/// What an answer says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A result. It has no `resultType`, or `"complete"`.
    Ok,
    /// Such a result with `isError: true`.
    ToolError,
    /// The server asks for input; another call goes on.
    InputRequired,
    /// The server goes on in a task.
    TaskCreated,
    /// Any other `resultType`.
    ResultUnknown,
    /// A JSON-RPC error with its code, if that is an integer of 64 bits.
    RpcError(Option<i64>),
}
