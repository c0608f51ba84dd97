//! Forged exports: a session with two tasks, whose roots, head hash and key are public.

use colibri_canonical::HexDigest;
use colibri_proof::given::{Matched, Part, Subject, matched};
use colibri_proof::head::{ChainTip, SessionFacts, chain_tips_hash};
use colibri_proof::keys::{SigningKey, TrustedKeys};
use colibri_proof::rfc9162;
use colibri_proof::session_export::{ExportHeader, ExportState, tips_line};
use colibri_proof::tree::legacy::build_merkle_tree;
use serde_json::{Value, json};

use super::{
    HEAD, ORIGIN, Passed, RECORD, WAYS, canonical, forger, hash, leaf, rehash, reseal, same, session_hash,
    trusted,
};
use crate::exports::support::check_with;
use crate::proof::support::key;

const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a forger chooses; all else is computed from it.
#[derive(Clone)]
struct Story {
    session: Value,
    records: Vec<Value>,
    /// How many records of other sessions each chain has.
    elsewhere: i64,
    /// Fields of the head.
    head: Vec<(&'static str, Value)>,
}

struct File {
    text: String,
    session: Value,
    records: Vec<Value>,
    head: Value,
}

fn genuine() -> Story {
    let mut records = Vec::new();
    let mut last = [ZERO.to_owned(), ZERO.to_owned()];
    for (number, task) in [0, 1, 0, 1, 0].into_iter().enumerate() {
        let name = if task == 0 { "A" } else { "B" };
        let mut record = json!({
            "id": format!("r{number}"), "type": "plan", "task_id": name, "agent_id": "agent-7",
            "content": format!("step {number}"), "timestamp": format!("2026-05-01T10:00:0{number}.000Z"),
            "prev_hash": last[task], "session_id": "S-1",
        });
        rehash(&mut record);
        last[task] = record["hash"].as_str().unwrap().to_owned();
        records.push(record);
    }
    let session = json!({ "session_id": "S-1", "intent": "honest", "task_id": null, "started_at": "2026-05-01T09:59:59.000Z" });
    Story { session, records, elsewhere: 0, head: Vec::new() }
}

impl Story {
    /// Writes the export, with a head that fits.
    fn written(&self, signer: Option<&SigningKey>) -> File {
        let hashes: Vec<HexDigest> = self.records.iter().map(|record| hash(&record["hash"])).collect();
        let leaves: Vec<rfc9162::Hash> = self.records.iter().map(leaf).collect();
        let mut tips: Vec<ChainTip> = Vec::new();
        for record in &self.records {
            let task_id = record["task_id"].as_str().unwrap().to_owned();
            tips.retain(|tip| tip.task_id != task_id);
            let of_task = |one: &&Value| one["task_id"] == record["task_id"];
            let known =
                |prev: &Value| *prev == json!(ZERO) || self.records.iter().any(|one| one["hash"] == *prev);
            let gaps = self.records.iter().filter(of_task).filter(|one| !known(&one["prev_hash"])).count();
            let count = self.records.iter().filter(of_task).count() + gaps;
            let chain_length = i64::try_from(count).unwrap() + if gaps > 0 { self.elsewhere } else { 0 };
            tips.push(ChainTip {
                task_id,
                chain_length,
                tip_hash: record["hash"].as_str().unwrap().to_owned(),
            });
        }
        let mut head = json!({
            "v": 1, "session_id": self.session["session_id"], "session_hash": session_hash(&self.session).as_str(),
            "tree_size": self.records.len(), "root_hash": HexDigest::from_raw(&rfc9162::root(&leaves)).as_str(),
            "legacy_root": build_merkle_tree(&hashes).root().as_str(), "chain_tips_hash": chain_tips_hash(&mut tips).as_str(),
            "head_index": 0, "prev_head_hash": ZERO, "log_exit_no": 0, "log_row_hash": ZERO,
            "finalized_at": "2026-05-01T10:01:00.000Z", "head_hash": "", "signature": null, "key_id": null, "public_key": null,
        });
        for (field, value) in &self.head {
            head[*field] = value.clone();
        }
        reseal(&mut head, signer);
        let field = |name: &str| self.session[name].as_str().unwrap();
        let facts = SessionFacts {
            session_id: field("session_id"),
            intent: field("intent"),
            task_id: self.session["task_id"].as_str(),
            started_at: field("started_at"),
        };
        let count = i64::try_from(self.records.len()).unwrap();
        let mut lines = vec![ExportHeader::new(&facts, ExportState::Sealed, count).line().unwrap()];
        lines.extend(self.records.iter().map(|record| canonical(&json!({ "record": record }))));
        lines.push(tips_line(&mut tips).unwrap());
        lines.push(canonical(&json!({ "tree_head": head })));
        let text = lines.iter().map(|line| format!("{line}\n")).collect();
        File { text, session: self.session.clone(), records: self.records.clone(), head }
    }

