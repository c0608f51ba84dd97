//! A verification's result, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use colibri_proof::Verdict;
use colibri_visible::printable;
use serde::Serialize;

use crate::cli::output::{Visible, print_json};
use crate::cli::views::{Screen, Style};
use crate::settings::place::Place;
use crate::verification::finding::Found;
use crate::verification::judgement::Judgement;
use crate::verification::run::Count;
use crate::verification::seals::Heads;
use crate::verification::{CheckReport, Indexes, Report};

/// The result as JSON.
#[derive(Serialize)]
struct Document<'a> {
    sound: bool,
    verdict: Verdict,
    database: String,
    checks: &'a [CheckReport],
    findings: &'a [Found],
    warnings: &'a [Found],
    indexes_looked_up: bool,
    log: Option<Log>,
    tree_heads: Option<&'a Heads>,
    checkpoint_written: Option<String>,
}

/// Where the log ends.
#[derive(Serialize)]
struct Log {
    last_sequence_no: i64,
    last_exit_no: i64,
    last_row_hash: String,
    running: i64,
}

pub fn json(place: &Place, report: &Report, written: Option<&Path>, out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        sound: report.is_sound(),
        verdict: report.verdict(),
        database: place.to_string(),
        checks: &report.checks,
        findings: report.findings.kinds(),
        warnings: report.warnings.kinds(),
        indexes_looked_up: report.indexes == Indexes::Checked,
        log: report.log.map(|end| Log {
            last_sequence_no: end.last_sequence_no,
            last_exit_no: end.last_exit_no,
            last_row_hash: end.last_row_hash.as_str().to_owned(),
            running: end.running,
        }),
        tree_heads: report.heads.as_ref(),
        checkpoint_written: written.map(|path| path.display().to_string()),
    };
    print_json(&mut Visible(&mut *out), &document)?;
    out.flush()
}

/// Prints the result for people. Every stored text is made printable here, since colours must pass.
pub fn text(
    place: &Place,
    (report, judged): (&Report, &Judgement),
    written: Option<&Path>,
    (screen, out): (Screen, &mut dyn Write),
) -> io::Result<()> {
    writeln!(out, "{}", printable(&place.to_string()))?;
    let noun = if place.file().is_some() { "file" } else { "database" };
    for check in &report.checks {
        let (word, style) = if check.findings == 0 { ("ok", Style::Green) } else { ("broken", Style::Red) };
        let word = style.paint(&format!("{word:7}"), screen);
        writeln!(out, "{word} {:11} {}", check.check, counted(&check.counts))?;
    }
    writeln!(out)?;
    for Found { count, first } in report.findings.kinds() {
        let kind = Style::Red.paint(&format!("{} {}", first.check, first.code), screen);
        writeln!(out, "{kind} ({count}): {}", printable(&first.message))?;
        writeln!(out, "  first: {}", printable(&first.subject))?;
    }
    for Found { count, first } in report.warnings.kinds() {
        let kind = Style::Yellow.paint(&format!("warning {} {}", first.check, first.code), screen);
        writeln!(out, "{kind} ({count}): {}", printable(&first.message))?;
    }
    if report.is_sound() {
        sound(noun, report, judged, screen, out)?;
    } else {
        not_sound(noun, report, judged, screen, out)?;
    }
    if let Some(written) = written {
        writeln!(
            out,
            "Checkpoint written to {}; keep it where no writer of the database can change it.",
            printable(&written.to_string_lossy())
        )?;
    }
    out.flush()
}

fn sound(
    noun: &str,
    report: &Report,
    judged: &Judgement,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (word, style) = match judged.verdict {
        Some(Verdict::Unconfirmed) => ("Holds, but only by a key that you did not give", Style::Yellow),
        _ => ("Sound", Style::Green),
    };
    let word = style.paint(word, screen);
    writeln!(out, "{word}: everything that can be recomputed from the {noun} matches.")?;
    if let Some(text) = judged.unknown_key() {
        writeln!(out, "{}", printable(&text))?;
    }
    match report.indexes {
        Indexes::Checked => {}
        Indexes::LeftOut => {
            writeln!(out, "The indexes of a file this large were not checked: `colibri doctor` checks them.")?
        }
        Indexes::NoExtension => writeln!(
            out,
            "The indexes were not checked: the extension amcheck is missing, or this role may not call bt_index_check. \
             The program pg_amcheck checks them, too."
        )?,
    }
    keep(noun, report, judged, out)
}

fn not_sound(
    noun: &str,
    report: &Report,
    judged: &Judgement,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    let kinds = report.findings.kinds();
    let total = judged.count();
    writeln!(out)?;
    let shown = match (total, kinds.len()) {
        (1, _) => "1 finding".to_owned(),
        (_, 1) => format!("{total} findings of one kind; the first is shown"),
        (_, several) => format!("{total} findings of {several} kinds; the first of each is shown"),
    };
    let word = Style::Red.paint("Not sound", screen);
    writeln!(out, "{word}: {shown}. Keep a copy of the {noun} as evidence.")?;
    if report.heads.as_ref().is_some_and(|heads| heads.signature_required && heads.unknown_key > 0) {
        writeln!(out, "If one key replaced another, name both with --key.")?;
    }
    Ok(())
}

/// Prints what no file can prove about itself.
fn keep(noun: &str, report: &Report, judged: &Judgement, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Anyone who can write the {noun} can replace all of it. Keep this elsewhere:")?;
    if let Some(end) = &report.log {
        writeln!(out, "  log        exit_no {:<10} {}", end.last_exit_no, end.last_row_hash.as_str())?;
    }
    if let (Some(heads), Some((index, hash))) = (&report.heads, judged.last_head()) {
        writeln!(out, "  tree head  index {index:<12} {}", printable(hash))?;
        writeln!(
            out,
            "  signatures {} by a trusted key, {} missing, {} by an untrusted key",
            heads.signed, heads.unsigned, heads.unknown_key
        )?;
        if heads.unconfirmed {
            writeln!(
                out,
                "To trust a key, name it with --key, or set COLIBRI_PROOF_SIGNING_KEY_FILE as the server has it. Until then the \
                 exit code is 3."
            )?;
        }
    }
    match &report.heads {
        Some(heads) if heads.signature_required => signatures(heads, out),
        _ => Ok(()),
    }
}

/// Prints what the keys of `--key` prove for a sound database.
fn signatures(heads: &Heads, out: &mut dyn Write) -> io::Result<()> {
    match heads.unsigned {
        _ if heads.count == 0 => {
            writeln!(out, "No session is sealed, so nothing is signed: --key proves nothing here.")
        }
        0 => Ok(()),
        1 => writeln!(
            out,
            "The 1 unsigned head comes before the first signed one, which commits to it by the chain of heads."
        ),
        several => writeln!(
            out,
            "The {several} unsigned heads come before the first signed one, which commits to them by the chain of heads."
        ),
    }
}

/// Returns the counts of a check; behind the first one, a 0 says nothing.
fn counted(counts: &[Count]) -> String {
    let told = counts.iter().enumerate().filter(|(at, count)| *at == 0 || count.number > 0);
    told.map(|(_, count)| format!("{}: {}", count.what, count.number)).collect::<Vec<_>>().join(", ")
}
