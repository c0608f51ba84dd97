//! What the generated registry says of a catalogue: static data, one [`ToolSpec`] a tool.

use std::collections::HashSet;

use crate::schema::{CrossRule, Schema};

/// How a tool's declared errors reach the client (chain#envelopes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// `ok: false`, `isError: true`.
    A,
    /// `ok: true` outside, `data.ok: false` inside.
    B,
    /// `ok: false`, `isError: true`; the error has a code of its own, and its fields follow the message.
    C,
    /// As C, without an envelope: a success is the payload itself, and a failure is a text.
    Plain,
}

/// Where a tool's handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Inline, inside the batch's transaction.
    Store {
        /// The tool cannot work without writing.
        mutates: bool,
    },
    /// Inline, with or without a store: it has no effects that outlive the process.
    Free {
        /// It changes what the process keeps in memory, so a call has its row before it runs.
        changes: bool,
    },
    /// In a helper thread on a read transaction of its own.
    Scan,
    /// Beside the loop, without the store.
    Network {
        /// How many calls of the tool run at a time; the others wait for its lock.
        at_a_time: usize,
    },
    /// Inline, inside the transaction of an operator's command. No client sees the tool, and only
    /// [`Chain::operate`](crate::chain::Chain::operate) reaches it.
    Operator {
        /// The tool cannot work without writing.
        mutates: bool,
    },
}

/// One tool, as the catalogue states it.
#[derive(Debug)]
pub struct ToolSpec {
    /// The name clients call.
    pub name: &'static str,
    /// The domain it belongs to.
    pub domain: &'static str,
    /// The toolset it belongs to, if the catalogue has toolsets.
    pub toolset: Option<&'static str>,
    /// The pattern of its errors.
    pub pattern: Pattern,
    /// Where it runs.
    pub runs: Runs,
    /// It is free and answers before the gate opens.
    pub early: bool,
    /// Top-level arguments that hold secrets; no sink ever sees them.
    pub sensitive: &'static [&'static str],
    /// The input table.
    pub input: &'static Schema,
    /// Rules across the input's fields.
    pub rules: &'static [CrossRule],
    /// The table of the payload (not of the envelope).
    pub output: &'static Schema,
    /// The codes it may answer with besides the chain's own.
    pub codes: &'static [&'static str],
    /// This tool's entry of `tools/list`, compact JSON; empty for an operation, which is not listed.
    pub listing: &'static str,
    /// The setting of the server that makes some inputs optional.
    pub relaxed: Option<&'static Relaxation>,
}

/// A setting of the server and the tool as it is under it (catalogue#relaxed).
#[derive(Debug)]
pub struct Relaxation {
    /// The setting's name.
    pub setting: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The tool then: the same but for its input and its listing.
    pub tool: ToolSpec,
}

impl ToolSpec {
    /// Whether the tool cannot work without writing.
    #[must_use]
    pub const fn mutates(&self) -> bool {
        matches!(self.runs, Runs::Store { mutates: true } | Runs::Operator { mutates: true })
    }

    /// Whether the tool needs no store: it runs in modes that open none, too.
    #[must_use]
    pub const fn is_free(&self) -> bool {
        matches!(self.runs, Runs::Free { .. })
    }

    /// Whether a call may run before its enter row is stored: it changes nothing, in memory neither.
    pub(crate) const fn runs_unentered(&self) -> bool {
        matches!(self.runs, Runs::Free { changes: false })
    }

    /// Whether the tool is an operation: only a command of the operator runs it.
    #[must_use]
    pub const fn is_operation(&self) -> bool {
        matches!(self.runs, Runs::Operator { .. })
    }

    /// The tool as the server's settings make it; `setting` gives the value of a name.
    pub fn under(&'static self, setting: &dyn Fn(&str) -> Option<&'static str>) -> &'static Self {
        match self.relaxed {
            Some(relaxed) if setting(relaxed.setting) == Some(relaxed.value) => &relaxed.tool,
            _ => self,
        }
    }
}

/// What the chain itself answers in one of its roles. The catalogue names it.
#[derive(Debug, Clone, Copy)]
pub struct ChainCode {
    /// The code.
    pub code: &'static str,
    /// The message. [`fill`] puts texts of the call in the places of `{name}`.
    pub message: &'static str,
    /// What the caller can do about it. Empty for the roles that never send one.
    pub remedy: &'static str,
}

