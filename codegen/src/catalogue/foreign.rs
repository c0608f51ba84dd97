//! The codes of calls to other servers, for a server that passes such calls on and records them in its own log.

use serde::{Deserialize, Serialize};

macro_rules! foreign {
    ($($(#[$doc:meta])* $role:ident,)*) => {
        /// The codes that rows of calls to other servers end with, by role.
        #[derive(Debug, Clone, Deserialize, Serialize)]
        #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct ForeignErrors {
            $($(#[$doc])* pub(crate) $role: ForeignError,)*
        }

        impl ForeignErrors {
            /// The errors with the names of their roles, in declared order.
            pub(crate) fn roles(&self) -> impl Iterator<Item = (&'static str, &ForeignError)> {
                [$((stringify!($role), &self.$role)),*].into_iter()
            }
        }
    };
}

foreign! {
    /// The reply says that the tool failed.
    tool_error,
    /// The reply asks for input, and another call goes on.
    input_required,
    /// The other server goes on in a task.
    task_created,
    /// The reply is of a kind that the protocol does not know.
    result_unknown,
    /// The reply is a JSON-RPC error.
    rpc_error,
    /// The call was malformed.
    bad_call,
    /// The tool is not admitted.
    denied,
    /// Only read-only tools are admitted, and the tool does not say that it is one.
    not_read_only,
    /// The tool is not the pinned one.
    tool_changed,
    /// The tool is not among the pinned ones.
    tool_new,
    /// The other server's tools could not be read.
    list_unknown,
    /// The call could not be recorded.
    not_recorded,
    /// Another call of the batch was refused.
    batch_refused,
    /// The client cancelled the call, and no reply came.
    cancelled,
    /// The other server ended before it answered.
    server_ended,
    /// The client went before the other server answered.
    client_gone,
    /// A signal ended the process that passes calls on.
    stopped,
}

/// One of these codes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct ForeignError {
    /// The code.
    pub(crate) code: String,
    /// The message of its rows; `{name}` stands for a text of the call's.
    pub(crate) message: String,
    /// When a row ends with it, for the reference.
    pub(crate) when: String,
}
