//! Tools that change nothing.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;

use colibri_runtime::Outcome;
use colibri_runtime::chain::Interrupt;
use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};

use crate::catalogue::{
    FileListInput, FileListOutput, FileListOutputEntriesItem, FileReadError, FileReadInput, FileReadOutput,
    FileSearchInput, FileSearchOutput, FileSearchOutputLinesItem, FileStatInput, FileStatOutput, Kind,
    NotAFile, NotText,
};
use crate::root::{Refusal, Root, TRASH, bytes, kind, kind_of};

/// The largest file that is read whole.
const READ_LIMIT: i64 = 1024 * 1024;
/// The most characters of a line that a search shows.
const SHOWN: usize = 300;

pub fn list(root: &Root, input: &FileListInput) -> Result<FileListOutput, Refusal> {
    let folder = root.folder(&input.path)?;
    let names = names(&folder, input.path.as_str() == ".")?;
    let mut entries = Vec::new();
    for name in names.iter().take(input.limit as usize) {
        // What goes away meanwhile is not listed.
        let Ok(stat) = statat(&folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
        entries.push(FileListOutputEntriesItem {
            name: name.clone(),
            kind: kind(&stat),
            bytes: bytes(&stat),
        });
    }
    Ok(FileListOutput { entries, total: names.len() as i64 })
}

pub fn read(root: &Root, input: &FileReadInput) -> Outcome<FileReadOutput, FileReadError> {
    let path = input.path.to_string();
    let entry = root.entry(&path)?;
    if kind(&entry.look()?) != Kind::File {
        return Err(NotAFile { path }.into());
    }
    let file = entry.open(OFlags::RDONLY)?;
    let stat = fstat(&file).map_err(Refusal::from)?;
    if stat.st_size > READ_LIMIT {
        return Err(FileReadError::TooLarge { path, bytes: stat.st_size, limit: READ_LIMIT }.into());
    }
    match text_of(file)? {
        Some(text) => Ok(FileReadOutput { bytes: text.len() as i64, text }),
        None => Err(NotText { path }.into()),
    }
}

pub fn stat(root: &Root, input: &FileStatInput) -> Result<FileStatOutput, Refusal> {
    let path = input.path.to_string();
    let stat = root.entry(&path)?.look()?;
    Ok(FileStatOutput { kind: kind(&stat), bytes: bytes(&stat), modified: stat.st_mtime, path })
}

/// Looks into every text file below a folder, in the order of paths. Runs in a thread, and ends early when the server stops.
pub fn search(
    root: &Root,
    interrupt: &Interrupt,
    input: &FileSearchInput,
) -> Result<FileSearchOutput, Refusal> {
    let mut found = FileSearchOutput { lines: Vec::new(), files: 0, complete: true };
    let mut search = Search { input, interrupt, found: &mut found };
    let start = if input.path.as_str() == "." { String::new() } else { format!("{}/", input.path.as_str()) };
    search.folder(&root.folder(&input.path)?, &start)?;
    Ok(found)
}

struct Search<'a> {
    input: &'a FileSearchInput,
    interrupt: &'a Interrupt,
    found: &'a mut FileSearchOutput,
}

impl Search<'_> {
    fn folder(&mut self, folder: &OwnedFd, path: &str) -> Result<(), Refusal> {
        for name in names(folder, path.is_empty())? {
            if self.interrupt.is_raised() || !self.found.complete {
                self.found.complete = false;
                return Ok(());
            }
            // Links and entries that go away meanwhile are passed over.
            let Ok(stat) = statat(folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let Ok(entry) = rustix::fs::openat(folder, name.as_str(), flags, rustix::fs::Mode::empty())
            else {
                continue;
            };
            match kind_of(&stat) {
                FileType::Directory => self.folder(&entry, &format!("{path}{name}/"))?,
                FileType::RegularFile if stat.st_size <= READ_LIMIT => {
                    self.file(entry, &format!("{path}{name}"))?
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, file: OwnedFd, path: &str) -> Result<(), Refusal> {
        let Some(text) = text_of(file)? else { return Ok(()) };
        self.found.files += 1;
        for (number, line) in (1..).zip(text.lines()) {
            if !line.contains(self.input.text.as_str()) {
                continue;
            }
            if self.found.lines.len() == self.input.limit as usize {
                self.found.complete = false;
                return Ok(());
            }
            let text = line.chars().take(SHOWN).collect();
            self.found.lines.push(FileSearchOutputLinesItem { path: path.to_owned(), line: number, text });
        }
        Ok(())
    }
}

/// The names in a folder, sorted; of the root, without the trash.
fn names(folder: &OwnedFd, is_root: bool) -> Result<Vec<String>, Refusal> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        // A name that is not UTF-8 cannot be a path of a client's.
        if let Ok(name) = entry?.file_name().to_str()
            && name != "."
            && name != ".."
            && !(is_root && name == TRASH)
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The text of a file; `None` if it is not UTF-8. One byte more than the limit is never read.
fn text_of(file: OwnedFd) -> Result<Option<String>, Refusal> {
    let mut content = Vec::new();
    File::from(file).take(READ_LIMIT as u64).read_to_end(&mut content)?;
    Ok(String::from_utf8(content).ok())
}
