//! What a start asks of the server before it relies on it (postgres#start). An engine that only pretends to be PostgreSQL is
//! refused here.

use crate::db::postgres::{Limit, PgError, Session};
use crate::params;
use crate::postgres::ask::{self, MOST_MS_APART, Rights};
use crate::postgres::flight::{MARK, integer, only, text};
use crate::postgres::link::{self, Link};
use crate::postgres::options::{Durability, PostgresOptions};
use crate::postgres::schema::{self, SharedSchema};
use crate::sqlite::look::schema::Difference;

/// The class of the locks that the probe takes; their second key is the number of the server's process, so that probes do not meet.
const PROBE_CLASS: i64 = 0x434C_4250;

/// What is said of a server that takes no writes.
pub(super) const STANDBY: &str = "this server is a standby, which takes no calls: name the primary in COLIBRI_DATABASE_URL, or several \
                                  servers with target_session_attrs=read-write";

/// Checks the server, and returns what the operator should know.
///
/// # Errors
/// One sentence: what is wrong, and what to do.
pub(super) fn check(
    session: &mut Session,
    link: &Link,
    options: &PostgresOptions,
) -> Result<Vec<String>, String> {
    let said = |error: PgError| format!("the database cannot be checked: {error}");
    ask::version(session)?;
    let stage = schema::stage(session).map_err(said)?;
    stage.fits(options.schema.version()).map_err(|unfit| unfit.to_string())?;
    unaltered(session, &options.schema)?;
    let mut warnings = Vec::new();
    if !options.read_only {
        if ask::is_standby(session) {
            return Err(STANDBY.to_owned());
        }
        let rights = ask::rights(session).map_err(said)?;
        lacking(rights, options.read_only).map_or(Ok(()), Err)?;
        locks_exclude(session, link).map_err(said)??;
        standbys_confirm(session, link).map_err(said)??;
        commits_are_in_order(session).map_err(said)??;
        durable(session, options.durability).map_err(said)??;
        warnings.extend(excessive(rights));
    }
    warnings.extend(clocks_apart(ask::clock_ahead_ms(session).map_err(said)?));
    Ok(warnings)
}

/// Refuses a schema that is not the one that the migrations make.
fn unaltered(session: &mut Session, schema: &SharedSchema) -> Result<(), String> {
    let differences = schema::differences(session, schema)
        .map_err(|error| format!("the schema cannot be compared with this release's: {error}"))?;
    altered(&differences).map_or(Ok(()), Err)
}

/// Returns why a schema with these differences is refused.
pub(super) fn altered(differences: &[(String, Difference)]) -> Option<String> {
    let (object, how) = differences.first()?;
    let more = match differences.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!(
        "{}{more}, so the database may not keep what the log promises: someone with the owner's rights changed the schema. Keep a backup as \
         evidence, let `colibri verify` name every difference, and have the owner undo the change",
        how.sentence(object)
    ))
}

/// Checks that a second connection does not get a lock that the first has.
pub(super) fn locks_exclude(session: &mut Session, link: &Link) -> Result<Result<(), String>, PgError> {
    let (mut other, _) = link.connect()?;
    let key = i64::from(session.backend_pid());
    session.queue("BEGIN", &[])?;
    session.query(
        "SELECT pg_advisory_xact_lock(CAST(?1 AS int), CAST(?2 AS int))",
        params![PROBE_CLASS, key],
        Limit::ALL,
    )?;
    let sql = "SELECT pg_try_advisory_xact_lock(CAST(?1 AS int), CAST(?2 AS int))";
    let rows = other.query(sql, params![PROBE_CLASS, key], Limit::ONE)?;
    let got = integer(&only(&rows)?, 0);
    session.simple("ROLLBACK")?;
    Ok(match got {
        Some(0) => Ok(()),
        _ => Err("this server's advisory locks exclude no other connection, so two writers could fork the log: use PostgreSQL itself, without a \
                  pooler in between"
            .to_owned()),
    })
}

