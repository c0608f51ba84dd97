//! `mcp-drift snapshot`: what a server tells its clients, as a file for the repository.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::server::{Captured, Server};
use super::{Answer, Failure, input};

/// What to capture, and where to write it.
#[derive(Debug, Args)]
#[command(
    after_help = "The server is asked twice. What it changes between two starts, such as a time in a description, is named on stderr
and left out; the snapshot lists these places under `varies`, and no comparison with it looks at them.
A snapshot with the value of a --header or of a variable such as API_TOKEN is refused.

Examples:
  mcp-drift snapshot -o mcp.snapshot.json -- node dist/index.js
  mcp-drift snapshot -o mcp.snapshot.json --timeout 60 -- npx -y my-server --stdio
  mcp-drift snapshot --url http://127.0.0.1:8000/mcp --header \"Authorization: Bearer $TOKEN\"
  mcp-drift snapshot --era handshake -- ./my-server

Exit codes: 0 captured, 2 bad command line or no answer, 130 interrupted."
)]
pub struct Arguments {
    /// Write the snapshot to this file [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: Server,
}

/// Captures a server's surface, and writes or returns it.
///
/// # Errors
/// The server has no whole answer, or the file cannot be written.
pub fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let captured = arguments.server.capture(arguments.server.era)?;
    let text = Server::file(&captured);
    let text = match &arguments.output {
        None => text,
        Some(file) => {
            input::write(file, &text)?;
            format!("{}: {}\n", file.display(), summary(&captured))
        }
    };
    let notes = captured.note("the snapshot leaves them out").into_iter().collect();
    Ok(Answer { text, notes, passes: true })
}

/// `everything 2.0.0, asked by initialize: 13 tools, 4 prompts, 10 resources`.
pub(super) fn summary(captured: &Captured) -> String {
    let [content, _] = &captured.contents;
    let about = content.get(captured.era.greeting()).and_then(|greeting| greeting.get("serverInfo"));
    let about = |name: &str| about.and_then(|about| about.get(name)).and_then(Value::as_str);
    let name = match (about("name"), about("version")) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        (name, _) => name.unwrap_or("a server without a name").to_owned(),
    };
    let mut counts = Vec::new();
    for (list, one, more) in [
        ("tools", "tool", "tools"),
        ("prompts", "prompt", "prompts"),
        ("resources", "resource", "resources"),
        ("resourceTemplates", "template of resources", "templates of resources"),
    ] {
        let count = content.get(list).and_then(Value::as_array).map_or(0, Vec::len);
        if count > 0 || list == "tools" {
            counts.push(format!("{count} {}", if count == 1 { one } else { more }));
        }
    }
    format!("{name}, asked by {}: {}", captured.era.greeting(), counts.join(", "))
}
