//! A folder that goes away with its contents.

use std::io;
use std::path::{Path, PathBuf};

use colibri_runtime::kernel::{Ids, SystemIds};

/// A fresh folder among the system's temporary files, readable by its owner only.
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Makes one; its name begins with `prefix`.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create(prefix: &str) -> io::Result<Self> {
        let name = format!("{prefix}-{}", SystemIds::default().v4());
        let path = std::env::temp_dir().join(name);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        // Not recursive: a folder that is there already is somebody else's.
        builder.create(&path)?;
        Ok(Self { path })
    }

    /// Where it is.
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
