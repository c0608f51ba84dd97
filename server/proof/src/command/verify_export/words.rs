//! The verdict in words.

use std::io::{self, Write};

use colibri_visible::{counted, printable};

use super::Examined;
use super::printed::line_of;
use crate::chain::Issue;
use crate::command::evidence::signature_text;
use crate::command::verdict::{Mark, line};
use crate::command::worth::{left_open, worth};
use crate::given::{Matched, Subject};
use crate::head::SignedTreeHead;
use crate::keys::SignatureStatus;
use crate::session_export::{ExportState, ExportVerdict};
use crate::verdict::Verdict;

/// How many findings are printed; `--json` holds more of them.
const SHOWN_ISSUES: usize = 10;

/// Prints what was checked, what was found, and what follows from it.
pub(super) fn print(examined: &Examined<'_>, out: &mut dyn Write) -> io::Result<()> {
    let verdict = examined.verdict;
    if let Some(header) = &verdict.header {
        let state = match header.state {
            ExportState::Open => "open",
            ExportState::Sealed => "sealed",
        };
        let session = header.session();
        let text = format!("{} ({state}): {}", printable(session.session_id), printable(session.intent));
        line(out, Mark::None, "session", &text)?;
    }
    match &verdict.fault {
        Some(fault) => line(out, false, "form", &printable(&fault.to_string()))?,
        None => line(out, verdict.checks.form, "form", "every line is in its place")?,
    }
    print_records(verdict, out)?;
    if let (Some(head), None) = (&verdict.head, &verdict.fault) {
        print_seal(examined, head, out)?;
    }
    match examined.root {
        None => {}
        Some(None) => {
            let text = "it matches no hash in this export: the export has a different seal, or none";
            line(out, Mark::Fail, "--root", text)?;
        }
        Some(Some(root)) => {
            let bare = root == Matched::LegacyRoot && !examined.whole();
            let mark = if bare { Mark::None } else { Mark::Ok };
            line(out, mark, "--root", worth(root, Subject::Export, examined.whole()))?;
        }
    }
    if examined.signature_wanted && verdict.head.is_none() {
        line(out, false, "--key", "there is no seal, so nothing is signed")?;
    }
    print_issues(verdict, out)?;
    conclude(examined, out)
}

fn print_records(verdict: &ExportVerdict, out: &mut dyn Write) -> io::Result<()> {
    let checks = verdict.checks;
    let (all, kept) = (verdict.record_count, verdict.record_count - verdict.cold_count);
    let links = verdict.links_inside;
    // A check counts what it covers, not what fails: the findings below name each failure.
    let texts = [
        (
            "contents",
            checks.content_hashes,
            format!("{kept} match their digests"),
            format!("not all {kept} match their digests"),
        ),
        (
            "record hashes",
            checks.record_hashes,
            format!("{kept} match the recomputed hashes"),
            format!("not all {kept} match the recomputed hashes"),
        ),
        (
            "session",
            checks.session_records,
            format!("{all} records of this session, each present once"),
            format!("not all {all} records are of this session and present once"),
        ),
        (
            "links",
            checks.links,
            format!("{links} inside the file"),
            format!("not all {links} inside the file match"),
        ),
    ];
    for (name, check, good, bad) in texts {
        check_line(out, check, name, &good, &bad)?;
    }
    if verdict.cold_count > 0 {
        let text = format!(
            "{} with pruned content, of which only the digest is left",
            counted(verdict.cold_count, "record")
        );
        line(out, Mark::None, "contents", &text)?;
    }
    if verdict.links_outside > 0 {
        let text =
            format!("{} to records of other sessions, which are not in the file", verdict.links_outside);
        line(out, Mark::None, "links", &text)?;
    }
    Ok(())
}

fn print_seal(examined: &Examined<'_>, signed: &SignedTreeHead, out: &mut dyn Write) -> io::Result<()> {
    let (checks, head) = (examined.verdict.checks, &signed.head);
    let texts = [
        (
            "session facts",
            checks.session_hash,
            "intent, task and start are the sealed ones",
            "intent, task or start is not the sealed one",
        ),
        (
            "tree size",
            checks.tree_size,
            "the file has as many records as were sealed",
            "the file does not have as many records as were sealed",
        ),
        ("RFC 9162 root", checks.root_hash, &head.root_hash, "the sealed root does not match the records"),
        ("legacy root", checks.legacy_root, &head.legacy_root, "the sealed root does not match the records"),
        (
            "chain tips",
            checks.chain_tips,
            "the tips of the records' tasks are the sealed ones",
            "a tip of the records' tasks is not the sealed one",
        ),
        ("head hash", checks.head_hash, &signed.head_hash, "the hash does not match the head's fields"),
    ];
    for (name, check, good, bad) in texts {
        check_line(out, check, name, &printable(good), bad)?;
    }
    let Some(status) = examined.verdict.signature else { return Ok(()) };
    let mark = match status {
        SignatureStatus::Valid => Mark::Ok,
        SignatureStatus::Invalid => Mark::Fail,
        _ if examined.signature_wanted => Mark::Fail,
        _ => Mark::None,
    };
    line(out, mark, "signature", &printable(&signature_text(status, signed, examined.trusted)))
}

