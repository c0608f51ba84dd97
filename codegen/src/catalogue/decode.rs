//! YAML text to values, values to the typed model; each fault has a pointer to its node.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::suggest;

/// Why a value does not fit the model.
#[derive(Debug)]
pub(super) struct Misfit {
    /// Pointer below the value that was decoded.
    pub pointer: String,
    /// The key is at fault, not its value.
    pub on_key: bool,
    pub message: String,
    pub help: String,
}

/// The most unknown keys reported for one value.
const MAX_UNKNOWN: usize = 32;

/// Reads text whose structure is valid. The error is line, column, message.
pub(super) fn yaml(text: &str) -> Result<Value, (usize, usize, String)> {
    serde_yaml::from_str(text).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line().max(1), at.column().max(1)));
        (line, column, format!("not YAML: {error}"))
    })
}

/// Decodes a value. Finds all unknown keys in one go, but only the first of other faults.
pub(super) fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, Vec<Misfit>> {
    let mut misfits = Vec::new();
    let mut value = value.clone();
    loop {
        let error = match serde_path_to_error::deserialize::<_, T>(value.clone()) {
            Ok(found) if misfits.is_empty() => return Ok(found),
            Ok(_) => return Err(misfits),
            Err(error) => error,
        };
        let pointer = pointer_of(error.path(), &value);
        let text = error.inner().to_string();
        let unknown = text.starts_with("unknown field");
        misfits.push(explain(&text, pointer.clone()));
        // Without the unknown key, decoding gets further.
        if !unknown || misfits.len() >= MAX_UNKNOWN || !remove(&mut value, &pointer) {
            return Err(misfits);
        }
    }
}

fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    let key = key.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => members.shift_remove(&key).is_some(),
        _ => false,
    }
}

/// Returns the path as JSON pointer, cut where the value lacks such a node (a variant's name that is text).
fn pointer_of(path: &Path, value: &Value) -> String {
    let mut pointer = String::new();
    for segment in path {
        let key = match segment {
            Segment::Seq { index } => index.to_string(),
            Segment::Map { key } => key.replace('~', "~0").replace('/', "~1"),
            Segment::Enum { variant } => variant.clone(),
            Segment::Unknown => break,
        };
        let longer = format!("{pointer}/{key}");
        if value.pointer(&longer).is_none() {
            break;
        }
        pointer = longer;
    }
    pointer
}

/// What said where a tool runs before `runs` did, and the value that replaces it.
const FORMER_FLAGS: [(&str, &str); 4] =
    [("network", "network"), ("scan", "scan"), ("storeless", "free"), ("operator", "operator")];

/// Turns serde's text into a finding's: what is wrong, and what to write.
fn explain(text: &str, pointer: String) -> Misfit {
    let words: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    let (word, known) = words.split_first().map_or(("", &words[..]), |(word, known)| (*word, known));
    if text.starts_with("unknown field") {
        let former = FORMER_FLAGS.iter().find(|(flag, _)| *flag == word && known.contains(&"runs"));
        let help = match (former, suggest::closest(word, known.iter().copied())) {
            (Some((flag, runs)), _) => format!(
                "write `runs: {runs}` in place of `{flag}: true`, nothing in place of `{flag}: false`"
            ),
            (None, Some(near)) => format!("write `{near}`"),
            (None, None) if known.is_empty() => "remove it; no key is known here".to_owned(),
            (None, None) => format!("known here: {}", suggest::alternatives(known)),
        };
        return Misfit { pointer, on_key: true, message: format!("unknown key `{word}`"), help };
    }
    if text.starts_with("missing field") {
        let message = format!("the key `{word}` is missing");
        return Misfit { pointer, on_key: false, message, help: format!("add `{word}: …` here") };
    }
    if text.starts_with("unknown variant") {
        let help = match suggest::closest(word, known.iter().copied()) {
            Some(near) => format!("write `{near}`"),
            None => format!("write {}", suggest::alternatives(known)),
        };
        return Misfit { pointer, on_key: false, message: format!("unknown value `{word}`"), help };
    }
    let Some((found, wanted)) = text.split_once(", expected ") else {
        let help = "see catalogue.schema.json for what belongs here".to_owned();
        return Misfit { pointer, on_key: false, message: text.to_owned(), help };
    };
    let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    let wanted = match wanted {
        "u32" => "a whole number from 0 to 4294967295",
        "usize" => "a whole number that is not negative",
        "struct ToolErrorEntry" => "an error, or the code of a shared one",
        other => other,
    };
    let help = match wanted {
        "a string" => "write a string, in quotes if it looks like something else".to_owned(),
        _ => format!("write {wanted}"),
    };
    Misfit { pointer, on_key: false, message: format!("expected {wanted}, found {found}"), help }
}
