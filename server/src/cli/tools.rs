//! `colibri tools`: the tools of the catalogue, and which modes list them.

use std::io::Write;

use serde_json::Value;

use super::Failure;
use super::output::print_json;
use crate::catalogue::CATALOGUE;
use crate::settings::config::load_config;
use crate::settings::environment::Environment;
use crate::settings::keys;
use crate::settings::mode::{Mode, is_listed};
use crate::settings::toolsets::offered;
use colibri_runtime::chain::selection::Selection;
use colibri_runtime::spec::ToolSpec;

/// Prints the tools, as a table or as `tools/list` publishes them.
pub fn run(json: bool, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    // If the settings are wrong, the tools are shown without them, because the list shows the words that a setting may have.
    let (config, problems) = match load_config(env, std::process::id()) {
        Ok((config, _)) => (Some(config), Vec::new()),
        Err(problems) => (None, problems),
    };
    let (chosen, mode) =
        config.as_ref().map_or((Selection::All, Mode::Full), |config| (config.tools.clone(), config.mode));
    let word = |name: &str| config.as_ref()?.word(name);
    if json {
        print_json(out, &listings(&chosen, mode, &word)?)?;
    } else {
        table(&chosen, mode, out)?;
    }
    out.flush()?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "these are all tools, because the settings are wrong: {}",
        problems.join("; ")
    )))
}

/// Returns the entries of `tools/list`, as a server with these settings publishes them.
fn listings(
    chosen: &Selection,
    mode: Mode,
    word: &dyn Fn(&str) -> Option<&'static str>,
) -> Result<Vec<Value>, Failure> {
    let selection = offered(chosen, mode, &CATALOGUE);
    listed(&selection, mode).map(|tool| parse(&selection.listing(tool.under(word)))).collect()
}

/// Returns the tools that a server in a mode lists.
fn listed(selection: &Selection, mode: Mode) -> impl Iterator<Item = &'static ToolSpec> {
    CATALOGUE.tools.iter().filter(move |tool| selection.holds(tool) && is_listed(mode, tool))
}

fn parse(listing: &str) -> Result<Value, Failure> {
    serde_json::from_str(listing)
        .map_err(|error| Failure::Failed(format!("the compiled catalogue is damaged: {error}")))
}

fn table(chosen: &Selection, mode: Mode, out: &mut dyn Write) -> Result<(), Failure> {
    let widest = |names: &mut dyn Iterator<Item = &str>| names.map(str::len).max().unwrap_or(0);
    let width = widest(&mut CATALOGUE.tools.iter().map(|tool| tool.name)).max("TOOL".len());
    let set_width = widest(&mut CATALOGUE.toolsets.iter().map(|set| set.name)).max("TOOLSET".len());
    let modes = Mode::ALL.map(Mode::as_str).join("  ");
    let selections = Mode::ALL.map(|mode| (mode, offered(chosen, mode, &CATALOGUE)));
    writeln!(out, "{:width$}  {:set_width$}  {modes}  DESCRIPTION", "TOOL", "TOOLSET")?;
    for tool in CATALOGUE.tools {
        write!(out, "{:width$}  {:set_width$}", tool.name, tool.toolset.unwrap_or("-"))?;
        for (mode, selection) in &selections {
            let is_listed = selection.holds(tool) && is_listed(*mode, tool);
            write!(out, "  {:column$}", if is_listed { "yes" } else { "-" }, column = mode.as_str().len())?;
        }
        writeln!(out, "  {}", first_sentence(&parse(tool.listing)?))?;
    }
    writeln!(out)?;
    for set in CATALOGUE.toolsets {
        let count = CATALOGUE.tools.iter().filter(|tool| tool.toolset == Some(set.name)).count();
        writeln!(out, "{:set_width$}  {count:2} tools  {}", set.name, set.description)?;
    }
    let count = listed(&offered(chosen, mode, &CATALOGUE), mode).count();
    let (setting, name) = (keys::TOOLS.name, keys::MODE.name);
    writeln!(
        out,
        "\n{setting} names the toolsets and tools that clients are offered, and {name} ({mode}) leaves out what cannot succeed: {count} of {}.",
        CATALOGUE.tools.len()
    )?;
    writeln!(out, "`colibri tools --json` prints the schemas; `colibri call TOOL JSON` calls one.")?;
    Ok(())
}

/// Returns the first sentence of a tool's description.
fn first_sentence(listing: &Value) -> &str {
    let text = listing.get("description").and_then(Value::as_str).unwrap_or_default();
    text.find(". ").map_or(text, |end| &text[..=end])
}
