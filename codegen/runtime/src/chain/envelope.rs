//! The envelopes a client receives (chain#envelopes).

use serde_json::{Map, Value, json};

use colibri_canonical::{NumberRule, canonical_json, canonical_text, sha256_hex};

/// `{"ok": true, "data": …}`.
pub fn ok_envelope(data: Value) -> Value {
    let mut envelope = Map::with_capacity(2);
    envelope.insert("ok".to_owned(), Value::Bool(true));
    envelope.insert("data".to_owned(), data);
    Value::Object(envelope)
}

/// The canonical hash of a payload that is sent without an envelope. `None` where its text has no one canonical form.
pub(super) fn plain_hash(data: &str) -> Option<String> {
    Some(sha256_hex(canonical_text(data, NumberRule::Wire)?.as_bytes()))
}

/// The text of [`ok_envelope`], and its hash, from the text of its data. `None` where that text has no one canonical form.
pub(super) fn ok_envelope_text(data: &str) -> Option<(String, String)> {
    // The names in order: `data` comes before `ok`.
    let canonical = format!("{{\"data\":{},\"ok\":true}}", canonical_text(data, NumberRule::Wire)?);
    Some((format!("{{\"ok\":true,\"data\":{data}}}"), sha256_hex(canonical.as_bytes())))
}

/// Pattern A: `{"ok": false, "error": {code, message, details?}}`; empty details are left out.
pub(crate) fn err_envelope(code: &str, message: &str, details: Map<String, Value>) -> Value {
    let mut error = Map::with_capacity(3);
    error.insert("code".to_owned(), Value::String(code.to_owned()));
    error.insert("message".to_owned(), Value::String(message.to_owned()));
    if !details.is_empty() {
        error.insert("details".to_owned(), Value::Object(details));
    }
    json!({ "ok": false, "error": error })
}

/// Pattern B: the error inside the success envelope, with its extra fields after code and message.
pub(crate) fn domain_error_envelope(code: &str, message: &str, fields: Map<String, Value>) -> Value {
    ok_envelope(json!({ "ok": false, "error": flat_error(code, message, fields) }))
}

/// An error with its extra fields after code and message.
pub(crate) fn flat_error(code: &str, message: &str, fields: Map<String, Value>) -> Value {
    let mut error = Map::with_capacity(2 + fields.len());
    error.insert("code".to_owned(), Value::String(code.to_owned()));
    error.insert("message".to_owned(), Value::String(message.to_owned()));
    error.extend(fields);
    Value::Object(error)
}

/// The `result_hash` of an envelope that is sent (chain#hashes).
pub fn envelope_hash(envelope: &Value) -> String {
    match canonical_json(envelope, NumberRule::Wire) {
        Ok(text) => sha256_hex(text.as_bytes()),
        // Only nesting beyond the encoder's limit ends here; the text that is sent still has a hash.
        Err(_) => sha256_hex(envelope.to_string().as_bytes()),
    }
}
