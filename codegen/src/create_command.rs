//! `init` and `new`: a catalogue from a server's surface, and a project from nothing.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use colibri_codegen::import::{self, Surface};
use colibri_codegen::project::{self, Source};
use colibri_drift::command::Server;

use super::{Failure, print};

/// Arguments of `init`.
#[derive(Args)]
#[command(
    after_help = "A file is a snapshot of mcp-drift, an answer to `tools/list`, bare or as a JSON-RPC response, a list of tools, or messages, one a line.
A folder holds one file a tool. A server is asked once.

Examples:
  colibri-codegen init --from tools.json --out catalogue
  colibri-codegen init -- node dist/index.js"
)]
pub(super) struct Init {
    /// The file or folder with the server's answers.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["command", "url"], conflicts_with_all = ["command", "url"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    server: Server,
    /// The folder of the catalogue; it is made, or is empty.
    #[arg(long, value_name = "DIR", default_value = "catalogue")]
    out: PathBuf,
}

/// Arguments of `new`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  colibri-codegen new my-server\n  colibri-codegen new ../my-server --path ."
)]
pub(super) struct New {
    /// The project's folder; its last part is the project's name.
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// A checkout of the repository to build against, in place of the published crates.
    #[arg(long, value_name = "CHECKOUT")]
    path: Option<PathBuf>,
}

pub(super) fn init(arguments: &Init) -> Result<(), Failure> {
    let unusable = |path: &Path, reason: &dyn std::fmt::Display| {
        Failure::Unusable(format!("{}: {reason}", path.display()))
    };
    let surface = match &arguments.from {
        Some(from) => {
            let text = colibri_drift::command::read(from).map_err(Failure::Unusable)?;
            Surface::read(&text).map_err(|error| unusable(from, &error))
        }
        None => Surface::read(&arguments.server.ask()?.to_string()).map_err(Failure::Unusable),
    }?;
    let made =
        import::catalogue(&surface, &arguments.out).map_err(|error| unusable(&arguments.out, &error))?;
    print(&summary(&made, &arguments.out))?;
    if made.findings.is_empty() { Ok(()) } else { Err(Failure::Findings(made.findings)) }
}

fn summary(made: &import::Imported, folder: &Path) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let (tools, notes) = (made.tools, made.notes.len());
    let mut text = format!("written  {}: {tools} tool{}, no text changed\n", folder.display(), plural(tools));
    if notes > 0 {
        text.push_str(&format!(
            "{notes} thing{} a catalogue cannot express; each is a comment at its entry:\n",
            plural(notes)
        ));
    }
    for note in &made.notes {
        let what: String = note.text.chars().take(120).collect();
        text.push_str(&format!("  {}: {what}\n", note.tool.as_deref().unwrap_or("the server")));
    }
    text
}

pub(super) fn new(arguments: &New) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let unusable = |reason: String| Failure::Unusable(format!("{}: {reason}", folder.display()));
    let name = folder.file_name().and_then(|name| name.to_str());
    let name =
        name.ok_or_else(|| unusable("name a folder; its last part becomes the project's name".to_owned()))?;
    let checkout = arguments.path.as_deref().map(checkout).transpose()?;
    let source = checkout.as_deref().map_or(Source::Registry, Source::Checkout);
    let files = project::files(name, source).map_err(Failure::Unusable)?;
    if folder.exists() {
        return Err(unusable("is there already; take another name, or remove it".to_owned()));
    }
    for (path, text) in files {
        let path = folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| Failure::Unusable(format!("{}: {error}", path.display())))?;
        print(&format!("written  {}\n", path.display()))?;
    }
    print(&format!("README.md in {} says how to run it\n", folder.display()))
}

/// The checkout by its full path: the project may lie anywhere.
fn checkout(path: &Path) -> Result<PathBuf, Failure> {
    let unusable = |reason: String| Failure::Unusable(format!("{}: {reason}", path.display()));
    let full = path.canonicalize().map_err(|error| unusable(error.to_string()))?;
    if !full.join("codegen/runtime/Cargo.toml").is_file() {
        return Err(unusable(
            "is not a checkout of the repository; it lacks codegen/runtime/Cargo.toml".to_owned(),
        ));
    }
    Ok(full)
}
