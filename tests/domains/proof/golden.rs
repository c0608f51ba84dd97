//! The vectors of proof#golden-vectors through a whole server.

use colibri_test_support::sql::dialect;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_runtime::kernel::{Clock, Ids};
use colibri_test_support::embed::{Wire, block_on, converse, environment, options};
use colibri_test_support::engine;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::proof::world::{SEED, World, ZERO, key_file};

const TASK: &str = "11111111-1111-4111-8111-111111111111";

/// Type, content and time of the golden records (trail#golden-vectors); the time counts milliseconds from 10:00.
const RECORDS: [(&str, &str, i64); 4] = [
    ("plan", "Plan: build the \u{3b6} verifier", 0),
    ("analysis", "Line one\nLine two\t\"quoted\" back\\slash /slash", 1_250),
    ("decision", "\u{6f22}\u{5b57} \u{e9} \u{1f600} \u{1} \u{7f} \u{2028} end", 1_250),
    ("reflection", "Done; tests green; blockers: none", 59_999),
];

const HASHES: [&str; 4] = [
    "cc7b371167932eb83c1ac9efea386a61cc245c6848ed735a4baadfaafe06e9a8",
    "cb442dbde3290de883021555c288c256c989c40332f6732b9c65e801ea69e712",
    "be7bc3b9bca9d1cd4fb8969bb5bf2f21099013e11e8e35713f1a4064ad2243b9",
    "9c7f434b834c8fae6ecf1bb7ded1ed6ad7790dfa407c8d324bb78184ffb4f69e",
];

const LEAF_HASHES: [&str; 4] = [
    "464c48cb5d5b213e1b12d0e84a6a96cb26d4517432ebf0f85a573fa6b5b19958",
    "5110add766984413f98d83917db0b48343f8b2169484e8eb3e201d379c0c7820",
    "19510a8a4acf236532fd80e725e4cf1772ce3ebd979cf6ceb7591055f8e22558",
    "2c0a56173261b1bdf947efea245147b93836a4a58e4e814e988d6b47a9a25001",
];

/// 2026-05-01T10:00:00.000Z.
const TEN: i64 = 1_777_629_600_000;

/// Wall time that a test sets.
struct Wall(AtomicI64);

