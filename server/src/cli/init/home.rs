//! Where a user's files are.

use std::path::{Path, PathBuf};

use super::hosts::Place;
use crate::cli::Failure;
use crate::settings::environment::Environment;

/// The folders of a user, as far as the environment names them.
pub struct Home {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
}

impl Home {
    /// Reads them from the environment. Relative paths do not count.
    pub fn read(env: &Environment) -> Self {
        let folder = |name| env.get_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME");
        let config = folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        Self { home, config }
    }

    /// Returns a path below the home folder.
    ///
    /// # Errors
    /// [`Failure::Usage`] without one; `instead` says what to do.
    pub fn below(&self, path: &str, instead: &str) -> Result<PathBuf, Failure> {
        match &self.home {
            Some(home) => Ok(home.join(path)),
            None => Err(Failure::Usage(format!("HOME is not set to an absolute path; set it, or {instead}"))),
        }
    }

    /// Returns where a host's configuration is or should be; `None` without a home.
    pub fn file(&self, place: &Place) -> Option<PathBuf> {
        let below = |folder: Option<PathBuf>, path: &str| Some(folder?.join(path));
        match place {
            Place::Home(path) => below(self.home.clone(), path),
            Place::Config(paths) => {
                let files = paths.iter().filter_map(|path| below(self.config.clone(), path));
                let mut files: Vec<PathBuf> = files.collect();
                let there = files.iter().position(|file| file.symlink_metadata().is_ok()).unwrap_or(0);
                (!files.is_empty()).then(|| files.swap_remove(there))
            }
            Place::Application(path) | Place::Dialog(path) => below(self.applications(), path),
        }
    }

    /// Checks whether the host's configuration is there, or a folder that the host makes.
    pub fn has(&self, place: &Place, file: &Path) -> bool {
        let folder = match place {
            Place::Dialog(_) => Some(file.to_owned()),
            // In the home folder itself, the host's folder has the file's name without its ending: `~/.claude`.
            Place::Home(_) if file.parent() == self.home.as_deref() => Some(file.with_extension("")),
            _ => file.parent().map(Path::to_owned),
        };
        file.is_file() || folder.is_some_and(|folder| folder.is_dir())
    }

    fn applications(&self) -> Option<PathBuf> {
        match cfg!(target_os = "macos") {
            true => Some(self.home.as_ref()?.join("Library/Application Support")),
            false => self.config.clone(),
        }
    }
}
