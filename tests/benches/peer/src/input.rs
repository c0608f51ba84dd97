//! What the tools take and give: Colibri's names, so that one load fits both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `task_create`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    /// What is to be done.
    #[schemars(length(min = 1, max = 500))]
    pub title: String,
    /// Where it belongs.
    #[schemars(length(max = 128))]
    pub project_id: Option<String>,
    /// How urgent it is.
    pub priority: Option<String>,
}

impl NewTask {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        if !(1..=500).contains(&self.title.chars().count()) {
            return Some("title must have 1 to 500 characters");
        }
        let project = self.project_id.as_ref().map_or(0, |project| project.chars().count());
        (project > 128).then_some("project_id must have at most 128 characters")
    }
}

/// A task as it was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub project_id: Option<String>,
    pub priority: Option<String>,
    pub status: &'static str,
    pub created_at: String,
}

/// What a thought is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Kind {
    Plan,
    Analysis,
    Decision,
    Reflection,
}

impl Kind {
    /// As it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Analysis => "analysis",
            Self::Decision => "decision",
            Self::Reflection => "reflection",
        }
    }
}

/// Arguments of `thought_record`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewThought {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The chain it continues.
    #[schemars(length(min = 1, max = 256))]
    pub task_id: String,
    /// Who thinks.
    #[schemars(length(min = 1, max = 256))]
    pub agent_id: String,
    /// The thought.
    #[schemars(length(min = 1))]
    pub content: String,
    /// The session it is bound to.
    pub session_id: String,
}

impl NewThought {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<&'static str> {
        let name = |text: &str| (1..=256).contains(&text.chars().count());
        if !name(&self.task_id) || !name(&self.agent_id) || !name(&self.session_id) {
            return Some("task_id, agent_id and session_id must have 1 to 256 characters");
        }
        self.content.trim().is_empty().then_some("content must not be blank")
    }
}

/// A thought as it was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct Thought {
    pub id: String,
    pub prev_hash: String,
    pub hash: String,
    pub timestamp: String,
}
