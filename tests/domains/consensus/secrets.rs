//! No private key and no signature leaves by a way that it should not take.

use colibri_test_support::engine;
use std::fs;
use std::path::Path;

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_canonical::hex;
use colibri_runtime::chain::redact::REDACTED;
use colibri_test_support::actions::actions;
use colibri_test_support::embed::{Lines, Recorder, Seen, Wire, block_on, converse, options};
use colibri_test_support::sql::Value as Stored;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

use crate::consensus::world::{
    PKCS8, PUBLIC_B, R, R2, SEED_A, SEED_B, SEED_C, V, World, event, fixed_node, unhex, vote, vote_by,
};

/// A secret in every form in which it could get out; a piece of one is enough.
struct Traces(Vec<(&'static str, Vec<u8>)>);

impl Traces {
    fn of(seed: &str) -> Self {
        let bytes = unhex(seed);
        let mut forms = Vec::new();
        for piece in bytes.chunks(8) {
            let hex = hex::encode(piece);
            forms.push(("bytes", piece.to_vec()));
            forms.push(("upper-case hex", hex.to_uppercase().into_bytes()));
            forms.push(("hex", hex.into_bytes()));
        }
        // Base64 in the three ways in which the bytes can be aligned, without the digits at the edges.
        for shift in 0..3 {
            let padded = [&vec![0; shift][..], &bytes].concat();
            let text = base64(&padded);
            forms.push(("base64", text.as_bytes()[4..40].to_vec()));
        }
        // As JSON would list them.
        let list = |bytes: &[u8]| bytes.iter().map(u8::to_string).collect::<Vec<_>>();
        forms.push(("a list", list(&bytes[..8]).join(",").into_bytes()));
        forms.push(("a list", list(&bytes[..8]).join(", ").into_bytes()));
        Self(forms)
    }

    /// The first trace in `haystack`.
    fn found(&self, haystack: &[u8]) -> Option<&'static str> {
        let holds = |needle: &[u8]| haystack.windows(needle.len()).any(|window| window == needle);
        self.0.iter().find(|(_, needle)| holds(needle)).map(|(form, _)| *form)
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let digit = |bits: &[u8]| DIGITS[bits.iter().fold(0, |value, bit| value << 1 | usize::from(*bit))];
    bits.chunks_exact(6).map(|bits| char::from(digit(bits))).collect()
}

/// Every file of a folder but the key file, with its bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file() && !path.ends_with("node.key"));
    files.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn traces_are_found_in_every_form() {
    let traces = Traces::of(SEED_B);
    let seed = unhex(SEED_B);
    let list = format!("{:?}", &seed[..]);
    let texts = [SEED_B.to_owned(), SEED_B.to_uppercase(), format!("{PKCS8}{SEED_B}"), list];
    for text in texts {
        assert!(traces.found(text.as_bytes()).is_some(), "{text}");
    }
    assert_eq!(traces.found(&[&[7; 5][..], &seed[8..16]].concat()), Some("bytes"), "a quarter of it");
    for prefix in [&b""[..], b"a", b"ab", &unhex(PKCS8)] {
        let text = base64(&[prefix, &seed].concat());
        assert_eq!(traces.found(text.as_bytes()), Some("base64"), "{text}");
    }
    assert_eq!(traces.found(unhex(SEED_C).as_slice()), None);
}

/// Calls with B's key that succeed, fail and are refused, as the schema or a mistake has them.
fn calls_with_key() -> Vec<(&'static str, Value)> {
    let forms = [SEED_B.to_owned(), format!("{PKCS8}{SEED_B}"), format!("{SEED_B}{PUBLIC_B}")];
    let wrong = [
        SEED_B.to_uppercase(),
        format!("0x{SEED_B}"),
        SEED_B[1..].to_owned(),
        SEED_B[2..].to_owned(),
        format!("{SEED_B}{SEED_B}"),
        format!("{SEED_B}00"),
        format!("{}{SEED_B}", "00".repeat(16)),
        format!("{SEED_B}\n"),
        SEED_B.repeat(5),
    ];
    let mut calls = Vec::new();
    for key in forms.iter().chain(&wrong) {
        calls.push(("consensus_vote", vote_by("1", R, "ACCEPT", key)));
        calls.push(("consensus_vote", vote_by("9", R, "ACCEPT", key)));
        calls.push(("consensus_vote", vote_by("1", R, "MAYBE", key)));
        calls.push(("vrf_eval", json!({ "seed_hex": "aa", "input_hex": "bb", "priv_key_hex": key })));
        calls.push(("vrf_eval", json!({ "seed_hex": "AA", "input_hex": "bb", "priv_key_hex": key })));
    }
    // Of a wrong type, and beside arguments that are not there.
    for key in [json!([SEED_B]), json!({ "key": SEED_B }), json!(unhex(SEED_B))] {
        let mut arguments = vote("1", R, "ACCEPT");
        arguments["privKey"] = key.clone();
        calls.push(("consensus_vote", arguments));
        calls.push(("vrf_eval", json!({ "seed_hex": "", "priv_key_hex": key, "more": 1 })));
    }
    // Under a name that is a slip of the pen.
    let mut misspelt = vote("1", R, "ACCEPT");
    misspelt["privkey"] = json!(SEED_B);
    calls.push(("consensus_vote", misspelt));
    calls.push(("vrf_eval", json!({ "seed_hex": "", "input_hex": "", "private_key_hex": SEED_B })));
    calls
}

#[test]
fn no_byte_outside_the_callers_hands_is_of_the_key() {
    let (caller, node) = (Traces::of(SEED_B), Traces::of(SEED_A));
    let mut world = World::around(fixed_node().env("COLIBRI_LOG_LEVEL", "trace").start());
    world.propose(R);
    let mut replies = Vec::new();
    let (mut accepted, mut refused) = (0, 0);
    for (tool, arguments) in calls_with_key() {
        let envelope = world.server.call(tool, arguments);
        if envelope["ok"] == true {
            accepted += 1
        } else {
            refused += 1
        }
        replies.push(envelope.to_string());
    }
    assert_eq!((accepted, refused), (1 + 3, 68 - 4), "one vote, three evaluations");
    world.vote("1", R, "ACCEPT");

    // While it runs, the write-ahead log is there; after a clean stop, only the database is.
    let folder = world.server.shared_folder();
    let running = files(folder.path());
    assert!(
        engine::is_postgres()
            || running.iter().any(|(path, bytes)| path.ends_with("-wal") && !bytes.is_empty()),
        "a log is searched"
    );
    let database = engine::contents(&world.server.database());
    let rows = format!("{:?}", actions(&world.sql));
    drop(world.sql);
    let ended = world.server.finish();
    assert_eq!(ended.code(), 0);
    assert!(ended.stderr.contains("consensus_vote"), "the log is on: {}", ended.stderr);
    let mut places = running;
    places.extend(files(folder.path()));
    places.push(("the database".to_owned(), database));
    places.push(("replies".to_owned(), replies.join("\n").into_bytes()));
    places.push(("actions".to_owned(), rows.into_bytes()));
    places.push(("stderr".to_owned(), ended.stderr.into_bytes()));
    for (place, bytes) in places {
        assert_eq!(caller.found(&bytes), None, "the caller's key in {place}");
        assert_eq!(node.found(&bytes), None, "the node's key in {place}");
    }
}

#[test]
fn a_sink_and_the_log_see_that_there_was_a_key_and_no_more() {
    let (sink, log, folder) = (Recorder::default(), Arc::new(Lines::default()), TempDir::new().unwrap());
    let (wire, streams) = Wire::pair();
    let mut options = options(streams, folder.path());
    options.audit = sink.choice();
    options.log = Some(log.clone());
    let mut server = create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("consensus_propose", event(R, V)).await["ok"], true);
        assert_eq!(wire.call("consensus_vote", vote_by("1", R, "ACCEPT", SEED_B)).await["ok"], true);
        assert_eq!(wire.call("consensus_vote", vote_by("1", R, "MAYBE", SEED_B)).await["ok"], false);
        let arguments = json!({ "seed_hex": "", "input_hex": "72", "priv_key_hex": SEED_B });
        assert_eq!(wire.call("vrf_eval", arguments).await["ok"], true);
        let arguments = json!({ "seed_hex": "", "input_hex": "72", "priv_key_hex": [SEED_B] });
        assert_eq!(wire.call("vrf_eval", arguments).await["ok"], false);
    }));
    let seen: Vec<(String, Value)> = sink
        .seen()
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Enter(tool, arguments, _) => Some((tool, arguments)),
            Seen::Exit { .. } => None,
        })
        .collect();
    let redacted = |tool: &str, key: &str| {
        let calls = seen.iter().filter(|(name, _)| name == tool);
        calls.filter(|(_, arguments)| arguments[key] == REDACTED).count()
    };
    assert_eq!((redacted("consensus_vote", "privKey"), redacted("vrf_eval", "priv_key_hex")), (2, 2));
    let (traces, shown) = (Traces::of(SEED_B), format!("{:?}{:?}", sink.seen(), log.taken()));
    assert_eq!(traces.found(shown.as_bytes()), None);
}

