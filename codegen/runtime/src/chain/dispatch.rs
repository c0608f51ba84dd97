//! Stage 4: the handler, with its panics caught at the boundary.

use serde_json::Value;

use crate::chain::Chain;
use crate::chain::check::Target;
use crate::chain::ending::{Ending, Words};
use crate::chain::log::Level;
use crate::chain::row::{Entered, Row};
use crate::chain::store::Store;
use crate::handler::{CallStatus, Context, Dispatch, Dispatched, Fault, guarded};
use crate::progress::at_once;
use crate::spec::ToolSpec;
use crate::validate::conforms;
use colibri_canonical::value_of;

/// The message that a client gets after a panic; the panic's own text goes to the log.
pub(super) const PANICKED: &str = "handler panicked";

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// Returns the words for the end of a call of that name.
    pub(super) fn words<'a>(&'a self, called: &'a str) -> Words<'a> {
        Words {
            codes: &self.spec.codes,
            registry: &self.registry,
            admission: &self.admission,
            redactor: &self.kernel.redactor,
            called,
        }
    }

    /// Returns the ending that stages 1 to 3 or the handler bring about.
    pub(super) fn stage_dispatch(&mut self, entered: &Entered) -> Ending {
        let Target { tool, index } = match self.words(&entered.row.tool).judged(&entered.verdict) {
            Ok(target) => target,
            Err(refusal) => return *refusal,
        };
        let row = &entered.row;
        let status = CallStatus { entered_ms: Some(row.entered_ms), ..self.status(row.sequence_no) };
        self.store.cx().begin_call(status);
        self.watch(&entered.reply_to);
        let notify = self.notify.clone().filter(|_| entered.reply_to.progress.is_wanted());
        let (dispatch, cx) = (&mut self.dispatch, self.store.cx());
        let handler = || match tool.is_operation() {
            true => dispatch.operate(cx, index, &entered.arguments),
            false => dispatch.call(cx, index, &entered.arguments),
        };
        let result = at_once(notify, || guarded(handler));
        let notices = self.store.cx().take_notices();
        let dispatched = self.settle(tool, result);
        Ending { notices, ..self.words(tool.name).dispatched(tool, dispatched) }
    }

    /// Returns a handler's result, or the failure that answers a panic.
    pub(super) fn settle(&self, tool: &ToolSpec, result: std::thread::Result<Dispatched>) -> Dispatched {
        let dispatched = result.unwrap_or_else(|panic| {
            self.log(Level::Error, format_args!("[{}] {PANICKED}: {}", tool.name, panic_text(&*panic)));
            Dispatched::Fault(Fault::Other(PANICKED.to_owned()))
        });
        match self.looked_into(tool, dispatched) {
            // JSON has no NaN and no infinity: the serialiser writes null, which is not valid for a required number.
            Dispatched::Value(value)
                if (tool.is_operation() || self.registry.returns_numbers(tool.name))
                    && !conforms(tool.output, &value) =>
            {
                Dispatched::Fault(Fault::Other("result is not serialisable".to_owned()))
            }
            // A release build trusts the types; a test build checks the value against the published schema.
            Dispatched::Value(value) if cfg!(debug_assertions) && !conforms(tool.output, &value) => {
                self.misfit(tool, &value)
            }
            Dispatched::Text(text) if cfg!(debug_assertions) => match value_of(&text) {
                Some(value) if conforms(tool.output, &value) => Dispatched::Text(text),
                value => self.misfit(tool, &value.unwrap_or_default()),
            },
            other => other,
        }
    }

    fn misfit(&self, tool: &ToolSpec, value: &Value) -> Dispatched {
        let text = format!("result does not fit the output schema of {}: {value}", tool.name);
        self.log(Level::Error, format_args!("{text}"));
        Dispatched::Fault(Fault::Other(text))
    }

    /// Parses a written payload again if something needs its value: the check of numbers, an operator's command, a sink
    /// outside the store.
    fn looked_into(&self, tool: &ToolSpec, dispatched: Dispatched) -> Dispatched {
        match dispatched {
            Dispatched::Text(text)
                if tool.is_operation()
                    || self.registry.returns_numbers(tool.name)
                    || !self.audit.is_store() =>
            {
                value_of(&text).map_or(Dispatched::Text(text), Dispatched::Value)
            }
            other => other,
        }
    }

    /// Reads the clocks at the end of a call.
    pub(super) fn stamp(&self, row: &Row, mut ending: Ending) -> Ending {
        let elapsed = self.kernel.clock.monotonic_ms() - row.timestamp;
        ending.duration_ms = elapsed.floor().max(0.0) as i64;
        ending.exited_at = self.now_text();
        ending
    }
}

pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}
