//! One state of a server's tools, read from a lock file or from what a live server answers.
//!
//! What a source does not tell is `None`, and no rule compares it: a `tools/list` answer has no error
//! codes, and a lock of an older form lacks later members.

pub mod file;
mod lines;
mod lock;
mod tools_list;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use lock::parse as from_lock;
#[cfg(feature = "cli")]
pub(crate) use tools_list::{IDENTITY, given};
pub use tools_list::{answers, parse as from_tools_list};

/// Why a text is not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

impl Unreadable {
    pub(crate) fn new(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// A state of a server's tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The server's name.
    pub name: Option<String>,
    /// What else the server says of itself: title, description, addresses, and what its capabilities hold.
    pub identity: Option<Value>,
    /// Version of the catalogue or of the server.
    pub version: Option<String>,
    /// What the server tells the model about itself, with the instructions of all toolsets.
    pub instructions: Option<String>,
    /// What it says before that under settings of the operator, and which of the instructions hold then.
    pub announcements: Option<String>,
    /// Protocol revisions the server speaks.
    pub revisions: Option<Vec<String>>,
    /// Capabilities and extensions it announces.
    pub capabilities: Option<Vec<String>>,
    /// Who may cache the list of tools.
    pub cache_scope: Option<String>,
    /// How long clients may cache the list, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// The most bytes the list of tools may have.
    pub budget: Option<usize>,
    /// The call chain's own codes, and those of notices.
    pub chain: Option<Vec<ChainCode>>,
    /// Tools in listing order.
    pub tools: Vec<Tool>,
    /// Prompts as they are listed.
    pub prompts: Option<Vec<Value>>,
    /// Resources as they are listed.
    pub resources: Option<Vec<Value>>,
    /// Templates of resources as they are listed.
    pub templates: Option<Vec<Value>>,
    /// Members that this code does not know.
    pub rest: Map<String, Value>,
}

/// A tool as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name clients call.
    pub name: String,
    /// The display name.
    pub title: Option<String>,
    /// The display name among the annotations, if it is another.
    pub hint_title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// Its icons; null without.
    pub icons: Value,
    /// The hints; absent ones have the specification's defaults.
    pub hints: Hints,
    /// Whether it can run as a task.
    pub task_support: TaskSupport,
    /// Schema of the arguments.
    pub input: Value,
    /// Whether that schema says `type: object` at its root, as the protocol demands.
    pub of_object: bool,
    /// Schema of the result; if there is a contract, of the payload inside the envelope.
    pub output: Option<Value>,
    /// What only a lock holds.
    pub contract: Option<Contract>,
    /// Places of members that have another form than the protocol gives them, with what they should be.
    pub malformed: Vec<(String, &'static str)>,
    /// Members that this code does not know.
    pub rest: Map<String, Value>,
}

/// MCP's behaviour hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hints {
    /// `readOnlyHint`.
    pub read_only: bool,
    /// `destructiveHint`.
    pub destructive: bool,
    /// `idempotentHint`.
    pub idempotent: bool,
    /// `openWorldHint`.
    pub open_world: bool,
}

/// `execution.taskSupport` of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSupport {
    /// It runs as a plain call only.
    #[default]
    Forbidden,
    /// The client chooses.
    Optional,
    /// It runs as a task only.
    Required,
}

/// What a lock holds of a tool beyond its entry in `tools/list`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Contract {
    /// Its domain.
    pub domain: String,
    /// The toolset by which operators offer it.
    #[serde(default)]
    pub toolset: Option<String>,
    /// Where its replies put errors.
    pub pattern: ErrorPattern,
    /// It writes to the store.
    pub mutates: bool,
    /// It talks to the outside.
    #[serde(default)]
    pub network: bool,
    /// It answers without a store.
    #[serde(default)]
    pub storeless: bool,
    /// Arguments that hold secrets.
    #[serde(default)]
    pub sensitive: Vec<String>,
    /// Rules across fields.
    #[serde(default)]
    pub rules: Vec<Value>,
    /// The reply's schema with an empty payload.
    #[serde(default, rename = "envelope")]
    pub frame: Value,
    /// Errors it answers with.
    #[serde(default)]
    pub errors: Vec<ToolError>,
    /// What clients may rely on.
    pub stability: Stability,
    /// The first version that may lack it.
    #[serde(default)]
    pub sunset: Option<String>,
    /// A setting that makes inputs optional.
    #[serde(default)]
    pub relaxed: Option<Relaxed>,
}

/// Where an error stands in the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum ErrorPattern {
    /// `ok: false`, `isError: true`.
    A,
    /// `ok: true`, `data.ok: false`.
    B,
    /// `isError: true`, the error's own code with its fields beside it.
    C,
}

/// How far a tool's shape is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    /// Changes only with a major version.
    Stable,
    /// May change with a minor version.
    Beta,
    /// May change at any time.
    Experimental,
}

impl Contract {
    /// Returns whether results stand in the reply as they are, without an envelope. `None` if the lock does not tell.
    pub(crate) fn is_plain(&self) -> Option<bool> {
        self.frame.as_object().map(Map::is_empty)
    }
}

/// A tool's input under a setting of the server.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Relaxed {
    /// The setting.
    pub setting: String,
    /// Its value.
    pub value: String,
    /// Schema of the arguments then.
    pub input: Value,
}

/// An error a tool answers with.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolError {
    /// The code.
    pub code: String,
    /// The form of its message.
    pub message: String,
    /// Whether a Pattern A message starts with the code.
    #[serde(default = "yes")]
    pub prefix: bool,
    /// Schemas of its details, by name; all are always present.
    #[serde(default)]
    pub fields: Map<String, Value>,
    /// What the model is told to do about it.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Calls that the model is told to make.
    #[serde(default)]
    pub next: Vec<Value>,
}

fn yes() -> bool {
    true
}

/// One of the call chain's codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainCode {
    /// When it is used.
    pub role: String,
    /// The code.
    pub code: String,
    /// The form of its message.
    pub message: String,
    /// How it reaches the client: as a result, as a JSON-RPC error with this number, …
    pub answered: Option<String>,
    /// What the model is told to do about it.
    pub remedy: Option<String>,
}

impl Snapshot {
    /// Reads a state of any kind: a lock, a server's answers, a snapshot file, or JSON Lines of messages.
    ///
    /// # Errors
    /// The text has another form, or a snapshot file that was changed after it was captured.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let text = text.trim_start_matches('\u{feff}');
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.get("lock").is_some() => from_lock(text),
            _ => from_tools_list(text),
        }
    }

    /// Returns whether it was read from a lock, not from a server's answers.
    #[cfg(feature = "cli")]
    #[must_use]
    pub(crate) fn is_lock(&self) -> bool {
        self.chain.is_some()
    }

    /// Returns the tool of a name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
