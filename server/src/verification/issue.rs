//! Conversion of the domains' issues into findings.

use super::run::Run;
use colibri_proof::chain::Issue;

/// Counts an issue under the running check.
pub fn raise(run: &mut Run<'_>, issue: &Issue) {
    run.found(issue.code.as_str(), || (subject(issue), sentence(issue)));
}

fn subject(issue: &Issue) -> String {
    match issue {
        Issue { record_id: Some(id), .. } => format!("thought_records {id}"),
        Issue { session_id: Some(id), .. } => format!("audit_sessions {id}"),
        Issue { task_id: Some(id), .. } => format!("trail_heads {id}"),
        Issue { .. } => "tree_heads".to_owned(),
    }
}

fn sentence(issue: &Issue) -> String {
    let mut text = issue.code.meaning().to_owned();
    let places = [("task", &issue.task_id), ("session", &issue.session_id), ("record", &issue.record_id)];
    let places: Vec<_> =
        places.iter().filter_map(|(name, id)| Some(format!("{name} {}", id.as_deref()?))).collect();
    let index = issue.index.map(|index| format!("index {index}"));
    let places: Vec<_> = places.into_iter().chain(index).collect();
    if !places.is_empty() {
        text.push_str(&format!(" ({})", places.join(", ")));
    }
    let sides: Vec<_> = issue.sides().map(|(word, value)| format!("{word} {value}")).collect();
    if !sides.is_empty() {
        text.push_str(&format!(": {}", sides.join(", ")));
    }
    text
}
