//! What a start asks of the server before it relies on it (postgres#start). An engine that only pretends to be PostgreSQL is
//! refused here.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::db::postgres::{Limit, PgError, Session};
use crate::params;
use crate::postgres::flight::{MARK, integer, only, text};
use crate::postgres::link::Link;
use crate::postgres::options::{Durability, PostgresOptions};

/// The versions that the tests cover.
const VERSIONS: std::ops::RangeInclusive<i64> = 15..=18;
/// The class of the locks that the probe takes; their second key is the number of the server's process, so that probes do not meet.
const PROBE_CLASS: i64 = 0x434C_4250;
/// A difference of clocks that is worth a warning, in milliseconds.
const MOST_MS_APART: i64 = 2_000;

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
    version(session)?;
    schema(session, options.schema_version)?;
    let mut warnings = Vec::new();
    if !options.read_only {
        if session.parameter("in_hot_standby") == Some("on") {
            return Err("this server is a standby, which takes no calls: name the primary in COLIBRI_DATABASE_URL, or several servers \
                        with target_session_attrs=read-write"
                .to_owned());
        }
        locks_exclude(session, link).map_err(said)??;
        commits_are_in_order(session).map_err(said)??;
        durable(session, options.durability)?;
        warnings.extend(rights(session).map_err(said)?);
    }
    warnings.extend(clock(session).map_err(said)?);
    Ok(warnings)
}

/// Refuses versions that the tests do not cover.
pub(super) fn version(session: &mut Session) -> Result<(), String> {
    let number = setting(session, "server_version_num").ok().and_then(|text| text.parse::<i64>().ok());
    match number.map(|number| number / 10_000) {
        Some(major) if VERSIONS.contains(&major) => Ok(()),
        Some(major) => Err(format!(
            "the server is PostgreSQL {major}, and this release works with {} to {}",
            VERSIONS.start(),
            VERSIONS.end()
        )),
        None => Err("the server does not say which version of PostgreSQL it is".to_owned()),
    }
}

/// Refuses a database of another schema version, or without Colibri's schema.
fn schema(session: &mut Session, expected: i64) -> Result<(), String> {
    let rows = session.query("SELECT max(version) FROM schema_version", &[], Limit::ONE);
    let found = match rows {
        Ok(rows) => rows.row(0).and_then(|row| integer(&row, 0)),
        Err(error) if matches!(error.sqlstate(), Some("42P01" | "3F000")) => None,
        Err(error) if error.sqlstate() == Some("42501") => {
            return Err("this login may not read Colibri's schema: its role must be a member of colibri_app, or of colibri_read for \
                        COLIBRI_MODE=READONLY"
                .to_owned());
        }
        Err(error) => return Err(format!("the schema's version cannot be read: {error}")),
    };
    match found {
        Some(found) if found == expected => Ok(()),
        Some(found) if found > expected => Err(format!(
            "the database has schema version {found}, and this release works with {expected}: use the release that migrated it, or a \
             later one"
        )),
        Some(found) => Err(format!(
            "the database has schema version {found}, and this release works with {expected}: run `colibri postgres migrate` as its owner"
        )),
        None => Err("the database has no schema of Colibri's: run `colibri postgres setup` as the database's owner, then `colibri \
                     postgres migrate`"
            .to_owned()),
    }
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
fn durable(session: &mut Session, durability: Durability) -> Result<(), String> {
    if durability == Durability::Normal {
        return Ok(());
    }
    for name in ["fsync", "full_page_writes"] {
        let value = setting(session, name)?;
        if value != "on" {
            return Err(format!(
                "the server has {name} = {value}, so a power cut may lose acknowledged calls: set it to on, or set \
                 COLIBRI_DURABILITY=normal"
            ));
        }
    }
    if durability == Durability::Replicated && setting(session, "synchronous_standby_names")?.is_empty() {
        return Err("COLIBRI_DURABILITY is replicated, and the server waits for no standby: set its synchronous_standby_names, or \
                    COLIBRI_DURABILITY=full"
            .to_owned());
    }
    Ok(())
}

/// Warns of a login that may do more than a server needs.
fn rights(session: &mut Session) -> Result<Option<String>, PgError> {
    let sql = "SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), \
               pg_has_role(current_user, 'colibri_owner', 'MEMBER')";
    let rows = session.query(sql, &[], Limit::ONE)?;
    let row = only(&rows)?;
    let what = match (integer(&row, 0), integer(&row, 1)) {
        (Some(1), _) => "is a superuser",
        (_, Some(1)) => "is a member of colibri_owner",
        _ => return Ok(None),
    };
    Ok(Some(format!(
        "this login {what}, so it could change the log: use one that is a member of colibri_app alone"
    )))
}

/// Warns if the server's clock and this machine's are apart. Leases go by the server's, times in rows by this machine's.
fn clock(session: &mut Session) -> Result<Option<String>, PgError> {
    let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)";
    let rows = session.query(sql, &[], Limit::ONE)?;
    let Some(theirs) = integer(&only(&rows)?, 0) else { return Ok(None) };
    let ours = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let apart = i64::try_from(ours).unwrap_or(i64::MAX).saturating_sub(theirs);
    Ok((apart.abs() > MOST_MS_APART).then(|| {
        let way = if apart > 0 { "ahead of" } else { "behind" };
        let seconds = apart.abs() / 1_000;
        format!("this machine's clock is {seconds} s {way} the database server's: set both by a time server")
    }))
}

fn setting(session: &mut Session, name: &str) -> Result<String, String> {
    let rows = session.query("SELECT current_setting(?1)", params![name], Limit::ONE);
    let value = rows.and_then(|rows| Ok(text(&only(&rows)?, 0).map(str::to_owned)));
    value.ok().flatten().ok_or_else(|| format!("the server does not tell its setting {name}"))
}
