//! The lines of an export. Each is canonical JSON (RFC 8785) and a line feed, so that its values can be
//! written in one way only.

use std::borrow::Cow;
use std::fmt;

use colibri_canonical::cmp_utf16;
use colibri_canonical::{MAX_SAFE_INTEGER, NumberRule, canonical_json};
use serde::{Deserialize, Serialize};

use super::MAX_LINE_BYTES;
use crate::envelope::LeafEnvelope;
use crate::head::{ChainTip, SessionFacts, SignedTreeHead, VERSION};
use crate::mangled::Mangled;
use crate::record::Preimage;
use colibri_canonical::object::text;

/// How every export begins, in all versions.
const BEGINNING: &[u8] = b"{\"format\":\"colibri-session-export\",";
pub(crate) const FORMAT: &str = "colibri-session-export";

/// How much of a parser's complaint is repeated; it may hold a piece of the line.
const REASON_CHARS: usize = 160;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// What the file is, and of which session.
    Header,
    /// One thought record.
    Record,
    /// Where the chains of all tasks with a record in the session ended when it was sealed.
    Tips,
    /// The seal.
    TreeHead,
}

impl fmt::Display for LineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "the header",
            Self::Record => "a record",
            Self::Tips => "the chain tips",
            Self::TreeHead => "the tree head",
        })
    }
}

/// Why a file is not an export at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAnExport {
    /// It is empty.
    #[error("it is empty")]
    Empty,
    /// It begins in another way.
    #[error("it does not begin as an export of a session does")]
    OtherFile,
    /// It is an export of another release.
    #[error("it is an export of version {0}, and this release reads version 1")]
    OtherVersion(i64),
}

/// Where a file leaves the form of an export. Nothing after that is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} {problem}")]
pub struct FormFault {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub problem: FormProblem,
}

/// What is wrong with a line; follows its number in a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormProblem {
    /// The line is longer than any sound one.
    #[error("is longer than {} MiB", MAX_LINE_BYTES / (1024 * 1024))]
    TooLong,
    /// The file was cut, or something was appended to it.
    #[error("has no line end")]
    Unterminated,
    /// Not the line that the form has at this place.
    #[error("should be {kind}, and is not: {reason}")]
    Shape {
        /// What should be there.
        kind: LineKind,
        /// What the line is or lacks.
        reason: String,
    },
    /// The right values, written by another program.
    #[error("is not as it was written: {0}")]
    Mangled(Mangled),
    /// The right values, but not in canonical form.
    #[error("is not in canonical form from byte {at} on")]
    NotCanonical {
        /// The first byte of the line that differs, from 0.
        at: usize,
    },
    /// The file ends before this line.
    #[error("should be {0}, and is missing")]
    Missing(LineKind),
    /// The file goes on after its end.
    #[error("stands behind the end of the export")]
    Surplus,
}

impl FormProblem {
    fn shape(kind: LineKind, reason: &str) -> Self {
        let reason = match reason.char_indices().nth(REASON_CHARS) {
            Some((end, _)) => format!("{}…", &reason[..end]),
            None => reason.to_owned(),
        };
        Self::Shape { kind, reason }
    }
}

/// Whether the session was sealed when it was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportState {
    /// No: more records may have followed.
    Open,
    /// Yes: the last two lines are its seal.
    Sealed,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportHeader {
    format: String,
    v: i64,
    /// How many records follow.
    pub record_count: i64,
    /// Open or sealed.
    pub state: ExportState,
    session: Session,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    session_id: String,
    intent: String,
    task_id: Option<String>,
    started_at: String,
}

impl ExportHeader {
    /// Makes the header of an export.
    pub fn new(session: &SessionFacts<'_>, state: ExportState, record_count: i64) -> Self {
        let session = Session {
            session_id: session.session_id.to_owned(),
            intent: session.intent.to_owned(),
            task_id: session.task_id.map(str::to_owned),
            started_at: session.started_at.to_owned(),
        };
        Self { format: FORMAT.to_owned(), v: VERSION, record_count, state, session }
    }

