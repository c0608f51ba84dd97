//! The decision trail: every chain, and every row by itself (trail#verify-chain).
//!
//! With few enough tasks, one pass in insertion order feeds all chains, the ties of the records to their calls, and
//! the checkpoint's digest. With more, the chains are walked one after the other, so that memory does not grow with
//! their number. A second pass in insertion order does the rest.

use std::collections::HashMap;

use super::counters;
use super::issue::raise;
use super::pinned;
use super::run::Run;
use super::ties::Ties;
use crate::domains::proof::{SealedTip, SessionState, session_state, tip_of_task_after};
use crate::domains::trail::ties::{TABLE, count_records, tied_row};
use crate::domains::trail::zone::{RetentionZone, zone_for_position};
use crate::domains::trail::{
    TrailRow, Unpacker, content_of, each_bare_head, each_row_by_chain, each_row_in_order,
    has_more_chains_than, is_where_zone_says, tip,
};
use crate::domains::warnings::Warnings;
use colibri_canonical::HexDigest;
use colibri_proof::chain::{ChainWalk, Content, Issue, IssueCode, StoredRecord};
use colibri_proof::checkpoint::{Checkpoint, PinnedRecord, RecordsPin};
use colibri_store::walk::{Stop, goes_on};

/// The check's name.
pub(crate) const NAME: &str = "trail";

/// The inputs of the trail's check.
pub struct Wanted<'a> {
    /// The most chains that are walked at once.
    pub most_open_chains: i64,
    /// Whether to pin digests of all records, for a new checkpoint.
    pub pin: bool,
    /// A checkpoint to compare with.
    pub checkpoint: Option<&'a Checkpoint>,
}

/// Walks over the trail and returns the pin of all records, if requested.
///
/// # Errors
/// The engine's error.
pub fn check(run: &mut Run<'_>, ties: &mut Ties, wanted: &Wanted<'_>) -> Result<RecordsPin, Stop> {
    let records = count_records(run.db)?;
    run.begin(NAME, records.unsigned_abs());
    let in_one_pass = !has_more_chains_than(run.db, wanted.most_open_chains)?;
    let mut rows = Rows::new(ties, wanted);
    let mut chains = Chains::default();
    let mut unpacker = Unpacker::default();
    let (mut stop, mut seen) = (None, 0);
    if !in_one_pass {
        each_row_by_chain(run.db, |row| {
            let content = content_of(row, &mut unpacker);
            Ok(goes_on(&mut stop, run.step().and_then(|()| chains.row_of_next(run, row, content))))
        })?;
    }
    if stop.is_none() {
        each_row_in_order(run.db, |row| {
            let content = content_of(row, &mut unpacker);
            seen += 1;
            let mut step = run.step().and_then(|()| rows.row(run, row, &content));
            if in_one_pass {
                step = step.and_then(|()| chains.row_of_any(run, row, content));
            }
            Ok(goes_on(&mut stop, step))
        })?;
    }
    stop.map_or(Ok(()), Err)?;
    chains.finish(run)?;
    let pin = rows.finish(run)?;
    run.count("records", seen);
    run.count("chains", chains.seen);
    run.count("records with pruned content", chains.dropped);
    Ok(pin)
}

/// A pass over the rows, in insertion order.
struct Rows<'a> {
    ties: &'a mut Ties,
    checkpoint: Option<&'a Checkpoint>,
    pin: bool,
    /// The pin of all rows so far.
    pinned: RecordsPin,
    /// The pin as it was at the checkpoint's last record.
    then: Option<RecordsPin>,
    last_seq: i64,
    /// The sealed session that was looked up last.
    sealed: Option<String>,
    scratch: Vec<u8>,
    warnings: Warnings,
}

impl<'a> Rows<'a> {
    fn new(ties: &'a mut Ties, wanted: &Wanted<'a>) -> Self {
        Self {
            ties,
            checkpoint: wanted.checkpoint,
            pin: wanted.pin || wanted.checkpoint.is_some(),
            pinned: RecordsPin::NONE,
            then: None,
            last_seq: 0,
            sealed: None,
            scratch: Vec::new(),
            warnings: Warnings::default(),
        }
    }

