//! Checkpoints: what an auditor keeps outside the file. A later run gets one and then detects any change
//! to what existed when it was taken, even if everything inside the file was recomputed.
//!
//! Why these few values are enough. A checkpoint is only taken of a sound database, and compared in a run that
//! recomputes everything again, so each statement below is about a file without other findings.
//!
//! 1. *The log.* `last_row_hash` is the end of a hash chain, so the closed rows up to `last_exit_no` are those of
//!    the checkpoint, in every column. Numbers have no gap, so the calls up to `last_sequence_no` that are not among
//!    them are those that were running; of these the columns written at their start are kept as hashes.
//! 2. *Rows tied to calls* (store#ties). A successful call's row in the log holds the hash of its reply and the
//!    key of its row. Rows of append-only tables must still give that reply, each call must find its row and no
//!    row may lack a call. So the sessions, records, seals and tree heads of the checkpoint exist, unchanged, and none
//!    was put between them. Later calls may have changed a task; the log says which state it had then.
//! 3. *What seals hold besides replies*: leaves are recomputed from the records, the tips from the head's hash.
//! 4. *Trail heads* are recomputed from the records.
//! 5. *Records with pruned content* (cold, trail#retention) do not give their reply any more, and if they are not
//!    sealed nothing else covers their columns. `records.digest` runs over every column that retention leaves
//!    alone, with the digest of the content for the content, which retention keeps as well.
//! 6. *Order*. Records are in the order of their calls, and so are tasks.
//! 7. *Reputation*. The ledger is a hash chain, from which standings and events follow; `reputation` pins it with the
//!    columns its hashes leave out, and the ids of tokens.
//!
//! What it cannot pin: the skills, which each start of a server writes anew from their files; what happened
//! since; and moving content to a zone to which retention would move it as well.

mod reputation;

use colibri_canonical::{NumberRule, canonical_json};
use serde::{Deserialize, Serialize};

use self::reputation::ReputationText;
pub use self::reputation::{PinnedEntry, ReputationPin, TokensPin};

use colibri_canonical::HexDigest;
use colibri_canonical::object::{number, text};

/// `format` of a checkpoint file.
pub(crate) const FORMAT: &str = "colibri-checkpoint";
const VERSION: u32 = 1;

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Where the log ended.
    pub log: LogPosition,
    /// The calls that were running.
    pub open_calls: Vec<OpenCall>,
    /// The thought records at that time.
    pub records: RecordsPin,
    /// The tree heads at that time.
    pub tree_heads: HeadsPin,
    /// The reputation ledger at that time.
    pub reputation: ReputationPin,
}

/// Where the log of calls ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition {
    /// The last call's number.
    pub last_sequence_no: i64,
    /// The last closed row's place.
    pub last_exit_no: i64,
    /// Its hash.
    pub last_row_hash: HexDigest,
}

/// A call that was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCall {
    /// Its number.
    pub sequence_no: i64,
    /// The hash of what was written at its start.
    pub enter_hash: HexDigest,
}

/// All records up to one, in insertion order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordsPin {
    /// How many.
    pub count: i64,
    /// `seq` of the last; 0 if the count is 0.
    pub last_seq: i64,
    /// The digest of all of them, see [`RecordsPin::add`].
    pub digest: HexDigest,
}

/// The chain of tree heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadsPin {
    /// How many.
    pub count: i64,
    /// The hash of the last; zeros if the count is 0.
    pub last_head_hash: HexDigest,
}

/// A record as a checkpoint pins it: what retention never changes.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // The columns of trail#tables, under their names.
pub struct PinnedRecord<'a> {
    pub agent_id: &'a str,
    pub content_hash: &'a str,
    pub created_at: &'a str,
    pub hash: &'a str,
    pub id: &'a str,
    pub prev_hash: &'a str,
    pub seq: i64,
    pub sequence_no: Option<i64>,
    pub session_id: Option<&'a str>,
    pub task_id: &'a str,
    pub timestamp: &'a str,
    pub kind: &'a str,
}

impl RecordsPin {
    /// No record.
    pub const NONE: Self = Self { count: 0, last_seq: 0, digest: HexDigest::ZERO };

