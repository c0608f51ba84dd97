//! The subcommands of `mcp-drift`, one a file, and what they share with `colibri-codegen drift`: two files become two states, and a
//! verdict becomes a report.

pub mod check;
pub mod compare;
mod input;
pub mod lint;
mod outcome;
pub mod rules;
mod server;
mod settings;
pub mod snapshot;

use std::path::Path;

pub use input::read;
pub use outcome::{Answer, Failure};
pub use server::Server;
pub use settings::Settings;

use clap::{Args, ValueEnum};

use crate::report::{self, Location, Names};
use crate::{Config, Finding, Snapshot, Unreadable, Verdict};

/// The form of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people in a terminal.
    #[default]
    Text,
    /// For a comment of a pull request, at most 60,000 characters.
    Markdown,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for CI systems.
    Junit,
    /// GitHub workflow commands, which appear in the diff.
    Github,
}

/// How the report is printed.
#[derive(Debug, Args)]
pub struct Form {
    /// The form of the report.
    #[arg(long, value_enum, value_name = "FORM", default_value_t)]
    format: Format,
}

impl Form {
    /// Returns the report in this form. `place` finds the place of a finding in the files, if it has one.
    #[must_use]
    pub fn report(
        &self,
        verdict: &Verdict,
        names: &Names,
        place: &dyn Fn(&Finding) -> Option<Location>,
    ) -> String {
        // Escaped as JSON first, because the terminal's escapes are not JSON.
        let escaped = |json: String| colibri_visible::json(&json).into_owned();
        match self.format {
            Format::Text => report::text(verdict, names),
            Format::Markdown => report::markdown(verdict, names),
            Format::Json => escaped(report::json(verdict, names)),
            Format::Sarif => escaped(report::sarif(verdict, names, place)),
            Format::Junit => report::junit(verdict, names),
            Format::Github => report::annotations(verdict, place),
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
    /// What the team decides.
    pub settings: &'a Settings,
}

/// Two states to judge, and what reports call them.
#[derive(Debug)]
pub struct Task {
    /// The old state.
    pub old: Snapshot,
    /// The new state.
    pub new: Snapshot,
    /// What the team decides.
    pub config: Config,
    /// Whether the change touches the tools at all; [`judge`](crate::judge) says why it matters.
    pub touched: bool,
    /// What reports call the states.
    pub names: Names,
}

impl Task {
    /// Returns the verdict on the two states.
    #[must_use]
    pub fn judge(&self) -> Verdict {
        crate::judge_by(&self.old, &self.new, &self.config, self.touched)
    }
}

impl Files<'_> {
    /// Reads the two files with the given parsers, and the settings.
    ///
    /// # Errors
    /// A file cannot be read, or is of another kind; the message names it.
    pub fn read(&self, parse: &dyn Fn(&str) -> Result<Snapshot, Unreadable>) -> Result<Task, String> {
        let (config, waivers) = self.settings.read()?;
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
            waivers,
            below_drift: self.settings.below_drift(),
        };
        Ok(Task { old, new, config, touched: true, names })
    }
}
