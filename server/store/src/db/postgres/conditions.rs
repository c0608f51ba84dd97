//! What a session rests on (postgres#conditions). A role, a database, the server's configuration and a pooler may each set a parameter
//! in another way. So the session sets them in its start packet, sets them again once it is connected, and compares what holds then.
//! Each mark asks the same question again.

use std::borrow::Cow;
use std::time::Duration;

use super::error::PgError;
use super::options::{NAME, SessionOptions};
use super::poolers::{self, INSTEAD};
use super::question::{BETWEEN, Conditions, DURABLE, values_of};
use super::rows::{PgCell, PgRow, Rows};
use super::session::{Limit, Session};
use super::url::DatabaseUrl;
use crate::params;

/// Parameters that a superuser alone may set, so a session compares them.
const GIVEN: [(&str, &str); 2] = [("session_replication_role", "origin"), ("zero_damaged_pages", "off")];
/// What is said of an answer that cannot be read.
const UNREADABLE: PgError = PgError::Usage("the server's answer about its settings cannot be read");

impl Session {
    /// Connects, sets all again that the session rests on, and compares what holds.
    ///
    /// # Errors
    /// Those of [`Session::connect`]; [`PgError::Refused`] names what differs, and why.
    pub fn establish(url: &DatabaseUrl, options: &SessionOptions) -> Result<Self, PgError> {
        let mut session = Self::connect(url, options)?;
        let conditions = settle(&mut session, url, options).map_err(mixed_up)?;
        let pooled = conditions.pid != i64::from(session.backend_pid());
        session.conditions = Some(conditions);
        if pooled && is_shared(&mut session, url, options)? {
            return Err(poolers::shared());
        }
        Ok(session)
    }

    /// Sends what is queued, asks what holds, and compares: behind a mark also the settings of the whole server that it relies on. A
    /// statement for one text may be asked besides.
    ///
    /// # Errors
    /// The server's; [`PgError::Refused`] names what does not hold any more.
    pub(crate) fn ask_what_holds(&mut self, durable: bool, besides: Option<&str>) -> Result<Held, PgError> {
        let Some(conditions) = self.conditions.take() else {
            return Err(PgError::Usage("what holds is known of a session that was established"));
        };
        let question = if durable { &conditions.durable } else { &conditions.question };
        let question = match besides {
            Some(besides) => Cow::Owned(format!("{question}, ({besides})")),
            None => Cow::Borrowed(question.as_str()),
        };
        let asked = self.query(&question, &[], Limit::ONE);
        let held = asked.and_then(|rows| compare(&conditions, self, &rows));
        self.conditions = Some(conditions);
        held
    }
}

/// What the same question tells besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    /// The server's commits wait for a standby.
    pub has_standby: bool,
    /// When the server's process has last read its settings.
    pub loaded: String,
    /// What was asked besides.
    pub besides: Option<String>,
}

/// Compares what the server has answered.
fn compare(conditions: &Conditions, session: &mut Session, rows: &Rows) -> Result<Held, PgError> {
    let row = rows.row(0).ok_or(UNREADABLE)?;
    let found = text(&row, 0).ok_or(UNREADABLE)?;
    if number(&row, 1) != Some(conditions.pid) {
        return Err(PgError::Refused(format!(
            "another server process answers than at the beginning: a pooler stands in front of PostgreSQL and hands one server process \
             to several connections; {INSTEAD}"
        )));
    }
    let wanted = conditions.values.iter().map(String::as_str).chain(DURABLE.map(|(_, value)| value));
    let names = conditions.names.iter().map(String::as_str).chain(DURABLE.map(|(name, _)| name));
    let differs = names.zip(wanted).zip(found.split(BETWEEN)).find(|((_, wanted), found)| wanted != found);
    match differs {
        Some(((name, wanted), found)) => Err(differing(session, name, wanted, found)),
        None => {
            let loaded = text(&row, 3).unwrap_or_default();
            Ok(Held { has_standby: number(&row, 2) == Some(1), loaded, besides: text(&row, 4) })
        }
    }
}

/// Sets all, and asks in the same round trip what holds.
fn settle(session: &mut Session, url: &DatabaseUrl, options: &SessionOptions) -> Result<Conditions, PgError> {
    let parameters = options.parameters(url);
    let set =
        parameters.iter().map(|(name, value)| format!("set_config('{name}', {}, false)", literal(value)));
    // The values in the server's own words, kept where the next statement finds them.
    let set: Vec<String> = set.collect();
    session.queue(
        &format!(
            "SELECT set_config('colibri.conditions', concat_ws(chr({}), {}), false)",
            u32::from(BETWEEN),
            set.join(", ")
        ),
        &[],
    )?;
    let set = session.boundary();
    let names: Vec<&str> = parameters.keys().copied().collect();
    let sql = format!(
        "SELECT current_setting('colibri.conditions', true), {}, CAST(pg_backend_pid() AS bigint)",
        values_of(names.iter().copied().chain(GIVEN.map(|(name, _)| name)))
    );
    let rows = session.query(&sql, &[], Limit::ONE);
    session.wait(set)?;
    let rows = rows?;
    let row = rows.row(0).ok_or(UNREADABLE)?;
    let (wanted, found) = (text(&row, 0).unwrap_or_default(), text(&row, 1).unwrap_or_default());
    let pid = number(&row, 2).unwrap_or_default();
    if wanted.is_empty() {
        // Another process has answered than the one that was told.
        return Err(poolers::shared());
    }
    let wanted = wanted.split(BETWEEN).chain(GIVEN.map(|(_, value)| value));
    let names = names.into_iter().chain(GIVEN.map(|(name, _)| name));
    let mut kept = (Vec::new(), Vec::new());
    for ((name, wanted), found) in
        names.zip(wanted).zip(found.split(BETWEEN)).filter(|((name, _), _)| *name != NAME)
    {
        if wanted != found {
            return Err(differing(session, name, wanted, found));
        }
        kept.0.push(name.to_owned());
        kept.1.push(found.to_owned());
    }
    Ok(Conditions::of(kept, pid))
}

