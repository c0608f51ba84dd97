//! Tools that change files. None replaces what it was not asked to replace.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use colibri_runtime::Outcome;
use colibri_runtime::handler::Failure;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, fstat, mkdirat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use crate::catalogue::{
    AlreadyThere, FileAppendError, FileAppendInput, FileAppendOutput, FileCopyError, FileCopyInput,
    FileCopyOutput, FileMoveError, FileMoveInput, FileMoveOutput, FileTrashInput, FileTrashOutput,
    FileWriteError, FileWriteInput, FileWriteOutput, FolderCreateError, FolderCreateInput,
    FolderCreateOutput, Kind, NotAFile,
};
use crate::root::{Entry, Refusal, Root, TRASH, kind};

/// What a file is called until it is whole.
const PART: &str = ".files-part";

pub fn write(root: &Root, input: &FileWriteInput) -> Outcome<FileWriteOutput, FileWriteError> {
    let path = input.path.to_string();
    let entry = root.entry(&path)?;
    let there = entry.peek()?;
    match &there {
        Some(stat) if kind(stat) != Kind::File => return Err(NotAFile { path }.into()),
        Some(_) if !input.replace => return Err(AlreadyThere { path }.into()),
        Some(_) => replace(&entry, input.text.as_bytes())?,
        None => create(&entry, input.text.as_bytes())?,
    }
    Ok(FileWriteOutput { path, bytes: input.text.len() as i64, replaced: there.is_some() })
}

pub fn append(root: &Root, input: &FileAppendInput) -> Outcome<FileAppendOutput, FileAppendError> {
    let path = input.path.to_string();
    let entry = root.entry(&path)?;
    if kind(&entry.look()?) != Kind::File {
        return Err(NotAFile { path }.into());
    }
    let mut file = File::from(entry.open(OFlags::WRONLY | OFlags::APPEND)?);
    file.write_all(input.text.as_bytes()).map_err(Refusal::from)?;
    let bytes = fstat(&file).map_err(Refusal::from)?.st_size;
    Ok(FileAppendOutput { path, bytes })
}

pub fn rename(root: &Root, input: &FileMoveInput) -> Outcome<FileMoveOutput, FileMoveError> {
    let (from, to) = (root.entry(&input.path)?, root.entry(&input.to)?);
    from.look()?;
    if to.peek()?.is_some() {
        return Err(AlreadyThere { path: to.path.to_owned() }.into());
    }
    match renameat_with(&from.folder, from.name, &to.folder, to.name, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(FileMoveOutput { path: to.path.to_owned() }),
        Err(Errno::EXIST) => Err(AlreadyThere { path: to.path.to_owned() }.into()),
        Err(error) => Err(Refusal::from(error).into()),
    }
}

pub fn copy(root: &Root, input: &FileCopyInput) -> Outcome<FileCopyOutput, FileCopyError> {
    let (from, to) = (root.entry(&input.path)?, root.entry(&input.to)?);
    if kind(&from.look()?) != Kind::File {
        return Err(NotAFile { path: from.path.to_owned() }.into());
    }
    let mut source = File::from(from.open(OFlags::RDONLY)?);
    let mut copy = created::<FileCopyError>(&to)?;
    match io::copy(&mut source, &mut copy) {
        Ok(bytes) => Ok(FileCopyOutput { path: to.path.to_owned(), bytes: bytes as i64 }),
        Err(error) => {
            // Half a copy must not stay.
            let _ = unlinkat(&to.folder, to.name, AtFlags::empty());
            Err(Refusal::from(error).into())
        }
    }
}

pub fn trash(root: &Root, input: &FileTrashInput) -> Result<FileTrashOutput, Refusal> {
    let entry = root.entry(&input.path)?;
    entry.look()?;
    let trash = root.trash()?;
    let mut number = 1_u32;
    loop {
        let name = format!("{number}-{}", entry.name);
        match renameat_with(&entry.folder, entry.name, &trash, name.as_str(), RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(FileTrashOutput { trashed_as: format!("{TRASH}/{name}") }),
            Err(Errno::EXIST) if number < u32::MAX => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

pub fn create_folder(
    root: &Root,
    input: &FolderCreateInput,
) -> Outcome<FolderCreateOutput, FolderCreateError> {
    let entry = root.entry(&input.path)?;
    match mkdirat(&entry.folder, entry.name, Mode::from_raw_mode(0o755)) {
        Ok(()) => Ok(FolderCreateOutput { path: entry.path.to_owned() }),
        Err(Errno::EXIST) => Err(AlreadyThere { path: entry.path.to_owned() }.into()),
        Err(error) => Err(Refusal::from(error).into()),
    }
}

/// Makes an empty file that was not there.
fn created<E>(entry: &Entry<'_>) -> Result<File, Failure<E>>
where
    Failure<E>: From<Refusal> + From<AlreadyThere>,
{
    // Also refuses a symbolic link that leads nowhere.
    entry.peek()?;
    match rustix::fs::openat(&entry.folder, entry.name, NEW, Mode::from_raw_mode(0o644)) {
        Ok(file) => Ok(File::from(file)),
        Err(Errno::EXIST) => Err(AlreadyThere { path: entry.path.to_owned() }.into()),
        Err(error) => Err(Refusal::from(error).into()),
    }
}

const NEW: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::CLOEXEC);

fn create(entry: &Entry<'_>, content: &[u8]) -> Result<(), Failure<FileWriteError>> {
    Ok(created::<FileWriteError>(entry)?.write_all(content).map_err(Refusal::from)?)
}

/// Replaces a file at once: readers see the old content or the new one.
fn replace(entry: &Entry<'_>, content: &[u8]) -> Result<(), Refusal> {
    let part = format!("{PART}-{}", entry.name);
    let open = || rustix::fs::openat(&entry.folder, part.as_str(), NEW, Mode::from_raw_mode(0o644));
    // One that a killed server left behind makes room.
    let file: OwnedFd = match open() {
        Err(Errno::EXIST) => {
            unlinkat(&entry.folder, part.as_str(), AtFlags::empty())?;
            open()?
        }
        opened => opened?,
    };
    let written = File::from(file).write_all(content);
    let replaced = written
        .map_err(Refusal::from)
        .and_then(|()| Ok(renameat(&entry.folder, part.as_str(), &entry.folder, entry.name)?));
    if replaced.is_err() {
        let _ = unlinkat(&entry.folder, part.as_str(), AtFlags::empty());
    }
    replaced
}
