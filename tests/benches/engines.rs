//! What the pure engines cost beside the least they could cost, each as a ratio within one run.
//!
//!     cargo bench -p colibri-tests --bench engines -- [--rounds N] [NAME …]
//!
//! Every engine takes turns with its limit, seven rounds by default; who begins changes from round to round. Prints the
//! median of the rounds' ratios with the least and the greatest, and the median times. A NAME keeps the lines that
//! contain it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use colibri::catalogue::CATALOGUE;
use colibri::domains::reputation::domain::Domain;
use colibri::domains::reputation::event::{Acker, Gain, Source};
use colibri::domains::reputation::gain::{EpochSums, GainOutcome, gain_step};
use colibri::domains::reputation::ledger::Entry;
use colibri::domains::reputation::replay::Replay;
use colibri_canonical::HexDigest;
use colibri_canonical::{NumberRule, canonical_json};
use colibri_codegen::catalogue::Catalogue;
use colibri_consensus::ecvrf::{ecvrf_prove, ecvrf_verify};
use colibri_consensus::private_key::PrivateKey;
use colibri_proof::log_row::ClosedRow;
use colibri_proof::record::Preimage;
use colibri_proof::tree::rfc9162::{Hash, inclusion_path, leaf_hash, root, verify_inclusion};
use colibri_runtime::chain::call::Arguments;
use colibri_runtime::validate::validate;
use colibri_runtime::wire::call::ToolCall;
use colibri_runtime::wire::era::detect;
use colibri_runtime::wire::message::{Incoming, decode};
use colibri_runtime::wire::params::Params;
use ed25519_dalek::{Signer, SigningKey, Verifier};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How long an engine works before its limit's turn comes, unless one run takes longer.
const TURN: Duration = Duration::from_millis(20);
/// The leaves of the trees.
const LEAVES: u64 = 100_000;
/// The entries of the ledger, and the nodes they are about.
const ENTRIES: i64 = 10_000;
const NODES: i64 = 100;

fn main() {
    let mut bench = Bench { rounds: 7, names: Vec::new() };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => {
                bench.rounds = arguments.next().and_then(|n| n.parse().ok()).expect("a number of rounds")
            }
            _ => bench.names.push(argument),
        }
    }
    println!("{} rounds that alternate; load average {} before.\n", bench.rounds, load_average());
    println!("| engine | beside | ratio | time | beside it |\n| --- | --- | --: | --: | --: |");
    hashes(&bench);
    json_texts(&bench);
    trees(&bench);
    reputation(&bench);
    randomness(&bench);
    catalogue(&bench);
    println!("\nLoad average {} after.", load_average());
}

/// What was asked for.
struct Bench {
    rounds: usize,
    names: Vec<String>,
}