fn literal(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn text(row: &PgRow<'_>, at: usize) -> Option<String> {
    match row.cell(at) {
        Ok(PgCell::Text(bytes)) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

fn number(row: &PgRow<'_>, at: usize) -> Option<i64> {
    if let Ok(PgCell::Integer(number)) = row.cell(at) { Some(number) } else { None }
}

/// Says what differs, what comes of it, and who has set it.
fn differing(session: &mut Session, name: &str, wanted: &str, found: &str) -> PgError {
    let sql = "SELECT source FROM pg_catalog.pg_settings WHERE lower(name) = lower(?1)";
    let source = match session.query(sql, params![name], Limit::ONE) {
        Ok(rows) => rows.row(0).and_then(|row| text(&row, 0)).unwrap_or_default(),
        Err(lost @ PgError::Lost(_)) => return lost,
        Err(_) => String::new(),
    };
    let undo = match source.as_str() {
        "user" => format!("ALTER ROLE … SET has set it for this login; run ALTER ROLE … RESET {name}"),
        "database" => {
            format!("ALTER DATABASE … SET has set it for this database; run ALTER DATABASE … RESET {name}")
        }
        "database user" => format!(
            "ALTER ROLE … IN DATABASE … SET has set it for this login; run ALTER ROLE … IN DATABASE … RESET {name}"
        ),
        "global" => format!("ALTER ROLE ALL SET has set it; run ALTER ROLE ALL RESET {name}"),
        "session" | "client" => {
            "it was changed inside of this session: look for a trigger or a function that does, and for a pooler such as PgBouncer"
                .to_owned()
        }
        _ => format!("set {name} = {wanted} in the server's configuration, and reload it"),
    };
    let cost = match name {
        "fsync" | "full_page_writes" => "a power cut may lose acknowledged calls",
        "client_min_messages" => "the server would not tell that a commit did not wait for its standby",
        "synchronous_commit" => "a commit would be acknowledged before it is durable",
        "session_replication_role" => "the triggers and references that guard the log would not run",
        "zero_damaged_pages" => "the server would empty damaged pages without a word",
        "search_path" => "other tables could take the place of Colibri's",
        "row_security" => "rows could be hidden from this login without an error",
        _ => "this release does not work with it",
    };
    PgError::Refused(format!(
        "the server has {name} = {found} where Colibri needs {wanted}, so {cost}: {undo}"
    ))
}

/// Turns what one connection meets that finds another one's statements into its cause.
fn mixed_up(error: PgError) -> PgError {
    match error.sqlstate() {
        // A prepared statement that is there already, or is not; PgBouncer's own refusals.
        Some("42P05" | "26000" | "08P01") => PgError::Refused(format!(
            "this connection meets the statements of another one: a pooler such as PgBouncer stands in front of PostgreSQL and hands one server \
             process to several connections; {INSTEAD}"
        )),
        _ => error,
    }
}

/// Returns whether a second connection gets the server process of the first one, or takes it away.
fn is_shared(session: &mut Session, url: &DatabaseUrl, options: &SessionOptions) -> Result<bool, PgError> {
    const PID: &str = "SELECT CAST(pg_backend_pid() AS bigint)";
    // A pool of one process that belongs to the first would keep the second waiting: its wait is short, and tells nothing.
    let hurried =
        SessionOptions { statement: Some(options.connect), reserve: Duration::ZERO, ..options.clone() };
    let Ok(mut other) = Session::connect(url, &hurried) else { return Ok(false) };
    let ask = |session: &mut Session| -> Result<Option<i64>, PgError> {
        let rows = session.query(PID, &[], Limit::ONE)?;
        Ok(rows.row(0).and_then(|row| number(&row, 0)))
    };
    let own = session.conditions.as_ref().map(|conditions| conditions.pid);
    let theirs = match other.queue("BEGIN", &[]).and_then(|()| ask(&mut other)) {
        Ok(theirs) => theirs,
        Err(PgError::Lost(_)) => return Ok(false),
        Err(_) => return Ok(true),
    };
    if theirs == own {
        return Ok(true);
    }
    match ask(session) {
        Ok(now) => Ok(now != own),
        Err(lost @ PgError::Lost(_)) => Err(lost),
        Err(_) => Ok(true),
    }
}
