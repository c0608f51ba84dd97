//! The official Rust client starts the server as its child and calls every tool, in both eras. The calls
//! are those of `tests/clients/calls.json`, which the official clients of other languages make too.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use colibri_test_support::client::{Launch, PATIENCE};
use rmcp::model::{CallToolRequestParams, ProtocolVersion, Tool};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// `tests/clients/calls.json`.
#[derive(Deserialize)]
struct Plan {
    /// Arguments of a call of each tool that can succeed without an outside, in the order they are made.
    calls: Map<String, Value>,
    refusals: Vec<Refusal>,
}

/// A call that the server refuses.
#[derive(Deserialize)]
struct Refusal {
    title: String,
    tool: String,
    arguments: Value,
    /// `A` or `B`.
    pattern: String,
    code: String,
}

type Client = RunningService<RoleClient, ()>;

fn plan() -> Plan {
    serde_json::from_str(include_str!("../clients/calls.json")).expect("the plan has the plan's form")
}

/// Both ways to begin, with the version each ends at.
fn lifecycles() -> [(ClientLifecycleMode, ProtocolVersion); 2] {
    let stateless = ProtocolVersion::V_2026_07_28;
    [
        (ClientLifecycleMode::Initialize, ProtocolVersion::V_2025_11_25),
        (ClientLifecycleMode::Discover { preferred_versions: vec![stateless.clone()] }, stateless),
    ]
}

/// Runs `action` against a server of its own for each era; the client's time is bounded.
fn in_both_eras(action: impl AsyncFn(&Client)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (lifecycle, version) in lifecycles() {
        let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
        let session = async {
            let child = TokioChildProcess::new(tokio::process::Command::from(launch.command())).unwrap();
            let client = ().serve_with_lifecycle(child, lifecycle).await.expect("the client connects");
            let peer = client.peer_info().expect("the server is known");
            assert_eq!(peer.protocol_version, version);
            assert_eq!(peer.server_info.as_ref().map(|info| info.name.as_str()), Some("colibri"));
            action(&client).await;
            client.cancel().await.expect("the client ends");
        };
        runtime.block_on(async { tokio::time::timeout(PATIENCE, session).await }).expect("in time");
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
}

/// The tools by name.
async fn listed(client: &Client) -> BTreeMap<String, Tool> {
    let tools = client.list_all_tools().await.expect("the tools are listed");
    tools.into_iter().map(|tool| (tool.name.to_string(), tool)).collect()
}

/// One call; its envelope, which fits the tool's output schema and agrees with the rest of the result.
async fn call(client: &Client, tool: &Tool, arguments: Value) -> Value {
    let arguments = arguments.as_object().expect("arguments are an object").clone();
    let params = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments);
    let result = client.call_tool(params).await.unwrap_or_else(|error| panic!("{}: {error}", tool.name));
    let envelope = result.structured_content.expect("structured content");
    let text = &result.content[0].as_text().expect("a text block").text;
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), envelope, "{}", tool.name);
    assert_eq!(result.is_error.unwrap_or(false), envelope["ok"] == json!(false), "{envelope}");
    let schema = Value::Object(tool.output_schema.as_deref().expect("an output schema").clone());
    jsonschema::validate(&schema, &envelope).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
    envelope
}

/// Arguments with every `{"$from": tool, "pointer": …}` replaced from that tool's reply.
fn fill(template: &Value, replies: &BTreeMap<String, Value>) -> Value {
    match template {
        Value::Object(object) => match (object.get("$from"), object.get("pointer")) {
            (Some(Value::String(tool)), Some(Value::String(pointer))) => {
                replies[tool].pointer(pointer).unwrap_or_else(|| panic!("{tool} has no {pointer}")).clone()
            }
            _ => object.iter().map(|(key, value)| (key.clone(), fill(value, replies))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, replies)).collect(),
        other => other.clone(),
    }
}

#[test]
fn plan_of_the_clients_has_every_tool_and_no_other() {
    let plan = plan();
    in_both_eras(async |client| {
        // A tool that talks to the outside has no call that succeeds here; it is among the refusals.
        let refused = plan.refusals.iter().map(|refusal| &refusal.tool);
        let planned: BTreeSet<&String> = plan.calls.keys().chain(refused).collect();
        assert_eq!(planned, listed(client).await.keys().collect(), "tests/clients/calls.json");
    });
}

#[test]
fn rmcp_calls_every_tool() {
    let plan = plan();
    in_both_eras(async |client| {
        let tools = listed(client).await;
        let mut replies = BTreeMap::new();
        for (name, template) in &plan.calls {
            let envelope = call(client, &tools[name], fill(template, &replies)).await;
            assert_eq!(envelope["ok"], json!(true), "{name}: {envelope}");
            assert_ne!(envelope["data"]["ok"], json!(false), "{name}: {envelope}");
            replies.insert(name.clone(), envelope);
        }
    });
}

#[test]
fn rmcp_gets_refusals_as_results() {
    let plan = plan();
    in_both_eras(async |client| {
        let tools = listed(client).await;
        let mut replies = BTreeMap::new();
        for (name, template) in &plan.calls {
            let envelope = call(client, &tools[name], fill(template, &replies)).await;
            replies.insert(name.clone(), envelope);
        }
        for Refusal { title, tool, arguments, pattern, code } in &plan.refusals {
            let envelope = call(client, &tools[tool], fill(arguments, &replies)).await;
            let at = if pattern == "A" { "/error/code" } else { "/data/error/code" };
            assert_eq!(envelope.pointer(at), Some(&json!(code)), "{title}: {envelope}");
            assert_eq!(envelope["ok"], json!(pattern == "B"), "{title}: {envelope}");
        }
    });
}

#[test]
fn rmcp_gets_a_protocol_error_for_a_tool_that_is_not_there() {
    in_both_eras(async |client| {
        let error = client.call_tool(CallToolRequestParams::new("no_such_tool")).await.unwrap_err();
        let ServiceError::McpError(error) = error else { panic!("{error}") };
        assert_eq!(error.code.0, -32602);
    });
}
