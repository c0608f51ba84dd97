//! What is recorded beside the calls of wrapped servers (wrap#rows): the runs of `colibri wrap`, and the lists of tools that were
//! pinned, seen and accepted. The calls themselves are rows of the log.

mod listed;
pub(crate) mod store;
pub mod tie;
mod waiting;

use colibri_runtime::handler::{Failure, Fault, Outcome};

use self::store::{PinRow, RunRow};
use crate::catalogue::{PinsAcceptError, PinsNoteError, ToolPin, WrapBeginInput, WrapRun};
use colibri_store::db::Db;

pub(crate) use self::listed::{Listed, ToolList};
pub(crate) use self::waiting::{Unlike, unlikes};

/// The call that stores a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recording<'a> {
    /// The process.
    pub boot_id: &'a str,
    /// The call's number.
    pub sequence_no: Option<i64>,
    /// The present time, UTC, RFC 3339 with milliseconds.
    pub now: &'a str,
}

impl Recording<'_> {
    fn number(&self) -> Result<i64, Fault> {
        self.sequence_no.ok_or_else(|| Fault::Other("the row is stored by a call in the log".to_owned()))
    }
}

/// Stores a run.
///
/// # Errors
/// Storage faults; a call that is in no log.
pub(crate) fn begin(
    db: &Db,
    call: &Recording<'_>,
    run_id: String,
    input: WrapBeginInput,
) -> Result<RunRow, Fault> {
    let run = RunRow {
        run_no: store::next_run_no(db)?,
        run_id,
        boot_id: call.boot_id.to_owned(),
        name: input.name.to_string(),
        program: input.program.to_string(),
        command_hash: input.command_hash.to_string(),
        pin: input.pin.to_string(),
        read_only: i64::from(input.read_only),
        allow: patterns(&input.allow)?,
        deny: patterns(&input.deny)?,
        session_id: input.session_id.map(|id| id.to_string()),
        started_at: call.now.to_owned(),
        sequence_no: call.number()?,
    };
    store::insert_run(db, &run)?;
    Ok(run)
}

/// Returns patterns as they are stored: canonical JSON, which for a list of texts is the shortest.
fn patterns(list: &[String]) -> Result<String, Fault> {
    serde_json::to_string(list).map_err(|error| Fault::Other(error.to_string()))
}

/// Reads stored patterns; `None` unless they are in the form of [`patterns`].
fn stored_patterns(text: &str) -> Option<Vec<String>> {
    let list: Vec<String> = serde_json::from_str(text).ok()?;
    (patterns(&list).ok()? == text).then_some(list)
}

/// Stores a list that was not stored before: as the pin if it is the first of its name.
///
/// # Errors
/// The operation's declared error; a run of another server; a list that no pin can be made of; storage faults.
pub(crate) fn note(
    db: &Db,
    call: &Recording<'_>,
    run_id: &str,
    name: &str,
    list: &ToolList,
) -> Outcome<PinRow, PinsNoteError> {
    if store::name_of_run(db, run_id)?.as_deref() != Some(name) {
        return Err(Fault::Other(format!("{run_id} is no run of {name}")).into());
    }
    let (text, listed) = (list.text().map_err(Fault::Other)?, list.listed().map_err(Fault::Other)?);
    if ToolList::parse(&text).is_none() {
        return Err(Fault::Other("the list is nested too deep to be read again".to_owned()).into());
    }
    let list_hash = listed.hash().as_str().to_owned();
    if store::list_of(db, name, &list_hash)?.is_some() {
        return Err(Failure::Domain(PinsNoteError::ErrPinKnown { name: name.to_owned(), list_hash }));
    }
    let event = if store::has_pin(db, name)? { "seen" } else { "pinned" };
    let pin = PinRow {
        pin_no: store::next_pin_no(db)?,
        name: name.to_owned(),
        event: event.to_owned(),
        list_hash,
        tools: i64::try_from(list.tools.len()).unwrap_or(i64::MAX),
        run_id: Some(run_id.to_owned()),
        recorded_at: call.now.to_owned(),
        sequence_no: call.number()?,
    };
    store::insert_pin(db, &pin, Some(&text))?;
    Ok(pin)
}

/// Accepts a stored list.
///
/// # Errors
/// The operation's declared errors; a stored list that was changed; storage faults.
pub(crate) fn accept(
    db: &Db,
    call: &Recording<'_>,
    name: &str,
    list_hash: &str,
) -> Outcome<PinRow, PinsAcceptError> {
    let (owned_name, owned_hash) = (name.to_owned(), list_hash.to_owned());
    let Some(text) = store::list_of(db, name, list_hash)? else {
        let unknown = PinsAcceptError::ErrPinUnknown { name: owned_name, list_hash: owned_hash };
        return Err(Failure::Domain(unknown));
    };
    let list = listed(&text)?;
    if pin_of(db, name)?.holds(&list) {
        let accepted = PinsAcceptError::ErrPinAccepted { name: owned_name, list_hash: owned_hash };
        return Err(Failure::Domain(accepted));
    }
    let pin = PinRow {
        pin_no: store::next_pin_no(db)?,
        name: owned_name,
        event: "accepted".to_owned(),
        list_hash: owned_hash,
        tools: i64::try_from(list.tools.len()).unwrap_or(i64::MAX),
        run_id: None,
        recorded_at: call.now.to_owned(),
        sequence_no: call.number()?,
    };
    store::insert_pin(db, &pin, None)?;
    Ok(pin)
}

/// Returns the pin of a name: its first list, and each accepted one laid over it. Empty if there is none.
///
/// # Errors
/// Storage faults; a stored list that was changed.
pub(crate) fn pin_of(db: &Db, name: &str) -> Result<Listed, Fault> {
    let mut pin = Listed::default();
    for (text, _) in store::lists_of_pin(db, name)? {
        pin.lay(listed(&text)?);
    }
    Ok(pin)
}

fn listed(text: &str) -> Result<Listed, Fault> {
    let changed = || Fault::Other("a stored list of tools was changed; run colibri verify".to_owned());
    ToolList::parse(text).and_then(|list| list.listed().ok()).ok_or_else(changed)
}

/// Returns a run in the published form; `None` if a value is not one that an operation writes.
pub(crate) fn published_run(row: RunRow) -> Option<WrapRun> {
    Some(WrapRun {
        run_id: row.run_id,
        boot_id: row.boot_id,
        name: row.name,
        program: row.program,
        command_hash: row.command_hash,
        pin: row.pin.parse().ok()?,
        read_only: row.read_only != 0,
        allow: stored_patterns(&row.allow)?,
        deny: stored_patterns(&row.deny)?,
        session_id: row.session_id,
        started_at: row.started_at,
    })
}

/// Returns a row of `tool_pins` in the published form; `None` if a value is not one that an operation writes.
pub(crate) fn published_pin(row: PinRow) -> Option<ToolPin> {
    Some(ToolPin {
        pin_no: row.pin_no,
        name: row.name,
        event: row.event.parse().ok()?,
        list_hash: row.list_hash,
        tools: row.tools,
        run_id: row.run_id,
        recorded_at: row.recorded_at,
    })
}
