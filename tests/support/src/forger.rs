//! An attacker with the file and Colibri's code: changes rows and then recomputes everything in the file that is
//! computed, so that it fits again (proof#layers).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use colibri::domains::ties::Reply;
use colibri::verification::tables::TIED_TABLES;
use colibri_canonical::{HexDigest, NumberRule, canonical_json};
use colibri_proof::envelope::LeafEnvelope;
use colibri_proof::head::{ChainTip, SessionFacts, TreeHead, chain_tips_hash};
use colibri_proof::keys::SigningKey;
use colibri_proof::log_row::ClosedRow;
use colibri_proof::record::Preimage;
use colibri_proof::tree::legacy::LegacyAccumulator;
use colibri_proof::tree::rfc9162::Accumulator;
use colibri_store::db::{Db, Value};
use colibri_store::params;
use serde_json::{Value as Json, json};

use crate::engine::{is_postgres, settle};
use crate::sql::dialect;

/// Makes the file fit again after any change of its rows. The heads lose their signatures.
pub fn recompute(db: &Db) {
    recompute_signing(db, None);
}

/// Does the same, and signs each head with the forger's key, if there is one.
pub fn recompute_signing(db: &Db, key: Option<&SigningKey>) {
    chains(db);
    seals(db);
    let told = histories(db);
    log(db, key, &told);
}

