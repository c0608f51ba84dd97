//! The system tools, the modes, and what the reference shows of tools.

use colibri_test_support::actions::actions;
use colibri_test_support::sqlite_only;
use std::collections::BTreeSet;
use std::path::Path;

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::create_server;
use colibri::settings::mode::{Mode, is_admitted};
use colibri::tools::Domains;
use colibri_codegen::catalogue::{Catalogue, Varying};
use colibri_codegen::lint::conforms;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::embed::{self, Wire};
use serde_json::{Value, json};

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn probe() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe"))
}

/// What `colibri call TOOL` prints, its exit code, and its complaints.
fn call_command(launch: Launch, tool: &str) -> (Value, i32, String) {
    let output = launch.command().arg("call").arg(tool).output().unwrap();
    let printed = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (printed, output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A folder whose database has one task.
fn used() -> Launch {
    let mut server = colibri().start();
    server.data("task_create", json!({ "title": "A" }));
    let folder = server.shared_folder();
    assert_eq!(server.finish().code(), 0);
    colibri().in_folder(folder)
}

fn names(server: &mut Server) -> BTreeSet<String> {
    let answer = server.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn admitted(mode: Mode) -> BTreeSet<String> {
    let tools = CATALOGUE.tools.iter().filter(|tool| is_admitted(mode, tool).is_ok());
    tools.map(|tool| tool.name.to_owned()).collect()
}

#[test]
fn finding_d4_colibri_call_waits_for_the_start() {
    let (reply, code, _) = call_command(colibri(), "server_health");
    let health = &reply["data"];
    assert_eq!((code, &health["status"], &health["phase"]), (0, &json!("ok"), &json!("phase2")), "{reply}");
    assert_eq!(
        (&health["database"]["status"], &health["middleware"]["ready"]),
        (&json!("open"), &json!(true))
    );

    // A file that is not a database: the reply says why the start failed.
    sqlite_only!("the rest of it is about a file that is no database");
    let launch = colibri();
    std::fs::write(launch.folder().path().join("colibri.db"), "this is no database").unwrap();
    let (reply, code, complaints) = call_command(launch, "server_health");
    assert_eq!(code, 1, "{reply}");
    let message = reply["error"]["message"].as_str().unwrap_or_default();
    // On a busy machine the server may have ended before the call reached it.
    let ended = reply.is_null() && complaints.contains("its log above says why");
    assert!(ended || message.starts_with("STARTUP_FAILED: "), "{reply} {complaints}");
}

#[test]
fn finding_d4_health_is_degraded_while_the_server_starts_and_says_why() {
    for mode in [Mode::Full, Mode::Minimal] {
        let folder = tempfile::tempdir().unwrap();
        let (wire, streams) = Wire::pair();
        let (open, held) = std::sync::mpsc::channel::<()>();
        let options = Options {
            mode: Some(mode),
            audit: AuditChoice::ByMode,
            on_open: Some(Box::new(move |_| held.recv().map_err(|error| error.to_string()))),
            ..embed::options(streams, folder.path())
        };
        let mut server = create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap();
        let talk = async |wire: &mut Wire| {
            let early = wire.call("server_health", json!({})).await["data"].clone();
            assert_eq!(
                (&early["status"], &early["middleware"]["ready"]),
                (&json!("degraded"), &json!(false))
            );
            assert_eq!(early["database"]["error"], "the server is still starting; ask again", "{early}");
            open.send(()).unwrap();
            // Waits for the start.
            wire.call("router_stats", json!({})).await;
            let late = wire.call("server_health", json!({})).await["data"].clone();
            assert_eq!((&late["status"], &late["database"]["error"]), (&json!("ok"), &Value::Null), "{late}");
        };
        embed::block_on(embed::converse(&mut server, wire, talk));
    }
}

#[test]
fn finding_d5_a_probe_that_was_answered_early_has_its_row_when_a_signal_ends_the_server() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "1000").start();
    server.data("probe_status", json!({}));
    server.signal("TERM");
    let folder = server.shared_folder();
    assert_eq!(server.wait().code(), 0);
    let conn = colibri_test_support::engine::open(folder.path().join("colibri.db"));
    let rows: Vec<_> = actions(&conn).into_iter().map(|row| (row.tool, row.outcome)).collect();
    let row = |tool: &str| (tool.to_owned(), "ok".to_owned());
    assert_eq!(rows, [row("caller_begin"), row("probe_status")]);
}

#[test]
fn finding_d5_a_start_that_fails_says_which_answers_have_no_row() {
    let launch = probe().env("PROBE_OPEN_DELAY_MS", "500").env("PROBE_OPEN_FAILS", "no such luck");
    let mut server = launch.start();
    server.data("probe_status", json!({}));
    let ended = server.wait();
    let line = "[audit] answered before the database was open and without a row (1): probe_status";
    assert!(ended.code() == 1 && ended.stderr.contains(line), "{}", ended.stderr);
}

#[test]
fn each_mode_lists_the_tools_that_can_succeed_in_it() {
    let launch = used();
    let folder = launch.folder();
    let all: BTreeSet<String> = CATALOGUE.tools.iter().map(|tool| tool.name.to_owned()).collect();
    let within = |mode| {
        let mut names = admitted(mode);
        names.remove("router_call");
        names
    };
    let [readonly, test, minimal] = [Mode::Readonly, Mode::Test, Mode::Minimal].map(within);
    assert!(minimal.len() < readonly.len() && readonly.len() < test.len() && test.len() < all.len());
    for (mode, listed) in [("FULL", &all), ("READONLY", &readonly), ("TEST", &test), ("MINIMAL", &minimal)] {
        let mut server = colibri().in_folder(folder.clone()).env("COLIBRI_MODE", mode).start();
        assert_eq!(&names(&mut server), listed, "{mode}");
        // What is not listed is refused as ever: it is known.
        if mode == "READONLY" {
            let refused = server.call("task_create", json!({ "title": "B" }));
            assert_eq!(refused["error"]["code"], "TOOL_NOT_ADMITTED", "{refused}");
        }
    }
}

#[test]
fn finding_d7_tools_that_need_no_store_run_in_minimal() {
    let mut server = colibri().env("COLIBRI_MODE", "MINIMAL").start();
    let hex = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    assert_eq!(
        server.data("consensus_gossip", json!({ "peer_id": "p", "events": [] })),
        json!({ "events_sent": [], "events_received": [] })
    );
    let vrf = json!({ "seed_hex": "", "input_hex": "72", "priv_key_hex": hex });
    let evaluated = server.data("vrf_eval", vrf);
    assert_eq!(evaluated["output_hex"].as_str().map(str::len), Some(128), "{evaluated}");
    assert_eq!(server.data("router_score", json!({ "prompt": "ping" }))["winner"], "claude");
    assert_eq!(server.data("router_stats", json!({})), json!({ "models": {} }));
    assert_eq!(server.data("router_fallback", json!({ "reset": true })), json!({ "circuitState": {} }));
    // Those that need the store or the network are refused as before, and nothing was written.
    for (tool, arguments) in [
        ("consensus_finality", json!({ "round_id": "1" })),
        ("router_call", json!({ "prompt": "ping" })),
        ("task_list", json!({})),
    ] {
        let refused = server.call(tool, arguments);
        assert_eq!(refused["error"]["details"]["reason"], "minimal_mode", "{refused}");
    }
    let health = server.data("server_health", json!({}));
    assert_eq!(health["admitted_tool_count"], json!(admitted(Mode::Minimal).len()), "{health}");
    assert_eq!(std::fs::read_dir(server.folder()).unwrap().count(), 0);
}

#[test]
fn finding_d7_tools_that_need_no_store_wait_for_the_start_unless_they_are_probes() {
    let early: Vec<&str> = CATALOGUE.tools.iter().filter(|tool| tool.early).map(|tool| tool.name).collect();
    assert_eq!(early, ["server_ping", "server_health"]);
    assert!(CATALOGUE.tools.iter().all(|tool| tool.is_free() || !tool.early));
    // The candidates are read by the start: the first answer is already made from them.
    let launch = colibri().env("COLIBRI_ROUTER_CANDIDATES", "file:none.json");
    let mut server = launch.start();
    let refused = server.call("router_score", json!({ "prompt": "ping" }));
    assert!(refused.to_string().contains("ROUTER_CONFIG_INVALID"), "{refused}");
}

#[test]
fn finding_d9_settings_without_effect_are_not_recognised() {
    let mut server =
        colibri().env("COLIBRI_MCP_TIMEOUT", "1").env("COLIBRI_WEBHOOK_URL", "http://localhost").start();
    server.ready_by("task_list", json!({}));
    let ended = server.finish();
    let warnings = ended.warnings().join("\n");
    assert!(
        warnings.contains("COLIBRI_MCP_TIMEOUT") && warnings.contains("COLIBRI_WEBHOOK_URL"),
        "{warnings}"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/reference/configuration.md")).unwrap();
    assert!(!page.contains("without effect"), "{page}");
}

#[test]
fn finding_d8_the_example_of_health_shows_what_this_server_is() {
    sqlite_only!("the example shows a server on a file");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    let catalogue = Catalogue::load(&root).unwrap_or_else(|findings| panic!("{findings:?}"));
    let entry = catalogue.tools().find(|entry| entry.tool.name == "server_health").unwrap();
    let example = &entry.tool.examples[0];
    let mut server = colibri().start();
    server.ready_by("task_list", json!({}));
    let health = server.data("server_health", json!({}));
    let pointers = ["/tool_count", "/admitted_tool_count", "/db_tables", "/database/schema_version"];
    for pointer in pointers {
        assert_eq!(example.reply["data"].pointer(pointer), health.pointer(pointer), "{pointer}");
    }
}

#[test]
fn finding_d8_what_varies_has_a_stated_type_and_range() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    let catalogue = Catalogue::load(&root).unwrap_or_else(|findings| panic!("{findings:?}"));
    let cases = [
        (
            json!({ "between": [0, 9] }),
            json!(9),
            vec![json!(10), json!(-1), json!("9"), json!(1.5), json!(null)],
        ),
        (json!("sha256"), json!("ab".repeat(32)), vec![json!("AB".repeat(32)), json!("ab"), json!(7)]),
        (json!("timestamp"), json!("2026-11-21T10:00:00.000Z"), vec![json!("2026-11-21"), json!(0)]),
        (
            json!("uuid_v7"),
            json!("019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c01"),
            vec![json!("a"), json!("019aa8c1-7d10-4b3e-8c11-0a4f5d2f9c01")],
        ),
        (json!({ "matches": "^n[0-9]$" }), json!("n1"), vec![json!("n"), json!("n10"), json!([])]),
    ];
    for (stated, fits, others) in cases {
        let varying: Varying = serde_json::from_value(stated.clone()).unwrap();
        let admits = |value: &Value| conforms::check(&catalogue, &varying.schema(), value).is_ok();
        assert!(admits(&fits), "{stated} {fits}");
        assert!(others.iter().all(|other| !admits(other)), "{stated}");
    }
}
