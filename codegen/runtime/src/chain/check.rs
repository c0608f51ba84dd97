//! Stages 1 and 2: the name is looked up, the tool admitted, its arguments validated.
//!
//! The tool lock itself is held by construction: store tools run one after the other on the loop's
//! thread, and network tools wait in [`super::network`] until their own lock is free.

use colibri_suggest::closest;
use serde_json::Value;

use crate::chain::Chain;
use crate::chain::admission::Denial;
use crate::chain::call::{Arguments, Call};
use crate::chain::row::args_hash;
use crate::chain::store::Store;
use crate::handler::Dispatch;
use crate::spec::ToolSpec;
use crate::validate::{Issues, Refusal, invalid_params, unreadable_params, validate};

/// What the stages so far have decided about a call. Each stage looks at it and only an open one goes on
/// (precedence: chain#failure-codes).
#[derive(Debug)]
pub(crate) enum Verdict {
    Open(Target),
    /// Carries the name as received, of which the row keeps less, and the tool that may be meant.
    Unknown(String, Option<&'static str>),
    Denied(Denial),
    Invalid(Refusal, Issues),
    /// Stage 3 could not write; carries the reason.
    AuditFailed(String),
}

/// The tool that a call may reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub tool: &'static ToolSpec,
    /// Among the tools, or among the operations if it is one.
    pub index: usize,
}

/// A call after stage 2.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Its arguments are below.
    pub call: Call,
    /// Typed arguments when the verdict is open, the raw ones otherwise.
    pub arguments: Value,
    pub verdict: Verdict,
    /// Arguments that no sink may see.
    pub sensitive: &'static [&'static str],
    pub args_hash: String,
    /// The arguments that held a secret of the server's, as they are now.
    pub redacted: Vec<String>,
}

impl<S: Store, D: Dispatch<S::Cx>> Chain<S, D> {
    /// A client's call: its name is one of the registered tools.
    pub(super) fn check(&self, call: Call) -> Checked {
        let found =
            self.registry.lookup(&call.name).and_then(|index| Some((index, self.registry.get(index)?)));
        self.check_found(call, found)
    }

    /// The operator's call: its name is one of the catalogue's operations, and never a client's tool.
    pub(super) fn check_operation(&self, call: Call) -> Checked {
        let found = self.spec.operations.iter().enumerate().find(|(_, tool)| tool.name == call.name);
        self.check_found(call, found)
    }

    fn check_found(&self, mut call: Call, found: Option<(usize, &'static ToolSpec)>) -> Checked {
        let given = std::mem::replace(&mut call.arguments, Arguments::Text(Box::default()));
        let mut arguments = given.into_value();
        // Hashed as received, before defaults are put in: a client can then recompute it.
        let args_hash = match call.args_hash.take() {
            Some(hash) => hash.into(),
            None => args_hash(&arguments),
        };
        // From here on nothing sees a secret of the server's: no handler, no table, no sink.
        let redacted = self.kernel.redactor.redact_arguments(&mut arguments);
        let Some((index, tool)) = found else {
            let close = closest(&call.name, self.listed().map(|tool| tool.name));
            let verdict = Verdict::Unknown(call.name.clone(), close);
            return Checked { call, arguments, verdict, sensitive: &[], args_hash, redacted };
        };
        let verdict = match (self.admission.iter().try_for_each(|check| check.admit(tool)), &call.unreadable)
        {
            (Err(denial), _) => Verdict::Denied(denial),
            (Ok(()), Some(flaw)) => {
                let form = self.spec.codes.invalid_params.message;
                let (refusal, issue) =
                    unreadable_params(form, tool, &self.kernel.redactor.redact(&flaw.problem()));
                Verdict::Invalid(refusal, Issues { listed: vec![issue], more: 0 })
            }
            (Ok(()), None) => match validate(tool.input, tool.rules, &mut arguments) {
                Ok(()) => Verdict::Open(Target { tool, index }),
                Err(issues) => {
                    let form = self.spec.codes.invalid_params.message;
                    Verdict::Invalid(invalid_params(form, tool, &arguments, &issues), issues)
                }
            },
        };
        Checked { call, arguments, verdict, sensitive: tool.sensitive, args_hash, redacted }
    }
}
