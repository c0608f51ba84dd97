//! Verification of chains: the table of trail#verify-chain.

use colibri_proof::chain::{ChainReport, ChainWalk, Content, Issue, IssueCode, StoredRecord, TrailHead};
use colibri_proof::record::{Preimage, ThoughtRecord};

use crate::trail::support::{five, id};

/// A stored row that a test may spoil.
#[derive(Debug, Clone)]
struct Row {
    id: String,
    kind: String,
    content: Option<String>,
    lost: bool,
    timestamp: String,
    prev_hash: String,
    hash: String,
}

impl From<ThoughtRecord> for Row {
    fn from(record: ThoughtRecord) -> Self {
        Self {
            id: record.id,
            kind: record.kind.as_str().to_owned(),
            content: Some(record.content),
            lost: false,
            timestamp: record.timestamp,
            prev_hash: record.prev_hash.as_str().to_owned(),
            hash: record.hash.as_str().to_owned(),
        }
    }
}

impl Row {
    fn rehash(&mut self) {
        let preimage = Preimage {
            content: self.content.as_deref().unwrap(),
            id: &self.id,
            prev_hash: &self.prev_hash,
            task_id: "T-A",
            timestamp: &self.timestamp,
            kind: &self.kind,
        };
        self.hash = preimage.hash(&mut Vec::new()).as_str().to_owned();
    }

    fn edit(&mut self) {
        self.content.as_mut().unwrap().push_str(" (rewritten)");
    }
}

fn rows() -> Vec<Row> {
    five().into_iter().map(Row::from).collect()
}

fn head() -> TrailHead {
    let last = five().pop().unwrap();
    TrailHead { chain_length: 5, tip_id: last.id, tip_hash: last.hash.as_str().to_owned() }
}

struct Walked {
    report: ChainReport,
    issues: Vec<Issue>,
}

impl Walked {
    fn codes(&self) -> Vec<&'static str> {
        self.issues.iter().map(|issue| issue.code.as_str()).collect()
    }

    fn result(&self) -> (i64, Option<&str>) {
        (self.report.broken_count, self.report.first_broken_at.as_deref())
    }
}

fn push(walk: &mut ChainWalk, rows: &[Row], issues: &mut Vec<Issue>) {
    let mut scratch = Vec::new();
    for row in rows {
        let content = match &row.content {
            _ if row.lost => Content::Lost,
            Some(content) => Content::Kept(content),
            None => Content::Dropped,
        };
        let record = StoredRecord {
            id: &row.id,
            kind: &row.kind,
            task_id: "T-A",
            content,
            timestamp: &row.timestamp,
            prev_hash: &row.prev_hash,
            hash: &row.hash,
        };
        walk.push(&record, &mut scratch, &mut |issue| issues.push(issue));
    }
}

/// The records alone.
fn bare(rows: &[Row]) -> Walked {
    let mut walk = ChainWalk::new("T-A", None);
    let mut issues = Vec::new();
    push(&mut walk, rows, &mut issues);
    assert_eq!(walk.position(), rows.len() as i64);
    Walked { report: walk.report().clone(), issues }
}

/// Records and head.
fn full(rows: &[Row], head: Option<&TrailHead>) -> Walked {
    let mut walk = ChainWalk::new("T-A", head);
    let mut issues = Vec::new();
    push(&mut walk, rows, &mut issues);
    let report = walk.finish(&mut |issue| issues.push(issue));
    Walked { report, issues }
}

type Change = fn(&mut Vec<Row>);

fn rewrite_tail(rows: &mut [Row]) {
    for at in 2..5 {
        rows[at].edit();
        rows[at].prev_hash = rows[at - 1].hash.clone();
        rows[at].rehash();
    }
}

fn forge_between_two_and_three(rows: &mut Vec<Row>) {
    let mut forged = rows[2].clone();
    forged.id = id(99);
    forged.prev_hash = rows[1].hash.clone();
    forged.rehash();
    rows.insert(2, forged);
}

/// What is done to the chain, how many records are broken then, and the first of them.
#[rustfmt::skip]
const TABLE: [(&str, Change, i64, Option<usize>); 14] = [
    ("none", |_| (), 0, None),
    ("R3 content edited, hash left", |rows| rows[2].edit(), 1, Some(3)),
    ("R3 content edited, rehashed", |rows| { rows[2].edit(); rows[2].rehash(); }, 1, Some(4)),
    ("R3 prev_hash edited", |rows| rows[2].prev_hash = "a".repeat(64), 1, Some(3)),
    ("R3 deleted", |rows| drop(rows.remove(2)), 1, Some(4)),
    ("R1 deleted", |rows| drop(rows.remove(0)), 1, Some(2)),
    ("R3 and R4 exchanged", |rows| rows.swap(2, 3), 3, Some(4)),
    ("forged record inserted", forge_between_two_and_three, 1, Some(3)),
    ("R3 hash uppercased", |rows| rows[2].hash = rows[2].hash.to_uppercase(), 2, Some(3)),
    ("R1 prev_hash set and rehashed", |rows| { rows[0].prev_hash = "f".repeat(64); rows[0].rehash(); }, 2, Some(1)),
    ("R5 deleted", |rows| drop(rows.pop()), 0, None),
    ("R5 edited and rehashed", |rows| { rows[4].edit(); rows[4].rehash(); }, 0, None),
    ("R3 to R5 rewritten and linked", |rows| rewrite_tail(rows), 0, None),
    ("R3 dropped by policy", |rows| rows[2].content = None, 0, None),
];

