//! What clients have sent and what they were told: all that the model knows.

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_runtime::chain::call::{Answer, Call};
use serde_json::Value;

/// What a client was told.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Success, with the data.
    Done(Value),
    /// One of the tool's own errors, by its code.
    Refused(String),
    /// The arguments do not fit.
    Invalid,
    /// No such tool.
    Unknown,
    /// The call could not be entered.
    NotEntered,
    /// The store or the handler has failed.
    Failed(String),
}

impl Said {
    /// Reads an answer, and the hash that its audit row must carry.
    pub fn read(answer: &Answer) -> (Self, String) {
        let (text, unknown) = match answer {
            Answer::Tool { envelope, .. } | Answer::Failure { text: envelope } => (envelope, false),
            Answer::UnknownTool { data, .. } => (data, true),
        };
        let envelope: Value = serde_json::from_str(text).expect("an answer is JSON");
        let hash = sha256_hex(canonical_json(&envelope, NumberRule::Wire).expect("canonical").as_bytes());
        (if unknown { Self::Unknown } else { Self::of(&envelope) }, hash)
    }

    fn of(envelope: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        if envelope["ok"] == true {
            return match &envelope["data"]["error"]["code"] {
                Value::String(code) if envelope["data"]["ok"] == false => Self::Refused(code.clone()),
                _ => Self::Done(envelope["data"].clone()),
            };
        }
        let message = text(&envelope["error"]["message"]);
        match envelope["error"]["code"].as_str() {
            Some("INVALID_PARAMS") => Self::Invalid,
            Some("AUDIT_ENTER_FAILED") => Self::NotEntered,
            _ => match own_code(&message) {
                Some(code) => Self::Refused(code.to_owned()),
                None => Self::Failed(message),
            },
        }
    }
}

/// A tool's own error among those that are answered as a handler's failure.
pub fn own_code(message: &str) -> Option<&str> {
    let (code, _) = message.split_once(':')?;
    let is_code = code.len() > 3 && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    (is_code && !["STORAGE_FAILURE", "STORE_COMMIT_FAILED"].contains(&code)).then_some(code)
}

/// A call and its result.
#[derive(Debug)]
pub struct Record {
    pub step: u64,
    /// The process.
    pub boot: String,
    pub correlation_id: String,
    pub tool: String,
    pub arguments: Value,
    /// Logical times: all calls acknowledged before this one was sent took effect before it.
    pub sent: u64,
    pub told: u64,
    pub said: Option<Said>,
    /// The hash that the audit row must have.
    pub hash: Option<String>,
    /// The client has cancelled it in flight.
    pub cancelled: bool,
    /// The process answered it before it had a database.
    pub early: bool,
    /// Something was made to fail while it ran.
    pub disturbed: bool,
    /// Its process died, could not sync, or got an error from a commit that had succeeded: a call without an
    /// acknowledgement is there whole or not at all.
    pub unclear: bool,
}

impl Record {
    pub fn of(call: &Call, step: u64, boot: &str, correlation_id: String, sent: u64) -> Self {
        Self {
            step,
            boot: boot.to_owned(),
            correlation_id,
            tool: call.name.clone(),
            arguments: call.arguments.clone().into_value(),
            sent,
            told: u64::MAX,
            said: None,
            hash: None,
            cancelled: false,
            early: false,
            disturbed: false,
            unclear: false,
        }
    }

    pub fn args_hash(&self) -> String {
        sha256_hex(canonical_json(&self.arguments, NumberRule::Wire).expect("canonical").as_bytes())
    }

    /// Returns whether it ran beside the others: its result or outside effect stands, so it is answered even if its row
    /// cannot be closed yet.
    pub fn is_beside(&self) -> bool {
        ["router_call", "audit_verify_chain", "reputation_leaderboard"].contains(&self.tool.as_str())
    }

    /// For failures.
    pub fn name(&self) -> String {
        format!("{} of step {} ({})", self.tool, self.step, self.correlation_id)
    }
}