    /// Returns what the header says of the session.
    pub fn session(&self) -> SessionFacts<'_> {
        SessionFacts {
            session_id: &self.session.session_id,
            intent: &self.session.intent,
            task_id: self.session.task_id.as_deref(),
            started_at: &self.session.started_at,
        }
    }

    /// Returns the line without its line feed; `None` for a count beyond 2^53-1.
    pub fn line(&self) -> Option<String> {
        canonical(self)
    }

    /// Reads the first line of a file. The inner error means an export with a malformed header.
    pub(super) fn parse(line: &[u8]) -> Result<Result<Self, FormProblem>, NotAnExport> {
        if !line.starts_with(BEGINNING) {
            return Err(NotAnExport::OtherFile);
        }
        // Other versions may have other members, so the version is read by itself first.
        #[derive(Deserialize)]
        struct Version {
            v: i64,
        }
        match serde_json::from_slice(line) {
            Ok(Version { v }) if v != VERSION => return Err(NotAnExport::OtherVersion(v)),
            _ => {}
        }
        Ok(parse(line, LineKind::Header, |header: &Self| {
            let sealed = header.state == ExportState::Sealed;
            let least = if sealed { 1 } else { 0 };
            if header.record_count < least {
                return Err("its number of records cannot be");
            }
            Ok(())
        }))
    }
}

/// A line with a record, as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // The fields of trail#record, under their names; `kind` is `type`.
pub struct ExportRecord<'a> {
    #[serde(borrow)]
    pub agent_id: Cow<'a, str>,
    /// The text; `None` if retention has dropped it.
    pub content: Option<Cow<'a, str>>,
    /// The text's digest.
    #[serde(borrow)]
    pub content_hash: Cow<'a, str>,
    #[serde(borrow)]
    pub hash: Cow<'a, str>,
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub prev_hash: Cow<'a, str>,
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
    #[serde(borrow)]
    pub task_id: Cow<'a, str>,
    #[serde(borrow)]
    pub timestamp: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
}

