//! The file with this node's key (consensus#node-key): a seed as 64 lowercase hex characters, read and written by its owner only.
//! The server creates it when it first needs it.

use colibri_canonical::hex;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use colibri_runtime::handler::Fault;
use zeroize::Zeroizing;

use colibri_consensus::canonical::SEED_LEN;
use colibri_consensus::identity::SenderId;
use colibri_consensus::private_key::{PrivateKey, parse_private_key};
use colibri_store::private_file;

/// 64 characters and a line end. A longer file is not a key file.
const MAX_BYTES: u64 = 65;

/// Why the key file gives no key. Names neither the path nor a byte of the file, because clients read it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeKeyError {
    /// The operating system refuses access.
    #[error("node key file: cannot be {what} ({kind}); check COLIBRI_CONSENSUS_KEY_FILE and the permissions")]
    Unusable {
        /// `read` or `created`.
        what: &'static str,
        /// The reason.
        kind: io::ErrorKind,
    },
    /// Not a file.
    #[error("node key file: not a regular file")]
    NotAFile,
    /// Others than the owner may use it.
    #[error(
        "node key file: has mode {mode:04o}, so others than its owner may use it; restrict it to mode 0600"
    )]
    Exposed {
        /// Its permission bits.
        mode: u32,
    },
    /// Its content is not a key.
    #[error("node key file: expected 64 lowercase hex characters and at most a line end")]
    Malformed,
    /// The operating system provides no randomness for a new key.
    #[error("{0}")]
    Fault(Fault),
}

/// Returns the key in `path`. Creates a missing file from the seed that `seed` returns. If two processes do so at
/// once, both return the key of the first.
///
/// # Errors
/// The file cannot be used, or `seed` fails.
pub fn node_key(
    path: &Path,
    seed: impl FnOnce() -> Result<Zeroizing<[u8; SEED_LEN]>, Fault>,
) -> Result<PrivateKey, NodeKeyError> {
    match existing_key(path)? {
        Some(key) => Ok(key),
        None => {
            let key = PrivateKey::from_seed(&*seed().map_err(NodeKeyError::Fault)?);
            create(path, &key)
                .map_err(|error| NodeKeyError::Unusable { what: "created", kind: error.kind() })?;
            read(path)
        }
    }
}

/// Returns the key in `path`; `None` if the file does not exist yet.
///
/// # Errors
/// The file cannot be used.
pub fn existing_key(path: &Path) -> Result<Option<PrivateKey>, NodeKeyError> {
    match read(path) {
        Err(NodeKeyError::Unusable { kind: io::ErrorKind::NotFound, .. }) => Ok(None),
        known => known.map(Some),
    }
}

/// Checks whether `path` gives a key, or could once one is needed. Returns the existing key, or `None` if one can be
/// created. The start and `colibri doctor` call this; it creates nothing.
///
/// # Errors
/// The file cannot be used, or its folder is missing or not writable.
pub(crate) fn usable_key(path: &Path) -> Result<Option<PrivateKey>, NodeKeyError> {
    if let Some(key) = existing_key(path)? {
        return Ok(Some(key));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |kind| NodeKeyError::Unusable { what: "created", kind };
    let about = folder.metadata().map_err(|error| cannot(error.kind()))?;
    if !about.is_dir() {
        return Err(cannot(io::ErrorKind::NotADirectory));
    }
    private_file::takes_files(folder).map_err(|error| cannot(error.kind()))?;
    Ok(None)
}

fn read(path: &Path) -> Result<PrivateKey, NodeKeyError> {
    let unusable = |error: io::Error| NodeKeyError::Unusable { what: "read", kind: error.kind() };
    // Checked before opening: opening a pipe waits for its other end.
    if !path.metadata().map_err(unusable)?.is_file() {
        return Err(NodeKeyError::NotAFile);
    }
    let file = File::open(path).map_err(unusable)?;
    refuse_exposed(&file.metadata().map_err(unusable)?)?;
    // Allocated at its largest size, so that growth leaves no copy behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_BYTES as usize + 1));
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unusable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| NodeKeyError::Malformed)?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    if text.len() != 2 * SEED_LEN {
        return Err(NodeKeyError::Malformed);
    }
    parse_private_key(text).map_err(|_| NodeKeyError::Malformed)
}

/// Creates the file unless it exists by now. The file gets its name only when complete, so another process never
/// finds half a key.
fn create(path: &Path, key: &PrivateKey) -> io::Result<()> {
    let text = Zeroizing::new(format!("{}\n", *Zeroizing::new(hex::encode(key.seed()))));
    // Each key has its own temporary name, which is not secret.
    let id = SenderId::of(&key.public_key());
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.new", id.as_str().trim_start_matches("soul:")));
    write_new(Path::new(&beside), text.as_bytes())?;
    let linked = match std::fs::hard_link(&beside, path) {
        // Some file systems have no links. There, another process may find a half-written file and be refused once.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write_new(path, text.as_bytes()),
        linked => linked,
    };
    let removed = std::fs::remove_file(&beside);
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => removed,
    }
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = private_file::create_new(path)?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(unix)]
fn refuse_exposed(metadata: &std::fs::Metadata) -> Result<(), NodeKeyError> {
    use std::os::unix::fs::PermissionsExt;

    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(NodeKeyError::Exposed { mode }) }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &std::fs::Metadata) -> Result<(), NodeKeyError> {
    Ok(())
}
