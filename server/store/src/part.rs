//! A file that a command makes. It gets its name when it is whole and on disk, and never takes the name of another file. Until then it is
//! `FILE.colibri-part-<process id>`, and locked. An unlocked part is what a killed command has left; the next command that makes FILE removes
//! it. The name says whose it is, so that no file of another program is taken for a part.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::private_file;
use crate::side_file;

/// SQLite's rollback journal of a part, which it would apply to another file of that name.
const JOURNAL: &str = "-journal";
/// What stands between the name of the file and the process id. No other program gives such a name.
const MARK: &str = ".colibri-part-";

/// Why a file was not made. Nothing of it stays.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// A file with that name exists. It is left as it is.
    #[error("{0} is there already and was not changed; choose another name")]
    Exists(String),
    /// Its name is what many programs take for stdout.
    #[error("\"-\" does not stand for stdout here; name a file, or write ./- for a file of this name")]
    Dash,
    /// The file cannot be made there.
    #[error("cannot create {path}: {error}; check the path")]
    Place {
        /// The file's path.
        path: String,
        /// The operating system's reason.
        error: io::Error,
    },
    /// Another command is making the same file.
    #[error("another command is writing {0}; wait for it, or choose another name")]
    Busy(String),
    /// It could not be finished.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The file's path.
        path: String,
        /// The operating system's or the engine's reason.
        reason: String,
    },
}

/// A file without its name. Dropping it removes it.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    to: PathBuf,
    /// Locked until the file has its name.
    file: File,
}

impl Part {
    /// Creates an empty file that is to have the new name `to`.
    ///
    /// # Errors
    /// [`PartError::Dash`], [`PartError::Exists`], [`PartError::Busy`], [`PartError::Place`].
    pub fn begin(to: &Path) -> Result<Self, PartError> {
        let shown = || to.display().to_string();
        if to == Path::new("-") {
            return Err(PartError::Dash);
        }
        if to.symlink_metadata().is_ok() {
            return Err(PartError::Exists(shown()));
        }
        if !remove_left(to) {
            return Err(PartError::Busy(shown()));
        }
        let path = named(to);
        let place = |error| PartError::Place { path: shown(), error };
        let file = private_file::create_new(&path).map_err(place)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => PartError::Busy(shown()),
            TryLockError::Error(error) => place(error),
        })?;
        Ok(Self { path, to: to.to_owned(), file })
    }

    /// Returns where the file lies meanwhile.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file, to write to it.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the error of a step.
    pub fn failed(&self, reason: impl ToString) -> PartError {
        PartError::Write { path: self.to.display().to_string(), reason: reason.to_string() }
    }

    /// Syncs the file and gives it its name, unless another file has it by now.
    ///
    /// # Errors
    /// [`PartError::Exists`], [`PartError::Write`].
    pub fn name(self) -> Result<(), PartError> {
        self.place().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => PartError::Exists(self.to.display().to_string()),
            _ => self.failed(error),
        })
    }

    fn place(&self) -> io::Result<()> {
        self.file.sync_all()?;
        match std::fs::hard_link(&self.path, &self.to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Some file systems have no links.
            Err(_) => private_file::move_new(&self.path, &self.to)?,
        }
        let folder = self.to.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // The name of a file that cannot be removed shows that it is not finished.
        let _ = remove(&self.path);
    }
}

/// Returns what this process calls a file until it is whole.
pub fn named(to: &Path) -> PathBuf {
    side_file::named(to, &format!("{MARK}{}", std::process::id()))
}

/// Removes what killed commands have left of this file; returns whether no other command is making it.
fn remove_left(to: &Path) -> bool {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = to.file_name() else { return true };
    let begins = [name.as_encoded_bytes(), MARK.as_bytes()].concat();
    // Creating the file will report a folder that cannot be read.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let found = entry.file_name();
        if !found.as_encoded_bytes().strip_prefix(begins.as_slice()).is_some_and(is_process) {
            continue;
        }
        let path = entry.path();
        // What cannot be opened or removed stays: the name of the next part is another.
        let Ok(left) = open_regular(&path) else { continue };
        match left.try_lock() {
            Ok(()) => drop(remove(&path)),
            Err(TryLockError::WouldBlock) => return false,
            Err(TryLockError::Error(_)) => {}
        }
    }
    true
}

/// Checks whether this is a process id as a part's name has it: digits, the first of which is not 0.
fn is_process(text: &[u8]) -> bool {
    text.first().is_some_and(|first| *first != b'0') && text.iter().all(u8::is_ascii_digit)
}

/// Opens a regular file. A pipe would hold the command up until another program writes to it.
fn open_regular(path: &Path) -> io::Result<File> {
    if !path.symlink_metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        // It may have become a pipe or a link since.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

fn remove(part: &Path) -> io::Result<()> {
    let _ = std::fs::remove_file(side_file::named(part, JOURNAL));
    std::fs::remove_file(part)
}