#[test]
fn a_signature_goes_to_its_caller_only() {
    let mut world = World::around(fixed_node().env("COLIBRI_LOG_LEVEL", "trace").start());
    world.propose(R);
    let signatures = [
        world.vote("1", R, "ACCEPT"),
        world.vote("1", R2, "REJECT"),
        world.vote_by(SEED_B),
        world.vote_by(SEED_C),
    ];
    let stored = "SELECT signature FROM mcp_consensus_votes ORDER BY seq";
    let mut statement = world.sql.prepare(stored).unwrap();
    let stored = statement.query_map([], |row| Ok(hex::encode(&row.get::<_, Vec<u8>>(0)?))).unwrap();
    let hexes: Vec<String> = stored.collect::<Result<_, _>>().unwrap();
    assert_eq!(hexes.len(), 5, "the proposal's and four more");
    drop(statement);

    let columns = all_columns(&world);
    assert!(columns.contains("consensus_vote"), "rows are searched");
    drop(world.sql);
    let log = world.server.finish().stderr;
    for text in signatures.iter().chain(&hexes) {
        for (place, haystack) in [("actions", &columns), ("the log", &log)] {
            // A piece of it is too much as well.
            assert!(!haystack.to_lowercase().contains(&text[..24].to_lowercase()), "{text} in {place}");
        }
    }
}

/// Every column of every row of the audit log, as text; blobs as hex.
fn all_columns(world: &World) -> String {
    let mut statement = world.sql.prepare("SELECT * FROM actions").unwrap();
    let mut text = String::new();
    for row in statement.query([]).unwrap() {
        for (column, value) in row.values().iter().enumerate() {
            text.push_str(&match value {
                Stored::Blob(bytes) => hex::encode(bytes),
                value => format!("{value:?}"),
            });
            // PostgreSQL has some texts as bytes, and `Debug` escapes texts.
            if let Ok(Some(value)) = row.get::<_, Option<String>>(column) {
                text.push_str(&value);
            }
            text.push('\n');
        }
    }
    text
}
