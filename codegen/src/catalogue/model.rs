//! The typed model of the catalogue's YAML files, and the JSON Schema that editors get of them.
//!
//! Every node can be traced to its place: a `Place` is a file and a JSON pointer, and
//! [`Catalogue::locate`](super::Catalogue::locate) turns it into line and column.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Announcement, Drift, Example, ForeignErrors, Hints, NextCall, NoticeEntry};

/// A JSON Schema as written in the catalogue: the portable subset, with `$ref: TypeName`.
pub type SchemaValue = Map<String, Value>;

/// `catalogue.yaml`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Which rules of the lint hold.
    #[serde(default)]
    pub profile: Profile,
    /// The server's name, `serverInfo.name`.
    pub name: String,
    /// The server's display name.
    pub title: String,
    /// Semantic version of the catalogue.
    pub version: String,
    /// What a client is told about the server as a whole.
    pub instructions: String,
    /// Limits the lint holds the catalogue to.
    pub budget: Budget,
    /// Groups of tools that an operator can offer alone, in listing order. Without any, tools name none.
    #[serde(default)]
    pub toolsets: Vec<Toolset>,
    /// What the server tells clients first under some of its settings. The first one that fits counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub announcements: Vec<Announcement>,
    /// What replies may say besides their result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<NoticeEntry>,
    /// The domains in listing order; each has a file `tools/<domain>.yaml`.
    pub domains: Vec<String>,
    /// The codes of the call chain, by role.
    pub chain: ChainErrors,
    /// The codes of calls to other servers, by role, for a server that records them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignErrors>,
    /// What the lint is told.
    #[serde(default)]
    pub lint: LintSettings,
    /// What the drift gate is told.
    #[serde(default)]
    pub drift: Drift,
}

impl Head {
    /// Returns what a client is told when every tool is offered: the head's instructions and those of each toolset, with an empty line between them.
    pub(crate) fn full_instructions(&self) -> String {
        let parts = self.toolsets.iter().flat_map(|set| [&set.instructions, &set.reading]);
        let parts = parts.filter_map(|part| part.as_deref());
        std::iter::once(self.instructions.as_str()).chain(parts).collect::<Vec<_>>().join("\n\n")
    }
}

/// Which rules of the lint a catalogue obeys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// What can be compiled, in any style: texts of any length, every tool name that the protocol allows, open objects.
    #[default]
    Open,
    /// Also the conventions of Colibri's own catalogue.
    House,
}

/// A group of tools that an operator can offer alone.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Toolset {
    /// Its name, `snake_case`.
    pub name: String,
    /// The display name.
    pub title: String,
    /// What its tools are for, in a sentence.
    pub description: String,
    /// What a client is told besides the head's instructions when the set is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What the server adds, also where a mode refuses writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
}

/// Limits of the catalogue.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The most bytes the answer to `tools/list` may have.
    pub tools_list_bytes: usize,
    /// The most bytes the answer may have when one toolset alone is offered, by the set's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub toolset_bytes: BTreeMap<String, usize>,
}

/// Settings of the lint.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LintSettings {
    /// Required parameters that look like ids of something a tool has returned, and are names that callers make up.
    #[serde(default)]
    pub ids_of_callers: Vec<String>,
}

/// The codes that the call chain answers by itself, by role.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChainErrors {
    /// Stage 2 refused the arguments.
    pub invalid_params: ChainError,
    /// The handler or the store failed.
    pub handler_error: ChainError,
    /// Stage 3 could not write.
    pub audit_enter_failed: ChainError,
    /// The mode does not admit the tool.
    pub not_admitted: ChainError,
    /// The operator offers other toolsets only; for catalogues with toolsets. It may share the code of `not_admitted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_in_toolset: Option<ChainError>,
    /// No such tool.
    pub unknown_tool: ChainError,
    /// The call's process died.
    pub process_aborted: ChainError,
    /// A network call was cancelled.
    pub cancelled: ChainError,
    /// Prefix: storage fault in a handler.
    pub storage_failure: ChainError,
    /// Prefix: the commit failed.
    pub store_commit_failed: ChainError,
    /// Prefix: start-up failed.
    pub startup_failed: ChainError,
    /// A notice beside a reply: a secret of the server's stood in the arguments. Without it there is no notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_redacted: Option<ChainError>,
}

