//! A server whose node has the key of RFC 8032's first test, and the calls that the cases make.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The node's seed: arbiter A.
pub const SEED_A: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
/// The seed of another arbiter, B.
pub const SEED_B: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";

pub fn folder() -> Arc<TempDir> {
    Arc::new(TempDir::new().unwrap())
}

pub fn launch(folder: &Arc<TempDir>) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(folder.clone())
}

/// A server with A's key.
pub fn node(folder: &Arc<TempDir>) -> Server {
    let key = folder.path().join("node.key");
    if !key.exists() {
        write_key(&key, SEED_A, 0o600);
    }
    launch(folder).env("COLIBRI_CONSENSUS_KEY_FILE", key).start()
}

pub fn write_key(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    set_mode(path, mode);
}

#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
pub fn set_mode(_: &Path, _: u32) {}

pub fn database(folder: &Arc<TempDir>) -> PathBuf {
    folder.path().join("colibri.db")
}

/// 32 times the same byte.
fn tuple(root: &str) -> Value {
    json!({ "merkle_root_hex": root.repeat(32), "rule_version_hash_hex": "bb".repeat(32) })
}

/// The id of a new round on that root.
pub fn propose(server: &mut Server, root: &str) -> String {
    let data = server.data("consensus_propose", json!({ "event": tuple(root) }));
    assert_eq!(data["status"], "QUORUM");
    data["round_id"].as_str().unwrap().to_owned()
}

pub fn ballot(round_id: &str, root: &str, vote_type: &str) -> Value {
    let mut vote = tuple(root);
    vote["vote_type"] = json!(vote_type);
    json!({ "round_id": round_id, "vote": vote })
}

/// The envelope of the node's ACCEPT vote.
pub fn accept(server: &mut Server, round_id: &str, root: &str) -> Value {
    server.call("consensus_vote", ballot(round_id, root, "ACCEPT"))
}

/// The same, which must succeed.
pub fn accepted(server: &mut Server, round_id: &str, root: &str) {
    let envelope = accept(server, round_id, root);
    assert_eq!(envelope["ok"], true, "{envelope}");
}

/// B's ACCEPT vote.
pub fn observed(server: &mut Server, round_id: &str, root: &str) {
    let mut vote = ballot(round_id, root, "ACCEPT");
    vote["privKey"] = json!(SEED_B);
    server.data("consensus_vote", vote);
}

/// What `consensus_finality` says.
pub fn finality(server: &mut Server, round_id: &str) -> Value {
    server.data("consensus_finality", json!({ "round_id": round_id }))
}

pub fn level(server: &mut Server, round_id: &str) -> String {
    finality(server, round_id)["level"].as_str().unwrap().to_owned()
}

/// The message of a refusal.
pub fn refusal(envelope: &Value) -> String {
    assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{envelope}");
    envelope["error"]["message"].as_str().unwrap().to_owned()
}

pub fn finish(server: Server) {
    let ended = server.finish();
    assert_eq!(ended.code(), 0, "{}", ended.stderr);
}

/// A column of numbers.
pub fn numbers(conn: &Connection, sql: &str) -> Vec<Option<i64>> {
    conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// `colibri verify` finds nothing.
pub fn assert_verified(folder: &Arc<TempDir>) {
    let output = launch(folder).arg("verify").command().output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("ok      consensus"), "{text}");
}
