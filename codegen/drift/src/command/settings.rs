//! What a team decides, as the command line names it.

use std::path::{Path, PathBuf};

use clap::Args;

use super::input;
use crate::Config;
use crate::config::today;

/// The file that is read where the command runs, if it is there.
const USUAL: &str = "mcp-drift.yaml";

/// Which file has the settings and waivers.
#[derive(Debug, Args)]
pub struct Settings {
    /// A file with settings and waivers [default: mcp-drift.yaml of this folder, if it is there].
    #[arg(long, value_name = "FILE", conflicts_with = "waivers")]
    config: Option<PathBuf>,
    /// A file with settings and waivers below `drift:`, as the head of a catalogue has them.
    #[arg(long, value_name = "FILE")]
    waivers: Option<PathBuf>,
}

impl Settings {
    /// Returns whether a file is named.
    #[must_use]
    pub const fn are_named(&self) -> bool {
        self.config.is_some() || self.waivers.is_some()
    }

    /// Returns whether they are a member of their file, with other members beside it.
    pub(super) const fn below_drift(&self) -> bool {
        self.waivers.is_some()
    }

    /// Reads the settings. Returns them with the name of the file, if there is one.
    pub(super) fn read(&self) -> Result<(Config, Option<String>), String> {
        let usual = Path::new(USUAL);
        let (file, parse): (_, fn(&str) -> _) = match (&self.waivers, &self.config) {
            (Some(file), _) => (file.as_path(), Config::parse_head),
            (None, Some(file)) => (file.as_path(), Config::parse),
            (None, None) if usual.exists() => (usual, Config::parse),
            (None, None) => return Ok((Config { today: Some(today()), ..Config::default() }, None)),
        };
        let config =
            parse(&input::read_file(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok((Config { today: Some(today()), ..config }, Some(file.display().to_string())))
    }
}
