//! What a server says of itself and of this login: for its checks at a start, for commands, and for the examination.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::db::postgres::{Limit, PgError, Session};
use crate::params;
use crate::postgres::flight::{integer, only, text};

/// The versions that the tests cover.
const VERSIONS: std::ops::RangeInclusive<i64> = 15..=18;
/// The least difference of clocks that is worth a warning, in milliseconds.
pub const MOST_MS_APART: i64 = 2_000;

/// What a login may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// It is a superuser.
    pub superuser: bool,
    /// It is a member of `colibri_owner`.
    pub owner: bool,
    /// It is a member of `colibri_app`.
    pub app: bool,
    /// It is a member of `colibri_read`.
    pub read: bool,
}

impl Rights {
    /// Returns what the login is, if it may do more than a server needs.
    pub(super) fn excess(self) -> Option<&'static str> {
        match (self.superuser, self.owner) {
            (true, _) => Some("is a superuser"),
            (_, true) => Some("is a member of colibri_owner"),
            _ => None,
        }
    }
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

/// Returns whether the server takes no writes because it follows another one.
pub(super) fn is_standby(session: &Session) -> bool {
    session.parameter("in_hot_standby") == Some("on")
}

/// Returns the rights of this login.
pub(super) fn rights(session: &mut Session) -> Result<Rights, PgError> {
    let sql = "SELECT coalesce(bool_or(r.rolsuper), false), \
                      coalesce(bool_or(g.rolname = 'colibri_owner'), false), coalesce(bool_or(g.rolname = 'colibri_app'), false), \
                      coalesce(bool_or(g.rolname = 'colibri_read'), false) \
               FROM pg_catalog.pg_roles AS r LEFT JOIN pg_catalog.pg_roles AS g \
                 ON g.rolname IN ('colibri_owner', 'colibri_app', 'colibri_read') AND pg_has_role(r.oid, g.oid, 'MEMBER') \
               WHERE r.rolname = current_user";
    let rows = session.query(sql, &[], Limit::ONE)?;
    let row = only(&rows)?;
    let has = |at| integer(&row, at) == Some(1);
    Ok(Rights { superuser: has(0), owner: has(1), app: has(2), read: has(3) })
}

/// Returns how far this machine's clock is ahead of the server's, in milliseconds. Leases go by the server's, times in rows by this
/// machine's.
pub(super) fn clock_ahead_ms(session: &mut Session) -> Result<i64, PgError> {
    let theirs = number(session, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")?;
    let ours = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Ok(i64::try_from(ours).unwrap_or(i64::MAX).saturating_sub(theirs))
}

/// Returns `fsync` and `full_page_writes` where they are not `on`, as `name = value`.
pub(super) fn unsafe_settings(session: &mut Session) -> Result<Vec<String>, PgError> {
    let mut found = Vec::new();
    for name in ["fsync", "full_page_writes"] {
        let value = setting(session, name)?;
        if value != "on" {
            found.push(format!("{name} = {value}"));
        }
    }
    Ok(found)
}

/// Returns the value of a setting.
pub(super) fn setting(session: &mut Session, name: &str) -> Result<String, PgError> {
    let rows = session.query("SELECT current_setting(?1)", params![name], Limit::ONE)?;
    Ok(text(&only(&rows)?, 0).unwrap_or_default().to_owned())
}

/// Returns the number that a statement asks for.
pub(super) fn number(session: &mut Session, sql: &str) -> Result<i64, PgError> {
    let rows = session.query(sql, &[], Limit::ONE)?;
    Ok(integer(&only(&rows)?, 0).unwrap_or_default())
}