impl ExportRecord<'_> {
    /// Appends the line, without its line feed.
    pub fn write(&self, out: &mut Vec<u8>) {
        text(out, b"{\"record\":{\"agent_id\":", Some(&self.agent_id));
        text(out, b",\"content\":", self.content.as_deref());
        text(out, b",\"content_hash\":", Some(&self.content_hash));
        text(out, b",\"hash\":", Some(&self.hash));
        text(out, b",\"id\":", Some(&self.id));
        text(out, b",\"prev_hash\":", Some(&self.prev_hash));
        text(out, b",\"session_id\":", Some(&self.session_id));
        text(out, b",\"task_id\":", Some(&self.task_id));
        text(out, b",\"timestamp\":", Some(&self.timestamp));
        text(out, b",\"type\":", Some(&self.kind));
        out.extend_from_slice(b"}}");
    }

    /// Returns its leaf in the second tree.
    pub(super) fn envelope(&self) -> LeafEnvelope<'_> {
        LeafEnvelope {
            agent_id: &self.agent_id,
            content_hash: &self.content_hash,
            hash: &self.hash,
            id: &self.id,
            prev_hash: &self.prev_hash,
            session_id: &self.session_id,
            task_id: &self.task_id,
            timestamp: &self.timestamp,
            kind: &self.kind,
        }
    }

    /// Returns what its hash covers.
    pub(super) fn preimage<'b>(&'b self, content: &'b str) -> Preimage<'b> {
        Preimage {
            content,
            id: &self.id,
            prev_hash: &self.prev_hash,
            task_id: &self.task_id,
            timestamp: &self.timestamp,
            kind: &self.kind,
        }
    }

    /// Reads a line; `scratch` is cleared and holds the canonical form afterwards.
    pub(super) fn parse<'a>(line: &'a [u8], scratch: &mut Vec<u8>) -> Result<ExportRecord<'a>, FormProblem> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line<'a> {
            #[serde(borrow)]
            record: ExportRecord<'a>,
        }
        let Line { record } = read(line, LineKind::Record)?;
        scratch.clear();
        record.write(scratch);
        same(line, scratch).map(|()| record)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tip {
    task_id: String,
    chain_length: i64,
    tip_hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TipsLine {
    tips: Vec<Tip>,
}

/// Returns the line with the chain tips, without its line feed; sorts them. `None` for a length beyond 2^53-1.
pub fn tips_line(tips: &mut [ChainTip]) -> Option<String> {
    tips.sort_by(|left, right| cmp_utf16(&left.task_id, &right.task_id));
    let tip = |tip: &ChainTip| Tip {
        task_id: tip.task_id.clone(),
        chain_length: tip.chain_length,
        tip_hash: tip.tip_hash.clone(),
    };
    canonical(&TipsLine { tips: tips.iter().map(tip).collect() })
}

/// Reads the line with the chain tips, which are sorted and name each task once.
pub(super) fn parse_tips(line: &[u8]) -> Result<Vec<ChainTip>, FormProblem> {
    let line: TipsLine = parse(line, LineKind::Tips, |line: &TipsLine| {
        if !line.tips.is_sorted_by(|left, right| cmp_utf16(&left.task_id, &right.task_id).is_lt()) {
            return Err("they are not in the order of their tasks");
        }
        if line.tips.iter().any(|tip| tip.chain_length < 1) {
            return Err("a chain is shorter than 1");
        }
        Ok(())
    })?;
    let tip =
        |tip: Tip| ChainTip { task_id: tip.task_id, chain_length: tip.chain_length, tip_hash: tip.tip_hash };
    Ok(line.tips.into_iter().map(tip).collect())
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadLine {
    tree_head: SignedTreeHead,
}

/// Returns the line with the tree head, without its line feed; `None` for a number beyond 2^53-1.
pub fn head_line(head: &SignedTreeHead) -> Option<String> {
    canonical(&HeadLine { tree_head: head.clone() })
}

/// Reads the line with the tree head.
pub(super) fn parse_head(line: &[u8]) -> Result<SignedTreeHead, FormProblem> {
    let line: HeadLine = parse(line, LineKind::TreeHead, |line: &HeadLine| {
        let head = &line.tree_head.head;
        if head.tree_size < 1 || head.head_index < 0 || head.log_exit_no < 0 {
            return Err("a number in it cannot be");
        }
        Ok(())
    })?;
    Ok(line.tree_head)
}

fn canonical(value: &impl Serialize) -> Option<String> {
    canonical_json(&serde_json::to_value(value).ok()?, NumberRule::Trail).ok()
}

/// Reads a line that is not a record: its values, the result of `check`, its form.
fn parse<'a, T: Serialize + Deserialize<'a>>(
    line: &'a [u8],
    kind: LineKind,
    check: impl FnOnce(&T) -> Result<(), &'static str>,
) -> Result<T, FormProblem> {
    let value: T = read(line, kind)?;
    check(&value).map_err(|reason| FormProblem::shape(kind, reason))?;
    let beyond = || FormProblem::shape(kind, &format!("a number is beyond {MAX_SAFE_INTEGER}"));
    let form = canonical(&value).ok_or_else(beyond)?;
    same(line, form.as_bytes()).map(|()| value)
}

fn read<'a, T: Deserialize<'a>>(line: &'a [u8], kind: LineKind) -> Result<T, FormProblem> {
    serde_json::from_slice(line).map_err(|error| {
        if let Some(mangled) = Mangled::broken(line) {
            return FormProblem::Mangled(mangled);
        }
        let full = error.to_string();
        // The parser counts lines of its own.
        let reason = full.rsplit_once(" at line ").map_or(full.as_str(), |(reason, _)| reason);
        FormProblem::shape(kind, reason)
    })
}

/// Checks whether a line is in its canonical form.
fn same(line: &[u8], form: &[u8]) -> Result<(), FormProblem> {
    if line == form {
        return Ok(());
    }
    let at = line.iter().zip(form).take_while(|(left, right)| left == right).count();
    Err(Mangled::difference(line, form, at).map_or(FormProblem::NotCanonical { at }, FormProblem::Mangled))
}
