//! The ending of a call: the reply, and how its audit row is closed (chain#failure-codes).

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::chain::audit::{ExitEvent, RowOutcome};
use crate::chain::call::Answer;
use crate::chain::check::{Target, Verdict};
use crate::chain::envelope::{
    domain_error_envelope, envelope_hash, err_envelope, ok_envelope, ok_envelope_text,
};
use crate::chain::redact::Redactor;
use crate::chain::row::Row;
use crate::chain::{HANDLER_MESSAGE_CHARACTERS, STORED_MESSAGE_CHARACTERS};
use crate::handler::{Dispatched, Fault};
use crate::spec::{ChainCodes, Pattern, ToolSpec};
use colibri_canonical::value_of;

/// The end of a call.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// `None` for a cancelled call, which gets no reply.
    pub answer: Option<Answer>,
    pub outcome: RowOutcome,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub result_hash: Option<String>,
    /// The payload, for sinks; absent on failure, and where no sink needs it.
    pub result: Option<Value>,
    pub duration_ms: i64,
    pub exited_at: String,
}

/// The texts that an ending is made of.
pub(crate) struct Words<'a> {
    pub codes: &'a ChainCodes,
    pub redactor: &'a Redactor,
}

impl Ending {
    /// Returns whether the call's effects must be undone.
    pub fn failed(&self) -> bool {
        self.outcome != RowOutcome::Ok
    }

    pub fn exit_event<'a>(&'a self, row: &'a Row) -> ExitEvent<'a> {
        // For a sink a Pattern B error is an ordinary result (chain#audit-sinks).
        let failed = !matches!(self.outcome, RowOutcome::Ok | RowOutcome::DomainError);
        ExitEvent {
            tool: &row.tool,
            correlation_id: &row.correlation_id,
            duration_ms: self.duration_ms,
            result: self.result.as_ref(),
            error: failed.then(|| {
                (
                    self.error_code.as_deref().unwrap_or_default(),
                    self.error_message.as_deref().unwrap_or_default(),
                )
            }),
            outcome: self.outcome,
            error_code: self.error_code.as_deref(),
            error_message: self.error_message.as_deref(),
            result_hash: self.result_hash.as_deref(),
            exited_at: &self.exited_at,
        }
    }

    fn with_envelope(outcome: RowOutcome, envelope: &Value, is_error: bool) -> Self {
        Self::with_text(outcome, text_of(envelope), envelope_hash(envelope), is_error)
    }

    fn with_text(outcome: RowOutcome, envelope: String, result_hash: String, is_error: bool) -> Self {
        Self {
            answer: Some(Answer::Tool { envelope, is_error }),
            outcome,
            error_code: None,
            error_message: None,
            result_hash: Some(result_hash),
            result: None,
            duration_ms: 0,
            exited_at: String::new(),
        }
    }

    fn named(mut self, code: &str, message: &str) -> Self {
        self.error_code = Some(code.to_owned());
        self.error_message = Some(cut(message, STORED_MESSAGE_CHARACTERS).to_owned());
        self
    }
}

