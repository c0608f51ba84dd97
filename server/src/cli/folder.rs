//! A folder that goes away with its contents.

use std::io;
use std::path::{Path, PathBuf};

use colibri_runtime::kernel::{Ids, SystemIds};

/// A new temporary folder, readable by its owner only.
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Makes a folder; its name begins with `prefix`.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn create(prefix: &str) -> io::Result<Self> {
        let name = format!("{prefix}-{}", SystemIds::default().v4());
        let path = std::env::temp_dir().join(name);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        // Not recursive: a folder that exists already belongs to another process.
        builder.create(&path)?;
        Ok(Self { path })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