    fn row(&mut self, run: &mut Run<'_>, row: &TrailRow<'_>, content: &Content<'_>) -> Result<(), Stop> {
        let expected = self.last_seq.saturating_add(1);
        if row.seq != expected {
            found(run, row, "SEQ_GAP", || format!("seq is {}, not {expected}", row.seq));
        }
        self.last_seq = row.seq;
        if row.created_at != row.timestamp {
            found(run, row, "CREATED_AT", || "created_at is not the record's timestamp".to_owned());
        }
        if row.zone == Some(RetentionZone::Hot.as_str()) {
            found(run, row, "ZONE_NAMED_HOT", || {
                "nothing names the zone of a record that was never moved".to_owned()
            });
        }
        if RetentionZone::of(row.zone) == Some(RetentionZone::Hot) && row.content_hash.is_some() {
            found(run, row, "CONTENT_HASH_KEPT", || {
                "content_hash is set although the content was never moved".to_owned()
            });
        }
        if !is_where_zone_says(row) {
            found(run, row, "CONTENT_MISPLACED", || {
                let zone = row.zone.unwrap_or(RetentionZone::Hot.as_str());
                format!("its columns do not match a record in the zone {zone}")
            });
        }
        if let (Some(session_id), Content::Dropped) = (row.session_id, content)
            && !self.is_sealed(run, session_id)?
        {
            found(run, row, "COLD_UNSEALED", || {
                format!("its content was pruned before session {session_id} was sealed")
            });
        }
        if self.pin {
            self.pin(row, content);
        }
        let warned = self.warnings.of(run.db, row)?;
        self.ties.row(run, TABLE, &tied_row(row, content, warned, &mut self.scratch))
    }

    /// Returns whether a session is sealed. Records of one session mostly follow each other.
    fn is_sealed(&mut self, run: &Run<'_>, session_id: &str) -> Result<bool, Stop> {
        if self.sealed.as_deref() != Some(session_id) {
            let is_sealed = session_state(run.db, session_id)? == Some(SessionState::Finalized);
            self.sealed = is_sealed.then(|| session_id.to_owned());
        }
        Ok(self.sealed.is_some())
    }

    fn pin(&mut self, row: &TrailRow<'_>, content: &Content<'_>) {
        if self.then.is_none() && self.checkpoint.is_some_and(|then| then.records.last_seq < row.seq) {
            self.then = Some(self.pinned);
        }
        let kept = match content {
            Content::Kept(content) => Some(HexDigest::of(content.as_bytes())),
            Content::Dropped => row.content_hash.and_then(HexDigest::parse),
            Content::Lost => None,
        };
        let record = PinnedRecord {
            agent_id: row.agent_id,
            content_hash: kept.as_ref().map_or("", HexDigest::as_str),
            created_at: row.created_at,
            hash: row.hash,
            id: row.id,
            prev_hash: row.prev_hash,
            seq: row.seq,
            sequence_no: row.sequence_no,
            session_id: row.session_id,
            task_id: row.task_id,
            timestamp: row.timestamp,
            kind: row.kind,
        };
        self.pinned.add(&record, &mut self.scratch);
    }

    fn finish(self, run: &mut Run<'_>) -> Result<RecordsPin, Stop> {
        counters::check_strays(run)?;
        if let Some(checkpoint) = self.checkpoint {
            pinned::compare_records(checkpoint, run, &self.then.unwrap_or(self.pinned));
        }
        Ok(self.pinned)
    }
}

fn found(run: &mut Run<'_>, row: &TrailRow<'_>, code: &'static str, what: impl FnOnce() -> String) {
    run.found(code, || {
        (
            format!("thought_records {}", row.id),
            format!("record {} of task {}: {}", row.id, row.task_id, what()),
        )
    });
}

/// An unfinished chain.
struct Chain {
    walk: ChainWalk,
    /// Its length according to `trail_heads`, from which positions are counted.
    length: Option<i64>,
    /// The next tip that a seal recorded.
    next_tip: Option<SealedTip>,
}

/// All chains.
#[derive(Default)]
struct Chains {
    open: HashMap<String, Chain>,
    /// The one open chain while chains are walked one after the other.
    current: Option<(String, Chain)>,
    preimage: Vec<u8>,
    seen: u64,
    dropped: u64,
}

