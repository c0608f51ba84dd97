//! Checkpoint files on disk.

use std::io::{self, Write};
use std::path::Path;

use colibri_proof::bounded_file;
use colibri_proof::checkpoint::Checkpoint;
use colibri_store::part::{Part, PartError};

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
    let text = checkpoint.to_text()?;
    let written = Part::begin(path).and_then(|part| {
        part.file().write_all(text.as_bytes()).map_err(|error| part.failed(error))?;
        part.name()
    });
    written.map_err(|error| match error {
        PartError::Exists(_) => exists(path),
        PartError::Write { path, reason } => format!("cannot write the checkpoint {path}: {reason}"),
        other => other.to_string(),
    })
}

/// Returns the message for a name that is taken.
pub fn exists(path: &Path) -> String {
    format!("{} is there already and was not changed; choose another name and keep both", path.display())
}