fn execute(db: &Db, sql: &str, params: &[Value<'_>]) {
    db.execute(sql, params).unwrap();
}

/// An expression of what no digest is: a number of 63 digits and a letter.
fn numbered(column: &str, letter: char) -> String {
    let zeros = "0".repeat(63);
    format!("substr('{zeros}' || {column}, length({column} || '') + 1) || '{letter}'")
}

/// Hashes, links and heads of the chains; no content was archived.
fn chains(db: &Db) {
    let tasks: Vec<String> =
        db.query_all("SELECT DISTINCT task_id FROM thought_records", &[], |row| row.get(0)).unwrap();
    execute(
        db,
        &format!(
            "UPDATE thought_records SET hash = {}, prev_hash = {}, created_at = timestamp",
            numbered("seq", 'h'),
            numbered("seq", 'p')
        ),
        &[],
    );
    execute(db, "DELETE FROM trail_heads", &[]);
    for task_id in tasks {
        let mut prev_hash = HexDigest::ZERO;
        let sql = "SELECT id, type, content, timestamp FROM thought_records WHERE task_id = ?1 ORDER BY seq";
        let records: Vec<(String, String, String, String)> = db
            .query_all(sql, params![&task_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .unwrap();
        for (id, kind, content, timestamp) in &records {
            let preimage =
                Preimage { content, id, prev_hash: prev_hash.as_str(), task_id: &task_id, timestamp, kind };
            let hash = preimage.hash(&mut Vec::new());
            let sql = "UPDATE thought_records SET prev_hash = ?2, hash = ?3 WHERE id = ?1";
            execute(db, sql, params![id, prev_hash.as_str(), hash.as_str()]);
            prev_hash = hash;
        }
        let (last, _, _, _) = records.last().unwrap();
        let sql = "INSERT INTO trail_heads VALUES (?1, ?2, ?3, ?4)";
        execute(db, sql, params![&task_id, records.len() as i64, last, prev_hash.as_str()]);
    }
}

/// Leaves and roots of the sealed sessions.
fn seals(db: &Db) {
    for session_id in sealed(db) {
        execute(db, "DELETE FROM merkle_leaves WHERE session_id = ?1", params![&session_id]);
        let leaves = leaves(db, &session_id);
        for (index, (id, hash, leaf)) in leaves.iter().enumerate() {
            let sql = "INSERT INTO merkle_leaves VALUES (?1, ?2, ?3, ?4, ?5)";
            execute(
                db,
                sql,
                params![&session_id, index as i64, id, hash, HexDigest::from_raw(leaf).as_str()],
            );
        }
        let mut hashes: Vec<&String> = leaves.iter().map(|(_, hash, _)| hash).collect();
        hashes.sort();
        let mut tree = LegacyAccumulator::default();
        hashes.iter().for_each(|hash| tree.push(&HexDigest::parse(hash).unwrap()));
        let sql = "UPDATE merkle_roots SET root = ?2, record_count = ?3 WHERE session_id = ?1";
        execute(db, sql, params![&session_id, tree.root().as_str(), leaves.len() as i64]);
    }
}

fn sealed(db: &Db) -> Vec<String> {
    db.query_all("SELECT session_id FROM tree_heads ORDER BY head_index", &[], |row| row.get(0)).unwrap()
}

/// Id, hash and leaf of a session's records.
fn leaves(db: &Db, session_id: &str) -> Vec<(String, String, [u8; 32])> {
    let sql = "SELECT id, hash, type, task_id, agent_id, content, timestamp, prev_hash FROM thought_records \
               WHERE session_id = ?1 ORDER BY seq";
    db.query_all(sql, params![session_id], |row| {
        let text = |at: usize| row.get::<String>(at);
        let (id, hash, content) = (text(0)?, text(1)?, text(5)?);
        let leaf = LeafEnvelope {
            id: &id,
            hash: &hash,
            kind: &text(2)?,
            task_id: &text(3)?,
            agent_id: &text(4)?,
            content_hash: HexDigest::of(content.as_bytes()).as_str(),
            timestamp: &text(6)?,
            prev_hash: &text(7)?,
            session_id,
        }
        .leaf_hash(&mut Vec::new());
        Ok((id, hash, leaf))
    })
    .unwrap()
}

/// Histories in which each task had the fields of its row from the start. Returns the replies of their calls.
fn histories(db: &Db) -> BTreeMap<i64, Json> {
    execute(db, "DELETE FROM task_events WHERE task_id NOT IN (SELECT id FROM tasks)", &[]);
    let ids: Vec<String> =
        db.query_all("SELECT DISTINCT task_id FROM task_events", &[], |row| row.get(0)).unwrap();
    let mut replies = BTreeMap::new();
    for id in ids {
        let mut task = task(db, &id);
        let mut whole: BTreeMap<&str, Json> = BTreeMap::new();
        for field in
            ["assignee", "deleted_at", "depends_on", "description", "priority", "project_id", "title"]
        {
            if let Some(value) = task.get(field).filter(|value| !value.is_null()) {
                whole.insert(field, json!([null, value]));
            }
        }
        let whole = canonical_json(&json!(whole), NumberRule::Wire).unwrap();
        for (kind, changes) in [("created", whole.as_str()), ("changed", "{}")] {
            let sql = "UPDATE task_events SET changes = ?3 WHERE task_id = ?1 AND kind = ?2";
            execute(db, sql, params![&id, kind, changes]);
        }
        let sql = "SELECT sequence_no, kind, to_status, at, changes, claim_no, agent_id, lease_until FROM task_events \
                   WHERE task_id = ?1 ORDER BY event_no";
        let events: Vec<(i64, [Option<String>; 6], Option<i64>)> = db
            .query_all(sql, params![&id], |row| {
                let texts = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(6)?, row.get(7)?];
                Ok((row.get(0)?, texts, row.get(5)?))
            })
            .unwrap();
        for (call, [kind, to, at, changes, agent_id, until], claim) in events {
            if claim.is_none() {
                task["status"] = json!(to);
                task["updated_at"] = json!(at);
            }
            let changes: Json = serde_json::from_str(&changes.unwrap()).unwrap();
            let reply = match kind.as_deref() {
                Some("released") => {
                    json!({ "task_id": id, "claim": claim, "agent_id": agent_id, "released_at": at })
                }
                Some(kind @ ("claimed" | "renewed" | "taken_over")) => json!({
                    "task": task, "claim": claim, "agent_id": agent_id, "until": until, "renewed": kind == "renewed",
                    "taken_over_from": changes["held_by"][0], "retry_at": null,
                }),
                _ => task.clone(),
            };
            replies.insert(call, reply);
        }
    }
    replies
}

/// A task as tools reply with it.
fn task(db: &Db, id: &str) -> Json {
    let sql = "SELECT json_object('id', id, 'task_id', id, 'project_id', project_id, 'title', title, 'description', \
               description, 'status', status, 'priority', priority, 'assignee', assignee, 'created_at', created_at, \
               'updated_at', updated_at, 'deleted_at', deleted_at, 'depends_on', json((SELECT \
               json_group_array(depends_on_id) FROM (SELECT depends_on_id FROM task_dependencies WHERE task_id = ?1 \
               ORDER BY rowid)))) FROM tasks WHERE id = ?1";
    let text: String = db.query_one(sql, params![id], |row| row.get(0)).unwrap();
    let mut task: Json = serde_json::from_str(&text).unwrap();
    if task["depends_on"] == json!([]) {
        task.as_object_mut().unwrap().remove("depends_on");
    }
    task
}

/// The log from its beginning, and each tree head when its call comes.
fn log(db: &Db, key: Option<&SigningKey>, told: &BTreeMap<i64, Json>) {
    execute(
        db,
        &format!(
            "UPDATE tree_heads SET prev_head_hash = {}, head_hash = {}",
            numbered("head_index", 'p'),
            numbered("head_index", 'h')
        ),
        &[],
    );
    let calls: Vec<(i64, i64)> = db
        .query_all(
            "SELECT sequence_no, exit_no FROM actions WHERE exit_no IS NOT NULL ORDER BY exit_no",
            &[],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    let mut hashes = vec![HexDigest::ZERO];
    for (sequence_no, _) in &calls {
        head_of_call(db, *sequence_no, &hashes, key);
        reply_of_call(db, *sequence_no, told.get(sequence_no));
        let hash = row_hash(db, *sequence_no, hashes.len() as i64, hashes.last().unwrap());
        hashes.push(hash);
    }
    if is_postgres() {
        // The rows themselves say where the log ends.
        return settle(db);
    }
    let sql = "UPDATE actions_head SET last_exit_no = ?1, last_row_hash = ?2, \
               last_sequence_no = (SELECT max(sequence_no) FROM actions)";
    execute(db, sql, params![calls.len() as i64, hashes.last().unwrap().as_str()]);
}

/// Remakes the head that a call made, if any. The head loses its signature, because the forger lacks that key.
fn head_of_call(db: &Db, sequence_no: i64, log: &[HexDigest], key: Option<&SigningKey>) {
    let sql = "SELECT h.head_index, h.session_id, h.log_exit_no, h.finalized_at, r.root \
               FROM merkle_roots AS r JOIN tree_heads AS h USING (session_id) WHERE r.sequence_no = ?1";
    let found: Option<(i64, String, i64, String, String)> = db
        .query_opt(sql, params![sequence_no], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
        })
        .unwrap();
    let Some((head_index, session_id, log_exit_no, finalized_at, legacy_root)) = found else { return };
    let leaves = leaves(db, &session_id);
    let mut tree = Accumulator::default();
    leaves.iter().for_each(|(_, _, leaf)| tree.push(*leaf));
    let prev_head_hash: Option<String> = db
        .query_opt("SELECT head_hash FROM tree_heads WHERE head_index = ?1 - 1", params![head_index], |row| {
            row.get(0)
        })
        .unwrap();
    let head = TreeHead {
        session_hash: session_hash(db, &session_id).as_str().to_owned(),
        session_id,
        tree_size: leaves.len() as i64,
        root_hash: HexDigest::from_raw(&tree.root()).as_str().to_owned(),
        legacy_root,
        chain_tips_hash: tips_hash(db, head_index).as_str().to_owned(),
        head_index,
        prev_head_hash: prev_head_hash.unwrap_or_else(|| HexDigest::ZERO.as_str().to_owned()),
        log_exit_no,
        log_row_hash: log[usize::try_from(log_exit_no).unwrap()].as_str().to_owned(),
        finalized_at,
    };
    let sql = "UPDATE tree_heads SET session_hash = ?2, tree_size = ?3, root_hash = ?4, legacy_root = ?5, \
               chain_tips_hash = ?6, prev_head_hash = ?7, log_row_hash = ?8, head_hash = ?9, signature = ?10, \
               key_id = ?11, public_key = ?12 WHERE head_index = ?1";
    let hash = head.hash();
    let signed = key.map(|key| key.sign(&head));
    execute(
        db,
        sql,
        params![
            head.head_index,
            head.session_hash,
            head.tree_size,
            head.root_hash,
            head.legacy_root,
            head.chain_tips_hash,
            head.prev_head_hash,
            head.log_row_hash,
            hash.as_str(),
            signed.as_ref().map(|signed| &signed.signature),
            signed.as_ref().map(|signed| &signed.key_id),
            signed.as_ref().map(|signed| &signed.public_key),
        ],
    );
}

fn session_hash(db: &Db, session_id: &str) -> HexDigest {
    let sql = "SELECT intent, task_id, started_at FROM audit_sessions WHERE session_id = ?1";
    let (intent, task_id, started_at): (String, Option<String>, String) =
        db.query_one(sql, params![session_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    SessionFacts { session_id, intent: &intent, task_id: task_id.as_deref(), started_at: &started_at }.hash()
}

/// The tips of a head, each the hash that now stands where the chain ended then.
fn tips_hash(db: &Db, head_index: i64) -> HexDigest {
    let sql = "SELECT task_id, chain_length FROM tree_head_tips WHERE head_index = ?1";
    let stored: Vec<(String, i64)> =
        db.query_all(sql, params![head_index], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let mut tips = Vec::new();
    for (task_id, chain_length) in stored {
        let sql = "SELECT hash FROM thought_records WHERE task_id = ?1 ORDER BY seq LIMIT 1 OFFSET ?2 - 1";
        let tip_hash: String = db.query_one(sql, params![&task_id, chain_length], |row| row.get(0)).unwrap();
        let sql = "UPDATE tree_head_tips SET tip_hash = ?3 WHERE head_index = ?1 AND task_id = ?2";
        execute(db, sql, params![head_index, &task_id, &tip_hash]);
        tips.push(ChainTip { task_id, chain_length, tip_hash });
    }
    chain_tips_hash(&mut tips)
}

/// The reply that the rows of a call give now.
fn reply_of_call(db: &Db, sequence_no: i64, told: Option<&Json>) {
    let mut reply = told.map(Reply::of);
    for table in TIED_TABLES {
        table
            .each_row(db, &mut |row| {
                if row.sequence_no == Some(sequence_no) {
                    reply = Some(row.reply.clone());
                }
                Ok(())
            })
            .unwrap();
    }
    if let Some(Reply::Hash(hash)) = reply {
        execute(
            db,
            &format!("UPDATE {} SET result_hash = ?2 WHERE sequence_no = ?1", dialect::exits()),
            params![sequence_no, hash.as_str()],
        );
    }
}

/// Chains a closed row to the one before it.
fn row_hash(db: &Db, sequence_no: i64, exit_no: i64, prev_hash: &HexDigest) -> HexDigest {
    let sql = "SELECT args_hash, boot_id, correlation_id, duration_ms, enter_ms, entered_at, error_code, error_message, \
               exited_at, mode, outcome, request_id, result_hash, subject, tool, trace_context \
               FROM actions WHERE sequence_no = ?1";
    let hash = db
        .query_one(sql, params![sequence_no], |row| {
            let closed = ClosedRow {
                args_hash: row.get(0)?,
                boot_id: row.get(1)?,
                correlation_id: row.get(2)?,
                duration_ms: row.get(3)?,
                enter_ms: row.get(4)?,
                entered_at: row.get(5)?,
                error_code: row.get(6)?,
                error_message: row.get(7)?,
                exit_no,
                exited_at: row.get(8)?,
                mode: row.get(9)?,
                outcome: row.get(10)?,
                prev_hash: prev_hash.as_str(),
                request_id: row.get(11)?,
                result_hash: row.get(12)?,
                sequence_no,
                subject: row.get(13)?,
                tool: row.get(14)?,
                trace_context: row.get(15)?,
            };
            Ok(closed.hash())
        })
        .unwrap();
    let sql = format!(
        "UPDATE {} SET exit_no = ?2, prev_hash = ?3, row_hash = ?4 WHERE sequence_no = ?1",
        dialect::exits()
    );
    execute(db, &sql, params![sequence_no, exit_no, prev_hash.as_str(), hash.as_str()]);
    hash
}