impl ChainErrors {
    /// The errors with the names of their roles, in declared order.
    pub fn roles(&self) -> impl Iterator<Item = (&'static str, &ChainError)> {
        let roles = [
            ("invalid_params", Some(&self.invalid_params)),
            ("handler_error", Some(&self.handler_error)),
            ("audit_enter_failed", Some(&self.audit_enter_failed)),
            ("not_admitted", Some(&self.not_admitted)),
            ("not_in_toolset", self.not_in_toolset.as_ref()),
            ("unknown_tool", Some(&self.unknown_tool)),
            ("process_aborted", Some(&self.process_aborted)),
            ("cancelled", Some(&self.cancelled)),
            ("storage_failure", Some(&self.storage_failure)),
            ("store_commit_failed", Some(&self.store_commit_failed)),
            ("startup_failed", Some(&self.startup_failed)),
            ("arguments_redacted", self.arguments_redacted.as_ref()),
        ];
        roles.into_iter().filter_map(|(role, error)| Some((role, error?)))
    }

    /// The errors that carry a remedy, with the names of their roles. A handler error has the remedy of what failed, a notice none, and
    /// the other two roles stand in the audit record alone.
    pub(crate) fn remedied(&self) -> impl Iterator<Item = (&'static str, &ChainError)> {
        let silent = ["handler_error", "process_aborted", "cancelled", "arguments_redacted"];
        self.roles().filter(move |(role, _)| !silent.contains(role))
    }
}

/// One of the chain's codes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChainError {
    /// The code.
    pub code: String,
    /// The form of its message; `{name}` stands for a text of the call's. In `unknown_tool` it is read as the remedy is.
    pub message: String,
    /// When it is answered, for the reference.
    pub when: String,
    /// What the caller can do about it; stated for the roles of [`ChainErrors::remedied`], and only there. In
    /// `unknown_tool`, `{name}` stands for the nearest tool's name; without one, the text ends before its `;`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// `types.yaml`.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SharedTypes {
    /// Named schemas, `PascalCase`.
    #[serde(default)]
    pub types: Map<String, Value>,
    /// Errors that tools name by their codes.
    #[serde(default)]
    pub errors: Vec<ToolErrorEntry>,
}

/// `tools/<domain>.yaml`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DomainFile {
    /// The domain's name, the file's stem.
    pub domain: String,
    /// The heading of its reference page.
    pub title: String,
    /// What the domain is about, in a sentence.
    pub description: String,
    /// Its tools in listing order.
    pub tools: Vec<Tool>,
}

/// One tool.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The name clients call, `snake_case`.
    pub name: String,
    /// The display name. `house` asks for one.
    #[serde(default)]
    pub title: String,
    /// What it does. `house` asks for at most two sentences, the first of which tells the tool apart.
    #[serde(default)]
    pub description: String,
    /// The toolset it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolset: Option<String>,
    /// How its errors are answered.
    pub pattern: ErrorPattern,
    /// What is around its payload.
    #[serde(default)]
    pub envelope: Envelope,
    /// Where it runs.
    pub runs: Runs,
    /// How many calls of it run at a time, where `runs` is `network`: 1 if it is not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// It cannot work without writing the store. Stated where `runs` is `store` or `operator`, and only there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutates: Option<bool>,
    /// It is free and answers while the server is still starting; its audit row follows when the store is open.
    #[serde(default)]
    pub early: bool,
    /// Top-level arguments that hold secrets.
    #[serde(default)]
    pub sensitive: Vec<String>,
    /// The behaviour hints. `house` asks for all four.
    #[serde(default)]
    pub hints: Hints,
    /// Schema of the arguments.
    pub input: SchemaValue,
    /// Rules across fields.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// A setting of the server under which some inputs are optional.
    #[serde(default)]
    pub relaxed: Option<Relaxation>,
    /// Schema of the payload (the envelope is added by the generator). Without one, under `open`, the payload is any value
    /// and the tool lists no output schema.
    #[serde(default)]
    pub output: SchemaValue,
    /// The errors it may answer with: declared here, or the code of one in `types.yaml`.
    #[serde(default)]
    #[cfg_attr(feature = "cli", schemars(schema_with = "super::schema::declared_or_named"))]
    pub errors: Vec<ToolErrorEntry>,
    /// Calls with their replies; every one is executed by the tests. `house` asks for one.
    #[serde(default)]
    pub examples: Vec<Example>,
    /// The version it came with.
    pub since: String,
    /// What clients may rely on.
    pub stability: Stability,
    /// The version from which it may be gone, stated before it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sunset: Option<String>,
    /// Under `open`, the schemas as they are listed; `input` and `output` are their [portable](super::portable) forms then.
    #[serde(skip)]
    pub(crate) listed: Option<Listed>,
}

