//! A catalogue from what a server lists, without a change to any of its texts.
//!
//! ```text
//! answers of a server -> surface -> files, written -> compiled -> what cannot be expressed is taken out and noted -> …
//! ```
//!
//! The compiler itself judges what a catalogue can express: a keyword that it refuses leaves the schema, stands in a comment at its
//! tool, and the catalogue is written again.

mod note;
mod prune;
mod surface;
mod write;
mod yaml;

use std::fs;
use std::io;
use std::path::Path;

pub use note::Note;
pub use surface::Surface;

use crate::catalogue::{Catalogue, Finding};
use crate::check;

/// A catalogue that was written.
#[derive(Debug)]
pub struct Imported {
    /// How many tools it has.
    pub tools: usize,
    /// What it cannot express.
    pub notes: Vec<Note>,
    /// What its author has to mend before it compiles.
    pub findings: Vec<Finding>,
}

/// How often the catalogue is written and compiled. Each round takes out what the one before has found.
const MAX_ROUNDS: usize = 100;

/// Writes a catalogue of the surface into a folder, which is made or is empty.
///
/// # Errors
/// The folder holds files, or cannot be written.
pub fn catalogue(surface: &Surface, folder: &Path) -> io::Result<Imported> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "the folder holds files; name another with --out",
        ));
    }
    let mut surface = surface.clone();
    let mut notes = write::notes(&mut surface);
    for _ in 0..MAX_ROUNDS {
        for (path, text) in write::files(&surface, &notes) {
            let path = folder.join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, text)?;
        }
        let (catalogue, findings) = match Catalogue::load(folder) {
            Ok(catalogue) => {
                let findings = check(&catalogue);
                (Some(catalogue), findings)
            }
            Err(findings) => (None, findings),
        };
        let taken =
            catalogue.map_or_else(Vec::new, |catalogue| prune::prune(&mut surface, &catalogue, &findings));
        if taken.is_empty() {
            return Ok(Imported { tools: surface.tools.len(), notes, findings });
        }
        notes.extend(taken);
    }
    Ok(Imported { tools: surface.tools.len(), notes, findings: Vec::new() })
}
