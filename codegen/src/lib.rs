//! Compiles a YAML catalogue of MCP tools into Rust, reference pages and a lock file.
//!
//! ```text
//! catalogue/*.yaml -> catalogue (model with spans) -> lint -> ir -> emit -> types, errors, handlers, registry
//!                                                                     \---> reference pages, lock
//! ```
//!
//! The crate contains no tool of any server; it serves every MCP server that has a catalogue. A server's
//! `build.rs` is one call:
//!
//! ```no_run
//! colibri_codegen::build("catalogue");
//! ```
//!
//! and its library includes what that wrote:
//! `include!(concat!(env!("OUT_DIR"), "/catalogue.rs"))`, inside a module of its own.

mod cargo;
pub mod catalogue;
mod emit;
pub mod examples;
#[cfg(feature = "cli")]
pub mod import;
mod ir;
pub mod lint;
#[cfg(feature = "cli")]
mod mock;
pub mod project;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use cargo::build;
use catalogue::{Catalogue, Finding};
use ir::{Ir, Problem};
#[cfg(feature = "cli")]
pub use mock::mock;

/// What a catalogue is compiled into for a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The Rust file: types, errors, handler traits, registry.
    pub rust: String,
}

/// Compiles the catalogue in the folder `root`: load, lint, resolve, emit.
///
/// ```
/// let generated = colibri_codegen::compile("examples/notes/catalogue".as_ref()).map_err(|found| found[0].message.clone())?;
/// assert!(generated.rust.contains("pub struct NoteAddInput"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Everything that is wrong with it, each with file, line and column.
pub fn compile(root: &Path) -> Result<Generated, Vec<Finding>> {
    let catalogue = Catalogue::load(root)?;
    let ir = resolve(&catalogue)?;
    let rust = emit::rust(&ir).map_err(|problems| locate(problems, &catalogue))?;
    Ok(Generated { rust })
}

/// Returns everything that a build would report about a loaded catalogue.
///
/// ```
/// use colibri_codegen::{catalogue::Catalogue, check};
///
/// let catalogue = Catalogue::load("examples/notes/catalogue".as_ref()).map_err(|found| found[0].message.clone())?;
/// assert!(check(&catalogue).is_empty());
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn check(catalogue: &Catalogue) -> Vec<Finding> {
    match resolve(catalogue) {
        Ok(ir) => emit::rust(&ir).err().map(|problems| locate(problems, catalogue)).unwrap_or_default(),
        Err(findings) => findings,
    }
}

/// Returns the reference pages: path below the reference folder, text.
///
/// ```
/// use colibri_codegen::{catalogue::Catalogue, reference};
///
/// let catalogue = Catalogue::load("examples/notes/catalogue".as_ref()).map_err(|found| found[0].message.clone())?;
/// let pages = reference(&catalogue).map_err(|found| found[0].message.clone())?;
/// assert!(pages.iter().any(|(path, text)| path.ends_with("notes.md") && text.contains("note_add")));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Everything that is wrong with the catalogue.
pub fn reference(catalogue: &Catalogue) -> Result<Vec<(PathBuf, String)>, Vec<Finding>> {
    Ok(emit::reference::pages(&resolve(catalogue)?))
}

/// Returns a page that people write, with the table of tools between its markers
/// (`<!-- begin tools -->` and `<!-- end tools -->`); `below` is the path from the page to the reference
/// folder. `None` when the page has no markers.
///
/// # Errors
/// Everything that is wrong with the catalogue.
pub fn with_tool_table(
    catalogue: &Catalogue,
    page: &str,
    below: &str,
) -> Result<Option<String>, Vec<Finding>> {
    let table = emit::reference::table(&resolve(catalogue)?, below);
    Ok(emit::reference::between_markers(page, &table))
}

/// Returns the lock: the resolved, canonical catalogue as pretty-printed JSON.
///
/// ```
/// use colibri_codegen::{catalogue::Catalogue, lock};
/// use colibri_drift::{compare, from_lock};
///
/// let catalogue = Catalogue::load("examples/notes/catalogue".as_ref()).map_err(|found| found[0].message.clone())?;
/// let text = lock(&catalogue).map_err(|found| found[0].message.clone())?;
/// let state = from_lock(&text).map_err(|error| error.to_string())?;
/// assert!(compare(&state, &state).is_empty());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Everything that is wrong with the catalogue.
pub fn lock(catalogue: &Catalogue) -> Result<String, Vec<Finding>> {
    Ok(emit::lock::text(&resolve(catalogue)?))
}

/// The result of writing or checking a generated file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The file already holds the text.
    Current,
    /// The file was written.
    Updated,
    /// The file differs or is missing; only when checking.
    Stale,
}

/// Makes the file at `path` hold `text`; with `check`, only returns whether it does.
///
/// # Errors
/// The file cannot be read or written.
pub fn write_or_check(path: &Path, text: &str, check: bool) -> io::Result<Written> {
    match fs::read_to_string(path) {
        Ok(found) if found == text => return Ok(Written::Current),
        Err(error)
            if error.kind() != io::ErrorKind::NotFound && error.kind() != io::ErrorKind::InvalidData =>
        {
            return Err(error);
        }
        _ if check => return Ok(Written::Stale),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)?;
    Ok(Written::Updated)
}

/// Runs lint and resolution, which every output needs first.
fn resolve(catalogue: &Catalogue) -> Result<Ir<'_>, Vec<Finding>> {
    let findings = lint::check(catalogue);
    if !findings.is_empty() {
        return Err(findings);
    }
    let ir = Ir::build(catalogue)?;
    let of_set = |name: &str| emit::toolset_bytes(&ir, name);
    let findings = lint::budget::check(catalogue, emit::listing_bytes(&ir), of_set);
    if findings.is_empty() { Ok(ir) } else { Err(findings) }
}

fn locate(problems: Vec<Problem>, catalogue: &Catalogue) -> Vec<Finding> {
    problems.into_iter().map(|problem| problem.locate(catalogue)).collect()
}
