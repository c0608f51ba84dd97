//! Records as trail#golden-vectors lists them.

use colibri_canonical::HexDigest;
use colibri_proof::record::{ThoughtRecord, ThoughtType, compute_hash};

/// A record of the chapter, correctly hashed.
pub fn record(
    id: &str,
    kind: ThoughtType,
    task_id: &str,
    content: &str,
    timestamp: &str,
    prev: HexDigest,
) -> ThoughtRecord {
    let mut record = ThoughtRecord {
        id: id.to_owned(),
        kind,
        task_id: task_id.to_owned(),
        agent_id: "agent-7".to_owned(),
        content: content.to_owned(),
        timestamp: timestamp.to_owned(),
        prev_hash: prev,
        hash: HexDigest::ZERO,
        session_id: None,
    };
    record.hash = compute_hash(&record);
    record
}

/// The id that the chapter gives to record `number`.
pub fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// The five records of trail#golden-vectors.
pub fn five() -> Vec<ThoughtRecord> {
    use ThoughtType::{Analysis, Decision, Plan, Reflection};
    let mut chain: Vec<ThoughtRecord> = Vec::new();
    for (index, kind) in [Plan, Analysis, Decision, Analysis, Reflection].into_iter().enumerate() {
        let prev = chain.last().map_or(HexDigest::ZERO, |last| last.hash);
        let number = index + 1;
        let timestamp = format!("2026-05-01T00:00:0{index}.000Z");
        chain.push(record(&id(number), kind, "T-A", &format!("step {number}"), &timestamp, prev));
    }
    chain
}
