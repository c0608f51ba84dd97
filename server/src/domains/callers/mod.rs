//! Who calls come from (people#callers): what the client and the operator say, and what the server finds out itself. Nothing in
//! it admits, refuses or changes a call.

mod observed;
pub mod ties;

use crate::catalogue::Caller;
use colibri_runtime::handler::Fault;
use colibri_store::callers::{CallerRow, insert, next_caller_no};
use colibri_store::db::Db;

pub use self::observed::Observed;

/// What the client says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asserted {
    /// Where the names come from, as the column has it.
    pub source: String,
    /// `clientInfo.name`.
    pub client_name: Option<String>,
    /// `clientInfo.title`.
    pub client_title: Option<String>,
    /// `clientInfo.version`.
    pub client_version: Option<String>,
    /// The protocol's revision.
    pub protocol: Option<String>,
}

/// The call that stores the caller.
#[derive(Debug, Clone, Copy)]
pub struct Beginning<'a> {
    /// The process.
    pub boot_id: &'a str,
    /// The call's number.
    pub sequence_no: Option<i64>,
    /// When it was entered.
    pub entered_at: &'a str,
    /// On whose behalf the host runs.
    pub actor: Option<&'a str>,
}

/// Stores who the calls that follow come from, and returns the row.
///
/// # Errors
/// Storage faults; a call that is in no log.
pub fn begin(
    db: &Db,
    call: &Beginning<'_>,
    asserted: Asserted,
    observed: &Observed,
) -> Result<CallerRow, Fault> {
    let Some(sequence_no) = call.sequence_no else {
        return Err(Fault::Other("a caller is stored by a call in the log".to_owned()));
    };
    let Asserted { source, client_name, client_title, client_version, protocol } = asserted;
    let caller = CallerRow {
        caller_no: next_caller_no(db)?,
        boot_id: call.boot_id.to_owned(),
        source,
        client_name,
        client_title,
        client_version,
        protocol,
        actor: call.actor.map(str::to_owned),
        os_user: observed.os_user.clone(),
        host: observed.host.clone(),
        pid: observed.pid,
        first_seen: call.entered_at.to_owned(),
        sequence_no,
    };
    insert(db, &caller)?;
    Ok(caller)
}

/// Returns a row in the published form; `None` if a value is not one that the server writes.
pub fn published(row: CallerRow) -> Option<Caller> {
    Some(Caller {
        caller_no: row.caller_no,
        boot_id: row.boot_id,
        source: row.source.parse().ok()?,
        client_name: row.client_name,
        client_title: row.client_title,
        client_version: row.client_version,
        protocol: row.protocol,
        actor: row.actor,
        os_user: row.os_user,
        host: row.host,
        pid: row.pid,
        first_seen: row.first_seen,
        sequence_no: row.sequence_no,
    })
}
