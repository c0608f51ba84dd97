//! How a session is set up.

use std::time::Duration;

use super::url::Target;

/// How a session is set up. Times are the settings `COLIBRI_DATABASE_*`.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// How long a connection and its login may take, for each address.
    pub connect: Duration,
    /// How long a statement may run: the server's `statement_timeout`, and with a reserve the longest wait for an answer. `None`: no bound,
    /// for commands that read a whole database.
    pub statement: Option<Duration>,
    /// How much longer than that a client waits.
    pub reserve: Duration,
    /// The server's `lock_timeout`.
    pub lock: Option<Duration>,
    /// Further settings of the session, by name, such as `search_path`.
    pub settings: Vec<(String, String)>,
    /// What a server must be if the URL does not say.
    pub target: Target,
    /// The longest message that is taken.
    pub most_bytes: usize,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            statement: Some(Duration::from_secs(30)),
            reserve: Duration::from_secs(5),
            lock: Some(Duration::from_secs(5)),
            settings: vec![("search_path".to_owned(), "colibri, pg_temp".to_owned())],
            target: Target::Any,
            most_bytes: 64 << 20,
        }
    }
}
