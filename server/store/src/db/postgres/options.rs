//! How a session is set up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use super::url::{DatabaseUrl, Target};

/// Parameters that every session sets, and their values.
const SET: [(&str, &str); 8] = [
    ("client_encoding", "UTF8"),
    // In others, the schema reads like another one.
    ("bytea_output", "hex"),
    ("quote_all_identifiers", "off"),
    ("standard_conforming_strings", "on"),
    ("datestyle", "ISO, MDY"),
    ("extra_float_digits", "1"),
    // A commit that did not wait for its standby is reported by a warning alone.
    ("client_min_messages", "warning"),
    // A connection that is idle stays.
    ("idle_session_timeout", "0"),
];
/// What it says of itself to operators promises nothing.
pub(super) const NAME: &str = "application_name";

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

impl SessionOptions {
    /// Returns what a session sets, by name.
    pub(super) fn parameters<'a>(&'a self, url: &'a DatabaseUrl) -> BTreeMap<&'a str, Cow<'a, str>> {
        let milliseconds =
            |time: Option<Duration>| Cow::Owned(time.map_or(0, |time| time.as_millis()).to_string());
        let mut all: BTreeMap<&str, Cow<'_, str>> =
            SET.iter().map(|(name, value)| (*name, Cow::Borrowed(*value))).collect();
        all.insert(NAME, Cow::Borrowed(url.application_name.as_str()));
        all.insert("statement_timeout", milliseconds(self.statement));
        all.insert("lock_timeout", milliseconds(self.lock));
        all.extend(self.settings.iter().map(|(name, value)| (name.as_str(), Cow::Borrowed(value.as_str()))));
        all
    }
}
