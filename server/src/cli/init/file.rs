//! Files of other programs, which are replaced as a whole or not at all. Links are followed: people keep such files elsewhere.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use colibri_proof::bounded_file;
use colibri_store::{part, private_file};

use super::Left;
use crate::cli::Failure;

/// People read configurations, so that a longer file is something else.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file as it was found.
pub struct Found {
    /// Where it is, behind all links.
    pub path: PathBuf,
    /// What it holds, if it is there.
    pub old: Option<(String, Metadata)>,
}

/// Finds a file.
///
/// # Errors
/// Why it can be neither read nor written.
pub fn find(path: &Path) -> Result<Found, Left> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Found { path: path.to_owned(), old: None });
        }
        Err(error) => return Err(Left::new(format!("it cannot be read: {error}"))),
        Ok(_) => {}
    }
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Left::new("it is a link to a file that is missing"),
        _ => Left::new(format!("it cannot be read: {error}")),
    };
    let path = path.canonicalize().map_err(unreadable)?;
    let metadata = path.metadata().map_err(unreadable)?;
    let text = bounded_file::text(&path, MAX_BYTES).map_err(unreadable)?;
    Ok(Found { path, old: Some((text, metadata)) })
}

impl Found {
    /// Checks whether only its owner can read it, or whether it is yet to be made, which makes it so.
    #[cfg(unix)]
    pub(super) fn is_private(&self) -> bool {
        use std::os::unix::fs::PermissionsExt;

        self.old.as_ref().is_none_or(|(_, metadata)| metadata.permissions().mode() & 0o077 == 0)
    }

    /// This system has no such modes.
    #[cfg(not(unix))]
    pub(super) fn is_private(&self) -> bool {
        true
    }

    /// Writes the new text. The old file's rights stay; a new file is its owner's alone, unless it is for `others`. The old file
    /// keeps the name `kept`, if one is given.
    ///
    /// # Errors
    /// [`Failure::Failed`]; the file is then as it was.
    pub fn replace(&self, new: &str, kept: Option<&Path>, others: bool) -> Result<(), Failure> {
        let Self { path, old } = self;
        let failed = |what: &str, error: io::Error| {
            Failure::Failed(format!("{} was not changed: {what}: {error}", path.display()))
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed("its folder cannot be made", error))?;
        }
        let part = part::named(path);
        let unwritten = |error| failed("the new file cannot be written", error);
        // A file of this name that is there already stays.
        let file = private_file::create_new(&part).map_err(unwritten)?;
        let written = self.write(file, new, others).and_then(|()| match (old, kept) {
            // A link is made under a free name only, so that no file is lost that came in between.
            (None, _) => fs::hard_link(&part, path),
            (Some(_), Some(kept)) => {
                fs::hard_link(path, kept).and_then(|()| {
                    // A name that is given in vain would stop the next run.
                    fs::rename(&part, path).inspect_err(|_| drop(fs::remove_file(kept)))
                })
            }
            (Some(_), None) => fs::rename(&part, path),
        });
        if written.is_err() || old.is_none() {
            // A rest that cannot be removed does no harm.
            let _ = fs::remove_file(&part);
        }
        written.map_err(unwritten)
    }

    /// Writes the text to the file beside this one, for the same users.
    fn write(&self, mut file: File, new: &str, others: bool) -> io::Result<()> {
        file.write_all(new.as_bytes())?;
        if let Some((text, metadata)) = &self.old {
            file.set_permissions(metadata.permissions())?;
            same_owner(&file.metadata()?, metadata)?;
            if bounded_file::text(&self.path, MAX_BYTES)? != *text {
                return Err(io::Error::other("another program has just changed it; run the command again"));
            }
        }
        #[cfg(unix)]
        if self.old.is_none() && others {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(fs::Permissions::from_mode(0o644))?;
        }
        file.sync_all()
    }
}

#[cfg(unix)]
fn same_owner(new: &Metadata, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    match new.uid() == old.uid() {
        true => Ok(()),
        false => Err(io::Error::other("it belongs to another user, who must run this command")),
    }
}

#[cfg(not(unix))]
fn same_owner(_: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}
