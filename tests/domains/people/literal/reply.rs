//! A reply as the literal client reads it.

use serde_json::{Value, json};

/// A reply, as far as the client cares.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Success, with what it holds.
    Done(Value),
    /// A refusal: message, and the members beside it.
    Refused(Value),
}

/// Both kinds of refusal, as one object: the members next to the code, and those of `details`.
pub fn read(envelope: &Value) -> Reply {
    let refused = if envelope["ok"] == json!(false) {
        &envelope["error"]
    } else if envelope["data"]["ok"] == json!(false) {
        &envelope["data"]["error"]
    } else {
        return Reply::Done(envelope["data"].clone());
    };
    let mut error = refused.clone();
    if let Some(details) = refused["details"].as_object() {
        for (name, value) in details {
            error[name] = value.clone();
        }
    }
    Reply::Refused(error)
}
