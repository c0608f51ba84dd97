//! What a call's audit row holds from stage 3 on.

use std::sync::Arc;

use serde_json::Value;

use crate::chain::audit::EnterEvent;
use crate::chain::call::{Call, ReplyTo};
use crate::chain::check::{Checked, Verdict};
use crate::chain::client::Client;
use crate::chain::{AUDITED_NAME_CHARACTERS, Chain};
use crate::handler::Dispatch;
use colibri_canonical::{NumberRule, canonical_json, sha256_hex};

use super::ending::Ending;
use super::store::{Store, StoreFault};

/// The enter half of an audit row.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The store's number, once the row is there.
    pub sequence_no: Option<i64>,
    pub tool: String,
    pub correlation_id: String,
    pub request_id: Box<str>,
    pub args_hash: String,
    pub trace_context: Option<String>,
    /// Monotonic milliseconds at enter.
    pub timestamp: f64,
    /// The wall clock at enter, in milliseconds since the epoch, and as the row shows it.
    pub entered_ms: i64,
    pub entered_at: String,
    pub client: Arc<Client>,
}

impl Row {
    pub fn enter_event<'a>(&'a self, args: &'a Value) -> EnterEvent<'a> {
        EnterEvent {
            tool: &self.tool,
            args,
            timestamp: self.timestamp,
            correlation_id: &self.correlation_id,
            request_id: Some(&self.request_id),
            args_hash: &self.args_hash,
            trace_context: self.trace_context.as_deref(),
            entered_at: &self.entered_at,
            client: &self.client,
        }
    }

    /// Writes the exit half, if the row is there.
    pub fn close_in(&self, store: &mut impl Store, ending: &Ending) -> Result<(), StoreFault> {
        let Some(sequence_no) = self.sequence_no else { return Ok(()) };
        store.audit_exit(sequence_no, &self.enter_event(&Value::Null), &ending.exit_event(self))
    }
}

/// What a call brings to its row.
pub(super) struct Named {
    pub name: String,
    pub request_id: Box<str>,
    pub args_hash: String,
    pub trace_context: Option<String>,
    pub client: Arc<Client>,
}

/// A call that has reached stage 3.
pub(crate) struct Entered {
    pub reply_to: ReplyTo,
    pub verdict: Verdict,
    /// Typed arguments when the verdict is open, the raw ones otherwise.
    pub arguments: Value,
    /// The arguments with `sensitive` values replaced, if there are any.
    pub shown: Option<Value>,
    pub row: Row,
    /// The arguments that held a secret of the server's.
    pub redacted: Vec<String>,
}

impl Entered {
    /// Returns what the log shows of the call from its start.
    pub fn enter_event(&self) -> EnterEvent<'_> {
        self.row.enter_event(self.shown.as_ref().unwrap_or(&self.arguments))
    }

    /// Returns whether no stage has refused the call so far.
    pub fn is_open(&self) -> bool {
        matches!(self.verdict, Verdict::Open(_))
    }

    /// Returns whether nothing but its row is left of the call, so that it may run before it has one: a refused call, or a free tool
    /// that changes nothing.
    pub fn runs_unentered(&self) -> bool {
        match self.verdict {
            Verdict::Open(target) => target.tool.runs_unentered(),
            _ => true,
        }
    }

    /// Returns whether a handler runs that may need the store.
    pub fn works_in_store(&self) -> bool {
        matches!(self.verdict, Verdict::Open(target) if !target.tool.is_free())
    }
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Gives the call its correlation id and reads the clocks.
    pub(super) fn enter_row(&mut self, checked: Checked) -> Entered {
        let Checked { call, arguments, verdict, sensitive, args_hash, redacted } = checked;
        let Call { reply_to, name, trace_context, client, .. } = call;
        let shown = redacted_arguments(sensitive, &arguments);
        let request_id = reply_to.id.clone();
        let row = self.row_of(Named { name, request_id, args_hash, trace_context, client });
        Entered { reply_to, verdict, arguments, shown, row, redacted }
    }

    /// Builds the enter half of a row as of now, without a secret of the server's.
    pub(super) fn row_of(&mut self, call: Named) -> Row {
        let Named { name, request_id, args_hash, trace_context, client } = call;
        let trace_context = trace_context.map(|text| self.kernel.redactor.redact_json(&text).into_owned());
        // The client may have written anything as the name. It is redacted before it is cut, or a part of a secret would stay.
        let name = self.kernel.redactor.redact(&name);
        let entered_ms = self.kernel.clock.wall_ms();
        Row {
            sequence_no: None,
            tool: match name.char_indices().nth(AUDITED_NAME_CHARACTERS) {
                Some((end, _)) => name[..end].to_owned(),
                None => name.into_owned(),
            },
            correlation_id: self.kernel.ids.v4(),
            request_id,
            args_hash,
            trace_context,
            timestamp: self.kernel.clock.monotonic_ms(),
            entered_ms,
            entered_at: crate::kernel::rfc3339_ms(entered_ms),
            client,
        }
    }
}

/// Returns a copy of the arguments without the values the catalogue calls sensitive; `None` if there are none.
fn redacted_arguments(sensitive: &[&str], arguments: &Value) -> Option<Value> {
    let given = arguments.as_object()?;
    if !sensitive.iter().any(|name| given.contains_key(*name)) {
        return None;
    }
    let mut copy = given.clone();
    for name in sensitive {
        if let Some(value) = copy.get_mut(*name) {
            *value = Value::String(super::redact::REDACTED.to_owned());
        }
    }
    Some(Value::Object(copy))
}

/// Returns the SHA-256 of the canonical arguments (chain#hashes), of which the value has kept every number. The encoder
/// refuses only nesting beyond its limit, which the decoder has refused before.
pub(super) fn args_hash(arguments: &Value) -> String {
    match canonical_json(arguments, NumberRule::Wire) {
        Ok(text) => sha256_hex(text.as_bytes()),
        Err(_) => sha256_hex(arguments.to_string().as_bytes()),
    }
}
