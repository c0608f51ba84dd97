//! `colibri wrap`: what is decided about a wrapped server's name, its tools and its lists.

mod answers;
mod cuts;
pub(crate) mod history;
mod lists;
mod names;
mod watching;

use std::ops::Range;

use colibri::wrap::list::{Entry, List};
use serde_json::Value;

/// An answer to `tools/list` as a line, and where its result stands.
fn answer(result: &str) -> (Vec<u8>, Range<usize>) {
    let head = r#"{"jsonrpc":"2.0","id":1,"result":"#;
    (format!("{head}{result}}}\n").into_bytes(), head.len()..head.len() + result.len())
}

/// A list of these entries.
fn list(tools: &[Value]) -> List {
    List::of(tools.iter().map(|tool| Entry::of(&tool.to_string())))
}
