//! What `mcp-drift` and `colibri-codegen drift` share: two files become two states, and a verdict becomes a report.

use std::path::Path;

use clap::{Args, ValueEnum};

use crate::config::today;
use crate::report::{self, Location, Names};
use crate::{Config, Finding, Snapshot, Unreadable, Verdict};

/// The file with a team's settings, which is read where the command runs, if it is there.
pub const CONFIG: &str = "mcp-drift.yaml";

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
    /// A YAML file with the member `drift:`.
    pub waivers: Option<&'a Path>,
    /// A file with settings; without it, and without `waivers`, [`CONFIG`] is read if it is there.
    pub config: Option<&'a Path>,
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
        let (config, waivers) = settings(self.config, self.waivers)?;
        let snapshot = |file: &Path| -> Result<Snapshot, String> {
            parse(&read(file)?).map_err(|error| format!("{}: {error}", file.display()))
        };
        let name = |file: &Path| file.display().to_string();
        let names = Names {
            old: name(self.old),
            new: name(self.new),
            version: None,
            waivers,
            below_drift: self.waivers.is_some(),
        };
        Ok(Task { old: snapshot(self.old)?, new: snapshot(self.new)?, config, touched: true, names })
    }
}

/// Reads the settings: from a file with the member `drift:`, from the file that is named, or from [`CONFIG`] if it is there. Returns
/// them with the name of the file.
///
/// # Errors
/// A file cannot be read, or holds something unknown; the message names file and line.
pub fn settings(config: Option<&Path>, waivers: Option<&Path>) -> Result<(Config, Option<String>), String> {
    let usual = Path::new(CONFIG);
    let config = config.or_else(|| (waivers.is_none() && usual.exists()).then_some(usual));
    let (file, read_as): (_, fn(&str) -> _) = match (waivers, config) {
        (Some(file), _) => (file, Config::parse_head),
        (None, Some(file)) => (file, Config::parse),
        (None, None) => return Ok((Config { today: Some(today()), ..Config::default() }, None)),
    };
    let config = read_as(&read(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok((Config { today: Some(today()), ..config }, Some(file.display().to_string())))
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}
