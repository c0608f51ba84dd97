//! Finds and parses the skills on disk (skills#discovery). It only reads, and only below the root: it refuses links
//! that lead out of the root.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::text::{MAX_FILE_BYTES, ParsedSkill, Reason, Refusal, parse_skill_bytes, shown};

/// The prefix of skill directories.
pub const PREFIX: &str = "colibri-";
/// The file that makes a directory a skill.
const FILE_NAME: &str = "SKILL.md";
/// The most files of one scan.
pub const MAX_FILES: usize = 1000;

/// Why a file is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid SKILL.md at {path}: {}: {detail}", .reason.as_str())]
pub struct SkillError {
    /// The file, in the form of [`FoundSkill::source_path`].
    pub path: String,
    /// The broken rule.
    pub reason: Reason,
    /// The details.
    pub detail: String,
}

impl SkillError {
    fn of(path: &str, refusal: Refusal) -> Self {
        Self { path: path.to_owned(), reason: refusal.reason, detail: refusal.detail }
    }
}

/// A valid skill.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSkill {
    /// The content of its file.
    pub parsed: ParsedSkill,
    /// The file's path, with `/`: relative to the working directory if it is inside, else beginning with the root as
    /// given.
    pub source_path: String,
}

/// The result of scanning a root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// The root as an absolute path, as far as it could be resolved.
    pub root: PathBuf,
    /// The valid skills, in byte order of their directories' names, which are also their names.
    pub skills: Vec<FoundSkill>,
    /// The invalid skills, in the same order.
    pub skipped: Vec<SkillError>,
    /// Why the root could not be read.
    pub unreadable: Option<String>,
    /// Directories that the scan skipped, because it had already found [`MAX_FILES`].
    pub left_out: usize,
}

/// Scans the directories of the root whose names begin with `prefix`.
pub fn scan(root: &Path, prefix: &str) -> Scan {
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let mut scan = Scan { root: absolute, ..Scan::default() };
    let (real_root, names) = match root.canonicalize().and_then(|real| Ok((names(&real, prefix)?, real))) {
        Ok((names, real)) => (real, names),
        Err(error) => {
            scan.unreadable = Some(error.to_string());
            return scan;
        }
    };
    let shown_root = shown_root(root, &real_root);
    for (at, name) in names.iter().enumerate() {
        if scan.skills.len() + scan.skipped.len() == MAX_FILES {
            scan.left_out = names.len() - at;
            break;
        }
        let source_path = slashed(&shown_root.join(name).join(FILE_NAME));
        match skill_in(&real_root, name) {
            Ok(None) => {}
            Ok(Some(parsed)) => scan.skills.push(FoundSkill { parsed, source_path }),
            Err(refusal) => scan.skipped.push(SkillError::of(&source_path, refusal)),
        }
    }
    scan
}

/// Returns a root's name in the database: its absolute path, with links resolved as far as the file system allows.
/// The name stays the same when the directory is removed.
pub fn true_root(root: &Path) -> String {
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let found = absolute.ancestors().find_map(|above| {
        let (real, rest) = (above.canonicalize().ok()?, absolute.strip_prefix(above).ok()?);
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    found.unwrap_or(absolute).to_string_lossy().into_owned()
}

/// Lists the names that begin with the prefix, in byte order.
fn names(root: &Path, prefix: &str) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let name = entry?.file_name();
        if name.as_encoded_bytes().starts_with(prefix.as_bytes()) {
            names.push(name);
        }
    }
    names.sort_by(|a, b| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
    Ok(names)
}

/// Returns the root as shown at the start of a `source_path`.
fn shown_root(given: &Path, real: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let inside = here.and_then(|here| real.strip_prefix(here).ok().map(Path::to_owned));
    inside.unwrap_or_else(|| given.to_owned())
}

/// Reads the skill of one directory; `None` if the name is not a directory, or if it contains no skill file.
fn skill_in(root: &Path, name: &OsStr) -> Result<Option<ParsedSkill>, Refusal> {
    let Some(directory) = inside(root, &root.join(name))? else { return Ok(None) };
    if !directory.is_dir() {
        return Ok(None);
    }
    let mut found = false;
    for entry in std::fs::read_dir(&directory).map_err(|error| failed(&error))? {
        // The listing distinguishes `SKILL.md` from `skill.md` even if the file system does not.
        found |= entry.map_err(|error| failed(&error))?.file_name() == FILE_NAME;
    }
    if !found {
        return Ok(None);
    }
    let Some(file) = inside(root, &directory.join(FILE_NAME))? else { return Ok(None) };
    let parsed = parse_skill_bytes(&read(&file)?)?;
    if OsStr::new(&parsed.frontmatter.name) != name {
        let (wanted, found) = (name.to_string_lossy(), &parsed.frontmatter.name);
        let detail = format!(
            "the name is {} and the directory's is {}; make them equal",
            shown(found),
            shown(&wanted)
        );
        return Err(Refusal::new(Reason::NameMismatch, detail));
    }
    Ok(Some(parsed))
}

/// Resolves a path below the root; `None` if it no longer exists.
fn inside(root: &Path, path: &Path) -> Result<Option<PathBuf>, Refusal> {
    match path.canonicalize() {
        Ok(real) if real.starts_with(root) => Ok(Some(real)),
        Ok(_) => Err(Refusal::new(Reason::ReadFailed, "a symbolic link leads out of the skills directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

/// Reads a regular file, at most one byte more than the cap.
fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    // Checked before opening: opening a pipe would wait for its other end.
    if !path.metadata().map_err(|error| failed(&error))?.is_file() {
        return Err(Refusal::new(Reason::ReadFailed, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let cap = MAX_FILE_BYTES as u64 + 1;
    File::open(path)
        .and_then(|file| file.take(cap).read_to_end(&mut bytes))
        .map_err(|error| failed(&error))?;
    Ok(bytes)
}

fn failed(error: &io::Error) -> Refusal {
    Refusal::new(Reason::ReadFailed, error.to_string())
}

/// Returns a path with `/` between its parts. Parts that are not UTF-8 are replaced.
fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}