impl Words<'_> {
    /// Builds a failure that the chain itself answers, Pattern A.
    fn failure(
        &self,
        outcome: RowOutcome,
        code: &str,
        message: &str,
        mut details: Map<String, Value>,
    ) -> Ending {
        self.redactor.redact_members(&mut details);
        let message = self.redactor.redact(message);
        let message = cut(&message, HANDLER_MESSAGE_CHARACTERS);
        Ending::with_envelope(outcome, &err_envelope(code, message, details), true).named(code, message)
    }

    /// Returns what stages 1 to 3 decided: the tool to run, or how the call ends without it.
    pub fn judged(&self, verdict: &Verdict) -> Result<Target, Box<Ending>> {
        Err(Box::new(match verdict {
            Verdict::Open(target) => return Ok(*target),
            Verdict::Unknown(name, close) => self.unknown_tool(name, *close),
            Verdict::Denied(denial) => {
                self.failure(RowOutcome::Denied, denial.code, &denial.message, denial.details.clone())
            }
            Verdict::Invalid(refusal, issues) => {
                let mut details = Map::new();
                let listed = issues.iter().map(crate::validate::Issue::to_value).collect();
                details.insert("issues".to_owned(), Value::Array(listed));
                let code = self.codes.invalid_params;
                let stored = self.redactor.redact(&refusal.stored);
                self.failure(RowOutcome::Invalid, code, &refusal.message, details).named(code, &stored)
            }
            Verdict::AuditFailed(reason) => self.failure(
                RowOutcome::Error,
                self.codes.audit_enter_failed,
                &format!("audit enter failed: {reason}"),
                Map::new(),
            ),
        }))
    }

    fn unknown_tool(&self, name: &str, close: Option<&str>) -> Ending {
        let mut message = format!("Unknown tool: {}", self.redactor.redact(name));
        if let Some(close) = close {
            // Writing to a String cannot fail.
            let _ = write!(message, "; did you mean {close}?");
        }
        let data = json!({ "ok": false, "error": { "code": self.codes.unknown_tool, "message": message } });
        Ending {
            answer: Some(Answer::UnknownTool { message: message.clone(), data: data.to_string() }),
            result_hash: Some(envelope_hash(&data)),
            ..Ending::with_envelope(RowOutcome::Denied, &Value::Null, true)
                .named(self.codes.unknown_tool, &message)
        }
    }

    /// Builds the ending from the handler's result.
    pub fn dispatched(&self, tool: &ToolSpec, dispatched: Dispatched) -> Ending {
        match dispatched {
            Dispatched::Text(data) => match ok_envelope_text(&data) {
                Some((envelope, result_hash)) => {
                    Ending::with_text(RowOutcome::Ok, envelope, result_hash, false)
                }
                None => self.dispatched(tool, reread(&data)),
            },
            Dispatched::Value(value) => {
                let envelope = ok_envelope(value);
                let mut ending = Ending::with_envelope(RowOutcome::Ok, &envelope, false);
                ending.result = take_data(envelope);
                ending
            }
            Dispatched::Domain { code, message, mut fields, .. } if tool.pattern == Pattern::B => {
                self.redactor.redact_members(&mut fields);
                let message = self.redactor.redact(&message).into_owned();
                let envelope = domain_error_envelope(code, &message, fields);
                let mut ending = Ending::with_envelope(RowOutcome::DomainError, &envelope, false);
                ending.result = take_data(envelope);
                ending.named(code, &message)
            }
            Dispatched::Domain { code, message, prefixed, .. } => {
                let message = if prefixed { format!("{code}: {message}") } else { message };
                self.handler_error(&message)
            }
            Dispatched::Fault(Fault::Storage(reason)) => {
                self.handler_error(&format!("{}: {reason}", self.codes.storage_failure))
            }
            Dispatched::Fault(Fault::Other(message)) => self.handler_error(&message),
        }
    }

    /// Builds a failure of the handler, with the text unchanged.
    pub fn handler_error(&self, message: &str) -> Ending {
        self.failure(RowOutcome::Error, self.codes.handler_error, message, Map::new())
    }

    /// Builds the ending of a call whose effects and exit row could not be stored together (chain#faults). The client sees a
    /// handler error; the row is closed later under the more precise code.
    pub fn commit_failed(&self, reason: &str) -> Ending {
        let message = format!("{}: {reason}", self.codes.store_commit_failed);
        self.handler_error(&message).named(self.codes.store_commit_failed, &message)
    }

    /// Builds the ending of a call whose row another start closed, because it took this process for dead.
    pub fn closed_by_another(&self) -> Ending {
        let code = self.codes.process_aborted;
        let message = format!(
            "{code}: another start has closed this call as aborted, since this process's lock file was gone; what the call did \
             outside may have happened. Restart this server, then look before calling again"
        );
        self.handler_error(&message).named(code, &message)
    }

    /// Builds the ending of a network call that was cancelled in flight.
    pub fn cancelled(&self) -> Ending {
        let mut ending =
            self.handler_error("cancelled").named(self.codes.cancelled, "cancelled by the client");
        ending.answer = None;
        ending.outcome = RowOutcome::Aborted;
        ending.result_hash = None;
        ending
    }
}

/// Reads a payload again that cannot be hashed as it was written.
fn reread(data: &str) -> Dispatched {
    value_of(data).map_or_else(
        || Dispatched::Fault(Fault::Other("result is not serialisable".to_owned())),
        Dispatched::Value,
    )
}

/// Returns the text to send. Writes straight into a string: by way of `Display` it takes twice as long.
fn text_of(envelope: &Value) -> String {
    // A value that came from JSON always has a text.
    serde_json::to_string(envelope).unwrap_or_else(|_| envelope.to_string())
}

fn take_data(mut envelope: Value) -> Option<Value> {
    envelope.as_object_mut().and_then(|members| members.swap_remove("data"))
}

/// Returns the first `most` characters.
fn cut(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