    /// Adds one record: the digest becomes SHA-256 of the digest so far, a line feed, and the record's columns as
    /// canonical JSON. `scratch` is reused from record to record.
    pub fn add(&mut self, record: &PinnedRecord<'_>, scratch: &mut Vec<u8>) {
        scratch.clear();
        scratch.extend_from_slice(self.digest.as_str().as_bytes());
        scratch.push(b'\n');
        text(scratch, b"{\"agent_id\":", Some(record.agent_id));
        text(scratch, b",\"content_hash\":", Some(record.content_hash));
        text(scratch, b",\"created_at\":", Some(record.created_at));
        text(scratch, b",\"hash\":", Some(record.hash));
        text(scratch, b",\"id\":", Some(record.id));
        text(scratch, b",\"prev_hash\":", Some(record.prev_hash));
        number(scratch, b",\"seq\":", Some(record.seq));
        number(scratch, b",\"sequence_no\":", record.sequence_no);
        text(scratch, b",\"session_id\":", record.session_id);
        text(scratch, b",\"task_id\":", Some(record.task_id));
        text(scratch, b",\"timestamp\":", Some(record.timestamp));
        text(scratch, b",\"type\":", Some(record.kind));
        scratch.push(b'}');
        self.digest = HexDigest::of(scratch);
        self.count += 1;
        self.last_seq = record.seq;
    }
}

impl Checkpoint {
    /// Returns the file's text: canonical JSON and a line feed.
    ///
    /// # Errors
    /// The encoder's error, which a checkpoint's own values never cause.
    pub fn to_text(&self) -> Result<String, String> {
        let value = serde_json::to_value(File::from(self)).map_err(|error| error.to_string())?;
        let text = canonical_json(&value, NumberRule::Trail).map_err(|error| error.to_string())?;
        Ok(text + "\n")
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// One sentence that says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File =
            serde_json::from_str(text).map_err(|error| format!("it is not a checkpoint: {error}"))?;
        if file.format != FORMAT {
            return Err(format!("it is not a checkpoint: its format is {:?}", file.format));
        }
        if file.v != VERSION {
            return Err(format!("its version is {}, this release reads {VERSION}", file.v));
        }
        let checkpoint = file.checkpoint().ok_or("one of its hashes is not 64 lowercase hex characters")?;
        let numbers = [
            checkpoint.log.last_exit_no,
            checkpoint.records.count,
            checkpoint.records.last_seq,
            checkpoint.tree_heads.count,
            checkpoint.reputation.entries,
            checkpoint.reputation.tokens.count,
        ];
        if numbers.iter().any(|number| *number < 0) {
            return Err("one of its numbers is negative".to_owned());
        }
        let running = checkpoint.log.last_sequence_no.checked_sub(checkpoint.log.last_exit_no);
        if running.and_then(|running| usize::try_from(running).ok()) != Some(checkpoint.open_calls.len()) {
            return Err(
                "its numbers contradict each other: running calls are all that are not closed".to_owned()
            );
        }
        // A text is refused if it holds a number that this program cannot write.
        checkpoint.to_text().map_err(|error| format!("one of its numbers is too large: {error}"))?;
        Ok(checkpoint)
    }
}

