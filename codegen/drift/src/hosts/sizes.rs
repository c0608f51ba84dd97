//! How many tools there are, and how long the list and its texts.

use serde_json::{Value, json};

use super::Place;
use crate::snapshot::{Snapshot, Tool};

/// About 25,000 tokens.
const LIST_BYTES: usize = 100_000;
const TEXT_CHARACTERS: usize = 2_048;

fn of_list(detail: String) -> Place {
    Place { tool: None, pointer: "/tools".to_owned(), detail }
}

fn over(state: &Snapshot, most: usize, found: &mut Vec<Place>) {
    let count = state.tools.len();
    if count > most {
        found.push(of_list(format!("the list has {count} tools")));
    }
}

pub fn tools_over_128(state: &Snapshot, found: &mut Vec<Place>) {
    over(state, 128, found);
}

pub fn tools_over_40(state: &Snapshot, found: &mut Vec<Place>) {
    over(state, 40, found);
}

/// What a model is given of a tool.
fn bytes(tool: &Tool) -> usize {
    let text = json!({ "name": tool.name, "description": tool.description }).to_string().len();
    text + tool.input.to_string().len()
        + tool.output.as_ref().map_or(0, |schema: &Value| schema.to_string().len())
}

pub fn list_bytes(state: &Snapshot, found: &mut Vec<Place>) {
    let bytes: usize = state.tools.iter().map(bytes).sum();
    if bytes > LIST_BYTES {
        found.push(of_list(format!("names, descriptions and schemas have {bytes} bytes")));
    }
}

pub fn text_length(state: &Snapshot, found: &mut Vec<Place>) {
    let mut look = |tool: Option<&str>, pointer: &str, text: &str| {
        let length = text.chars().count();
        if length > TEXT_CHARACTERS {
            let detail = format!("the text has {length} characters");
            found.push(Place { tool: tool.map(str::to_owned), pointer: pointer.to_owned(), detail });
        }
    };
    look(None, "/instructions", state.instructions.as_deref().unwrap_or_default());
    for tool in &state.tools {
        look(Some(&tool.name), "/description", &tool.description);
    }
}
