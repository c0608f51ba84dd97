//! The ending of a call: the reply, and how its audit row is closed (chain#failure-codes).

use serde_json::{Map, Value, json};

use crate::chain::admission::Admission;
use crate::chain::audit::{ExitEvent, RowOutcome};
use crate::chain::call::Answer;
use crate::chain::check::{Target, Verdict};
use crate::chain::envelope::{
    domain_error_envelope, envelope_hash, err_envelope, flat_error, ok_envelope, ok_envelope_text, plain_hash,
};
use crate::chain::redact::Redactor;
use crate::chain::registry::Registry;
use crate::chain::row::Row;
use crate::chain::{HANDLER_MESSAGE_CHARACTERS, STORED_MESSAGE_CHARACTERS};
use crate::handler::{Dispatched, Fault, Notice};
use crate::remedy::Suggestion;
use crate::spec::{ChainCodes, Pattern, ToolSpec, fill};
use colibri_canonical::value_of;

/// The member that says what the caller can do.
const REMEDY: &str = "remedy";

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
    /// What the reply says beside its result.
    pub notices: Vec<Notice>,
    pub duration_ms: i64,
    pub exited_at: String,
}

/// The texts that an ending is made of.
pub(crate) struct Words<'a> {
    pub codes: &'a ChainCodes,
    pub registry: &'a Registry,
    pub admission: &'a [Box<dyn Admission>],
    pub redactor: &'a Redactor,
    /// The name that the call came with. Its tool says how a failure is answered, and only a failure looks it up.
    pub called: &'a str,
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
            notices: Vec::new(),
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
    /// Builds a failure that sets `isError`: the chain's own, or a declared error under patterns A and C.
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
        let envelope = match self.pattern() {
            Pattern::A | Pattern::B => err_envelope(code, message, details),
            Pattern::C => json!({ "ok": false, "error": flat_error(code, message, details) }),
            Pattern::Plain => json!({ "error": flat_error(code, message, details) }),
        };
        let mut ending = Ending::with_envelope(outcome, &envelope, true).named(code, message);
        if self.pattern() == Pattern::Plain {
            ending.answer = Some(Answer::Failure { text: text_of(&envelope) });
        }
        ending
    }

    /// Returns the pattern of the called tool. Names of no tool have the default one.
    fn pattern(&self) -> Pattern {
        let tool = self.registry.lookup(self.called).and_then(|index| self.registry.get(index));
        let operation = || self.registry.catalogue().operations.iter().find(|tool| tool.name == self.called);
        tool.or_else(operation).map_or(Pattern::A, |tool| tool.pattern)
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
                if issues.more > 0 {
                    details.insert("more_issues".to_owned(), Value::from(issues.more));
                }
                details.insert(REMEDY.to_owned(), Value::from(self.codes.invalid_params.remedy));
                let code = self.codes.invalid_params.code;
                let stored = self.redactor.redact(&refusal.stored);
                self.failure(RowOutcome::Invalid, code, &refusal.message, details).named(code, &stored)
            }
            Verdict::AuditFailed(reason) => self.failure(
                RowOutcome::Error,
                self.codes.audit_enter_failed.code,
                &fill(self.codes.audit_enter_failed.message, &[("reason", reason)]),
                only(self.codes.audit_enter_failed.remedy),
            ),
        }))
    }

    fn unknown_tool(&self, name: &str, close: Option<&str>) -> Ending {
        // Without a near name, a form ends before its semicolon.
        let form = |form: &'static str| match (close, form.split_once(';')) {
            (None, Some((always, _))) => always,
            _ => form,
        };
        let shown = self.redactor.redact(name);
        let texts = [("tool", &*shown), ("name", close.unwrap_or_default())];
        let message = fill(form(self.codes.unknown_tool.message), &texts);
        let mut remedy = fill(form(self.codes.unknown_tool.remedy), &texts);
        if close.is_none() && !remedy.ends_with(['.', '?']) {
            remedy.push('.');
        }
        let error = json!({ "code": self.codes.unknown_tool.code, "message": message, "remedy": remedy });
        let data = json!({ "ok": false, "error": error });
        Ending {
            answer: Some(Answer::UnknownTool { message: message.clone(), data: data.to_string() }),
            result_hash: Some(envelope_hash(&data)),
            ..Ending::with_envelope(RowOutcome::Denied, &Value::Null, true)
                .named(self.codes.unknown_tool.code, &message)
        }
    }

    /// Builds the ending from the handler's result.
    pub fn dispatched(&self, tool: &ToolSpec, dispatched: Dispatched) -> Ending {
        match dispatched {
            Dispatched::Text(data) if tool.pattern == Pattern::Plain => match plain_hash(&data) {
                Some(result_hash) => Ending::with_text(RowOutcome::Ok, data, result_hash, false),
                None => self.dispatched(tool, reread(&data)),
            },
            Dispatched::Text(data) => match ok_envelope_text(&data) {
                Some((envelope, result_hash)) => {
                    Ending::with_text(RowOutcome::Ok, envelope, result_hash, false)
                }
                None => self.dispatched(tool, reread(&data)),
            },
            Dispatched::Value(value) if tool.pattern == Pattern::Plain => {
                let mut ending = Ending::with_envelope(RowOutcome::Ok, &value, false);
                ending.result = Some(value);
                ending
            }
            Dispatched::Value(value) => {
                let envelope = ok_envelope(value);
                let mut ending = Ending::with_envelope(RowOutcome::Ok, &envelope, false);
                ending.result = take_data(envelope);
                ending
            }
            Dispatched::Domain { code, message, prefixed, fields, remedy, next } => {
                let advice = self.advice(remedy, next);
                match tool.pattern {
                    Pattern::A => {
                        let message = if prefixed { format!("{code}: {message}") } else { message };
                        let mut details = Map::with_capacity(1 + fields.len() + advice.len());
                        details.insert("code".to_owned(), Value::from(code));
                        details.extend(fields);
                        details.extend(advice);
                        self.failure(RowOutcome::Error, self.codes.handler_error.code, &message, details)
                    }
                    Pattern::B => self.domain_error(code, &message, fields, advice),
                    Pattern::C | Pattern::Plain => {
                        let members = fields.into_iter().chain(advice).collect();
                        self.failure(RowOutcome::Error, code, &message, members)
                    }
                }
            }
            Dispatched::Fault(Fault::Storage(reason)) => self.storage_failure(&reason),
            Dispatched::Fault(Fault::Other(message)) => self.handler_error(&message, Map::new()),
        }
    }

    fn domain_error(
        &self,
        code: &str,
        message: &str,
        mut fields: Map<String, Value>,
        advice: Map<String, Value>,
    ) -> Ending {
        fields.extend(advice);
        self.redactor.redact_members(&mut fields);
        let message = self.redactor.redact(message);
        let envelope = domain_error_envelope(code, &message, fields);
        let mut ending = Ending::with_envelope(RowOutcome::DomainError, &envelope, false);
        ending.result = take_data(envelope);
        ending.named(code, &message)
    }

    /// Returns the members that say what the caller can do. It leaves out calls that the server would refuse.
    fn advice(&self, remedy: String, next: Vec<Suggestion>) -> Map<String, Value> {
        let mut members = Map::with_capacity(2);
        members.insert(REMEDY.to_owned(), Value::String(remedy));
        let next: Vec<Value> =
            next.into_iter().filter(|call| self.admits(call.tool)).map(Suggestion::into_value).collect();
        if !next.is_empty() {
            members.insert("next".to_owned(), Value::Array(next));
        }
        members
    }

    fn admits(&self, tool: &str) -> bool {
        let tool = self.registry.lookup(tool).and_then(|index| self.registry.get(index));
        tool.is_some_and(|tool| self.admission.iter().all(|check| check.admit(tool).is_ok()))
    }

    /// Builds a failure of the handler, with the text unchanged.
    fn handler_error(&self, message: &str, details: Map<String, Value>) -> Ending {
        self.failure(RowOutcome::Error, self.codes.handler_error.code, message, details)
    }

    /// Builds the ending of a call in which the store failed.
    pub fn storage_failure(&self, reason: &str) -> Ending {
        let message = fill(self.codes.storage_failure.message, &[("reason", reason)]);
        self.handler_error(&message, only(self.codes.storage_failure.remedy))
    }

    /// Builds the ending of a call that waited for a start that failed.
    pub fn startup_failed(&self, reason: &str) -> Ending {
        let message = fill(self.codes.startup_failed.message, &[("reason", reason)]);
        self.handler_error(&message, only(self.codes.startup_failed.remedy))
    }

    /// Builds the ending of a call whose effects and exit row could not be stored together (chain#faults). The client sees a
    /// handler error; the row is closed later under the more precise code.
    pub fn commit_failed(&self, reason: &str) -> Ending {
        let message = fill(self.codes.store_commit_failed.message, &[("reason", reason)]);
        let details = only(self.codes.store_commit_failed.remedy);
        self.handler_error(&message, details).named(self.codes.store_commit_failed.code, &message)
    }

    /// Builds the ending of a call whose row another start closed, because it took this process for dead.
    pub fn closed_by_another(&self) -> Ending {
        let code = self.codes.process_aborted.code;
        let message = format!(
            "{code}: another start has closed this call as aborted, since this process's lock file was gone; what the call did \
             outside may have happened. Restart this server, then look before calling again"
        );
        self.handler_error(&message, Map::new()).named(code, &message)
    }

    /// Builds the ending of a network call that was cancelled in flight.
    pub fn cancelled(&self) -> Ending {
        let mut ending = self
            .handler_error("cancelled", Map::new())
            .named(self.codes.cancelled.code, self.codes.cancelled.message);
        ending.answer = None;
        ending.outcome = RowOutcome::Aborted;
        ending.result_hash = None;
        ending
    }
}

/// The details that hold a remedy and nothing more.
fn only(remedy: &str) -> Map<String, Value> {
    Map::from_iter([(REMEDY.to_owned(), Value::from(remedy))])
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
