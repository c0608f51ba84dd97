//! JSON Lines of messages: the log of a session, with the requests or without them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Unreadable;

/// The members that hold a page of a list.
pub(super) const LISTS: [&str; 4] = ["tools", "prompts", "resources", "resourceTemplates"];

/// Reads one message a line. `None` if the text is of another kind.
pub fn answers(text: &str) -> Option<Result<Vec<Value>, Unreadable>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() < 2 || !lines.first()?.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut messages = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(Value::Array(batch)) => messages.extend(batch),
            Ok(message) => messages.push(message),
            // The first line decides whether the text was meant to be JSON Lines.
            Err(_) if index == 0 => return None,
            Err(error) => return Some(Err(Unreadable(format!("line {}: not JSON: {error}", index + 1)))),
        }
    }
    Some(Ok(last_lists(messages)))
}

/// Returns whether a page of a list is followed by another one.
pub(super) fn goes_on(page: &Value) -> bool {
    page.get("nextCursor").is_some_and(|cursor| !cursor.is_null())
}

/// The answers of a session, of each list only the pages that were asked for last. A page that follows the last page of its list
/// begins it anew.
fn last_lists(messages: Vec<Value>) -> Vec<Value> {
    let mut lists: BTreeMap<&str, (Vec<Value>, bool)> = BTreeMap::new();
    let mut answers = Vec::new();
    for message in messages {
        let result = message.get("result").unwrap_or(&message);
        let list = LISTS.into_iter().find(|list| result.get(*list).is_some_and(Value::is_array));
        // A client names its own capabilities in requests; only answers tell of the server.
        if message.get("method").is_some() {
            continue;
        }
        let ends = !goes_on(result);
        match list {
            None => answers.push(message),
            Some(list) => {
                let (pages, complete) = lists.entry(list).or_default();
                if *complete {
                    pages.clear();
                }
                *complete = ends;
                pages.push(message);
            }
        }
    }
    answers.extend(lists.into_values().flat_map(|(pages, _)| pages));
    answers
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::from_tools_list;
    use super::*;

    #[test]
    fn a_session_is_read_with_its_last_lists() {
        let tool = |name: &str| format!(r#"{{"name": "{name}", "inputSchema": {{"type": "object"}}}}"#);
        let page = |names: &[&str], more: &str| {
            let tools: Vec<String> = names.iter().map(|name| tool(name)).collect();
            format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{}]{more}}}}}"#, tools.join(", "))
        };
        let greeting = r#"{"id": 0, "result": {"serverInfo": {"name": "s"}, "capabilities": {"tools": {}}}}"#;
        let asked = r#"{"id": 1, "method": "tools/list", "params": {"tools": []}}"#;
        let text = [
            greeting,
            asked,
            &page(&["gone"], ""),
            "",
            r#"{"method": "notifications/tools/list_changed"}"#,
            &page(&["a"], r#", "nextCursor": "2""#),
            &page(&["b"], ""),
        ]
        .join("\n");
        let state = from_tools_list(&text).unwrap();
        let names: Vec<&str> = state.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((names, state.name.as_deref()), (vec!["a", "b"], Some("s")));
    }

    #[test]
    fn a_line_that_is_not_json_is_named() {
        let told = answers("{\"id\": 1}\n{\"id\": ").unwrap().map_err(|error| error.to_string());
        assert!(told.unwrap_err().starts_with("line 2: not JSON: "));
        for other in ["", "{", "{\n\"a\": 1", "tools:\n- a"] {
            assert!(answers(other).is_none(), "{other}");
        }
    }
}
