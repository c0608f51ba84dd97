//! The check of the whole file, recomputed as `colibri verify` recomputes it.

use colibri_runtime::chain::scan::Interrupt;
use colibri_runtime::handler::Fault;

use super::Finding;
use super::database::{complaints, unreadable};
use crate::domains::proof::Signers;
use crate::domains::skills::roots;
use crate::migrations::MIGRATIONS;
use crate::verification::finding::Found;
use crate::verification::{self, Expected, Indexes, Options, Report, log};
use colibri_proof::keys::TrustedKeys;
use colibri_store::sqlite::look::inspect::Inspection;
use colibri_store::sqlite::look::schema;
use colibri_store::walk::Stop;

const INTEGRITY: &str = "integrity";
const REFERENCES: &str = "references";
const AUDIT_LOG: &str = "audit log";
const CONTENT: &str = "content";

const EVIDENCE: &str =
    "another program changed the file: keep a copy as evidence; `colibri verify` lists all findings";

/// Recomputes a database of this release's schema.
pub fn check(look: &Inspection, trusted: &TrustedKeys) -> Vec<Finding> {
    match recomputed(look, trusted) {
        Ok((report, roots)) => {
            let mut findings = findings(look, &report);
            findings.extend(super::skills::gone(&roots));
            findings
        }
        Err(fault) => vec![unreadable(INTEGRITY, &fault)],
    }
}

/// Returns the report, and the roots of stored skills: none if they cannot be read, which the report then says.
fn recomputed(look: &Inspection, trusted: &TrustedKeys) -> Result<(Report, Vec<String>), Fault> {
    let expected = schema::expected(MIGRATIONS)?;
    let options = Options {
        expected: Expected::File(&expected),
        signers: Signers { trusted, required: false },
        checkpoint: None,
        take_checkpoint: false,
        interrupt: &Interrupt::default(),
    };
    let (report, roots) = look.at_one_moment(|db, beside| {
        (verification::verify(db, beside, &options, &mut |_| ()), roots(db).unwrap_or_default())
    })?;
    let report = report.map_err(|stop| match stop {
        Stop::Fault(fault) => fault,
        Stop::Interrupted => Fault::Other("the verification was interrupted".to_owned()),
    })?;
    Ok((report, roots))
}

/// Returns one finding for each part: its first error, or that it has none.
fn findings(look: &Inspection, report: &Report) -> Vec<Finding> {
    let end = report.log.map_or_else(
        || "it cannot be read".to_owned(),
        |end| {
            let (closed, hash) = (end.last_exit_no, end.last_row_hash);
            format!("{closed} closed calls, the chain is unbroken; its last hash is {}", hash.as_str())
        },
    );
    let parts = [
        (INTEGRITY, "the whole file was checked".to_owned()),
        (REFERENCES, "every reference leads to a row".to_owned()),
        (AUDIT_LOG, end),
        (CONTENT, "every row matches its call, its chain and its seal".to_owned()),
    ];
    let part = |(name, sound): (&'static str, String)| {
        let found: Vec<&Found> =
            report.findings.kinds().iter().filter(|found| part_of(found) == Some(name)).collect();
        match found.first() {
            // A verification skips the indexes of a large file.
            None if name == INTEGRITY && report.indexes != Indexes::Checked => {
                complaints(INTEGRITY, look.integrity(), &sound)
            }
            None => Finding::ok(name, sound),
            Some(first) => broken(name, &first.first, found.iter().map(|found| found.count).sum()),
        }
    };
    parts.into_iter().map(part).collect()
}

/// Returns the part that a finding belongs to; `None` for the schema, which is reported before the content is read.
fn part_of(found: &Found) -> Option<&'static str> {
    match (found.first.check, found.first.code) {
        (verification::schema::NAME, "FILE_DAMAGED") => Some(INTEGRITY),
        (verification::schema::NAME, "REFERENCE_BROKEN") => Some(REFERENCES),
        (verification::schema::NAME, _) => None,
        (log::NAME, _) => Some(AUDIT_LOG),
        _ => Some(CONTENT),
    }
}

fn broken(part: &'static str, first: &verification::finding::Finding, count: u64) -> Finding {
    let (subject, message) = (&first.subject, &first.message);
    let mut text =
        if message.starts_with(subject.as_str()) { message.clone() } else { format!("{subject}: {message}") };
    if count > 1 {
        text.push_str(&format!(" (and {} more)", count - 1));
    }
    match part {
        INTEGRITY | REFERENCES => Finding::fail(part, text, super::database::RESTORE),
        _ => Finding::fail(part, text, EVIDENCE),
    }
}
