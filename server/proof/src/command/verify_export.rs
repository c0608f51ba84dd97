//! `colibri verify-export`: verifies a session's export alone, and says what is proven and what is not.

mod printed;
mod words;

use std::io::{BufRead, Read, Write};

use super::evidence::{Keys, Matched, input, matched};
use super::{CheckFile, Failure};
use crate::keys::{SignatureStatus, TrustedKeys};
use crate::session_export::{ExportCheck, ExportVerdict, MAX_LINE_BYTES};

/// A verified export, and how it compares with what the auditor gave.
struct Examined<'a> {
    verdict: &'a ExportVerdict,
    /// `None`: no root was given.
    root: Option<Option<Matched>>,
    trusted: &'a TrustedKeys,
    signature_wanted: bool,
}

impl Examined<'_> {
    fn holds(&self) -> bool {
        self.verdict.valid && self.root != Some(None)
    }
}

/// Verifies an export and says what is proven; [`Failure::Finding`] if something does not fit.
pub fn run(arguments: &CheckFile, out: &mut dyn Write, stdin: &mut dyn Read) -> Result<(), Failure> {
    let keys = Keys::read(&arguments.evidence.key)?;
    let verdict = read(arguments, &keys.trusted, stdin)?;
    let head = verdict.head.as_ref();
    if let (Some(head), Some(SignatureStatus::UnknownKey)) = (head, verdict.signature) {
        keys.not_mistaken(head)?;
    }
    let root = arguments.evidence.root.as_ref().map(|root| head.and_then(|head| matched(root, head)));
    let signature_wanted = !arguments.evidence.key.is_empty();
    let examined = Examined { verdict: &verdict, root, trusted: &keys.trusted, signature_wanted };
    if arguments.json {
        printed::print(&examined, out)?;
    } else {
        words::print(&examined, out)?;
    }
    out.flush()?;
    if examined.holds() { Ok(()) } else { Err(Failure::Finding) }
}

/// Hands the file's lines to the check, one at a time.
fn read(
    arguments: &CheckFile,
    trusted: &TrustedKeys,
    stdin: &mut dyn Read,
) -> Result<ExportVerdict, Failure> {
    let name = || arguments.file.display();
    let no_export = |reason| {
        Failure::Usage(format!("{} is not an export of a session: {reason}; name another file", name()))
    };
    let mut file = input(&arguments.file, stdin)?;
    let mut check = ExportCheck::new(trusted);
    let mut line = Vec::new();
    // One byte more than a line may have, and its line feed.
    let most = MAX_LINE_BYTES as u64 + 2;
    loop {
        line.clear();
        let taken = file.by_ref().take(most).read_until(b'\n', &mut line);
        let taken = taken.map_err(|error| Failure::Usage(format!("cannot read {}: {error}", name())))?;
        if taken == 0 || !check.line(&line).map_err(no_export)? {
            return check.finish().map_err(no_export);
        }
    }
}
