//! Layouts of JSON before and after a server was put in.

#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::{Change, with_server};

fn after(text: &str) -> Result<String, String> {
    match with_server(text, "mcpServers", &json!({ "command": "c" })) {
        Ok(Change::To(new)) => Ok(new),
        Ok(Change::Nothing) => Ok(text.to_owned()),
        Err(left) => Err(left.0),
    }
}

#[test]
fn the_new_member_is_laid_out_like_its_neighbours() {
    for (old, new) in [
        ("{}", "{\n  \"mcpServers\": {\n    \"colibri\": {\n      \"command\": \"c\"\n    }\n  }\n}"),
        (
            "{\n    \"mcpServers\": {}\n}\n",
            "{\n    \"mcpServers\": {\n        \"colibri\": {\n            \"command\": \"c\"\n        }\n    }\n}\n",
        ),
        (
            "{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {}\r\n\t}\r\n}\r\n",
            "{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {},\r\n\t\t\"colibri\": {\r\n\t\t\t\"command\": \"c\"\r\n\t\t}\r\n\t}\r\n}\r\n",
        ),
        (
            "{\"a\": \"}\\\"{\", \"b\": [1, {\"c\": 2}] }",
            "{\"a\": \"}\\\"{\", \"b\": [1, {\"c\": 2}],\n  \"mcpServers\": {\n    \"colibri\": {\n      \"command\": \"c\"\n    }\n  }\n}",
        ),
        (
            "{\n  \"mcpServers\": {\n  }\n}",
            "{\n  \"mcpServers\": {\n    \"colibri\": {\n      \"command\": \"c\"\n    }\n  }\n}",
        ),
    ] {
        assert_eq!(after(old).as_deref(), Ok(new), "{old}");
    }
}

#[test]
fn what_is_not_understood_is_left() {
    for (text, reason) in [
        ("", "not plain JSON"),
        ("// a\n{}", "not plain JSON"),
        ("{\"a\": 1,}", "not plain JSON"),
        ("\u{feff}{}", "not plain JSON"),
        ("[]", "does not have the form"),
        ("\"{}\"", "does not have the form"),
        ("{\"mcpServers\": []}", "is not an object"),
        ("{\"mcpServers\": null}", "is not an object"),
        ("{\"mcpServers\": {}, \"mcpServers\": {}}", "twice"),
        ("{\"mcpServers\": {}, \"mcp\\u0053ervers\": {}}", "twice"),
        ("{\"mcpServers\": {\"colibri\": {}}}", "another entry"),
        ("{\"mcpServers\": {\"colibri\": {\"command\": \"c\", \"x\": 1}}}", "another entry"),
    ] {
        let left = after(text).unwrap_err();
        assert!(left.contains(reason), "{text}: {left}");
    }
    let same = "{\"mcpServers\": {\"colibri\": {\"command\": \"c\"}}}";
    assert_eq!(after(same).as_deref(), Ok(same));
}
