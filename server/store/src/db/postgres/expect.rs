//! What the server has to answer, one entry a message or a group of messages.

use std::sync::Arc;

use super::statements::Statement;

/// What the server has to answer next.
#[derive(Debug)]
pub(super) enum Expect {
    /// ParseComplete.
    Parsed(Arc<Statement>),
    /// ParameterDescription, then RowDescription or NoData.
    Described(Arc<Statement>),
    /// BindComplete.
    Bound,
    /// Rows, then CommandComplete, PortalSuspended or EmptyQueryResponse.
    Executed {
        statement: Arc<Statement>,
        /// Whether the caller takes the rows.
        keep: bool,
        /// For a COMMIT: where its messages start on the wire.
        commit_at: Option<u64>,
    },
    /// CloseComplete of a portal, or of a statement that is closed again if the server skips this.
    Closed(Option<Arc<Statement>>),
    /// The answers to a script, up to ReadyForQuery, and how many results may still come.
    Script(usize),
    /// The answers to a COPY FROM STDIN, up to ReadyForQuery.
    Copy,
    /// ReadyForQuery.
    Ready(u64),
}