/// Prints the result of a check that was made; prints nothing if it was not.
fn check_line(out: &mut dyn Write, check: Option<bool>, name: &str, good: &str, bad: &str) -> io::Result<()> {
    match check {
        Some(passed) => line(out, passed, name, if passed { good } else { bad }),
        None => Ok(()),
    }
}

fn print_issues(verdict: &ExportVerdict, out: &mut dyn Write) -> io::Result<()> {
    if verdict.issue_count == 0 {
        return Ok(());
    }
    writeln!(out)?;
    for issue in verdict.issues.iter().take(SHOWN_ISSUES) {
        writeln!(out, "{}", printable(&issue_text(issue)))?;
    }
    let more = verdict.issue_count.saturating_sub(SHOWN_ISSUES as u64);
    if more > 0 {
        writeln!(out, "and {more} more")?;
    }
    Ok(())
}

fn issue_text(issue: &Issue) -> String {
    let mut text = issue.code.as_str().to_owned();
    let place = [
        line_of(issue).map(|line| format!("line {line}")),
        issue.record_id.as_ref().map(|id| format!("record {id}")),
        issue.task_id.as_ref().map(|id| format!("task {id}")),
    ];
    let sides = issue.sides().map(|(word, value)| format!("{word} {value}"));
    place.into_iter().flatten().chain(sides).for_each(|part| {
        text.push_str(", ");
        text.push_str(&part);
    });
    text
}

fn conclude(examined: &Examined<'_>, out: &mut dyn Write) -> io::Result<()> {
    let text = match (examined.verdict(), examined.verdict.head.is_some()) {
        (Verdict::Holds, _) => "The export is valid: every byte of it is covered by the head hash.",
        (Verdict::Unconfirmed, true) => {
            "The export is valid: every byte of it is covered by the head hash. But nothing that you gave with --key \
             or --root confirms that hash."
        }
        (Verdict::Unconfirmed, false) => {
            "The export is valid as far as an open session's can be: nothing in it contradicts itself."
        }
        (Verdict::Fails, _) => "The export is not valid.",
    };
    writeln!(out, "\n{text}")?;
    if !examined.holds() {
        return writeln!(out, "Nothing is proven: a check failed.");
    }
    for open in not_proven(examined) {
        writeln!(out, "Not proven: {}", printable(&open))?;
    }
    Ok(())
}

/// Returns what remains unproven, even if all checks pass.
pub(super) fn not_proven(examined: &Examined<'_>) -> Vec<String> {
    if !examined.holds() {
        return vec!["anything; one of the checks failed.".to_owned()];
    }
    let verdict = examined.verdict;
    let mut open = Vec::new();
    match &verdict.head {
        None => open.extend(
            [
                "that no record was taken from the end, or rewritten with all that follow it; only a seal shows that.",
                "who wrote the records, and what the session was opened for; only a seal covers that.",
            ]
            .map(str::to_owned),
        ),
        Some(head) => seal_leaves_open(examined, head, &mut open),
    }
    if verdict.cold_count > 0 {
        open.push(format!("what the {} with pruned content said.", counted(verdict.cold_count, "record")));
    }
    open.push("that what the records say is true.".to_owned());
    open
}

fn seal_leaves_open(examined: &Examined<'_>, head: &SignedTreeHead, open: &mut Vec<String>) {
    // A trusted signature says that this was sealed; a published hash also says when at the latest.
    open.extend(left_open(examined.given(), Subject::Export, examined.whole(), &head.head_hash));
    match examined.verdict.signature {
        Some(SignatureStatus::Unsigned) => open.push("who sealed it; the head is not signed.".to_owned()),
        Some(SignatureStatus::UnknownKey) => {
            open.push("who sealed it; the signature is by a key that was not given with --key.".to_owned());
        }
        _ => {}
    }
}