impl Chains {
    /// Takes the next row of any chain.
    fn row_of_any(
        &mut self,
        run: &mut Run<'_>,
        row: &TrailRow<'_>,
        content: Content<'_>,
    ) -> Result<(), Stop> {
        if !self.open.contains_key(row.task_id) {
            let chain = Chain::begin(run, row.task_id)?;
            self.open.insert(row.task_id.to_owned(), chain);
        }
        match self.open.get_mut(row.task_id) {
            Some(chain) => chain.step(run, row, content, &mut self.preimage),
            None => Ok(()),
        }
    }

    /// Takes the next row of the current chain, or the first one of the next chain.
    fn row_of_next(
        &mut self,
        run: &mut Run<'_>,
        row: &TrailRow<'_>,
        content: Content<'_>,
    ) -> Result<(), Stop> {
        if let Some((_, chain)) = self.current.take_if(|(task_id, _)| task_id != row.task_id) {
            self.end(run, chain)?;
        }
        let (_, chain) = match &mut self.current {
            Some(current) => current,
            None => self.current.insert((row.task_id.to_owned(), Chain::begin(run, row.task_id)?)),
        };
        chain.step(run, row, content, &mut self.preimage)
    }

    /// Ends all chains, and reports heads without records.
    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        // A map has no order, and findings must come in the same order each time.
        open.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (_, chain) in open.into_iter().chain(self.current.take()) {
            self.end(run, chain)?;
        }
        let (db, seen) = (run.db, &mut self.seen);
        each_bare_head(db, |task_id, head| {
            *seen += 1;
            ChainWalk::new(task_id, Some(&head)).finish(&mut |issue| raise(run, &issue));
        })?;
        Ok(())
    }

    fn end(&mut self, run: &mut Run<'_>, chain: Chain) -> Result<(), Stop> {
        self.seen += 1;
        if let Some(tip) = &chain.next_tip {
            raise(run, &regression(tip, None, "no such record"));
        }
        let report = chain.walk.finish(&mut |issue| raise(run, &issue));
        self.dropped += report.unverifiable_count.unsigned_abs();
        Ok(())
    }
}

impl Chain {
    fn begin(run: &Run<'_>, task_id: &str) -> Result<Self, Stop> {
        let head = tip(run.db, task_id)?;
        let next_tip = tip_of_task_after(run.db, task_id, (i64::MIN, i64::MIN))?;
        let length = head.as_ref().map(|head| head.chain_length);
        Ok(Self { walk: ChainWalk::new(task_id, head.as_ref()), length, next_tip })
    }

    fn step(
        &mut self,
        run: &mut Run<'_>,
        row: &TrailRow<'_>,
        content: Content<'_>,
        preimage: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let record = StoredRecord {
            id: row.id,
            kind: row.kind,
            task_id: row.task_id,
            content,
            timestamp: row.timestamp,
            prev_hash: row.prev_hash,
            hash: row.hash,
        };
        self.check_zone(run, row);
        self.walk.push(&record, preimage, &mut |issue| raise(run, &issue));
        let number = self.walk.position();
        while let Some(tip) = self.next_tip.take_if(|tip| tip.tip.chain_length <= number) {
            if tip.tip.chain_length != number || tip.tip.tip_hash != row.hash {
                raise(run, &regression(&tip, Some(row.id), row.hash));
            }
            self.next_tip = tip_of_task_after(run.db, row.task_id, (tip.tip.chain_length, tip.head_index))?;
        }
        Ok(())
    }

    /// Checks that a record is old enough for its zone. Retention never moves content early, so a cold zone cannot
    /// hide a recent thought.
    fn check_zone(&self, run: &mut Run<'_>, row: &TrailRow<'_>) {
        let (Some(length), Some(zone)) = (self.length, RetentionZone::of(row.zone)) else { return };
        let position = length.saturating_sub(self.walk.position());
        if zone > zone_for_position(position).unwrap_or(RetentionZone::Hot) {
            found(run, row, "ZONE_TOO_EARLY", || {
                format!("its content is {} although it is number {position} from the end", zone.as_str())
            });
        }
    }
}

fn regression(tip: &SealedTip, record_id: Option<&str>, actual: &str) -> Issue {
    Issue {
        task_id: Some(tip.tip.task_id.clone()),
        session_id: tip.session_id.clone(),
        record_id: record_id.map(str::to_owned),
        index: Some(tip.tip.chain_length.saturating_sub(1)),
        ..Issue::new(IssueCode::TipRegression).comparing(&tip.tip.tip_hash, actual)
    }
}