impl Tool {
    /// Whether it cannot work without writing the store.
    #[must_use]
    pub fn mutates(&self) -> bool {
        self.mutates == Some(true)
    }

    /// Returns whether the reply of an example is a failure that clients get with `isError: true`.
    #[must_use]
    pub(crate) fn is_failure(&self, reply: &Value) -> bool {
        match self.envelope {
            Envelope::Ok => reply["ok"] == false,
            Envelope::None => {
                let alone = reply.as_object().is_some_and(|members| members.len() == 1);
                alone && ["code", "message"].iter().all(|member| reply["error"][member].is_string())
            }
        }
    }
}

/// What is around a tool's payload (chain#envelopes).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Envelope {
    /// `{ ok, data }` or `{ ok, error }`.
    #[default]
    Ok,
    /// Nothing: the payload is the structured content, and a failure is a text. For pattern C.
    None,
}

/// Where a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Runs {
    /// In the store's transaction.
    Store,
    /// With or without a store: it has no effects that outlive the process, so modes that open no store run it too. Both
    /// halves of its audit row are one transaction.
    Free,
    /// In a helper thread, on a read transaction of its own: it reads for long.
    Scan,
    /// Beside the loop, without the store and under a lock of its own: it talks to the outside.
    Network,
    /// In the store's transaction, from a command of the operator. No client sees it, and a client's call of its name is
    /// one of an unknown tool.
    Operator,
}

/// Where an error stands in the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub enum ErrorPattern {
    /// `ok: false`, `isError: true`.
    A,
    /// `ok: true`, `data.ok: false`.
    B,
    /// `isError: true`, and the error's own code with its fields beside it.
    C,
}

/// How far a tool's shape is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    /// Changes only with a major version.
    Stable,
    /// May change with a minor version.
    Beta,
    /// May change at any time.
    Experimental,
}

/// A tool's schemas as `tools/list` has them.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Of the arguments.
    pub input: Value,
    /// Of the payload.
    pub output: Value,
}

/// A rule across fields, by name (catalogue#cross-rules).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// If both fields are given they must be equal.
    AliasEqual {
        /// The canonical field.
        field: String,
        /// Its alias.
        alias: String,
        /// The text.
        message: String,
    },
    /// One field excludes each of the others.
    Either {
        /// The field that stands alone.
        field: String,
        /// The fields it excludes.
        others: Vec<String>,
        /// The text.
        message: String,
    },
    /// One field is given only together with another.
    Needs {
        /// The field that does not stand alone.
        field: String,
        /// The field that it needs.
        other: String,
        /// The text.
        message: String,
    },
    /// A string's UTF-8 bytes are bounded.
    MaxBytes {
        /// The field.
        field: String,
        /// The most bytes.
        limit: u32,
        /// The text.
        message: String,
    },
    /// No string in the input holds U+0000.
    NoNul {
        /// The text.
        message: String,
    },
}

/// A setting of the server that changes a tool's input (catalogue#relaxed).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Relaxation {
    /// The setting's name, as the server's configuration has it.
    pub setting: String,
    /// Its value.
    pub value: String,
    /// The required inputs that are optional then.
    pub optional: Vec<String>,
}

/// An error a tool declares.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ToolErrorEntry {
    /// The code, `SCREAMING_SNAKE_CASE`.
    pub code: String,
    /// The form of its message: text with `{field}`, `{field or "text"}` for a nullable field, and
    /// `{field join ", "}` for a list.
    pub message: String,
    /// When it is answered.
    pub when: String,
    /// What the caller can do about it, in the form of messages: at most 200 characters.
    pub remedy: String,
    /// Calls that help, at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
    /// Whether a Pattern A message starts with `CODE: ` (the default).
    #[serde(default = "yes")]
    pub prefix: bool,
    /// The extra members of the error object, by name; each is a schema, all are always present.
    #[serde(default)]
    pub fields: Map<String, Value>,
    /// The tool names it, and `types.yaml` declares it.
    #[serde(skip)]
    pub shared: bool,
}

fn yes() -> bool {
    true
}