impl Clock for Wall {
    fn monotonic_ms(&self) -> f64 {
        0.0
    }
    fn wall_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// The ids of the golden records, one after the other.
#[derive(Default)]
struct Counted(u64);

impl Ids for Counted {
    fn v4(&mut self) -> String {
        self.v7(0)
    }
    fn v7(&mut self, _: i64) -> String {
        self.0 += 1;
        format!("00000000-0000-4000-8000-{:012}", self.0)
    }
}

/// A call that succeeds; its payload.
async fn data(wire: &mut Wire, tool: &str, arguments: Value) -> Value {
    let envelope = wire.call(tool, arguments).await;
    assert_eq!(envelope["ok"], true, "{envelope}");
    assert_ne!(envelope["data"]["ok"], false, "{envelope}");
    envelope["data"].clone()
}

/// The golden session, from its start to its seal; the payload of the seal.
fn sealed_session(folder: &TempDir, key: bool) -> Value {
    let (wire, streams) = Wire::pair();
    let clock = Arc::new(Wall(AtomicI64::new(TEN - 1_000)));
    let mut variables = environment(folder.path());
    if key {
        let path = key_file(folder.path(), "key", SEED);
        variables = variables.with("COLIBRI_PROOF_SIGNING_KEY_FILE", path);
    }
    let options = colibri::lifecycle::options::Options {
        environment: variables,
        clock: clock.clone(),
        ids: Arc::new(|| Box::new(Counted::default())),
        ..options(streams, folder.path())
    };
    let mut server = create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap();
    let talk = async |wire: &mut Wire| {
        let session = json!({ "intent": "Build the verifier", "session_id": "S-1", "task_id": TASK });
        data(wire, "audit_session_start", session).await;
        for ((kind, content, ms), hash) in RECORDS.iter().zip(HASHES) {
            clock.0.store(TEN + ms, Ordering::SeqCst);
            let thought = json!({
                "type": kind, "task_id": TASK, "agent_id": "agent-7", "content": content, "session_id": "S-1"
            });
            assert_eq!(data(wire, "thought_record", thought).await["hash"], hash);
        }
        log_ends_with_the_vector(folder);
        clock.0.store(TEN + 60_000, Ordering::SeqCst);
        data(wire, "merkle_finalize", json!({ "session_id": "S-1" })).await
    };
    block_on(converse(&mut server, wire, talk)).0
}

/// This server keeps no audit log, so the log may end as the golden vectors have it: with row 6, the digest of `log tip`.
fn log_ends_with_the_vector(folder: &TempDir) {
    let conn = engine::open(folder.path().join("colibri.db"));
    let row_hash = "3f18324a0fc22d594e5a75190c2eb0dc0a5fe8240c776c4a0749ef18afcad487";
    conn.execute(
        "INSERT INTO callers (caller_no, boot_id, source, os_user, host, pid, first_seen, sequence_no) \
         VALUES (1, ?1, 'none', 'alice', 'workshop', 1, '2026-05-01T10:00:00.000Z', 1)",
        ["0".repeat(36)],
    )
    .unwrap();
    let enters = dialect::enters();
    conn.execute(
        &format!(
            "INSERT INTO {enters} (sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, enter_ms) \
             VALUES (6, ?1, ?1, 'x', 'FULL', ?2, '2026-05-01T10:00:59.999Z', 0)"
        ),
        ("0".repeat(36), ZERO),
    )
    .unwrap();
    let exit = match engine::is_postgres() {
        true => {
            "INSERT INTO exits (sequence_no, outcome, result_hash, duration_ms, exited_at, exit_no, prev_hash, row_hash) \
             VALUES (6, 'ok', ?1, 0, '2026-05-01T10:00:59.999Z', 6, ?1, ?2)"
        }
        false => {
            "UPDATE actions SET outcome = 'ok', result_hash = ?1, duration_ms = 0, exited_at = entered_at, exit_no = 6, \
             prev_hash = ?1, row_hash = ?2"
        }
    };
    conn.execute(exit, (ZERO, row_hash)).unwrap();
}

#[test]
fn the_session_of_the_vectors_is_sealed_as_they_have_it() {
    for key in [true, false] {
        let folder = TempDir::new().unwrap();
        let seal = sealed_session(&folder, key);
        let signed = |text: &str| if key { json!(text) } else { Value::Null };
        let root = "d6f1ba4bb32ac97672bd748b53882e055468b67f92203ef403258b73638e4311";
        let expected = json!({
            "session_id": "S-1",
            "root": root,
            "record_count": 4,
            "finalized_at": "2026-05-01T10:01:00.000Z",
            "tree_head": {
                "v": 1,
                "session_id": "S-1",
                "session_hash": "323cc53d23dd1b703988f1b8879e386350a0a0cef686e0a786aaacf646949d72",
                "tree_size": 4,
                "root_hash": "41e1ee33de22d60cea5295541f98a2d847f4d103c7827a414db92ac4af052339",
                "legacy_root": root,
                "chain_tips_hash": "f5463028a4d30141c3fd33c5a4c22dbd52674afb26f56e3739be6aa797d70906",
                "head_index": 0,
                "prev_head_hash": ZERO,
                "log_exit_no": 6,
                "log_row_hash": "3f18324a0fc22d594e5a75190c2eb0dc0a5fe8240c776c4a0749ef18afcad487",
                "finalized_at": "2026-05-01T10:01:00.000Z",
                "head_hash": "13fb61cea6cbb185c02e1d6a862be1444fe8cdf3064d544af95726a798399fa2",
                "signature": signed(
                    "305f6ec8447448a3c4e33d1a5ff7f4a76bde571197413c5dcb83e3f92deab8a3\
                     d33013785c225a271cad73278596e0e3857b5db9ee0f0aec295f7faa3ca46800"
                ),
                "key_id": signed("56475aa75463474c0285df5dbf2bcab7"),
                "public_key": signed("03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"),
            }
        });
        assert_eq!(seal, expected);
        frozen_as_the_vectors_have_it(&folder);
    }
}

fn frozen_as_the_vectors_have_it(folder: &TempDir) {
    let conn = engine::open(folder.path().join("colibri.db"));
    let sql = "SELECT hash, leaf_hash FROM merkle_leaves WHERE session_id = 'S-1' ORDER BY leaf_index";
    let leaves: Vec<(String, String)> = conn
        .prepare(sql)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let expected: Vec<_> =
        HASHES.iter().zip(LEAF_HASHES).map(|(hash, leaf)| (hash.to_string(), leaf.to_owned())).collect();
    assert_eq!(leaves, expected);
}

#[test]
fn the_original_records_give_the_original_root() {
    let mut world = World::new();
    world.start("S");
    let first = "6a2f9597f563d5515cfa69891a51806d0f93bfbe222997d3ba37c365ceee3f1a";
    let second = "2f616d9fd12baac42b21f0b10bdb4e9840cac24154cffd13da621b4019b1347f";
    let rows = [
        ("r1", "plan", "hello", "2026-04-17T00:00:00Z", ZERO, first),
        ("r2", "reflection", "world", "2026-04-17T00:00:01Z", first, second),
    ];
    for (id, kind, content, timestamp, prev_hash, hash) in rows {
        world.tamper(
            "INSERT INTO thought_records \
             (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) \
             VALUES (?1, ?2, 't1', 'a', ?3, ?4, ?5, ?6, ?4, 'S')",
            &[&id, &kind, &content, &timestamp, &prev_hash, &hash],
        );
    }
    world.tamper("INSERT INTO trail_heads VALUES ('t1', 2, 'r2', ?1)", &[&second]);
    let seal = world.seal("S");
    assert_eq!(seal["root"], "da7cd413f08fbec3407f6232cc0abe9f21206a01242db26113b2860f29c308d7");
    assert_eq!(world.verify("S")["valid"], true);
}
