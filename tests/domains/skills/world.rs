//! A folder with skills, and servers in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The default root.
pub const ROOT: &str = ".agents/skills";

/// A file of a good skill.
pub fn skill(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\nBody of {name}.\n")
}

pub struct World {
    pub folder: Arc<TempDir>,
}

impl World {
    /// Without skills.
    pub fn new() -> Self {
        Self { folder: Arc::new(tempfile::tempdir().unwrap()) }
    }

    /// With these directories and files.
    pub fn with(skills: &[(&str, &str)]) -> Self {
        let world = Self::new();
        for (directory, text) in skills {
            world.write(directory, text);
        }
        world
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        self.path().join(ROOT).join(name)
    }

    /// Writes the SKILL.md of a directory.
    pub fn write(&self, directory: &str, text: &str) {
        let directory = self.directory(directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("SKILL.md"), text).unwrap();
    }

    pub fn launch(&self) -> Launch {
        Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(self.folder.clone())
    }

    pub fn start(&self) -> Server {
        self.launch().start()
    }

    /// What a server lists after a start of its own, and its log.
    pub fn after_start(&self) -> (Vec<String>, String) {
        let mut server = self.start();
        let names = listed(&mut server, json!({}));
        let ended = server.finish();
        assert_eq!((ended.code(), &ended.rest), (0, &Vec::<Value>::new()), "{}", ended.stderr);
        (names, ended.stderr)
    }
}

/// The names that a listing shows.
pub fn listed(server: &mut Server, arguments: Value) -> Vec<String> {
    let data = server.data("skill_list", arguments);
    let skills = data["skills"].as_array().unwrap();
    assert_eq!(data["total_count"], skills.len());
    skills.iter().map(|skill| skill["name"].as_str().unwrap().to_owned()).collect()
}

/// The lines of the log about skills, time and level cut off where the level is WARN.
pub fn warnings(stderr: &str) -> Vec<&str> {
    stderr.lines().filter_map(|line| line.split_once(" WARN ").map(|(_, message)| message)).collect()
}