    /// Follows a change of a record through its chain.
    fn linked(mut self) -> Self {
        let mut last: Vec<(Value, Value)> = Vec::new();
        for record in &mut self.records {
            let task = record["task_id"].clone();
            if let Some((_, prev)) = last.iter().find(|(known, _)| *known == task) {
                record["prev_hash"] = prev.clone();
            }
            rehash(record);
            last.retain(|(known, _)| *known != task);
            last.push((task, record["hash"].clone()));
        }
        self
    }
}

/// Each single change of what the records say, of their order and number, and of what the head says.
fn changes() -> Vec<Story> {
    let mut all = vec![genuine()];
    let mut change = |alter: &dyn Fn(&mut Story)| {
        let mut story = genuine();
        alter(&mut story);
        all.push(story);
    };
    for (field, to) in
        [("id", "x"), ("type", "decision"), ("timestamp", "2020-01-01T00:00:00.000Z"), ("content", "pay")]
    {
        change(&|story| story.records[4][field] = json!(to));
    }
    change(&|story| story.records[0]["prev_hash"] = json!("ab".repeat(32)));
    change(&|story| story.records[4]["agent_id"] = json!("the-board"));
    change(&|story| {
        story.session["session_id"] = json!("S-2");
        story.records.iter_mut().for_each(|record| record["session_id"] = json!("S-2"));
    });
    change(&|story| story.records.swap(0, 1));
    change(&|story| drop(story.records.pop()));
    for (field, to) in [("intent", "another"), ("task_id", "A"), ("started_at", "1999-01-01T00:00:00.000Z")] {
        change(&|story| story.session[field] = json!(to));
    }
    let hashes =
        |field: &str| HEAD.iter().find(|(name, _)| *name == field).map(|(_, hash)| json!(hash)).unwrap();
    change(&|story| {
        story.head = vec![("head_index", json!(7)), ("prev_head_hash", hashes("prev_head_hash"))]
    });
    change(&|story| story.head = vec![("log_exit_no", json!(7)), ("log_row_hash", hashes("log_row_hash"))]);
    change(&|story| story.head = vec![("finalized_at", hashes("finalized_at"))]);
    change(&|story| {
        story.records[0]["prev_hash"] = json!("ab".repeat(32));
        story.elsewhere = 5;
    });
    all
}

/// The records that pass for the legacy tree without any content: the root alone, and two nodes below it.
fn cold() -> Vec<Story> {
    let story = genuine();
    let hashes: Vec<HexDigest> = story.records.iter().map(|record| hash(&record["hash"])).collect();
    let tree = build_merkle_tree(&hashes);
    let levels = tree.levels();
    let mut all = Vec::new();
    for level in &levels[1..] {
        let mut cold = story.clone();
        cold.session["intent"] = json!("another");
        let invented = |(number, node): (usize, &rfc9162::Hash)| {
            json!({
                "id": format!("c{number}"), "type": "decision", "task_id": format!("T{number}"), "agent_id": "the-board",
                "content": null, "content_hash": HexDigest::of(b"We pay Mallory.").as_str(), "prev_hash": ZERO,
                "timestamp": "2020-01-01T00:00:00.000Z", "session_id": "S-1", "hash": HexDigest::from_raw(node).as_str(),
            })
        };
        cold.records = level.iter().enumerate().map(invented).collect();
        all.push(cold);
    }
    // The genuine records without their contents: as they were, with another intent, in another order.
    let mut dropped = story.clone();
    dropped.records.iter_mut().for_each(|record| record["content"] = Value::Null);
    all.push(dropped.clone());
    dropped.session["intent"] = json!("another");
    all.push(dropped.clone());
    dropped.records.swap(0, 1);
    all.push(dropped);
    all
}

/// Returns the parts in which an export differs from the genuine one.
fn differences(file: &File) -> Vec<Part> {
    let genuine = genuine().written(Some(&key()));
    let of = |records: &[Value], fields: &[&str]| -> Vec<Vec<Value>> {
        records.iter().map(|record| fields.iter().map(|field| record[field].clone()).collect()).collect()
    };
    let (records, were) = (of(&file.records, &RECORD), of(&genuine.records, &RECORD));
    let known = records.iter().all(|record| were.contains(record));
    let content = |record: &Value| {
        record["content"].is_null() || genuine.records.iter().any(|one| one["content"] == record["content"])
    };
    let origins = of(&genuine.records, &ORIGIN);
    let order: Vec<_> = were.iter().filter(|one| records.contains(one)).collect();
    let stated: Vec<_> = records.iter().filter(|one| were.contains(one)).collect();
    let fields: Vec<&str> =
        HEAD.iter().map(|(field, _)| *field).chain(["log_exit_no", "root_hash", "legacy_root"]).collect();
    let session = same(&file.session, &genuine.session, &["intent", "task_id", "started_at"]);
    let checks = [
        (Part::Record, known && file.records.iter().all(content)),
        (Part::Origin, of(&file.records, &ORIGIN).iter().all(|origin| origins.contains(origin))),
        (Part::Order, order == stated),
        (Part::Number, records.len() == were.len()),
        (Part::Head, same(&file.head, &genuine.head, &fields) && session),
        (Part::Signer, same(&file.head, &genuine.head, &["signature", "key_id", "public_key"])),
    ];
    checks.into_iter().filter(|(_, same)| !same).map(|(part, _)| part).collect()
}

#[test]
fn no_forged_export_differs_in_a_part_that_the_table_calls_fixed() {
    let sealed = genuine().written(Some(&key()));
    let mut passed = Passed::default();
    let stories = changes().into_iter().flat_map(|story| [story.clone(), story.linked()]);
    for story in stories.chain(cold()) {
        for signer in [None, Some(forger()), Some(key())] {
            // The genuine key signs what the server sealed, and nothing else.
            let file = story.written(signer.as_ref());
            if signer.as_ref().is_some_and(|signer| signer.key_id() == key().key_id())
                && file.text != sealed.text
            {
                continue;
            }
            let unkeyed = check_with(file.text.as_bytes(), &TrustedKeys::default()).unwrap();
            let signed = check_with(file.text.as_bytes(), &trusted()).unwrap();
            let whole = unkeyed.cold_count == 0;
            let Some(head) = &unkeyed.head else { continue };
            for way in WAYS {
                let published = way.root.map(|root| match root {
                    Matched::HeadHash => &sealed.head["head_hash"],
                    Matched::Rfc9162Root => &sealed.head["root_hash"],
                    Matched::LegacyRoot => &sealed.head["legacy_root"],
                });
                let found = published.map(|root| matched(&hash(root), head));
                let anchored = found.is_none_or(|found| found.is_some());
                let passes = if way.signed { signed.valid } else { unkeyed.valid && anchored };
                if passes {
                    let way = colibri_proof::given::Given { root: found.flatten(), ..way };
                    passed.take(Subject::Export, way, whole, &differences(&file), &file.text);
                }
            }
        }
    }
    passed.are_all_that_the_table_leaves_open(Subject::Export);
}
