//! The walk along one chain.

use super::issue::{Issue, IssueCode};
use super::report::ChainReport;
use crate::record::{Preimage, ThoughtType};
use colibri_canonical::HexDigest;

/// A record's content, as far as it is still there (trail#retention).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// Stored, or decoded from the archive and equal to its digest.
    Kept(&'a str),
    /// Archived, but undecodable or not what its digest says.
    Lost,
    /// Dropped by policy; only its digest is left.
    Dropped,
}

/// A record as it is stored. Nothing about it is verified yet, so its hashes are texts.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // The fields of trail#record, under their names; `kind` is `type`.
pub struct StoredRecord<'a> {
    pub id: &'a str,
    pub kind: &'a str,
    pub task_id: &'a str,
    pub content: Content<'a>,
    pub timestamp: &'a str,
    pub prev_hash: &'a str,
    pub hash: &'a str,
}

/// The head of a chain: the row of `trail_heads`, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailHead {
    /// How many records the chain has.
    pub chain_length: i64,
    /// The last one's id.
    pub tip_id: String,
    /// The last one's hash.
    pub tip_hash: String,
}

/// A walk along one chain, in insertion order. Its size does not depend on the chain's length.
///
/// It takes the head first, because only the walk shows whether the head's tip is among the records.
#[derive(Debug)]
pub struct ChainWalk {
    task_id: String,
    head: Option<TrailHead>,
    tip_seen: bool,
    /// The last record's id and stored hash. Both are overwritten in place.
    last_id: String,
    last_hash: String,
    report: ChainReport,
}

impl ChainWalk {
    /// Makes a walk that has not begun. `head` is the chain's row of `trail_heads`, if it has one.
    pub fn new(task_id: &str, head: Option<&TrailHead>) -> Self {
        Self {
            task_id: task_id.to_owned(),
            head: head.cloned(),
            tip_seen: false,
            last_id: String::new(),
            last_hash: HexDigest::ZERO.as_str().to_owned(),
            report: ChainReport::default(),
        }
    }

    /// Returns how many records were pushed.
    pub fn position(&self) -> i64 {
        self.report.record_count
    }

    /// Returns the report on the records pushed so far; the head is not part of it.
    pub fn report(&self) -> &ChainReport {
        &self.report
    }

    /// Checks the next record. `scratch` holds its preimage; callers pass the same one each time.
    pub fn push(&mut self, record: &StoredRecord<'_>, scratch: &mut Vec<u8>, issues: &mut dyn FnMut(Issue)) {
        let mut broken = false;
        let mut found = |issue: Issue| {
            broken = true;
            issues(Issue {
                task_id: Some(self.task_id.clone()),
                record_id: Some(record.id.to_owned()),
                index: Some(self.report.record_count),
                ..issue
            });
        };
        let hash = HexDigest::parse(record.hash);
        let prev_hash = HexDigest::parse(record.prev_hash);
        let malformed = [
            (ThoughtType::parse(record.kind).is_none(), record.kind),
            (hash.is_none(), record.hash),
            (prev_hash.is_none(), record.prev_hash),
        ];
        if let Some((_, text)) = malformed.into_iter().find(|(malformed, _)| *malformed) {
            found(Issue::new(IssueCode::Malformed).holding(text));
        }
        match record.content {
            Content::Kept(content) => {
                let computed = preimage(record, content).hash(scratch);
                if hash.is_some_and(|hash| hash != computed) {
                    found(Issue::new(IssueCode::HashMismatch).comparing(computed.as_str(), record.hash));
                }
            }
            Content::Lost => found(Issue::new(IssueCode::ContentLost)),
            Content::Dropped => self.report.unverifiable_count += 1,
        }
        if prev_hash.is_some() && record.prev_hash != self.last_hash {
            found(Issue::new(IssueCode::PrevMismatch).comparing(&self.last_hash, record.prev_hash));
        }
        self.advance(record, broken);
    }

    fn advance(&mut self, record: &StoredRecord<'_>, broken: bool) {
        self.report.record_count += 1;
        if broken {
            self.report.broken_count += 1;
            self.report.first_broken_at.get_or_insert_with(|| record.id.to_owned());
        }
        self.tip_seen |= self.head.as_ref().is_some_and(|head| head.tip_id == record.id);
        overwrite(&mut self.last_id, record.id);
        overwrite(&mut self.last_hash, record.hash);
    }

    /// Ends the walk and compares it with the head (trail#chain-head).
    pub fn finish(mut self, issues: &mut dyn FnMut(Issue)) -> ChainReport {
        let Some((issue, id)) = self.head_issue() else { return self.report };
        let sound = self.report.broken_count == 0;
        // A wrong count follows from a break that was counted already, unless the chain has no break.
        if issue.code != IssueCode::RecordCountMismatch || sound {
            self.report.broken_count += 1;
        }
        issues(Issue { task_id: Some(self.task_id), record_id: Some(id.clone()), ..issue });
        self.report.first_broken_at.get_or_insert(id);
        self.report
    }

    /// Returns what is wrong with the head, and the id that stands for it.
    fn head_issue(&self) -> Option<(Issue, String)> {
        let records = self.report.record_count;
        let Some(head) = &self.head else {
            return (records > 0).then(|| (Issue::new(IssueCode::HeadMissing), self.last_id.clone()));
        };
        let issue = if !self.tip_seen {
            Issue::new(IssueCode::TailTruncated)
        } else if self.last_hash != head.tip_hash {
            Issue::new(IssueCode::HeadMismatch).comparing(&head.tip_hash, &self.last_hash)
        } else if records != head.chain_length {
            Issue::new(IssueCode::RecordCountMismatch)
                .comparing(&head.chain_length.to_string(), &records.to_string())
        } else {
            return None;
        };
        Some((issue, head.tip_id.clone()))
    }
}

fn preimage<'a>(record: &StoredRecord<'a>, content: &'a str) -> Preimage<'a> {
    Preimage {
        content,
        id: record.id,
        prev_hash: record.prev_hash,
        task_id: record.task_id,
        timestamp: record.timestamp,
        kind: record.kind,
    }
}

fn overwrite(buffer: &mut String, text: &str) {
    buffer.clear();
    buffer.push_str(text);
}
