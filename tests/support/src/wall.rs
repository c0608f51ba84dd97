//! A wall clock that a test moves under unmodified servers. It needs the layer that the crash tests load (Linux, glibc).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::os::unix::fs::FileExt;

use tempfile::TempDir;

use crate::client::Launch;

/// The clock of one server, or of several that share it.
#[derive(Debug)]
pub struct Wall {
    library: &'static str,
    folder: TempDir,
    file: File,
}

impl Wall {
    /// A clock that is right. `library` is the layer, `COLIBRI_FILE_LAYER` of the tests' build.
    pub fn new(library: &'static str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let file = File::create(folder.path().join("off")).expect("the clock's file");
        let wall = Self { library, folder, file };
        wall.set(0);
        wall
    }

    /// Puts the clock under a server.
    #[must_use]
    pub fn under(&self, launch: Launch) -> Launch {
        let folder = self.folder.path().canonicalize().expect("the folder is there");
        launch
            .env("LD_PRELOAD", self.library)
            .env("SHIM_FOLDER", &folder)
            .env("SHIM_CLOCK", folder.join("off"))
    }

    /// Makes the clock wrong by so many milliseconds, from the next look on.
    pub fn set(&self, ms: i64) {
        self.file.write_all_at(&ms.to_ne_bytes(), 0).expect("the clock is set");
    }
}
