//! The hashes that pins compare (wrap#pins): of a tool's whole entry, and of a list of tools. Pure.
//!
//! A list's hash says nothing of the order, so that a server that lists its tools in another order has the same list.

use std::collections::BTreeMap;

use colibri_canonical::escape::push_string;
use colibri_canonical::{HexDigest, cmp_utf16};

/// The line before a tool's entry.
const TOOL: &str = "colibri-tool-v1\n";
/// The line before a list.
const LIST: &str = "colibri-tool-list-v1\n";

/// Returns the hash of a tool; `canonical` is the canonical JSON of its whole entry in the list.
#[must_use]
pub fn tool_hash(canonical: &str) -> HexDigest {
    HexDigest::of([TOOL, canonical].concat().as_bytes())
}

/// Returns the hash of a list: of the server's instructions, and of each tool's hash by its name.
#[must_use]
pub fn list_hash(instructions: Option<&str>, tools: &BTreeMap<String, HexDigest>) -> HexDigest {
    let mut text = format!("{LIST}{{\"instructions\":");
    match instructions {
        Some(instructions) => push_string(&mut text, instructions),
        None => text.push_str("null"),
    }
    text.push_str(",\"tools\":{");
    // Canonical JSON orders members by UTF-16, a map by UTF-8.
    let mut sorted: Vec<_> = tools.iter().collect();
    sorted.sort_by(|(one, _), (other, _)| cmp_utf16(one, other));
    for (index, (name, hash)) in sorted.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        push_string(&mut text, name);
        text.push(':');
        push_string(&mut text, hash.as_str());
    }
    text.push_str("}}");
    HexDigest::of(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use colibri_canonical::{NumberRule, canonical_json};
    use serde_json::json;

    fn of(entry: &serde_json::Value) -> HexDigest {
        tool_hash(&canonical_json(entry, NumberRule::Wire).unwrap_or_default())
    }

    // Made with Python's json and hashlib.
    #[test]
    fn a_tool_and_a_list_have_the_hashes_that_another_program_gives_them() {
        let now =
            of(&json!({"name": "now", "description": "Tell the time.", "inputSchema": {"type": "object"}}));
        let list = BTreeMap::from([("now".to_owned(), now)]);
        assert_eq!(now.as_str(), "17608525bbbb4b0c5ebe593e4b6f2b8aefc8d960e64540ba116e8fb9b2e67202");
        assert_eq!(
            list_hash(None, &list).as_str(),
            "8b604320ceeac03f1a2cfaddaaca20003de645a4727119877e1124c3cbfe2bed"
        );
        assert_eq!(
            list_hash(Some("Ask \"now\"."), &list).as_str(),
            "53dbd2a7215c31e2c7d38810550f1c36f90130aab16ae7541edbeaae3ea8cce1"
        );
    }

    #[test]
    fn a_list_is_hashed_as_the_encoder_writes_its_value() {
        let names = ["b", "a", "\u{ffff}", "\u{10000}", "q\"uote", ""];
        let tools: BTreeMap<_, _> =
            names.iter().map(|name| ((*name).to_owned(), of(&json!({ "name": name })))).collect();
        let hashes: serde_json::Map<_, _> =
            tools.iter().map(|(name, hash)| (name.clone(), hash.as_str().into())).collect();
        let value = json!({"instructions": "line\nbreak", "tools": hashes});
        let text = canonical_json(&value, NumberRule::Wire).unwrap_or_default();
        let expected = HexDigest::of(format!("colibri-tool-list-v1\n{text}").as_bytes());
        assert_eq!(list_hash(Some("line\nbreak"), &tools), expected);
    }
}
