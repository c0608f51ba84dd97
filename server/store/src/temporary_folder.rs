//! A folder that goes away with its contents. While it is in use, a file in it is locked: a folder whose file is not locked is what a
//! killed process has left, and the next one that makes such a folder removes it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use colibri_runtime::kernel::{Ids, SystemIds};

use crate::private_file;

/// The locked file.
const LOCK: &str = "in-use.lock";
/// How often a new folder is tried: another process may take one for left in the moment before its file is locked.
const TRIES: u32 = 3;

/// A new temporary folder, readable by its owner only.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    _lock: File,
}

impl TemporaryFolder {
    /// Makes a folder; its name begins with `prefix`. Removes those that killed processes have left.
    ///
    /// # Errors
    /// The operating system's error.
    pub fn create(prefix: &str) -> io::Result<Self> {
        let parent = std::env::temp_dir();
        remove_left(&parent, prefix);
        let mut tries = 1;
        loop {
            match Self::create_in(&parent, prefix) {
                Err(_) if tries < TRIES => tries += 1,
                done => return done,
            }
        }
    }

    fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        let path = parent.join(format!("{prefix}-{}", SystemIds::default().v4()));
        private_file::create_folder(&path)?;
        let lock = private_file::create_new(&path.join(LOCK))
            .and_then(|lock| lock.try_lock().map_err(io::Error::from).map(|()| lock));
        match lock {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = std::fs::remove_dir_all(&path);
                Err(error)
            }
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next process that makes such a folder.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of this user that no process has in use. What cannot be looked at stays.
fn remove_left(parent: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    let begins = format!("{prefix}-");
    for entry in entries.flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(&begins));
        if !is_one || !private_file::is_own_folder(&entry.path()) {
            continue;
        }
        if File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_killed_process_is_removed_and_one_in_use_is_not() {
        let prefix = format!("colibri-test-{}", SystemIds::default().v4());
        let used = TemporaryFolder::create(&prefix).unwrap();
        let left = used.path().with_file_name(format!("{prefix}-left"));
        private_file::create_folder(&left).unwrap();
        for name in [LOCK, "copy.db"] {
            private_file::create_new(&left.join(name)).unwrap();
        }
        let second = TemporaryFolder::create(&prefix).unwrap();
        assert!(!left.exists() && used.path().exists());
        let (first, last) = (used.path().to_owned(), second.path().to_owned());
        drop((used, second));
        assert!(!first.exists() && !last.exists());
    }
}
