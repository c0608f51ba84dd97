//! A file server: ten tools on the text files below one folder.
//!
//! ```sh
//! files ./notes     # serves what is below ./notes
//! ```
//!
//! [`root`] opens paths, and no path leads out of it; [`read`] and [`write`] are what the tools do.

mod read;
mod root;
mod write;

use std::io;
use std::process::ExitCode;

use colibri_runtime::{MemoryCx, MemoryStore, serve_stdio_with};

/// The catalogue, compiled.
mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use catalogue::{
    CATALOGUE, Dispatcher, FileAppendError, FileAppendInput, FileAppendOutput, FileCopyError, FileCopyInput,
    FileCopyOutput, FileListError, FileListInput, FileListOutput, FileMoveError, FileMoveInput,
    FileMoveOutput, FileReadError, FileReadInput, FileReadOutput, FileSearchError, FileSearchInput,
    FileSearchOutput, FileStatError, FileStatInput, FileStatOutput, FileTrashError, FileTrashInput,
    FileTrashOutput, FileWriteError, FileWriteInput, FileWriteOutput, FilesTools, FolderCreateError,
    FolderCreateInput, FolderCreateOutput, Handlers,
};
use colibri_runtime::Outcome;
use colibri_runtime::chain::Interrupt;
use root::Root;

/// What the store hands to each call: the root, which a search takes into its thread.
type Cx = MemoryCx<Root>;

struct Server;

impl Handlers<Cx> for Server {}

impl FilesTools<Cx> for Server {
    fn file_list(&mut self, cx: &mut Cx, input: FileListInput) -> Outcome<FileListOutput, FileListError> {
        Ok(read::list(&cx.data, &input)?)
    }

    fn file_read(&mut self, cx: &mut Cx, input: FileReadInput) -> Outcome<FileReadOutput, FileReadError> {
        read::read(&cx.data, &input)
    }

    fn file_write(&mut self, cx: &mut Cx, input: FileWriteInput) -> Outcome<FileWriteOutput, FileWriteError> {
        write::write(&cx.data, &input)
    }

    fn file_append(
        &mut self,
        cx: &mut Cx,
        input: FileAppendInput,
    ) -> Outcome<FileAppendOutput, FileAppendError> {
        write::append(&cx.data, &input)
    }

    fn file_search(
        cx: &mut Root,
        interrupt: &Interrupt,
        input: FileSearchInput,
    ) -> Outcome<FileSearchOutput, FileSearchError> {
        Ok(read::search(cx, interrupt, &input)?)
    }

    fn file_stat(&mut self, cx: &mut Cx, input: FileStatInput) -> Outcome<FileStatOutput, FileStatError> {
        Ok(read::stat(&cx.data, &input)?)
    }

    fn file_move(&mut self, cx: &mut Cx, input: FileMoveInput) -> Outcome<FileMoveOutput, FileMoveError> {
        write::rename(&cx.data, &input)
    }

    fn file_copy(&mut self, cx: &mut Cx, input: FileCopyInput) -> Outcome<FileCopyOutput, FileCopyError> {
        write::copy(&cx.data, &input)
    }

    fn file_trash(&mut self, cx: &mut Cx, input: FileTrashInput) -> Outcome<FileTrashOutput, FileTrashError> {
        Ok(write::trash(&cx.data, &input)?)
    }

    fn folder_create(
        &mut self,
        cx: &mut Cx,
        input: FolderCreateInput,
    ) -> Outcome<FolderCreateOutput, FolderCreateError> {
        write::create_folder(&cx.data, &input)
    }
}

fn main() -> io::Result<ExitCode> {
    let path = std::env::args_os().nth(1);
    let path = path.ok_or_else(|| io::Error::other("name the folder to serve: files FOLDER"))?;
    let root = Root::open(path.as_ref())?;
    Ok(serve_stdio_with(&CATALOGUE, Dispatcher(Server), MemoryStore::new(root)))
}