/// Refuses a server whose commits wait for a standby that does not confirm them: each call would wait, too.
fn standbys_confirm(session: &mut Session, link: &Link) -> Result<Result<(), String>, PgError> {
    let names = ask::setting(session, "synchronous_standby_names")?;
    if names.is_empty() {
        return Ok(Ok(()));
    }
    // PostgreSQL ends such a wait for no time-out, so that this connection is given up.
    let mut short = link.clone();
    short.options.statement = Some(link.patience);
    let (mut other, name) = short.connect()?;
    match other.query(MARK, &[], Limit::ALL) {
        Ok(_) => Ok(Ok(())),
        Err(PgError::Lost(_)) => {
            // It would wait in the server until the standby returns, and each start would leave one more.
            link::end(session, &name)?;
            Ok(Err(format!(
                "the server's commits wait for a synchronous standby ({names}), and none confirms them: start the standby, or let the \
             server's synchronous_standby_names name one that follows it"
            )))
        }
        Err(error) => Err(error),
    }
}

/// Checks that what is committed before a mark is durable with the mark.
fn commits_are_in_order(session: &mut Session) -> Result<Result<(), String>, PgError> {
    session.simple(
        "BEGIN; SET LOCAL synchronous_commit = off; SELECT pg_logical_emit_message(true, 'colibri', 'probe'); COMMIT",
    )?;
    let rows = session.query("SELECT CAST(pg_current_wal_insert_lsn() AS text)", &[], Limit::ONE)?;
    let committed = text(&only(&rows)?, 0).unwrap_or_default().to_owned();
    session.query(MARK, &[], Limit::ALL)?;
    let sql = "SELECT pg_current_wal_flush_lsn() >= CAST(CAST(?1 AS text) AS pg_lsn)";
    let rows = session.query(sql, params![committed.as_str()], Limit::ONE)?;
    Ok(match integer(&only(&rows)?, 0) {
        Some(1) => Ok(()),
        _ => Err("this server does not make commits durable in their order, which replies rely on: use PostgreSQL itself".to_owned()),
    })
}

/// Refuses a server that does not keep what `COLIBRI_DURABILITY` promises.
fn durable(session: &mut Session, durability: Durability) -> Result<Result<(), String>, PgError> {
    if durability == Durability::Normal {
        return Ok(Ok(()));
    }
    Ok(lax(&ask::unsafe_settings(session)?).map_or(Ok(()), Err))
}

/// Returns why a server with these settings does not keep calls.
pub(super) fn lax(unsafe_settings: &[String]) -> Option<String> {
    let first = unsafe_settings.first()?;
    Some(format!(
        "the server has {first}, so a power cut may lose acknowledged calls: set it to on, or set COLIBRI_DURABILITY=normal"
    ))
}

/// Returns why a server cannot work with a login of these rights.
pub(super) fn lacking(rights: Rights, read_only: bool) -> Option<String> {
    // A superuser or an owner has every right, which is another matter.
    let (group, cannot, otherwise) = match read_only {
        true => ("colibri_read", "read the log", ""),
        false => ("colibri_app", "add to the log", ", or set COLIBRI_MODE to READONLY"),
    };
    let is_member = rights.app || read_only && rights.read;
    (!is_member && rights.excess().is_none()).then(|| {
        format!(
            "this login is not a member of {group}, so it cannot {cannot}: let the database's owner run GRANT {group} TO it{otherwise}"
        )
    })
}

/// Warns of a login that may do more than a server needs.
pub(super) fn excessive(rights: Rights) -> Option<String> {
    rights.excess().map(|what| {
        format!(
            "this login {what}, so it could change the log: use one that is a member of colibri_app alone"
        )
    })
}

/// Warns if the server's clock and this machine's are apart, by how far this machine's is ahead.
pub(super) fn clocks_apart(ahead_ms: i64) -> Option<String> {
    (ahead_ms.abs() > MOST_MS_APART).then(|| {
        let way = if ahead_ms > 0 { "ahead of" } else { "behind" };
        let seconds = ahead_ms.abs() / 1_000;
        format!("this machine's clock is {seconds} s {way} the database server's: set both by a time server")
    })
}
