//! Takes out of a surface what the compiler has refused.

use serde_json::{Value, json};

use super::note::Note;
use super::surface::Surface;
use crate::catalogue::{Catalogue, Finding};

/// Changes the schemas that findings are about, each at the refused keyword. Returns what was taken out; nothing if the findings are
/// about something else.
pub(super) fn prune(surface: &mut Surface, catalogue: &Catalogue, findings: &[Finding]) -> Vec<Note> {
    let mut notes = Vec::new();
    // The innermost and last first, so that no pointer leads elsewhere when it is used.
    // A text stays as it is; its author decides.
    let of_schemas = findings.iter().filter(|finding| finding.rule != "hidden-characters");
    let mut refused: Vec<(String, &Finding)> =
        of_schemas.filter_map(|finding| Some((catalogue.pointer(&finding.at)?, finding))).collect();
    refused.sort_by(|(one, _), (other, _)| other.cmp(one));
    for (pointer, finding) in refused {
        let Some((index, member, below)) = parts(&pointer) else { continue };
        let Some(tool) = surface.tools.get_mut(index) else { continue };
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let Some(schema) = tool.get_mut(member) else { continue };
        if let Some(taken) = take(schema, below) {
            notes.push(Note {
                tool: Some(name),
                text: format!("{member}{below}: {taken} ({})", finding.message),
            });
        } else if below.is_empty() && member == "outputSchema" {
            let text = format!("{member}: {schema} ({})", finding.message);
            tool.shift_remove(member);
            notes.push(Note { tool: Some(name), text });
        } else if below.is_empty() && *schema != json!({"type": "object"}) {
            notes.push(Note { tool: Some(name), text: format!("{member}: {schema} ({})", finding.message) });
            *schema = json!({"type": "object"});
        }
    }
    notes
}

/// The tool's index, its schema's member in the list, and the pointer in that schema.
fn parts(pointer: &str) -> Option<(usize, &'static str, &str)> {
    let (index, rest) = pointer.strip_prefix("/tools/")?.split_once('/')?;
    let (member, below) = [("input", "inputSchema"), ("output", "outputSchema")]
        .into_iter()
        .find_map(|(own, member)| Some((member, rest.strip_prefix(own)?)))?;
    (below.is_empty() || below.starts_with('/')).then_some((index.parse().ok()?, member, below))
}

/// Removes the node at a pointer, or the keyword around it; a property stays with any value. `None` at the root.
fn take(schema: &mut Value, pointer: &str) -> Option<Value> {
    let (parent, key) = pointer.rsplit_once('/')?;
    let of_names =
        parent.ends_with("/properties") || parent.ends_with("/$defs") || parent.ends_with("/definitions");
    match schema.pointer_mut(parent)? {
        Value::Object(members) => {
            let key = key.replace("~1", "/").replace("~0", "~");
            if of_names {
                let member = members.get_mut(&key)?;
                let text = member.get("description").cloned();
                let any = text.map_or_else(|| json!({}), |text| json!({"description": text}));
                return (*member != any).then(|| std::mem::replace(member, any));
            }
            members.shift_remove(&key)
        }
        _ => take(schema, parent),
    }
}
