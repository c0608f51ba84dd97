//! chain#stages: envelopes and the five stages.
//!
//! Where a case needs a handler that fails, waits or panics, the probe server stands in for the real one;
//! its network tool stands in for `router_call`, its tool with a sensitive argument for `consensus_vote`; the real
//! ones are in `router` and `consensus` of the domains. What needs a sink of its own is shown on a server inside the
//! test.

mod audit_failures;
mod concurrency;
mod entered_first;
mod envelopes;
mod secrets;
mod verdicts;

use colibri::lifecycle::server::{Server as Embedded, create_server};
use colibri::tools::cx::Cx;
use colibri_runtime::handler::Dispatch;
use colibri_runtime::spec::CatalogueSpec;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::embed::{Recorder, Wire, options};
use serde_json::{Value, json};
use tempfile::TempDir;

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn probe() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe"))
}

/// A probe server whose second phase is over.
fn ready(launch: Launch) -> Server {
    let mut server = launch.start();
    server.ready_by("probe_echo", json!({ "required": "ready" }));
    server
}

/// A server inside the test with that sink, its client, and its folder.
fn embedded<D: Dispatch<Cx>>(
    catalogue: &'static CatalogueSpec,
    dispatch: D,
    sink: &Recorder,
) -> (Embedded<D>, Wire, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let mut options = options(streams, folder.path());
    options.audit = sink.choice();
    (create_server(catalogue, dispatch, options).unwrap(), wire, folder)
}

/// Several calls in one write: they are one batch.
fn send_batch(server: &mut Server, calls: &[(&str, Value)]) {
    let lines: String = calls
        .iter()
        .enumerate()
        .map(|(id, (tool, arguments))| {
            let params = json!({ "name": tool, "arguments": arguments });
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        })
        .collect();
    server.send_bytes(lines.as_bytes());
}

/// A Pattern A failure's code and message.
fn failure(envelope: &Value) -> (&str, &str) {
    assert_eq!(envelope["ok"], json!(false), "{envelope}");
    let text = |key: &str| envelope["error"][key].as_str().unwrap_or_default();
    (text("code"), text("message"))
}
