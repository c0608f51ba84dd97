//! How a reader opens a database: it shares the log, or reads a private copy (store#read-only).

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::side_file;
use crate::sqlite::open::connection::Location;
use crate::sqlite::open::error::OpenError;
use crate::sqlite::open::preflight;
use crate::sqlite::open::private_copy::{NotCopied, PrivateCopy};

/// The time between two attempts to share the log or to copy.
const PAUSE: Duration = Duration::from_millis(5);

/// Opens a database that is only read: the file itself where SQLite can share its log, and a private copy elsewhere. While a server
/// writes, tries both again until `until`. `file` is the one true name, `shown` what the user calls it; `open` reads from the file, and
/// `kind` says how a failure counts.
///
/// # Errors
/// Those of `open`, [`OpenError::Unfinished`], [`OpenError::NotCopied`], [`OpenError::Unquiet`].
pub(crate) fn shared_or_copied<T, E: From<OpenError>>(
    (file, shown): (&Path, &Path),
    until: Instant,
    open: impl Fn(&Location) -> Result<T, E>,
    kind: impl Fn(&E) -> &OpenError,
) -> Result<(T, Location), E> {
    let shared = Location::File(file.to_owned());
    loop {
        let refused = match open(&shared) {
            Ok(opened) => return Ok((opened, shared)),
            // Another program may be writing to a file that it has locked, and what is damaged stays so in a copy.
            Err(error) if !matches!(kind(&error), OpenError::Unusable { .. }) => return Err(error),
            Err(error) => error,
        };
        if let Some(unfinished) = preflight::unfinished(file) {
            return Err(unfinished.into());
        }
        match PrivateCopy::of(file) {
            Ok(copy) => {
                let location = Location::Copy(Arc::new(copy));
                return open(&location).map(|opened| (opened, location));
            }
            Err(NotCopied::Changed) if Instant::now() < until => std::thread::sleep(PAUSE),
            Err(NotCopied::Changed) => {
                return Err(OpenError::Unquiet { path: shown.display().to_string() }.into());
            }
            Err(NotCopied::Source) => return Err(refused),
            Err(NotCopied::Copy(error)) => return Err(not_copied(file, shown, &error).into()),
        }
    }
}

fn not_copied(file: &Path, shown: &Path, error: &io::Error) -> OpenError {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len());
    OpenError::NotCopied {
        path: shown.display().to_string(),
        folder: std::env::temp_dir().display().to_string(),
        mib: (bytes(file) + bytes(&side_file::named(file, "-wal"))).div_ceil(1 << 20),
        reason: error.to_string(),
    }
}
