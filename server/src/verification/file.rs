//! Checkpoint files on disk.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use colibri_proof::bounded_file;
use colibri_proof::checkpoint::Checkpoint;
use colibri_store::private_file;

/// The longest checkpoint, unless a hundred thousand calls were running.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a checkpoint file.
///
/// # Errors
/// One sentence that names the file.
pub fn read(path: &Path) -> Result<Checkpoint, String> {
    let shown = path.display();
    let text = bounded_file::text(path, MOST_BYTES).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => format!("{shown}: it is not a checkpoint: it is too long"),
        _ => format!("cannot read the checkpoint {shown}: {error}"),
    })?;
    Checkpoint::parse(&text).map_err(|reason| format!("{shown}: {reason}"))
}

/// Writes a checkpoint to a new file: completely or not at all, and never over another file.
///
/// # Errors
/// One sentence that names the file.
pub fn write(path: &Path, checkpoint: &Checkpoint) -> Result<(), String> {
    let shown = path.display();
    let text = checkpoint.to_text()?;
    let unfinished = beside(path);
    let failed = |error: io::Error| format!("cannot write the checkpoint {shown}: {error}");
    put(&unfinished, &text).map_err(failed)?;
    let linked = fs::hard_link(&unfinished, path);
    // After any outcome, only the finished file stays.
    let removed = fs::remove_file(&unfinished);
    match linked {
        Ok(()) => removed.map_err(|error| format!("cannot remove {}: {error}", unfinished.display())),
        Err(_) if path.symlink_metadata().is_ok() => Err(exists(path)),
        // Some file systems have no hard links.
        Err(_) => put(path, &text).map_err(failed),
    }
}

/// Returns the message for a name that is taken.
pub fn exists(path: &Path) -> String {
    format!("{} is there already and was not changed; choose another name and keep both", path.display())
}

/// Writes a new file and removes it if it cannot be finished, because half a checkpoint would block the next one.
fn put(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private_file::create_new(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}
