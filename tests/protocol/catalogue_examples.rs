//! Every example of the catalogue is executed against the real server, so that the reference cannot lie
//! (catalogue#examples).
//!
//! Each example gets a server of its own. Its `before` calls set the stage and keep what later calls are
//! bound to; the reply must be the documented one, member by member. An operation, which no client can call, runs in this
//! process, beside the server, as a command would run it. Where the example says that a value
//! `varies`, it must have the type and lie in the range that the example states.

use colibri_test_support::{embed, engine};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use colibri::catalogue::{Dispatcher, ToolId};
use colibri::lifecycle::operation::Operator;
use colibri::lifecycle::options::Options;
use colibri::tools::Domains;
use colibri_codegen::catalogue::{Catalogue, Example, Runs, Tool};
use colibri_codegen::examples::{self, Answered};
use colibri_runtime::progress::Progress;
use colibri_test_support::client::{Launch, Server};
use serde_json::{Value, json};

pub fn catalogue() -> Catalogue {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    Catalogue::load(&root).unwrap_or_else(|findings| panic!("{findings:?}"))
}

/// The skills of the project that the examples show.
const SKILLS: [(&str, &str); 3] = [
    (
        "colibri-audit",
        "description: Check a sealed session.\nversion: '1.0'\ncapabilities: [read, audit]\ngreekLetter: η\n",
    ),
    (
        "colibri-pm",
        "description: Plan work and hand it out.\nentrypoint: scripts/plan.sh\ncapabilities: [read, write]\ngreekLetter: β\n",
    ),
    ("colibri-broken", "description: 1\n"),
];

/// A server whose second phase is over, although no call has left a row yet: some examples show the
/// first row's number.
pub fn fresh_server() -> Server {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    for (name, lines) in SKILLS {
        let folder = launch.folder().path().join(".agents/skills").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), format!("---\nname: {name}\n{lines}---\nBody.\n")).unwrap();
    }
    let mut server = launch.start();
    server.await_stderr("Phase 2 ready");
    // The line is written just before the loop is told.
    std::thread::sleep(Duration::from_millis(100));
    server.request("ping", json!({}));
    server
}

/// Makes the calls of an example. Returns the envelope of the last one if it is the documented one, or else what differs.
pub fn execute(
    server: &mut Server,
    catalogue: &Catalogue,
    tool: &Tool,
    example: &Example,
) -> Result<Value, String> {
    let mut last = Value::Null;
    examples::run(catalogue, tool, example, &mut |name, arguments| {
        last = call(server, name, arguments);
        Ok(Answered { reply: last.clone(), is_error: last["ok"] == false })
    })?;
    Ok(last)
}

/// Calls a tool, or runs an operation; the envelope.
pub fn call(server: &mut Server, tool: &str, arguments: Value) -> Value {
    match ToolId::from_name(tool).filter(|tool| tool.spec().is_operation()) {
        Some(operation) => operate(server, operation, arguments),
        None => server.call(tool, arguments),
    }
}

/// Runs an operation on the server's database.
fn operate(server: &Server, operation: ToolId, arguments: Value) -> Value {
    let environment = embed::environment(server.folder()).with("COLIBRI_LOG_LEVEL", "warn");
    let options = Options { environment, ..Options::default() };
    Operator::open(Dispatcher(Domains::default()), options)
        .unwrap()
        .call(operation, arguments, Progress::default())
        .unwrap()
}

#[test]
fn every_example_of_the_catalogue_is_true() {
    let catalogue = catalogue();
    let (mut executed, mut lies) = (0, Vec::new());
    for entry in catalogue.tools() {
        for example in &entry.tool.examples {
            let label = format!("{}, \"{}\"", entry.tool.name, example.title);
            let run =
                std::panic::catch_unwind(|| execute(&mut fresh_server(), &catalogue, entry.tool, example));
            match run {
                Ok(Ok(_)) => {}
                Ok(Err(difference)) => lies.push(format!("{label}: {difference}")),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().map_or("the run failed", String::as_str);
                    lies.push(format!("{label}: {text}"));
                }
            }
            executed += 1;
        }
    }
    // What health says of a database is shown for a file.
    lies.retain(|lie| !(engine::is_postgres() && lie.starts_with("server_health")));
    assert!(lies.is_empty(), "{}", lies.join("\n"));
    assert_eq!(executed, examples_in_the_files(), "every example is executed");
}

/// How many examples the YAML files hold, counted as text: each opens with its title, one level below its
/// tool's own.
fn examples_in_the_files() -> usize {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/tools");
    let mut count = 0;
    for file in std::fs::read_dir(tools).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        count += text.lines().filter(|line| line.starts_with("      - title: ")).count();
    }
    count
}

#[test]
fn every_listed_tool_has_an_example() {
    let catalogue = catalogue();
    let shown: BTreeSet<String> = catalogue
        .tools()
        .filter(|entry| entry.tool.runs != Runs::Operator && !entry.tool.examples.is_empty())
        .map(|entry| entry.tool.name.clone())
        .collect();
    let answer = fresh_server().request("tools/list", json!({}));
    let listed: BTreeSet<String> = answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, shown);
}

#[test]
fn a_documented_value_that_is_not_the_real_one_is_found() {
    let catalogue = catalogue();
    let difference = |example: &Example, real: Value| examples::difference(&catalogue, example, &real);
    let number = json!({ "between": [0, 9] });
    let example = |reply: Value, varies: &[&str]| -> Example {
        let varies: Value = varies.iter().map(|pointer| (pointer.to_string(), number.clone())).collect();
        serde_json::from_value(json!({ "title": "t", "arguments": {}, "reply": reply, "varies": varies }))
            .unwrap()
    };
    let real = json!({ "ok": true, "data": { "a": 1, "b": null } });
    assert_eq!(difference(&example(real.clone(), &[]), real.clone()), None);
    let other = json!({ "ok": true, "data": { "a": 2, "b": null } });
    assert_eq!(difference(&example(other.clone(), &["/data/a"]), real.clone()), None);
    let beyond = json!({ "ok": true, "data": { "a": 10, "b": null } });
    assert!(difference(&example(other.clone(), &["/data/a"]), beyond).is_some());
    for (reply, varies) in [
        (other.clone(), &["/data/b"][..]),
        (json!({ "ok": true, "data": { "a": 1, "b": 2 } }), &["/data/b"]),
        (json!({ "ok": true, "data": { "a": 1, "b": null, "c": 1 } }), &["/data/c"]),
        (json!({ "ok": true, "data": { "a": 1 } }), &[]),
    ] {
        assert!(difference(&example(reply.clone(), varies), real.clone()).is_some(), "{reply} {varies:?}");
    }
}
