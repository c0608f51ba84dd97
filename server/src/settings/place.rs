//! Where the database is: a file of SQLite, or a database of PostgreSQL that several machines share (chain#configuration).

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use colibri_runtime::chain::redact::REDACTED;
use colibri_store::sqlite::open::MEMORY;
use colibri_store::{DatabaseUrl, SessionOptions, TlsPolicy};

/// What the URL of a PostgreSQL database begins with.
const URL_SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The forms of a URL that messages advise. They hold no one's password.
const FORMS: [&str; 2] = ["postgres://user@host/database", "postgres://user:password@host/database"];

/// Where a database is. Its text never shows a part of a URL.
#[derive(Debug, Clone)]
pub enum Place {
    /// A file of SQLite, or `:memory:`.
    File(PathBuf),
    /// A database of PostgreSQL.
    Shared(DatabaseUrl),
}

impl Place {
    /// Reads what a user names: a URL if it begins like one, otherwise the path of a file.
    ///
    /// # Errors
    /// Why the URL is refused, as the end of a sentence that begins with its name.
    pub(crate) fn read(named: &Path, tls: TlsPolicy) -> Result<Self, String> {
        match named.to_str().filter(|_| is_url(named)) {
            Some(url) => {
                let url = DatabaseUrl::parse(url, tls).map_err(|error| error.reason().to_owned())?;
                Ok(Self::Shared(url))
            }
            None => Ok(Self::File(named.to_owned())),
        }
    }

    /// Returns the path of a file; `None` for a shared database.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Shared(_) => None,
        }
    }

    /// Returns whether the database lives in the memory of one process.
    pub(crate) fn is_memory(&self) -> bool {
        self.file() == Some(Path::new(MEMORY))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Shared(_) => f.write_str("the PostgreSQL database"),
        }
    }
}

/// Returns whether a path is meant as the URL of a PostgreSQL database.
pub(crate) fn is_url(named: &Path) -> bool {
    named.to_str().and_then(url_in) == Some(0)
}

/// Returns where the first URL of a PostgreSQL database in a text begins. All behind it may be a password.
fn url_in(text: &str) -> Option<usize> {
    let text = text.to_ascii_lowercase();
    URL_SCHEMES.iter().filter_map(|scheme| text.find(scheme)).min()
}

/// Returns the text up to its first URL of a database, behind which any character may be part of a password. The forms that messages
/// advise stay.
pub(crate) fn without_url(text: &str) -> String {
    let mut from = 0;
    while let Some(start) = url_in(&text[from..]).map(|at| from + at) {
        match FORMS.into_iter().find(|form| stands_alone(&text[start..], form)) {
            Some(form) => from = start + form.len(),
            None => return format!("{}postgres://{REDACTED}", &text[..start]),
        }
    }
    text.to_owned()
}

/// Checks whether the text begins with the form and no URL goes on behind it.
fn stands_alone(text: &str, form: &str) -> bool {
    text.strip_prefix(form).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ',', ';']))
}

/// Returns whether a text has a URL with a password.
pub(crate) fn shows_password(text: &str) -> bool {
    let Some((_, rest)) = url_in(text).and_then(|start| text[start..].split_once("://")) else {
        return false;
    };
    let login = rest.rsplit_once('@').map_or("", |(login, _)| login);
    login.contains(':') || rest.contains("password=")
}

/// How processes work with a shared database: the settings `COLIBRI_DATABASE_*` beside the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharing {
    /// Whether a server on the network must prove its name.
    pub tls: TlsPolicy,
    /// Milliseconds that a connection and its login may take.
    pub connect_timeout_ms: u32,
    /// Milliseconds that a call may wait for a lock, or for a lost connection to come back.
    pub lock_timeout_ms: u32,
    /// Milliseconds that a statement may run.
    pub statement_timeout_ms: u32,
    /// Seconds after which others close the running calls of a silent process.
    pub lease_seconds: u32,
    /// Where this machine notes the last acknowledged call.
    pub witness_dir: Option<PathBuf>,
}

impl Sharing {
    /// Returns how a server's session is set up.
    pub fn session(&self) -> SessionOptions {
        let time = |ms: u32| Duration::from_millis(u64::from(ms));
        SessionOptions {
            connect: time(self.connect_timeout_ms),
            statement: Some(time(self.statement_timeout_ms)),
            lock: Some(time(self.lock_timeout_ms)),
            ..SessionOptions::default()
        }
    }

    /// Returns how the session of a command is set up that reads or writes a whole database: its statements may take
    /// as long as they need.
    pub(crate) fn whole(&self) -> SessionOptions {
        SessionOptions { statement: None, ..self.session() }
    }
}
