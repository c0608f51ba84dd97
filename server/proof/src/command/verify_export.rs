//! `colibri verify-export`: verifies a session's export alone, and says what is proven and what is not.

mod printed;
mod words;

use std::io::{BufRead, Read, Write};

use super::evidence::{Keys, input, other_file};
use super::{CheckFile, Failure, conclude};
use crate::given::{Given, Matched, Part, Subject, matched};
use crate::keys::{SignatureStatus, TrustedKeys};
use crate::mangled::Mangled;
use crate::session_export::{ExportCheck, ExportVerdict, FORMAT, MAX_LINE_BYTES, NotAnExport};
use crate::verdict::Verdict;

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
        self.verdict.valid && self.root != Some(None) && (self.signed() || !self.signature_wanted)
    }

    fn signed(&self) -> bool {
        self.verdict.signature == Some(SignatureStatus::Valid)
    }

    fn verdict(&self) -> Verdict {
        Verdict::of(self.holds(), self.fixed().contains(&Part::Record))
    }

    fn given(&self) -> Given {
        Given { root: self.root.flatten(), signed: self.signed() }
    }

    /// Returns whether all contents are there; without its content, a legacy root proves nothing about a record.
    fn whole(&self) -> bool {
        self.verdict.cold_count == 0
    }

    fn fixed(&self) -> &'static [Part] {
        if self.holds() { self.given().fixes(Subject::Export, self.whole()) } else { &[] }
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
    let signature_wanted = arguments.evidence.signature_wanted();
    let examined = Examined { verdict: &verdict, root, trusted: &keys.trusted, signature_wanted };
    if arguments.json {
        printed::print(&examined, out)?;
    } else {
        words::print(&examined, out)?;
    }
    out.flush()?;
    conclude(examined.verdict())
}

/// Hands the file's lines to the check, one at a time.
fn read(
    arguments: &CheckFile,
    trusted: &TrustedKeys,
    stdin: &mut dyn Read,
) -> Result<ExportVerdict, Failure> {
    let name = || arguments.file.display();
    let unreadable = |error| Failure::Usage(format!("cannot read {}: {error}", name()));
    let mut file = input(&arguments.file, stdin)?;
    let beginning = file.fill_buf().map_err(unreadable)?.to_vec();
    let no_export = |reason| Failure::Usage(no_export(&name().to_string(), reason, &beginning));
    let mut check = ExportCheck::new(trusted);
    let mut line = Vec::new();
    // One byte more than a line may have, and its line feed.
    let most = MAX_LINE_BYTES as u64 + 2;
    loop {
        line.clear();
        let taken = file.by_ref().take(most).read_until(b'\n', &mut line);
        if taken.map_err(unreadable)? == 0 || !check.line(&line).map_err(no_export)? {
            return check.finish().map_err(no_export);
        }
    }
}

/// Says why a file is not an export, by its first bytes.
fn no_export(name: &str, reason: NotAnExport, beginning: &[u8]) -> String {
    if reason == NotAnExport::OtherFile {
        if let Some(mangled) = Mangled::beginning(beginning, FORMAT) {
            return format!("{name} cannot be read as an export: {mangled}; use the file as it was written");
        }
        if let Some(other) = other_file(beginning) {
            return format!("{name} is not an export of a session: {other}");
        }
    }
    format!("{name} is not an export of a session: {reason}; name another file")
}
