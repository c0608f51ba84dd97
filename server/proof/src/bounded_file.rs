//! Files that a person names: only regular ones, and only up to the largest size of their kind. A pipe or a device could make a
//! command wait, or read, without end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file.
///
/// # Errors
/// The operating system's error, and a refusal of everything that is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let regular = |is_file: bool| if is_file { Ok(()) } else { Err(io::Error::other("not a regular file")) };
    // Checked before it is opened, because opening a pipe waits for its other end, and again on the opened file.
    regular(path.metadata()?.is_file())?;
    let file = File::open(path)?;
    regular(file.metadata()?.is_file())?;
    Ok(file)
}

/// Reads the text of a regular file that has at most `most` bytes.
///
/// # Errors
/// As [`open`] and [`text_of`].
pub fn text(path: &Path, most: u64) -> io::Result<String> {
    text_of(open(path)?, most)
}

/// Reads all text of a source that has at most `most` bytes.
///
/// # Errors
/// The source's error; [`io::ErrorKind::FileTooLarge`], and [`io::ErrorKind::InvalidData`] for text that is not UTF-8.
pub fn text_of(source: impl Read, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}
