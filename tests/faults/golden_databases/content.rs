//! The content of golden databases, as far as reading them needs it as well.

use std::path::Path;

use colibri_test_support::client::Server;
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};

/// The seed of RFC 8032's first test, which is only good for tests.
pub const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
/// Its public key.
pub const PUBLIC_KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

/// The skills whose index the databases hold.
pub const SKILLS: [&str; 3] = ["colibri-one", "colibri-two", "colibri-three"];

/// Writes their directory.
pub fn skills(folder: &Path) {
    for name in SKILLS {
        let place = folder.join("skills").join(name);
        std::fs::create_dir_all(&place).unwrap();
        let text = format!(
            "---\nname: {name}\ndescription: What {name} is for\nversion: \"1\"\n---\nBody of {name}\n"
        );
        std::fs::write(place.join("SKILL.md"), text).unwrap();
    }
}

/// The end of every chain.
pub fn tips(sql: &Connection) -> Value {
    let all = |query: &str| -> Vec<Value> {
        let mut statement = sql.prepare(query).unwrap();
        let rows = statement.query_map([], |row| {
            Ok(json!([
                row.get::<_, Option<String>>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, Option<String>>(2)?
            ]))
        });
        rows.unwrap().map(Result::unwrap).collect()
    };
    json!({
        "trails": all("SELECT task_id, chain_length, tip_hash FROM trail_heads ORDER BY task_id"),
        "heads": all("SELECT head_hash, head_index, key_id FROM tree_heads ORDER BY head_index"),
        "zones": all("SELECT coalesce(zone, 'hot'), count(*), NULL FROM thought_records GROUP BY 1 ORDER BY 1"),
        "ledger": all("SELECT entry_hash, history_id, prev_hash FROM reputation_ledger ORDER BY history_id"),
        "standings": all("SELECT node_id, score, domain FROM reputations ORDER BY 1, 3"),
        "rounds": all("SELECT hex(merkle_root), round_id, level FROM mcp_consensus_rounds ORDER BY round_id"),
        "votes": all("SELECT hex(signature), round_id, vote_type FROM mcp_consensus_votes ORDER BY seq"),
        "candidates": all("SELECT model_id, enabled, provider FROM mcp_model_candidates ORDER BY model_id"),
        "dependencies": all("SELECT task_id, rowid, depends_on_id FROM task_dependencies ORDER BY rowid"),
    })
}

/// The old history can be continued: a task, a thought on the first chain, a seal, a round.
pub fn goes_on(server: &mut Server) {
    let task = server.data("task_create", json!({ "title": "written later" }));
    let session = server.data("audit_session_start", json!({ "intent": "later" }));
    let session_id = session["session_id"].clone();
    for task_id in [json!("T-1"), task["id"].clone()] {
        let thought = json!({
            "type": "plan", "task_id": task_id, "agent_id": "later", "content": "goes on", "session_id": session_id,
        });
        server.data("thought_record", thought);
    }
    server.data("merkle_finalize", json!({ "session_id": session_id }));
    let event = json!({ "merkle_root_hex": "d4".repeat(32), "rule_version_hash_hex": "bb".repeat(32) });
    server.data("consensus_propose", json!({ "event": event }));
}
