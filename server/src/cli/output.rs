//! How a command writes. A terminal shows its text whole. A product goes to stdout, or to a new file that only
//! its owner can read and that has its name only when it is whole. An existing file is never overwritten: it may be the evidence of an
//! earlier day. A verdict is printed in full, even if the reader has closed the pipe.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

pub use colibri_proof::command::output::{ToTheEnd, Visible, print_json, print_json_line};
use colibri_visible::json;

use super::Failure;
use crate::settings::environment::Environment;
use colibri_store::part::{Part, PartError};

/// A product of JSON on its way to stdout. A pipe or a file gets every byte of it; a terminal gets an equal document,
/// with escapes for characters that could not be seen.
struct Product<'a> {
    out: &'a mut dyn Write,
    terminal: bool,
}

impl Write for Product<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.terminal {
            return self.out.write(bytes);
        }
        self.out.write_all(json(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns why the terminal can show text only, without colours or a cursor that moves; nothing if it can show more.
pub fn text_only(env: &Environment) -> Option<&'static str> {
    match env.get_os("TERM") {
        None => Some("TERM is not set"),
        Some(name) if name == "dumb" => Some("TERM is dumb"),
        Some(_) => None,
    }
}

/// Writes the product to the file, or to `out` if the user named none. A file gets its name when it is whole and on disk.
///
/// # Errors
/// [`Failure::Usage`] if the file cannot be created; the error of `write`.
pub fn write_to<T>(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(path) = file else {
        let mut out = BufWriter::new(Product { out, terminal: io::stdout().is_terminal() });
        let done = write(&mut out).map_err(|failure| match failure {
            Failure::Interrupted(_) => Failure::Interrupted(Some("interrupted; the output is incomplete")),
            other => other,
        })?;
        out.flush()?;
        return Ok(done);
    };
    let part = Part::begin(path)?;
    let mut to = BufWriter::new(part.file());
    let written = write(&mut to).and_then(|done| {
        to.flush()?;
        Ok(done)
    });
    let done = written.map_err(|failure| match failure {
        Failure::Output(error) => part.failed(error).into(),
        other => other,
    })?;
    drop(to);
    part.name()?;
    Ok(done)
}

impl From<PartError> for Failure {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Dash | PartError::Exists(_) | PartError::Place { .. } => {
                Self::Usage(error.to_string())
            }
            PartError::Busy(_) | PartError::Write { .. } => Self::Failed(error.to_string()),
        }
    }
}

/// Writes a new file that others may read, too: it holds none of the database's content.
///
/// # Errors
/// As [`write_to`].
pub fn write_readable(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_to(Some(path), &mut io::sink(), |file| Ok(file.write_all(content)?))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}
