//! What is measured: a server's command, its variables, and how it wants to be asked.

use std::path::Path;

/// The tools that every server under measure has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// `server_ping`
    Ping,
    /// `task_create`
    Task,
    /// `thought_record`
    Thought,
}

impl Tool {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Ping, Self::Task, Self::Thought];

    /// The name that is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ping => "server_ping",
            Self::Task => "task_create",
            Self::Thought => "thought_record",
        }
    }

    /// The tool of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// Where a database lies and whether calls wait for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// On a memory file system, without syncs.
    Memory,
    /// On a disk, synced before each answer.
    Disk,
}

impl Setting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Memory, Self::Disk];

    /// As a heading has it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Memory => "no sync, memory file system",
            Self::Disk => "full durability, disk",
        }
    }
}

/// The arguments of a call: `{n}` is its number.
#[derive(Debug, Clone)]
pub struct Shapes {
    /// Of `task_create`.
    pub task: String,
    /// Of `thought_record`.
    pub thought: String,
}

impl Default for Shapes {
    /// Colibri's own, which the peer of this repository takes as well.
    fn default() -> Self {
        Self {
            task: r#"{"title":"Task {n}","project_id":"bench","priority":"high"}"#.to_owned(),
            thought: r#"{"type":"decision","task_id":"bench","agent_id":"bench","content":"Thought {n}: keep the simple design","session_id":"bench"}"#
                .to_owned(),
        }
    }
}

/// A server.
#[derive(Debug, Clone)]
pub struct Target {
    /// As tables have it.
    pub name: String,
    /// Run by `sh -c exec`.
    pub command: String,
    /// Its variables; `{folder}` is the run's own folder.
    pub variables: Vec<(String, String)>,
    /// How it wants to be asked.
    pub shapes: Shapes,
    /// It is Colibri, not a peer.
    pub ours: bool,
}

impl Target {
    /// Colibri.
    pub fn colibri(command: &str) -> Self {
        let variables = [("COLIBRI_DB_PATH", "{folder}/colibri.db"), ("COLIBRI_LOG_LEVEL", "info")];
        Self::new("colibri", command, &variables, Shapes::default(), true)
    }

    /// A peer that takes the variables of `tests/benches/peer`.
    pub fn peer(name: &str, command: &str, variables: &[(&str, &str)], shapes: Shapes) -> Self {
        let mut all = vec![("PEER_DB", "{folder}/peer.db"), ("PEER_PING_AUDIT", "1")];
        all.extend_from_slice(variables);
        Self::new(name, command, &all, shapes, false)
    }

    /// A server that keeps nothing.
    pub fn new(name: &str, command: &str, variables: &[(&str, &str)], shapes: Shapes, ours: bool) -> Self {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let variables = variables.iter().map(owned).collect();
        Self { name: name.to_owned(), command: command.to_owned(), variables, shapes, ours }
    }

    /// The variables for a run in that folder.
    pub fn variables_in(&self, folder: &Path, setting: Setting) -> Vec<(String, String)> {
        let folder = folder.to_string_lossy();
        let filled = |(key, value): &(String, String)| (key.clone(), value.replace("{folder}", &folder));
        let mut variables: Vec<_> = self.variables.iter().map(filled).collect();
        let durability = match (self.ours, setting) {
            (true, Setting::Memory) => ("COLIBRI_DURABILITY", "normal"),
            (true, Setting::Disk) => ("COLIBRI_DURABILITY", "full"),
            (false, Setting::Memory) => ("PEER_SYNC", "NORMAL"),
            (false, Setting::Disk) => ("PEER_SYNC", "FULL"),
        };
        variables.push((durability.0.to_owned(), durability.1.to_owned()));
        variables
    }

    /// The arguments of call number `n`.
    pub fn arguments(&self, tool: Tool, n: usize) -> String {
        let shape = match tool {
            Tool::Ping => "{}",
            Tool::Task => &self.shapes.task,
            Tool::Thought => &self.shapes.thought,
        };
        shape.replace("{n}", &n.to_string())
    }
}
