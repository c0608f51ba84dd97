//! The hosts that `colibri init` knows: where each keeps its configuration, and how a block looks there. The blocks of
//! `docs/guide/hosts.md` are compared with what the command prints (`tests/house/hosts.rs`).

use serde_json::{Map, Value, json};

/// The name of the server in a host's configuration.
pub const SERVER: &str = "colibri";

/// A program that starts MCP servers.
pub struct Host {
    /// What `--host` takes.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Where its configuration is.
    pub place: Place,
    /// How a block looks there.
    pub form: Form,
    /// The file of a project that tells its agents what to do.
    pub reads: &'static str,
}

/// What most hosts read (https://agents.md).
pub const AGENTS: &str = "AGENTS.md";
/// What Claude Code reads first.
pub const CLAUDE: &str = "CLAUDE.md";

/// Where a host keeps the configuration of a user.
pub enum Place {
    /// A file below the home folder.
    Home(&'static str),
    /// The first of these files below `~/.config` that is there, else the first.
    Config(&'static [&'static str]),
    /// A file below the folder that the system gives to programs with windows: `~/.config`, on macOS `~/Library/Application Support`.
    Application(&'static str),
    /// A dialog; the host is installed if this folder is there, which is below the one of [`Place::Application`].
    Dialog(&'static str),
}

/// How a block looks.
pub enum Form {
    /// JSON: the object with this name has a member for each server.
    Json(&'static str, Entry),
    /// TOML: a table for each server, below the table with this name.
    Toml(&'static str),
}

/// The members of a server in JSON.
pub enum Entry {
    /// `command`, `args`, `env`.
    Plain,
    /// The same behind `"type": "stdio"`.
    Typed,
    /// Command and arguments are one list, and the variables are called `environment`.
    OneList,
}

const PLAIN: Form = Form::Json("mcpServers", Entry::Plain);

/// The table, in the order of the guide.
pub const HOSTS: [Host; 10] = [
    // https://code.claude.com/docs/en/mcp: servers of the scope `user` are in ~/.claude.json.
    Host {
        name: "claude-code",
        title: "Claude Code",
        place: Place::Home(".claude.json"),
        form: Form::Json("mcpServers", Entry::Typed),
        reads: CLAUDE,
    },
    // https://modelcontextprotocol.io/quickstart/user
    Host {
        name: "claude-desktop",
        title: "Claude Desktop",
        place: Place::Application("Claude/claude_desktop_config.json"),
        form: PLAIN,
        reads: AGENTS,
    },
    // https://cursor.com/docs/mcp
    Host {
        name: "cursor",
        title: "Cursor",
        place: Place::Home(".cursor/mcp.json"),
        form: PLAIN,
        reads: AGENTS,
    },
    // https://code.visualstudio.com/docs/agents/reference/mcp-configuration
    Host {
        name: "vscode",
        title: "VS Code",
        place: Place::Application("Code/User/mcp.json"),
        form: Form::Json("servers", Entry::Typed),
        reads: AGENTS,
    },
    // https://developers.openai.com/codex/mcp
    Host {
        name: "codex",
        title: "Codex CLI",
        place: Place::Home(".codex/config.toml"),
        form: Form::Toml("mcp_servers"),
        reads: AGENTS,
    },
    // https://geminicli.com/docs/tools/mcp-server
    Host {
        name: "gemini",
        title: "Gemini CLI",
        place: Place::Home(".gemini/settings.json"),
        form: PLAIN,
        reads: "GEMINI.md",
    },
    // https://zed.dev/docs/ai/mcp: `source`, which earlier versions asked for, is gone.
    Host {
        name: "zed",
        title: "Zed",
        place: Place::Config(&["zed/settings.json"]),
        form: Form::Json("context_servers", Entry::Plain),
        reads: AGENTS,
    },
    // https://docs.devin.ai/desktop/cascade/mcp: Windsurf is called Devin Desktop now and keeps this file.
    Host {
        name: "windsurf",
        title: "Windsurf",
        place: Place::Home(".codeium/windsurf/mcp_config.json"),
        form: PLAIN,
        reads: AGENTS,
    },
    // https://www.jetbrains.com/help/ai-assistant/mcp.html
    Host {
        name: "jetbrains",
        title: "JetBrains IDEs",
        place: Place::Dialog("JetBrains"),
        form: PLAIN,
        reads: AGENTS,
    },
    // https://opencode.ai/docs/mcp-servers; version 2 reads the same: https://opencode.ai/docs/migrate-v1
    Host {
        name: "opencode",
        title: "opencode",
        place: Place::Config(&["opencode/opencode.json", "opencode/opencode.jsonc"]),
        form: Form::Json("mcp", Entry::OneList),
        reads: AGENTS,
    },
];

impl Entry {
    /// Returns the members of the server that this command starts with these variables.
    pub fn of(&self, command: &str, variables: &[(&'static str, String)]) -> Value {
        let env: Map<String, Value> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        match self {
            Self::Plain => json!({ "command": command, "args": [], "env": env }),
            Self::Typed => json!({ "type": "stdio", "command": command, "args": [], "env": env }),
            Self::OneList => {
                json!({ "type": "local", "command": [command], "environment": env, "enabled": true })
            }
        }
    }

    /// Returns a whole file of JSON with nothing but this server.
    pub fn alone(&self, servers: &str, entry: &Value) -> Value {
        let servers = (servers.to_owned(), json!({ SERVER: entry }));
        let schema = ("$schema".to_owned(), json!("https://opencode.ai/config.json"));
        match self {
            Self::OneList => Value::Object([schema, servers].into_iter().collect()),
            Self::Plain | Self::Typed => Value::Object([servers].into_iter().collect()),
        }
    }
}

/// Returns the tables of TOML for the server that this command starts with these variables.
pub fn tables(servers: &str, command: &str, variables: &[(&'static str, String)]) -> String {
    // What JSON escapes in a text, a basic string of TOML escapes in the same way.
    let text = |text: &str| json!(text).to_string();
    let name = format!("{servers}.{SERVER}");
    let head = format!("[{name}]\ncommand = {}\nargs = []\n\n[{name}.env]\n", text(command));
    variables.iter().fold(head, |tables, (name, value)| tables + &format!("{name} = {}\n", text(value)))
}
