//! The file that keeps the signing key: 64 hex characters, readable by its owner only (proof#keys).

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use colibri_proof::bounded_file;
use colibri_proof::keys::{KeyTextError, SigningKey};

/// A key file has 65 bytes, or 66 with a Windows line end. A longer file is not a key file.
const MAX_BYTES: u64 = 66;

/// Why a key file is refused. Repeats none of its bytes.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file cannot be read.
    #[error("key file {path}: {error}; check the path and its permissions", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        error: io::Error,
    },
    /// Others than the owner may read or write it.
    #[error(
        "key file {path} has mode {mode:04o}, so others than its owner may use it; \
         restrict it with: chmod 600 {path}",
        path = path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Its content is not a key.
    #[error(
        "key file {path} holds no signing key: {error}, and a line end at most; \
         name a file made by `colibri keys generate`",
        path = path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault in its text.
        error: KeyTextError,
    },
}

/// Reads the signing key from `path`.
///
/// # Errors
/// The file cannot be read, others may use it (on Unix), or it is not 64 hex characters with at most a line end.
pub fn read_key_file(path: &Path) -> Result<SigningKey, KeyFileError> {
    let unreadable = |error| KeyFileError::Unreadable { path: path.to_owned(), error };
    let file = bounded_file::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mut bytes = Vec::with_capacity(MAX_BYTES as usize + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let malformed = |error| KeyFileError::Malformed { path: path.to_owned(), error };
    let text = std::str::from_utf8(&bytes).map_err(|_| malformed(KeyTextError::NotHex))?;
    // First what it holds: advice on the rights of a file that belongs to another program could do harm.
    let key = SigningKey::from_seed_text(text).map_err(malformed)?;
    refuse_exposed(path, &metadata)?;
    Ok(key)
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, metadata: &std::fs::Metadata) -> Result<(), KeyFileError> {
    use std::os::unix::fs::PermissionsExt;

    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(KeyFileError::Exposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &std::fs::Metadata) -> Result<(), KeyFileError> {
    Ok(())
}

#[cfg(test)]
mod tests;
