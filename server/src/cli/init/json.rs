//! A server is put into a file of JSON, and every other byte of the file stays.

use std::ops::Range;

use serde_json::Value;

use super::hosts::SERVER;
use super::{Change, Left};

/// An object in the text.
struct Object {
    open: usize,
    members: Vec<Member>,
    close: usize,
}

/// A member of an object.
struct Member {
    name: String,
    begins: usize,
    value: Range<usize>,
}

/// Puts the entry into the object `servers`, or adds this object at the end of the file's.
///
/// # Errors
/// Why the file is left alone.
pub fn with_server(text: &str, servers: &str, entry: &Value) -> Result<Change, Left> {
    let old: Value = serde_json::from_str(text).map_err(|error| {
        Left::new(format!(
            "it is not plain JSON, which has no comments and no comma before a bracket ({error})"
        ))
    })?;
    let odd = || Left::new("its content does not have the form of this host's configuration");
    let root = object(text, text.find('{').filter(|_| old.is_object()).ok_or_else(odd)?).ok_or_else(odd)?;
    let mut named = root.members.iter().filter(|member| member.name == servers);
    let (found, second) = (named.next(), named.next());
    if second.is_some() {
        return Err(Left::new(format!("it has {servers:?} twice")));
    }
    let new = match found {
        None => {
            let value = serde_json::json!({ SERVER: entry });
            inserted(text, &root, servers, &value, unit(text, &root))
        }
        Some(member) => {
            let object = object(text, member.value.start)
                .ok_or_else(|| Left::new(format!("its {servers:?} is not an object")))?;
            match old[servers].get(SERVER) {
                Some(there) if there == entry => return Ok(Change::Nothing),
                Some(there) => {
                    let parts = differing(there, entry).join(", ");
                    return Err(Left::new(format!(
                        "it has another entry {SERVER:?} already, which differs in {parts}"
                    )));
                }
                None => inserted(text, &object, SERVER, entry, unit(text, &root)),
            }
        }
    };
    // In any layout the file must now mean what it meant, with one more server.
    let mut expected = old;
    expected[servers][SERVER] = entry.clone();
    let same = serde_json::from_str::<Value>(&new).is_ok_and(|new| new == expected);
    if same { Ok(Change::To(new)) } else { Err(odd()) }
}

/// Checks whether the object `servers` has a colibri.
pub fn has_server(text: &str, servers: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|found| !found[servers][SERVER].is_null())
}

/// Names the members in which two entries differ, without their values, which may be secret.
fn differing(there: &Value, entry: &Value) -> Vec<String> {
    let (Some(there), Some(entry)) = (there.as_object(), entry.as_object()) else {
        return vec!["its form".to_owned()];
    };
    let names = entry.keys().chain(there.keys().filter(|name| !entry.contains_key(*name)));
    let mut parts = Vec::new();
    for name in names.filter(|name| there.get(*name) != entry.get(*name)) {
        match (there.get(name), entry.get(name)) {
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_))) => {
                parts.extend(differing(old, new).iter().map(|part| format!("{name}.{part}")));
            }
            _ => parts.push(name.clone()),
        }
    }
    parts
}

/// Returns the text with one more member at the end of an object, laid out like its neighbours.
fn inserted(text: &str, object: &Object, name: &str, value: &Value, unit: &str) -> String {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let outer = indentation(text, object.open);
    let inner = match object.members.last() {
        Some(last) if begins_line(text, last.begins) => indentation(text, last.begins).to_owned(),
        _ => format!("{outer}{unit}"),
    };
    let value = pretty(value, unit).replace('\n', &format!("{line_end}{inner}"));
    let member = format!("{line_end}{inner}\"{name}\": {value}");
    let (keep, comma) = match object.members.last() {
        Some(last) => (last.value.end, ","),
        None => (object.open + 1, ""),
    };
    let (before, rest) = (&text[..keep], &text[keep..]);
    match text[keep..object.close].contains('\n') {
        true => format!("{before}{comma}{member}{rest}"),
        // The bracket goes from the line of the last member to one of its own.
        false => format!("{before}{comma}{member}{line_end}{outer}{}", rest.trim_start_matches([' ', '\t'])),
    }
}

/// Returns a value over several lines; the lines behind the first begin with whole units.
pub fn pretty(value: &Value, unit: &str) -> String {
    let mut text = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut writer = serde_json::Serializer::with_formatter(&mut text, form);
    // Writing a value of JSON to memory cannot fail.
    let _ = serde::Serialize::serialize(value, &mut writer);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns by how much the members of the file are indented.
fn unit<'a>(text: &'a str, root: &Object) -> &'a str {
    let first = root.members.first().filter(|first| begins_line(text, first.begins));
    first.map(|first| indentation(text, first.begins)).filter(|unit| !unit.is_empty()).unwrap_or("  ")
}

/// Returns the blanks at the beginning of the line that has this place.
fn indentation(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn begins_line(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n');
    line.is_some_and(|end| text[end..at].trim().is_empty())
}

/// Reads the object that begins at `open` in a text of valid JSON.
fn object(text: &str, open: usize) -> Option<Object> {
    let bytes = text.as_bytes();
    let blank = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut members = Vec::new();
    let mut at = blank((*bytes.get(open)? == b'{').then_some(open + 1)?);
    loop {
        if *bytes.get(at)? == b'}' {
            return Some(Object { open, members, close: at });
        }
        let begins = at;
        at = end_of_value(bytes, begins)?;
        let name = serde_json::from_str(&text[begins..at]).ok()?;
        at = blank(at);
        at = blank((*bytes.get(at)? == b':').then_some(at + 1)?);
        let value = at..end_of_value(bytes, at)?;
        at = blank(value.end);
        members.push(Member { name, begins, value });
        if *bytes.get(at)? == b',' {
            at = blank(at + 1);
        }
    }
}

/// Returns where the value that begins at `start` ends.
fn end_of_value(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, start);
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at += 1;
                while *bytes.get(at)? != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth == 0 => {
                let length = bytes[at..].iter().take_while(|byte| !b",]} \t\r\n".contains(byte));
                return Some(at + length.count());
            }
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests;