/// The codes that the chain itself emits, by role, with the texts that their messages can name.
#[derive(Debug, Clone, Copy)]
pub struct ChainCodes {
    /// Stage 2 refused the arguments: `{tool}`, `{problems}`.
    pub invalid_params: ChainCode,
    /// The handler failed, or the store did. The message is theirs.
    pub handler_error: ChainCode,
    /// Stage 3 could not write the enter row: `{reason}`.
    pub audit_enter_failed: ChainCode,
    /// Stage 1: the mode does not admit the tool: `{tool}`, `{obstacle}`, `{mode}`.
    pub not_admitted: ChainCode,
    /// Stage 1: the operator offers other toolsets only: `{tool}`, `{toolset}`, `{setting}`.
    pub not_in_toolset: ChainCode,
    /// No such tool (inside `error.data` of the JSON-RPC error, and in the audit row): `{tool}`. In message and remedy `{name}` is the
    /// nearest name; without one, the text ends before its `;`.
    pub unknown_tool: ChainCode,
    /// Audit row of a call whose process died.
    pub process_aborted: ChainCode,
    /// Audit row of a network call cancelled in flight.
    pub cancelled: ChainCode,
    /// Message prefix: a storage fault inside a handler: `{reason}`.
    pub storage_failure: ChainCode,
    /// Message prefix and row code: effects and exit row could not be committed: `{reason}`.
    pub store_commit_failed: ChainCode,
    /// Message prefix: the server's second phase failed while the call waited: `{reason}`.
    pub startup_failed: ChainCode,
    /// A notice: arguments held a secret of the server's: `{arguments}`. `None` if the catalogue has no such notice.
    pub arguments_redacted: Option<ChainCode>,
}

impl ChainCodes {
    fn all(&self) -> impl Iterator<Item = &'static str> {
        // Without `..`, so that a new role cannot be forgotten here.
        let Self {
            invalid_params,
            handler_error,
            audit_enter_failed,
            not_admitted,
            not_in_toolset,
            unknown_tool,
            process_aborted,
            cancelled,
            storage_failure,
            store_commit_failed,
            startup_failed,
            arguments_redacted,
        } = *self;
        let always = [
            invalid_params,
            handler_error,
            audit_enter_failed,
            not_admitted,
            not_in_toolset,
            unknown_tool,
            process_aborted,
            cancelled,
            storage_failure,
            store_commit_failed,
            startup_failed,
        ];
        always.into_iter().chain(arguments_redacted).map(|role| role.code)
    }
}

/// Returns a form with these texts in the places of their names. Other braces stay, and so do those of the texts.
#[must_use]
pub fn fill(form: &str, texts: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(form.len() + 64);
    let mut rest = form;
    while let Some(at) = rest.find('{') {
        let (before, place) = rest.split_at(at);
        filled.push_str(before);
        let named = texts.iter().find_map(|(name, text)| {
            Some((text, place.strip_prefix('{')?.strip_prefix(name)?.strip_prefix('}')?))
        });
        rest = match named {
            Some((text, behind)) => {
                filled.push_str(text);
                behind
            }
            None => {
                filled.push('{');
                place.get(1..).unwrap_or_default()
            }
        };
    }
    filled.push_str(rest);
    filled
}

/// A code that a row of a call to another server ends with.
#[derive(Debug, Clone, Copy)]
pub struct ForeignCode {
    /// The code.
    pub code: &'static str,
    /// The row's message; `{name}` stands for what [`ForeignCode::with`] is given.
    pub message: &'static str,
}

impl ForeignCode {
    /// Returns the message with a text in the place of its name.
    #[must_use]
    pub fn with(&self, name: &str, text: &str) -> String {
        fill(self.message, &[(name, text)])
    }
}

/// The codes that rows of calls to other servers end with, by role. The catalogue names them.
#[derive(Debug, Clone, Copy)]
pub struct ForeignCodes {
    /// The reply says that the tool failed.
    pub tool_error: ForeignCode,
    /// The reply asks for input, and another call goes on.
    pub input_required: ForeignCode,
    /// The other server goes on in a task.
    pub task_created: ForeignCode,
    /// The reply is of a kind that the protocol does not know.
    pub result_unknown: ForeignCode,
    /// The reply is a JSON-RPC error.
    pub rpc_error: ForeignCode,
    /// The call was malformed.
    pub bad_call: ForeignCode,
    /// The tool is not admitted.
    pub denied: ForeignCode,
    /// Only read-only tools are admitted, and the tool does not say that it is one.
    pub not_read_only: ForeignCode,
    /// The tool is not the pinned one.
    pub tool_changed: ForeignCode,
    /// The tool is not among the pinned ones.
    pub tool_new: ForeignCode,
    /// The other server's tools could not be read.
    pub list_unknown: ForeignCode,
    /// The call could not be recorded.
    pub not_recorded: ForeignCode,
    /// Another call of the batch was refused.
    pub batch_refused: ForeignCode,
    /// The client cancelled the call, and no reply came.
    pub cancelled: ForeignCode,
    /// The other server ended before it answered.
    pub server_ended: ForeignCode,
    /// The client went before the other server answered.
    pub client_gone: ForeignCode,
    /// A signal ended the process that passes calls on.
    pub stopped: ForeignCode,
}

