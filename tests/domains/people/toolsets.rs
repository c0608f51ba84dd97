//! `COLIBRI_TOOLS`: which tools a client is offered, and what becomes of calls of the others.

use colibri::catalogue::{CATALOGUE, ToolId};
use colibri_test_support::client::Server;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era, launch};

/// The most bytes that `tools/list` may have, of everything and of the toolset `core`.
const MOST_BYTES: [usize; 2] = [90_000, 12_000];

fn tools(client: &mut Client) -> (Vec<Value>, usize) {
    let result = client.request("tools/list", json!({}))["result"].clone();
    (result["tools"].as_array().unwrap().clone(), result.to_string().len())
}

fn offering(words: &str, era: Era) -> Client {
    Client::of(launch().env("COLIBRI_TOOLS", words), era)
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn of_set(set: &str) -> Vec<&'static str> {
    CATALOGUE.tools.iter().filter(|tool| tool.toolset == Some(set)).map(|tool| tool.name).collect()
}

fn last_outcome(server: &Server, tool: &str) -> (String, String) {
    let sql = "SELECT outcome, error_code FROM actions WHERE tool = ?1 ORDER BY sequence_no DESC LIMIT 1";
    server.sql().query_row(sql, [tool], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn people_34_core_lists_its_tools_briefly_and_refuses_the_others() {
    for era in ERAS {
        let mut client = offering("core", era);
        let (listed, bytes) = tools(&mut client);
        assert_eq!(names(&listed), of_set("core"));
        assert!(bytes <= MOST_BYTES[1], "{bytes}");
        assert!(
            listed.iter().all(|tool| tool.get("outputSchema").is_none() && tool["inputSchema"].is_object())
        );

        let refused = client.call("router_call", json!({ "prompt": "ping" }));
        assert_eq!(refused["error"]["code"], "TOOL_NOT_ADMITTED", "{refused}");
        assert_eq!(
            refused["error"]["message"],
            "Tool router_call is switched off: COLIBRI_TOOLS leaves out the toolset router"
        );
        let details = &refused["error"]["details"];
        let told = ["tool", "mode", "reason", "toolset", "setting"].map(|key| details[key].as_str().unwrap());
        assert_eq!(told, ["router_call", "FULL", "toolset", "router", "COLIBRI_TOOLS"], "{refused}");
        assert_eq!(details["required_capability"], Value::Null, "{refused}");

        let health = client.data("server_health", json!({}));
        assert_eq!(health["tool_count"], listed.len(), "{health}");
        assert_eq!(health["admitted_tool_count"], listed.len(), "{health}");
        let denied = ("denied".to_owned(), "TOOL_NOT_ADMITTED".to_owned());
        assert_eq!(last_outcome(&client.server, "router_call"), denied);
    }
}

#[test]
fn people_34_an_unknown_tool_goes_before_the_toolset_and_the_toolset_before_mode_and_arguments() {
    for era in ERAS {
        let mut client =
            Client::of(launch().env("COLIBRI_TOOLS", "router").env("COLIBRI_MODE", "MINIMAL"), era);
        let unknown = client.answer("router_cal", json!({}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        // The mode refuses it too, and the arguments are wrong.
        let refused = client.call("task_create", json!({ "titel": 1 }));
        assert_eq!(refused["error"]["details"]["reason"], "toolset", "{refused}");
        let refused = client.call("router_call", json!({ "promt": 1 }));
        assert_eq!(refused["error"]["details"]["reason"], "minimal_mode", "{refused}");
        // What cannot succeed in the mode is not listed, and the system tools are, with any toolsets.
        let admitted = of_set("router").into_iter().filter(|name| *name != "router_call");
        let expected: Vec<_> = ["server_ping", "server_health"].into_iter().chain(admitted).collect();
        assert_eq!(names(&tools(&mut client).0), expected);
    }
}

#[test]
fn people_35_the_setting_takes_toolsets_and_tools_and_refuses_other_words() {
    for era in ERAS {
        let mut client = offering(" core , router_score", era);
        let (listed, _) = tools(&mut client);
        let expected = [of_set("core"), vec!["router_score"]].concat();
        assert_eq!(names(&listed), expected);
        assert_eq!(client.data("router_score", json!({ "prompt": "ping" }))["winner"], "claude");
        // A single tool does not bring the instructions of its set.
        let core = offering("core", era).instructions();
        assert_eq!(client.instructions(), core);

        let (everything, bytes) = tools(&mut offering("all", era));
        assert_eq!(everything.len(), ToolId::ALL.len());
        assert_eq!((everything, bytes), tools(&mut Client::new(era)));
        assert!(bytes <= MOST_BYTES[0], "{bytes}");
    }
    for (words, told) in [
        ("cor", "COLIBRI_TOOLS has the unknown word \"cor\"; did you mean core?"),
        ("core,,router", "COLIBRI_TOOLS has an empty word;"),
        ("core,all", "COLIBRI_TOOLS has all beside other words;"),
    ] {
        let output = launch().env("COLIBRI_TOOLS", words).command().arg("serve").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {stderr}");
        assert!(stderr.contains(told), "{words:?}: {stderr}");
    }
}

#[test]
fn people_36_each_tool_has_a_toolset_and_the_command_shows_it() {
    let sets: Vec<&str> = CATALOGUE.toolsets.iter().map(|set| set.name).collect();
    assert_eq!(sets, ["core", "accountability", "reputation", "consensus", "router"]);
    assert!(CATALOGUE.tools.iter().all(|tool| tool.toolset.is_some_and(|set| sets.contains(&set))));
    assert!(CATALOGUE.operations.iter().all(|tool| tool.toolset.is_none()));

    let shown = |words: &str, json: bool| {
        let launch = launch().env("COLIBRI_TOOLS", words);
        let mut command = launch.command();
        command.arg("tools").args(json.then_some("--json"));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let table = shown("consensus", false);
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("vrf_eval").contains("consensus") && line("vrf_eval").contains("yes"), "{table}");
    assert!(line("task_create").contains("core") && !line("task_create").contains("yes"), "{table}");
    assert!(table.contains("leaves out what cannot succeed: 5 of"), "{table}");
    let listed: Vec<Value> = serde_json::from_str(&shown("consensus", true)).unwrap();
    assert_eq!(names(&listed), of_set("consensus"));
    assert!(listed.iter().all(|tool| tool.get("outputSchema").is_none()));

    let wrong = launch().env("COLIBRI_TOOLS", "core,routr_score").command().arg("tools").output().unwrap();
    let (table, told) = (String::from_utf8_lossy(&wrong.stdout), String::from_utf8_lossy(&wrong.stderr));
    assert_eq!(wrong.status.code(), Some(1), "{told}");
    assert!(table.contains("router_score"), "{table}");
    assert!(told.contains("routr_score") && told.contains("did you mean router_score?"), "{told}");
}
