//! What `colibri wrap` and `colibri pins` did, and what was noted, in words.

use colibri_runtime::handler::Fault;
use colibri_visible::{counted, printable};

use crate::catalogue::ToolId;
use crate::cli::ids::short;
use crate::domains::notes::words;
use crate::domains::wrap::store::{pin, run};
use colibri_store::db::Db;
use colibri_store::notes::note;

/// Says what a successful operation did; `subject` is the row that it wrote.
pub(super) fn says(db: &Db, operation: ToolId, subject: &str) -> Result<String, Fault> {
    if operation == ToolId::WrapBegin {
        let run = run(db, subject)?;
        let what = run.map(|run| format!("{} ({})", printable(&run.name), printable(&run.program)));
        return Ok(format!("wrapped {}", what.unwrap_or_else(|| short(subject))));
    }
    let number = subject.parse().unwrap_or_default();
    if operation == ToolId::CallNote {
        let note = note(db, number)?;
        let what = note.map(|note| format!("call {} {}", note.about, words(&note.kind, &note.body)));
        return Ok(format!("noted: {}", what.unwrap_or_else(|| "nothing that is stored".to_owned())));
    }
    let Some(pin) = pin(db, number)? else { return Ok(format!("called {}", operation.name())) };
    let tools = counted(pin.tools, "tool");
    let (name, hash) = (printable(&pin.name), pin.list_hash.get(..12).unwrap_or_default());
    Ok(match pin.event.as_str() {
        "pinned" => format!("pinned {tools} of {name}: list {hash}"),
        "seen" => format!("saw another list of {name}, {tools}: list {hash}"),
        _ => format!("accepted {tools} of {name}: list {hash}"),
    })
}
