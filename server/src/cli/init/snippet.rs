//! What `AGENTS.md` tells an agent, between two markers.

use super::{Change, Left};
use crate::catalogue::ToolId;

const OPENS: &str = "<!-- begin colibri -->";
const CLOSES: &str = "<!-- end colibri -->";

/// What an agent is told.
fn lines() -> String {
    let [open, create, claim, update, record, seal, sessions, next] = [
        ToolId::AuditSessionStart,
        ToolId::TaskCreate,
        ToolId::TaskClaim,
        ToolId::TaskUpdate,
        ToolId::ThoughtRecord,
        ToolId::MerkleFinalize,
        ToolId::AuditSessionList,
        ToolId::TaskNextActions,
    ]
    .map(|tool| tool.name());
    format!(
        "Record work with the MCP server colibri. Before you begin: {open}, then {create} or {claim}. Use one agent_id for yourself throughout.\n\
         Move a task one step at a time with {update}, and record plans, decisions and results with {record}. When a call is refused, do what remedy says.\n\
         At the end: {seal}. After you lose your context: {sessions}, then {next}.\n"
    )
}

/// Returns the lines with their markers.
pub fn snippet() -> String {
    format!("{OPENS}\n{}{CLOSES}\n", lines())
}

/// Puts the text between the markers of a file, or with them at its end.
///
/// # Errors
/// Why the file is left alone.
pub fn placed(file: &str) -> Result<Change, Left> {
    let line_end = match file.find('\n') {
        Some(at) if file[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let ended = |text: &str| text.replace('\n', line_end);
    let new = match (&*at_all(file, OPENS), &*at_all(file, CLOSES)) {
        ([], []) => {
            let gap = match file {
                "" => "",
                _ if file.ends_with('\n') => line_end,
                _ => &line_end.repeat(2),
            };
            format!("{file}{gap}{}", ended(&snippet()))
        }
        ([begin], [end]) if begin < end => {
            let (before, after) = (&file[..begin + OPENS.len()], &file[*end..]);
            format!("{before}{line_end}{}{after}", ended(&lines()))
        }
        ([_], [_]) => return Err(Left::new(format!("{CLOSES} comes before {OPENS} in it"))),
        ([_], []) => return Err(Left::new(format!("it has {OPENS} without {CLOSES}"))),
        ([], [_]) => return Err(Left::new(format!("it has {CLOSES} without {OPENS}"))),
        _ => return Err(Left::new("it has the markers of colibri more than once")),
    };
    Ok(if new == file { Change::Nothing } else { Change::To(new) })
}

fn at_all(text: &str, marker: &str) -> Vec<usize> {
    text.match_indices(marker).map(|(at, _)| at).collect()
}
