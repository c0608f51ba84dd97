//! The verdict as JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::Examined;
use super::words::not_proven;
use crate::chain::Issue;
use crate::command::output::print_json;
use crate::given::{Matched, Part};
use crate::session_export::{Checks, ExportState};
use crate::verdict::Verdict;

#[derive(Serialize)]
struct Printed<'a> {
    valid: bool,
    verdict: Verdict,
    session_id: Option<&'a str>,
    state: Option<ExportState>,
    record_count: i64,
    /// Records whose content retention has dropped.
    cold_count: i64,
    links_inside: i64,
    links_outside: i64,
    /// Where the file leaves the form of an export.
    fault: Option<PrintedFault>,
    checks: Checks,
    signature: Option<&'static str>,
    key_id: Option<&'a str>,
    head_hash: Option<&'a str>,
    root_hash: Option<&'a str>,
    legacy_root: Option<&'a str>,
    /// Which hash `--root` is; `null` if it matches none of them, or was not given.
    root_match: Option<Matched>,
    /// The parts of the file that the given root and keys fix.
    fixed: &'static [Part],
    issues: Vec<PrintedIssue<'a>>,
    issue_count: u64,
    not_proven: Vec<String>,
}

#[derive(Serialize)]
struct PrintedFault {
    line: u64,
    problem: String,
}

#[derive(Serialize)]
struct PrintedIssue<'a> {
    code: &'static str,
    /// The line of the record that it is about.
    line: Option<i64>,
    task_id: Option<&'a str>,
    record_id: Option<&'a str>,
    expected: Option<&'a str>,
    actual: Option<&'a str>,
}

impl<'a> PrintedIssue<'a> {
    fn of(issue: &'a Issue) -> Self {
        Self {
            code: issue.code.as_str(),
            line: line_of(issue),
            task_id: issue.task_id.as_deref(),
            record_id: issue.record_id.as_deref(),
            expected: issue.expected.as_deref(),
            actual: issue.actual.as_deref(),
        }
    }
}

/// Returns the line of the record with that place: the first is in line 2.
pub(super) fn line_of(issue: &Issue) -> Option<i64> {
    issue.index.and_then(|index| index.checked_add(2))
}

/// Prints the verdict.
pub(super) fn print(examined: &Examined<'_>, out: &mut dyn Write) -> io::Result<()> {
    let verdict = examined.verdict;
    let header = verdict.header.as_ref();
    let head = verdict.head.as_ref();
    let printed = Printed {
        valid: examined.holds(),
        verdict: examined.verdict(),
        session_id: header.map(|header| header.session().session_id),
        state: header.map(|header| header.state),
        record_count: verdict.record_count,
        cold_count: verdict.cold_count,
        links_inside: verdict.links_inside,
        links_outside: verdict.links_outside,
        fault: verdict
            .fault
            .as_ref()
            .map(|fault| PrintedFault { line: fault.line, problem: fault.problem.to_string() }),
        checks: verdict.checks,
        signature: verdict.signature.map(|status| status.as_str()),
        key_id: head.and_then(|head| head.signature.as_ref()).map(|signed| signed.key_id.as_str()),
        head_hash: head.map(|head| head.head_hash.as_str()),
        root_hash: head.map(|head| head.head.root_hash.as_str()),
        legacy_root: head.map(|head| head.head.legacy_root.as_str()),
        root_match: examined.root.flatten(),
        fixed: examined.fixed(),
        issues: verdict.issues.iter().map(PrintedIssue::of).collect(),
        issue_count: verdict.issue_count,
        not_proven: not_proven(examined),
    };
    print_json(out, &printed)
}
