//! `colibri-codegen test`: runs the examples of a catalogue against a command that speaks MCP over stdin and stdout.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use colibri_codegen::catalogue::Tool;
use colibri_codegen::examples::{Kit, Outcome};

use crate::{Failure, load, print};

/// What to run, and against what.
#[derive(Args)]
#[command(after_help = "Examples:
  colibri-codegen test catalogue -- ./target/debug/counter
  colibri-codegen test catalogue -- ./target/debug/files {folder}
  colibri-codegen test catalogue --tool note_add -- node server.js

Exit codes: 0 every reply is the documented one, 1 findings or a reply that differs, 2 bad command line or unreadable input.")]
pub struct Arguments {
    /// The catalogue's folder.
    #[arg(default_value = "catalogue", value_name = "DIR")]
    folder: PathBuf,
    /// Run the examples of this tool only.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// How many seconds the server's start and each of its replies may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// The command. It is started anew for each example; `{folder}` in it stands for a folder that is empty then.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the examples, and prints a line for each.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let catalogue = load(&arguments.folder)?;
    let findings = colibri_codegen::check(&catalogue);
    if !findings.is_empty() {
        return Err(Failure::Findings(findings));
    }
    let wanted = |tool: &&Tool| arguments.tool.as_ref().is_none_or(|name| tool.name == *name);
    let tools: Vec<&Tool> = catalogue.tools().map(|entry| entry.tool).filter(wanted).collect();
    if let (Some(name), true) = (&arguments.tool, tools.is_empty()) {
        let message = format!("the catalogue has no tool `{name}`; leave out --tool to run all examples");
        return Err(Failure::Unusable(message));
    }
    if tools.iter().all(|tool| tool.examples.is_empty()) {
        let message = "there is no example to run; write some below `examples:` of a tool".to_owned();
        return Err(Failure::Unusable(message));
    }
    let kit = Kit::new(&arguments.command).with_timeout(Duration::from_secs(arguments.timeout));
    let (mut equal, mut different) = (0_usize, 0_usize);
    for tool in tools {
        for example in &tool.examples {
            let label = format!("{}: {}", tool.name, example.title);
            match kit.run(&catalogue, tool, example).map_err(Failure::Unusable)? {
                Outcome::Equal => {
                    equal += 1;
                    print(&format!("ok    {label}\n"))?;
                }
                Outcome::Different(how) => {
                    different += 1;
                    print(&format!("FAIL  {label}\n       {how}\n"))?;
                }
                Outcome::Skipped => {
                    print(&format!("skip  {label} (an operation, which no client can call)\n"))?
                }
            }
        }
    }
    print(&format!("{equal} as documented, {different} different\n"))?;
    if different == 0 { Ok(()) } else { Err(Failure::Reported) }
}