/// The file's shape.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    v: u32,
    log: LogText,
    open_calls: Vec<OpenText>,
    records: RecordsText,
    tree_heads: HeadsText,
    #[serde(default)]
    reputation: ReputationText,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogText {
    last_sequence_no: i64,
    last_exit_no: i64,
    last_row_hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenText {
    sequence_no: i64,
    enter_hash: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordsText {
    count: i64,
    last_seq: i64,
    digest: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadsText {
    count: i64,
    last_head_hash: String,
}

impl From<&Checkpoint> for File {
    fn from(checkpoint: &Checkpoint) -> Self {
        let hex = |digest: &HexDigest| digest.as_str().to_owned();
        let Checkpoint { log, open_calls, records, tree_heads, reputation } = checkpoint;
        Self {
            format: FORMAT.to_owned(),
            v: VERSION,
            log: LogText {
                last_sequence_no: log.last_sequence_no,
                last_exit_no: log.last_exit_no,
                last_row_hash: hex(&log.last_row_hash),
            },
            open_calls: open_calls
                .iter()
                .map(|call| OpenText { sequence_no: call.sequence_no, enter_hash: hex(&call.enter_hash) })
                .collect(),
            records: RecordsText {
                count: records.count,
                last_seq: records.last_seq,
                digest: hex(&records.digest),
            },
            tree_heads: HeadsText {
                count: tree_heads.count,
                last_head_hash: hex(&tree_heads.last_head_hash),
            },
            reputation: reputation.into(),
        }
    }
}

impl File {
    fn checkpoint(&self) -> Option<Checkpoint> {
        let open = |call: &OpenText| {
            Some(OpenCall { sequence_no: call.sequence_no, enter_hash: HexDigest::parse(&call.enter_hash)? })
        };
        Some(Checkpoint {
            log: LogPosition {
                last_sequence_no: self.log.last_sequence_no,
                last_exit_no: self.log.last_exit_no,
                last_row_hash: HexDigest::parse(&self.log.last_row_hash)?,
            },
            open_calls: self.open_calls.iter().map(open).collect::<Option<_>>()?,
            records: RecordsPin {
                count: self.records.count,
                last_seq: self.records.last_seq,
                digest: HexDigest::parse(&self.records.digest)?,
            },
            tree_heads: HeadsPin {
                count: self.tree_heads.count,
                last_head_hash: HexDigest::parse(&self.tree_heads.last_head_hash)?,
            },
            reputation: self.reputation.pin()?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sample() -> Checkpoint {
        let digest = HexDigest::of;
        Checkpoint {
            log: LogPosition { last_sequence_no: 3, last_exit_no: 2, last_row_hash: digest(b"row") },
            open_calls: vec![OpenCall { sequence_no: 3, enter_hash: digest(b"open") }],
            records: RecordsPin { count: 1, last_seq: 1, digest: digest(b"records") },
            tree_heads: HeadsPin { count: 0, last_head_hash: HexDigest::ZERO },
            reputation: ReputationPin { entries: 2, digest: digest(b"ledger"), ..ReputationPin::NONE },
        }
    }

    #[test]
    fn a_file_reads_as_what_was_written() {
        let text = sample().to_text().unwrap();
        assert!(
            text.ends_with("}\n")
                && text.starts_with("{\"format\":\"colibri-checkpoint\",\"log\":{\"last_exit_no\":2,")
        );
        assert_eq!(Checkpoint::parse(&text), Ok(sample()));
    }

    #[test]
    fn a_file_from_before_the_ledger_pins_no_entry() {
        let text = Checkpoint { reputation: ReputationPin::NONE, ..sample() }.to_text().unwrap();
        let (before, rest) = text.split_once(",\"reputation\":{").unwrap();
        let older = format!("{before}{}", &rest[rest.find('}').unwrap() + 1..]);
        let read = Checkpoint::parse(&older).unwrap();
        assert_eq!(read.reputation, ReputationPin::NONE);
        assert_eq!(read.log, sample().log);
    }

    #[test]
    fn what_is_no_checkpoint_is_refused_with_a_reason() {
        let text = sample().to_text().unwrap();
        for (other, expected) in [
            (String::new(), "it is not a checkpoint: "),
            (text.replace("colibri-checkpoint", "other"), "its format is \"other\""),
            (text.replace("\"v\":1", "\"v\":2"), "its version is 2"),
            (text.replace("\"v\":1", "\"v\":1,\"more\":0"), "unknown field"),
            (text.replace("\"last_sequence_no\":3", "\"last_sequence_no\":9"), "contradict each other"),
            (text.replace("\"count\":0", "\"count\":-9223372036854775808"), "negative"),
            (
                text.replace("\"count\":1", "\"count\":9007199254740993"),
                "too large: integer 9007199254740993",
            ),
            (text.replace(&"0".repeat(64), "0"), "not 64 lowercase hex characters"),
        ] {
            let reason = Checkpoint::parse(&other).unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        }
    }

    #[test]
    fn every_column_of_a_record_is_pinned() {
        let record = PinnedRecord {
            agent_id: "a",
            content_hash: "b",
            created_at: "c",
            hash: "d",
            id: "e",
            prev_hash: "f",
            seq: 1,
            sequence_no: Some(2),
            session_id: None,
            task_id: "g",
            timestamp: "h",
            kind: "i",
        };
        let pinned = |record: PinnedRecord<'_>| {
            let mut pin = RecordsPin::NONE;
            pin.add(&record, &mut Vec::new());
            pin.digest
        };
        let others = [
            PinnedRecord { agent_id: "x", ..record },
            PinnedRecord { content_hash: "x", ..record },
            PinnedRecord { created_at: "x", ..record },
            PinnedRecord { hash: "x", ..record },
            PinnedRecord { id: "x", ..record },
            PinnedRecord { prev_hash: "x", ..record },
            PinnedRecord { seq: 9, ..record },
            PinnedRecord { sequence_no: None, ..record },
            PinnedRecord { session_id: Some(""), ..record },
            PinnedRecord { task_id: "x", ..record },
            PinnedRecord { timestamp: "x", ..record },
            PinnedRecord { kind: "x", ..record },
        ];
        for other in others {
            assert_ne!(pinned(other), pinned(record), "{other:?}");
        }
    }
}
