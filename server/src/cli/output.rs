//! Where a command's product goes: to stdout, or to a new file that its owner alone can read. An existing file is never overwritten: it may be
//! the evidence of an earlier day. What ends in a verdict is said to the end, whoever listens.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Failure;
use crate::private_file;

/// The output of a command whose exit code is a verdict: `colibri verify | head -1` must not end with 0 because its reader
/// has gone before the verdict was spoken.
pub struct ToTheEnd<'a>(pub &'a mut dyn Write);

impl Write for ToTheEnd<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Writes the product to the file, or to `out` if none is named. A file that cannot be finished is removed again.
///
/// # Errors
/// [`Failure::Usage`] when the file cannot be created; what `write` fails with.
pub fn write_to<T>(
    file: Option<&Path>,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(path) = file else {
        let mut out = BufWriter::new(out);
        let done = write(&mut out)?;
        out.flush()?;
        return Ok(done);
    };
    let mut file = BufWriter::new(create(path)?);
    let written = write(&mut file).and_then(|done| {
        file.flush().and_then(|()| file.get_ref().sync_all())?;
        Ok(done)
    });
    written.map_err(|failure| {
        // Half a product may pass for a whole one. What cannot be removed is named below all the same.
        let _ = std::fs::remove_file(path);
        match failure {
            Failure::Output(error) => Failure::Failed(format!("cannot write {}: {error}", path.display())),
            other => other,
        }
    })
}

/// Creates the file of a product.
///
/// # Errors
/// [`Failure::Usage`] when it exists or cannot be created.
pub fn create(path: &Path) -> Result<File, Failure> {
    private_file::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Usage(format!("{} exists and is left as it is; name a new file", path.display()))
        }
        _ => Failure::Usage(format!("cannot create {}: {error}; check the path", path.display())),
    })
}