#[test]
fn each_row_of_the_table_gives_its_result() {
    for (what, change, broken, first) in TABLE {
        let mut rows = rows();
        change(&mut rows);
        let first = first.map(id);
        assert_eq!(bare(&rows).result(), (broken, first.as_deref()), "{what}");
    }
}

#[test]
fn the_head_adds_nothing_to_a_chain_that_is_broken_anyway() {
    for (what, change, broken, first) in &TABLE[..10] {
        let mut rows = rows();
        change(&mut rows);
        let first = first.map(id);
        assert_eq!(full(&rows, Some(&head())).result(), (*broken, first.as_deref()), "{what}");
    }
}

#[test]
fn a_cut_tail_is_seen_by_the_head() {
    let walked = full(&rows()[..4], Some(&head()));
    assert_eq!(walked.result(), (1, Some(id(5).as_str())));
    assert_eq!(walked.codes(), ["TAIL_TRUNCATED"]);
    let gone = full(&[], Some(&head()));
    assert_eq!(gone.result(), (1, Some(id(5).as_str())));
    assert_eq!((gone.report.record_count, gone.codes()), (0, vec!["TAIL_TRUNCATED"]));
}

#[test]
fn a_rehashed_tip_is_seen_by_the_head() {
    let mut rows = rows();
    rows[4].edit();
    rows[4].rehash();
    let walked = full(&rows, Some(&head()));
    assert_eq!(walked.result(), (1, Some(id(5).as_str())));
    assert_eq!(walked.codes(), ["HEAD_MISMATCH"]);
    assert_eq!(walked.issues[0].expected.as_deref(), Some(head().tip_hash.as_str()));
    assert_eq!(walked.issues[0].actual.as_deref(), Some(rows[4].hash.as_str()));
}

#[test]
fn a_head_is_missed_and_a_count_is_compared() {
    let walked = full(&rows(), None);
    assert_eq!((walked.result(), walked.codes()), ((1, Some(id(5).as_str())), vec!["HEAD_MISSING"]));
    let walked = full(&rows(), Some(&TrailHead { chain_length: 6, ..head() }));
    assert_eq!((walked.result(), walked.codes()), ((1, Some(id(5).as_str())), vec!["RECORD_COUNT_MISMATCH"]));
    assert_eq!(full(&rows(), Some(&head())).result(), (0, None));
    assert_eq!(full(&[], None).result(), (0, None));
}

#[test]
fn an_append_behind_a_cut_shows_the_gap() {
    let mut rows = rows();
    let last = rows.pop().unwrap();
    let mut next = last.clone();
    (next.id, next.prev_hash) = (id(6), last.hash);
    next.rehash();
    rows.push(next.clone());
    let head = TrailHead { chain_length: 6, tip_id: next.id, tip_hash: next.hash };
    let walked = full(&rows, Some(&head));
    assert_eq!(walked.result(), (1, Some(id(6).as_str())));
    assert_eq!(walked.codes(), ["PREV_MISMATCH", "RECORD_COUNT_MISMATCH"]);
}

#[test]
fn malformed_rows_are_reported_and_survived() {
    let spoils: [Change; 5] = [
        |rows| rows[2].hash = "z".repeat(64),
        |rows| rows[2].prev_hash = String::new(),
        |rows| rows[2].kind = "gate".to_owned(),
        |rows| rows[2].hash = "é".repeat(200_000),
        |rows| rows[2].prev_hash = rows[2].prev_hash.to_uppercase(),
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        let mut rows = rows();
        spoil(&mut rows);
        let walked = bare(&rows);
        assert_eq!(walked.report.first_broken_at, Some(id(3)), "spoil {number}");
        assert_eq!(walked.issues[0].code, IssueCode::Malformed, "spoil {number}");
        assert!(walked.issues.iter().flat_map(|issue| &issue.actual).all(|text| text.chars().count() < 150));
        assert_eq!(walked.issues.iter().filter(|issue| issue.code == IssueCode::Malformed).count(), 1);
    }
}

#[test]
fn a_record_that_fails_twice_counts_once() {
    let mut rows = rows();
    rows[2].edit();
    rows[2].prev_hash = "a".repeat(64);
    let walked = bare(&rows);
    assert_eq!(walked.result(), (1, Some(id(3).as_str())));
    assert_eq!(walked.codes(), ["HASH_MISMATCH", "PREV_MISMATCH"]);
    for issue in &walked.issues {
        assert_eq!((issue.task_id.as_deref(), issue.index), (Some("T-A"), Some(2)));
        assert_eq!(issue.record_id, Some(id(3)));
    }
    assert_eq!(walked.issues[0].actual.as_deref(), Some(rows[2].hash.as_str()));
    assert_eq!(walked.issues[1].expected.as_deref(), Some(rows[1].hash.as_str()));
}

#[test]
fn lost_content_breaks_a_record_and_dropped_content_does_not() {
    let mut rows = rows();
    rows[0].content = None;
    rows[1].lost = true;
    let walked = bare(&rows);
    assert_eq!((walked.result(), walked.codes()), ((1, Some(id(2).as_str())), vec!["CONTENT_LOST"]));
    assert_eq!(walked.report.unverifiable_count, 1);
}
