//! `colibri tools`: the tools of the catalogue, and which modes admit them.

use std::io::Write;

use serde_json::Value;

use super::Failure;
use super::output::print_json;
use crate::catalogue::CATALOGUE;
use crate::settings::config::load_config;
use crate::settings::environment::Environment;
use crate::settings::mode::{Mode, is_admitted};

/// Prints the tools, as a table or as `tools/list` publishes them.
pub fn run(json: bool, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let listings = listings(env)?;
    if json {
        print_json(out, &listings)?;
    } else {
        table(&listings, out)?;
    }
    Ok(out.flush()?)
}

/// Returns every tool's entry of `tools/list`, as a server with these settings publishes it. If the settings are wrong, the
/// tools are shown without them, since `colibri doctor` reports the errors.
fn listings(env: &Environment) -> Result<Vec<Value>, Failure> {
    let config = load_config(env, std::process::id()).ok().map(|(config, _)| config);
    let word = |name: &str| config.as_ref()?.word(name);
    let parsed: Result<_, _> =
        CATALOGUE.tools.iter().map(|tool| serde_json::from_str(tool.under(&word).listing)).collect();
    parsed.map_err(|error| Failure::Failed(format!("the compiled catalogue is damaged: {error}")))
}

fn table(listings: &[Value], out: &mut dyn Write) -> Result<(), Failure> {
    let width = CATALOGUE.tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0).max("TOOL".len());
    let modes = Mode::ALL.map(Mode::as_str).join("  ");
    writeln!(out, "{:width$}  {modes}  DESCRIPTION", "TOOL")?;
    for (tool, listing) in CATALOGUE.tools.iter().zip(listings) {
        write!(out, "{:width$}", tool.name)?;
        for mode in Mode::ALL {
            let mark = if is_admitted(mode, tool).is_ok() { "yes" } else { "-" };
            write!(out, "  {mark:column$}", column = mode.as_str().len())?;
        }
        writeln!(out, "  {}", first_sentence(listing))?;
    }
    writeln!(out, "\n`colibri tools --json` prints the schemas; `colibri call TOOL JSON` calls one.")?;
    Ok(())
}

/// Returns the first sentence of a tool's description.
fn first_sentence(listing: &Value) -> &str {
    let text = listing.get("description").and_then(Value::as_str).unwrap_or_default();
    text.find(". ").map_or(text, |end| &text[..=end])
}
