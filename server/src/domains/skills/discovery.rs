//! Finds and parses the skills on disk (skills#discovery). Reads only, and only below the root: a link that leads
//! out of it is refused, not followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::text::{MAX_FILE_BYTES, ParsedSkill, Reason, Refusal, parse_skill_bytes, shown};

/// How the directories of skills begin.
pub const PREFIX: &str = "colibri-";
/// The file that makes a directory a skill.
const FILE_NAME: &str = "SKILL.md";
/// The most files of one scan.
pub const MAX_FILES: usize = 1000;

/// Why a file is left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid SKILL.md at {path}: {}: {detail}", .reason.as_str())]
pub struct SkillError {
    /// The file, as [`FoundSkill::source_path`] would have it.
    pub path: String,
    /// Which rule it breaks.
    pub reason: Reason,
    /// What exactly.
    pub detail: String,
}

impl SkillError {
    fn of(path: &str, refusal: Refusal) -> Self {
        Self { path: path.to_owned(), reason: refusal.reason, detail: refusal.detail }
    }
}

/// A good skill.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSkill {
    /// What its file says.
    pub parsed: ParsedSkill,
    /// Where the file is, with `/`: from the working directory if it is inside, else from the root as given.
    pub source_path: String,
}

/// What a root holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    /// The root as an absolute path, as far as it could be found out.
    pub root: PathBuf,
    /// The good ones, in byte order of their directories' names, which are their own.
    pub skills: Vec<FoundSkill>,
    /// The others, in the same order.
    pub skipped: Vec<SkillError>,
    /// Why the root could not be read at all.
    pub unreadable: Option<String>,
    /// Directories that nobody looked at, because [`MAX_FILES`] had been found before.
    pub left_out: usize,
}

/// Parses one file.
///
/// # Errors
/// What is wrong with it; the path is shown as it is given here.
pub fn parse_skill_file(path: &Path) -> Result<ParsedSkill, SkillError> {
    read(path)
        .and_then(|bytes| parse_skill_bytes(&bytes))
        .map_err(|refusal| SkillError::of(&slashed(path), refusal))
}

/// Looks through the directories of the root whose names begin with `prefix`.
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

/// A root's name in the database: its true absolute path, links resolved as far as there is a file system to ask, so that
/// it stays the same when the directory goes.
pub fn true_root(root: &Path) -> String {
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let found = absolute.ancestors().find_map(|above| {
        let (real, rest) = (above.canonicalize().ok()?, absolute.strip_prefix(above).ok()?);
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    found.unwrap_or(absolute).to_string_lossy().into_owned()
}

/// The names that begin with the prefix, in byte order.
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

/// The root as it begins a `source_path`.
fn shown_root(given: &Path, real: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let inside = here.and_then(|here| real.strip_prefix(here).ok().map(Path::to_owned));
    inside.unwrap_or_else(|| given.to_owned())
}

/// The skill of one directory; `None` when the name is no directory's, or nothing in it makes it a skill.
fn skill_in(root: &Path, name: &OsStr) -> Result<Option<ParsedSkill>, Refusal> {
    let Some(directory) = inside(root, &root.join(name))? else { return Ok(None) };
    if !directory.is_dir() {
        return Ok(None);
    }
    let mut found = false;
    for entry in std::fs::read_dir(&directory).map_err(|error| failed(&error))? {
        // The listing tells `SKILL.md` from `skill.md` where the file system does not.
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

/// The true place of a path below the root; `None` when it has gone meanwhile.
fn inside(root: &Path, path: &Path) -> Result<Option<PathBuf>, Refusal> {
    match path.canonicalize() {
        Ok(real) if real.starts_with(root) => Ok(Some(real)),
        Ok(_) => Err(Refusal::new(Reason::ReadFailed, "a symbolic link leads out of the skills directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

/// The bytes of a regular file, one more than the cap at most.
fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    // Before it is opened: opening a pipe would wait for its other end.
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

/// A path with `/` between its parts; what is no UTF-8 in it is replaced.
fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}