impl Bench {
    /// Measures an engine beside its limit and prints a line.
    fn compare<A, B>(
        &self,
        name: &str,
        limit: &str,
        mut engine: impl FnMut() -> A,
        mut least: impl FnMut() -> B,
    ) {
        if !self.names.is_empty() && !self.names.iter().any(|part| name.contains(part.as_str())) {
            return;
        }
        let once = time(1, &mut engine).max(Duration::from_nanos(20));
        let runs = u32::try_from((TURN.as_nanos() / once.as_nanos()).clamp(1, 1_000_000)).unwrap();
        time(1, &mut least);
        let (mut times, mut limits, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..self.rounds {
            let (own, bare) = if round % 2 == 0 {
                let own = time(runs, &mut engine);
                (own, time(runs, &mut least))
            } else {
                let bare = time(runs, &mut least);
                (time(runs, &mut engine), bare)
            };
            times.push(own.as_secs_f64() / f64::from(runs));
            limits.push(bare.as_secs_f64() / f64::from(runs));
            ratios.push(own.as_secs_f64() / bare.as_secs_f64());
        }
        let ratio = median(&mut ratios);
        let (first, last) = (ratios.first().unwrap(), ratios.last().unwrap());
        let [time, limit_time] = [&mut times, &mut limits].map(|all| Duration::from_secs_f64(median(all)));
        println!("| {name} | {limit} | {ratio:.2} ({first:.2}–{last:.2}) | {time:.2?} | {limit_time:.2?} |");
    }
}

fn time<T>(runs: u32, work: &mut impl FnMut() -> T) -> Duration {
    let began = Instant::now();
    for _ in 0..runs {
        black_box(work());
    }
    began.elapsed()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

fn load_average() -> String {
    std::fs::read_to_string("/proc/loadavg")
        .unwrap_or_default()
        .split(' ')
        .take(3)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A row of the log and thoughts of two lengths beside SHA-256 of the bytes they are hashed as.
fn hashes(bench: &Bench) {
    let (uuid, hash) = ("01990000-0000-7000-8000-000000000000", "5".repeat(64));
    let row = ClosedRow {
        args_hash: &hash,
        boot_id: uuid,
        correlation_id: uuid,
        duration_ms: Some(0),
        enter_ms: 123_456,
        entered_at: "2027-01-01T00:00:00.000Z",
        error_code: None,
        error_message: None,
        exit_no: 1_234_567,
        exited_at: "2027-01-01T00:00:00.001Z",
        mode: "FULL",
        outcome: "ok",
        prev_hash: &hash,
        request_id: Some("1234567"),
        result_hash: Some(&hash),
        sequence_no: 1_234_567,
        subject: Some(uuid),
        tool: "task_create",
        trace_context: None,
    };
    let bytes = row.canonical();
    let title = format!("log row's hash, {} bytes", bytes.len());
    bench.compare(
        &title,
        "SHA-256 of the same bytes",
        || black_box(row).hash(),
        || sha256(black_box(&bytes)),
    );
    for length in [250, 10_000] {
        let content: String =
            "It holds, for each append reads the tip. ".chars().cycle().take(length).collect();
        let thought = Preimage {
            content: &content,
            id: uuid,
            prev_hash: &hash,
            task_id: "task-000001",
            timestamp: "2027-01-01T00:00:00.000Z",
            kind: "decision",
        };
        let (mut scratch, mut bytes) = (Vec::new(), Vec::new());
        thought.write(&mut bytes);
        let title = format!("thought's hash, content of {length} bytes");
        bench.compare(
            &title,
            "SHA-256 of the same bytes",
            || black_box(thought).hash(&mut scratch),
            || sha256(black_box(&bytes)),
        );
    }
}

fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Canonical JSON beside plain JSON, and a request taken up to the handler's door beside one that is only parsed.
fn json_texts(bench: &Bench) {
    let id = "01990000-0000-7000-8000-000000000000";
    let reply = json!({
        "ok": true,
        "data": {
            "id": id, "task_id": id, "project_id": "bench", "title": "Task 1", "description": null, "status": "INIT",
            "priority": "high", "assignee": null, "created_at": "2027-01-01T00:00:00.000Z",
            "updated_at": "2027-01-01T00:00:00.000Z", "deleted_at": null, "depends_on": [],
        },
    });
    bench.compare(
        "canonical JSON of a task's reply",
        "serde_json::to_string",
        || canonical_json(black_box(&reply), NumberRule::Wire).unwrap(),
        || serde_json::to_string(black_box(&reply)).unwrap(),
    );
    let arguments = json!({ "title": "Task 1", "project_id": "bench", "priority": "high" });
    let params = json!({ "name": "task_create", "arguments": arguments });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    bench.compare(
        "task_create: line decoded and validated",
        "serde_json::from_slice::<Value>",
        || taken(black_box(line.as_bytes())),
        || serde_json::from_slice::<Value>(black_box(line.as_bytes())).unwrap(),
    );
}

/// A line, taken as the server takes it: found whole, its era told, its arguments validated.
fn taken(line: &[u8]) -> Value {
    let Incoming::Request(request) = decode(line) else { panic!("a request") };
    let params = Params::read(request.params);
    let (era, said) = detect(&request, &params).expect("an era");
    let call = ToolCall::decode(request, &params, era, said).expect("a call");
    let tool = CATALOGUE.tools.iter().find(|tool| tool.name == call.name).expect("a tool");
    let mut arguments = Arguments::Text(call.arguments.into()).into_value();
    validate(tool.input, tool.rules, &mut arguments).expect("sound arguments");
    arguments
}

/// The root and a proof of a hundred thousand leaves beside as many bare SHA-256s of a node's length.
fn trees(bench: &Bench) {
    let leaves: Vec<Hash> = (0..LEAVES).map(|number| leaf_hash(&number.to_be_bytes())).collect();
    let bare = |count: u64| {
        let mut node = [1_u8; 65];
        for _ in 0..count {
            let hash = sha256(black_box(&node));
            node[1..33].copy_from_slice(&hash);
        }
        node
    };
    let nodes = format!("{} SHA-256s of 65 bytes", LEAVES - 1);
    bench.compare("Merkle root of 100,000 leaves", &nodes, || root(black_box(&leaves)), || bare(LEAVES - 1));
    let (top, index) = (root(&leaves), LEAVES / 3);
    let path = inclusion_path(&leaves, index);
    let beside_path = LEAVES - 1 - path.len() as u64;
    bench.compare(
        "proof that a leaf is among 100,000",
        &format!("{beside_path} SHA-256s of 65 bytes"),
        || inclusion_path(black_box(&leaves), index),
        || bare(beside_path),
    );
    let leaf = leaves[usize::try_from(index).unwrap()];
    let steps = path.len() as u64;
    bench.compare(
        "– verified",
        &format!("{steps} SHA-256s of 65 bytes"),
        || assert!(verify_inclusion(index, LEAVES, &leaf, black_box(&path), &top)),
        || bare(steps),
    );
}

/// The ledger replayed beside the SHA-256s of its entries.
fn reputation(bench: &Bench) {
    let ledger = ledger();
    let messages: Vec<Vec<u8>> = ledger.iter().map(|(entry, _)| entry.message()).collect();
    bench.compare(
        &format!("replay of {ENTRIES} reputation events"),
        "SHA-256 of each entry's bytes",
        || {
            let mut replay = Replay::new([]);
            for (entry, hash) in &ledger {
                assert!(replay.push(black_box(entry), hash.as_str()).is_ok());
            }
            replay
        },
        || messages.iter().fold([0; 32], |_, message| sha256(black_box(message))),
    );
}

/// Gains of many nodes in turn, one a node and epoch, each vouched for by its neighbour.
fn ledger() -> Vec<(Entry, HexDigest)> {
    let mut rows = std::collections::BTreeMap::new();
    let (mut ledger, mut tip) = (Vec::new(), HexDigest::ZERO);
    for number in 1..=ENTRIES {
        let (event_id, node_id) = (format!("event-{number}"), format!("node-{}", number % NODES));
        let acker_id = format!("node-{}", (number + 1) % NODES);
        let gain = Gain {
            event_id: &event_id,
            node_id: &node_id,
            domain: Domain::Execution,
            nominal_delta: 100,
            acker: Acker::Peer(&acker_id),
            epoch: number / NODES,
            reason: "work",
            source: Source::Import,
        };
        let step = gain_step(&gain, rows.get(&node_id), rows.get(&acker_id), EpochSums::default()).unwrap();
        let GainOutcome::Recorded(step) = step else { panic!("{step:?}") };
        let entry = Entry::of_gain(&gain, &step, number, tip.as_str());
        tip = entry.hash();
        rows.insert(node_id, step.row);
        ledger.push((entry, tip));
    }
    ledger
}

/// The verifiable random function beside a signature of the same key.
fn randomness(bench: &Bench) {
    let (private, signing) = (PrivateKey::from_seed(&[7; 32]), SigningKey::from_bytes(&[7; 32]));
    let (public, verifying) = (private.public_key(), signing.verifying_key());
    // Finding a point on the curve takes as many attempts as the input wants, so the inputs differ from run to run.
    let counter = Cell::new(0_u64);
    let alpha = || {
        counter.set(counter.get() + 1);
        counter.get().to_be_bytes()
    };
    bench.compare(
        "VRF: proven",
        "Ed25519: signed",
        || ecvrf_prove(black_box(&private), &alpha()).unwrap(),
        || signing.sign(&alpha()),
    );
    let proofs: Vec<_> = (0..64_u64)
        .map(|number| {
            let alpha = number.to_be_bytes();
            (alpha, ecvrf_prove(&private, &alpha).unwrap(), signing.sign(&alpha))
        })
        .collect();
    let next = || {
        counter.set(counter.get() + 1);
        &proofs[usize::try_from(counter.get()).unwrap() % proofs.len()]
    };
    bench.compare(
        "VRF: verified",
        "Ed25519: verified",
        || {
            let (alpha, proof, _) = next();
            ecvrf_verify(&public, alpha, proof).unwrap()
        },
        || {
            let (alpha, _, signature) = next();
            verifying.verify(alpha, signature).unwrap();
        },
    );
}

/// The catalogue compiled beside its files being read.
fn catalogue(bench: &Bench) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("catalogue");
    bench.compare(
        "catalogue compiled: read, linted, resolved, emitted",
        "the same files read",
        || colibri_codegen::compile(&root).unwrap(),
        || Catalogue::load(&root).unwrap(),
    );
}
