//! The subcommands of `mcp-drift`, one a file, and what they share with `colibri-codegen drift`: two files become two states, and a
//! verdict becomes a report.

pub mod check;
pub mod compare;
mod input;
pub mod lint;
mod outcome;
pub mod rules;
mod server;
pub mod snapshot;

use std::path::Path;

pub use outcome::{Answer, Failure};

use clap::Args;

use crate::report::{self, Location, Names};
use crate::{Finding, Snapshot, Unreadable, Verdict, Waiver, waivers};

/// The form of the report.
#[derive(Debug, Args)]
pub struct Form {
    /// Print JSON.
    #[arg(long, group = "form")]
    json: bool,
    /// Print Markdown, for a comment of a pull request.
    #[arg(long, group = "form")]
    markdown: bool,
    /// Print GitHub workflow commands, which appear in the diff.
    #[arg(long, group = "form")]
    annotations: bool,
}

impl Form {
    /// Returns the report in this form; without one, as text. `place` finds the place of a finding in the files, if it has one.
    #[must_use]
    pub fn report(
        &self,
        verdict: &Verdict,
        names: &Names,
        place: &dyn Fn(&Finding) -> Option<Location>,
    ) -> String {
        if self.json {
            // Escaped as JSON first, because the terminal's escapes are not JSON.
            colibri_visible::json(&report::json(verdict, names)).into_owned()
        } else if self.markdown {
            report::markdown(verdict, names)
        } else if self.annotations {
            report::annotations(verdict, place)
        } else {
            report::text(verdict, names)
        }
    }
}

/// Two files to compare.
#[derive(Debug)]
pub struct Files<'a> {
    /// The old state.
    pub old: &'a Path,
    /// The new state.
    pub new: &'a Path,
    /// A YAML file with waivers.
    pub waivers: Option<&'a Path>,
}

/// Two states to judge, and what reports call them.
#[derive(Debug)]
pub struct Task {
    /// The old state.
    pub old: Snapshot,
    /// The new state.
    pub new: Snapshot,
    /// Findings that were accepted.
    pub waivers: Vec<Waiver>,
    /// Whether the change touches the tools at all; [`judge`](crate::judge) says why it matters.
    pub touched: bool,
    /// What reports call the states.
    pub names: Names,
}

impl Task {
    /// Returns the verdict on the two states.
    #[must_use]
    pub fn judge(&self) -> Verdict {
        crate::judge(&self.old, &self.new, &self.waivers, self.touched)
    }
}

impl Files<'_> {
    /// Reads the two files with the given parsers, and the waivers.
    ///
    /// # Errors
    /// A file cannot be read, or is of another kind; the message names it.
    pub fn read(&self, parse: &dyn Fn(&str) -> Result<Snapshot, Unreadable>) -> Result<Task, String> {
        let snapshot = |file: &Path, text: &str| -> Result<Snapshot, String> {
            parse(text).map_err(|error| format!("{}: {error}", file.display()))
        };
        let (before, after) = (input::read(self.old)?, input::read(self.new)?);
        let old = snapshot(self.old, &before)?;
        let mut new = snapshot(self.new, &after)?;
        // What the old snapshot leaves out, since its server changes it from start to start, is not compared.
        let varying = crate::snapshot::file::varying(&before);
        if !varying.is_empty() {
            new = snapshot(self.new, &crate::snapshot::file::without(&after, &varying))?;
        }
        let name = |file: &Path| file.display().to_string();
        let names = Names {
            old: name(self.old),
            new: name(self.new),
            version: None,
            waivers: self.waivers.map(name),
        };
        Ok(Task { old, new, waivers: accepted(self.waivers)?, touched: true, names })
    }
}

/// Reads the waivers of a file, if there is one.
fn accepted(file: Option<&Path>) -> Result<Vec<Waiver>, String> {
    let Some(file) = file else { return Ok(Vec::new()) };
    waivers(&input::read(file)?)
        .ok_or_else(|| format!("{}: not YAML with `drift:` and `waivers:`", file.display()))
}