impl ForeignCodes {
    /// Returns whether a row with that code is a call to another server. The chain's own codes stand in such rows, too.
    #[must_use]
    pub fn has(&self, code: &str) -> bool {
        self.all().any(|known| known == code)
    }

    fn all(&self) -> impl Iterator<Item = &'static str> {
        // Without `..`, as above.
        let Self {
            tool_error,
            input_required,
            task_created,
            result_unknown,
            rpc_error,
            bad_call,
            denied,
            not_read_only,
            tool_changed,
            tool_new,
            list_unknown,
            not_recorded,
            batch_refused,
            cancelled,
            server_ended,
            client_gone,
            stopped,
        } = *self;
        let replies = [tool_error, input_required, task_created, result_unknown, rpc_error];
        let refusals = [
            bad_call,
            denied,
            not_read_only,
            tool_changed,
            tool_new,
            list_unknown,
            not_recorded,
            batch_refused,
        ];
        let ends = [cancelled, server_ended, client_gone, stopped];
        replies.into_iter().chain(refusals).chain(ends).map(|role| role.code)
    }
}

/// A group of tools that an operator can offer alone.
#[derive(Debug)]
pub struct ToolsetSpec {
    /// Its name.
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    /// What its tools are for.
    pub description: &'static str,
    /// What the server tells a client about the work with its tools when it offers the set.
    pub instructions: Option<&'static str>,
    /// What it adds, also where a mode refuses writing.
    pub reading: Option<&'static str>,
}

/// What the server tells a client first while one of its settings has a value (catalogue#announcements).
#[derive(Debug)]
pub struct Announcement {
    /// The setting's name.
    pub setting: &'static str,
    /// Its value.
    pub value: &'static str,
    /// The text.
    pub instructions: &'static str,
    /// What of the other instructions holds then.
    pub teaches: Teaches,
}

/// Which of the other instructions the server gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Teaches {
    /// All.
    All,
    /// The catalogue's own, and what the toolsets say of reading.
    Reading,
    /// None.
    Nothing,
}

/// The form of what a reply says beside its result.
#[derive(Debug, Clone, Copy)]
pub struct NoticeForm {
    /// Its code.
    pub code: &'static str,
    /// The form of its message.
    pub message: &'static str,
}

/// What a catalogue holds its names to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Every name that the protocol allows.
    Open,
    /// Lower-case letters, digits and `_`, not beginning with a digit, at most 64 characters.
    House,
}

impl CatalogueSpec {
    /// Returns every name that the catalogue makes public: tools, codes, the members of inputs and outputs, the words of their lists.
    #[must_use]
    pub fn names(&self) -> HashSet<&'static str> {
        let mut names: HashSet<&'static str> = self.toolsets.iter().map(|set| set.name).collect();
        names.extend(self.codes.all());
        names.extend(self.foreign.iter().flat_map(|codes| codes.all()));
        for tool in self.tools.iter().chain(self.operations) {
            names.insert(tool.name);
            names.extend(tool.codes);
            let relaxed = tool.relaxed.map(|relaxed| relaxed.tool.input);
            [Some(tool.input), Some(tool.output), relaxed]
                .into_iter()
                .flatten()
                .for_each(|schema| schema.names(&mut names));
        }
        names
    }
}

/// A whole catalogue.
#[derive(Debug)]
pub struct CatalogueSpec {
    /// `serverInfo.name`.
    pub name: &'static str,
    /// `serverInfo.title`.
    pub title: &'static str,
    /// The catalogue's version.
    pub version: &'static str,
    /// `instructions` of `initialize` and `server/discover`, before those of the toolsets that are offered.
    pub instructions: &'static str,
    /// Which names its tools may have.
    pub profile: Profile,
    /// Groups of tools that an operator can offer alone.
    pub toolsets: &'static [ToolsetSpec],
    /// What the server tells clients first under some of its settings.
    pub announcements: &'static [Announcement],
    /// The tools that clients see, in listing order.
    pub tools: &'static [ToolSpec],
    /// The operator's tools: run by commands of the server through the same stages, unknown to clients.
    pub operations: &'static [ToolSpec],
    /// The chain's codes, with their messages and remedies.
    pub codes: ChainCodes,
    /// The codes of calls to other servers, if the server records such calls.
    pub foreign: Option<&'static ForeignCodes>,
}
