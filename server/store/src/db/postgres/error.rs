//! What can go wrong between this process and a PostgreSQL server. No text here holds a password, or a part of the URL.

use super::body::Body;

/// The longest field of a server's error that is kept, in bytes.
const MOST_BYTES_OF_FIELD: usize = 1 << 10;

/// A failure of the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PgError {
    /// The setting is wrong, so no server was asked.
    #[error("{0}")]
    Setting(String),
    /// No server could be reached, or none was fit. A later attempt may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// This client refused the server, or the server refused the user. A later attempt fails in the same way.
    #[error("{0}")]
    Refused(String),
    /// The server refused a statement; the connection goes on.
    #[error("{0}")]
    Server(Box<ServerError>),
    /// The connection is over.
    #[error("{0}")]
    Lost(Lost),
    /// A result is larger than the caller asked for; the connection goes on.
    #[error("a result has more than {0}")]
    TooLarge(String),
    /// The caller asked for something that cannot be sent.
    #[error("{0}")]
    Usage(&'static str),
}

impl PgError {
    /// Returns the server's error, if it is one.
    pub fn server(&self) -> Option<&ServerError> {
        if let Self::Server(error) = self { Some(error) } else { None }
    }

    /// Returns the five characters that name the server's error.
    pub fn sqlstate(&self) -> Option<&str> {
        self.server().map(|error| error.code.as_str())
    }

    /// Returns whether the connection is over.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_))
    }
}

/// How a connection ended, and what is known of its last transaction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the connection to PostgreSQL is lost: {reason}")]
pub struct Lost {
    /// Why, without a name or an address.
    pub reason: String,
    /// What is known of a commit that was on its way.
    pub commit: CommitState,
}

/// What is known of a commit when a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitState {
    /// None was on its way: the open transaction is rolled back.
    NotSent,
    /// A byte of a COMMIT has been sent, and the answer to its boundary has not come: it may have happened.
    Unknown,
}

/// An error that the server reports. (PostgreSQL manual, "Error and Notice Message Fields".)
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message} (SQLSTATE {code})")]
pub struct ServerError {
    /// `ERROR`, `FATAL` or `PANIC`, never translated (field `V`); `WARNING` for a commit that the server does not stand for.
    pub severity: String,
    /// SQLSTATE (field `C`).
    pub code: String,
    /// What is wrong, in the server's language (field `M`).
    pub message: String,
    /// More about it (field `D`). It may hold stored values.
    pub detail: Option<String>,
    /// What to do (field `H`).
    pub hint: Option<String>,
    /// The table of a violated constraint (field `t`).
    pub table: Option<String>,
    /// The column (field `c`).
    pub column: Option<String>,
    /// The name of a violated constraint (field `n`).
    pub constraint: Option<String>,
}

impl ServerError {
    /// Reads the fields of an ErrorResponse. Returns `None` if they are not fields.
    pub(super) fn read(mut fields: Body<'_>) -> Option<Self> {
        let mut error = Self::default();
        loop {
            let tag = fields.u8()?;
            if tag == 0 {
                return fields.end().map(|()| error);
            }
            let bytes = fields.text()?;
            let kept = bytes.get(..MOST_BYTES_OF_FIELD).unwrap_or(bytes);
            let text = String::from_utf8_lossy(kept).into_owned();
            match tag {
                b'V' => error.severity = text,
                b'C' => error.code = text.chars().filter(char::is_ascii_alphanumeric).take(5).collect(),
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                b't' => error.table = Some(text),
                b'c' => error.column = Some(text),
                b'n' => error.constraint = Some(text),
                _ => {}
            }
        }
    }

    /// Returns whether the server ends the connection after this error.
    pub fn ends_connection(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }
}
