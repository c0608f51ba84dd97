//! What is listed, what is registered once, what each call leaves behind.

use colibri::catalogue::CATALOGUE;
use colibri_runtime::chain::registry::Registry;
use colibri_test_support::actions::client_calls;
use serde_json::{Value, json};

use crate::router_tools::world::{TOOLS, launch};

/// Every object schema below `schema`, maps excepted: they have a schema for their members.
fn objects<'a>(schema: &'a Value, found: &mut Vec<&'a Value>) {
    if schema["type"] == "object" && !schema["additionalProperties"].is_object() {
        found.push(schema);
    }
    let children = schema.as_object().into_iter().flat_map(|members| members.values());
    children.chain(schema.as_array().into_iter().flatten()).for_each(|child| objects(child, found));
}

#[test]
fn the_four_tools_are_listed_and_their_objects_closed() {
    let mut server = launch().start();
    let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let router: Vec<&Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["name"].as_str().unwrap().starts_with("router_"))
        .collect();
    assert_eq!(router.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), TOOLS);
    let mut count = 0;
    for tool in &router {
        let mut closed = Vec::new();
        objects(&tool["inputSchema"], &mut closed);
        assert!(closed.iter().all(|object| object["additionalProperties"] == false), "{tool}");
        count += closed.len();
    }
    assert_eq!(count, 3 + 3 + 1 + 1, "the inputs, the options and the tasks");
    let annotated = |tool: &str| {
        let found = router.iter().find(|listed| listed["name"] == tool).unwrap();
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        (found["title"].clone(), hints.map(|hint| found["annotations"][hint].as_bool().unwrap()))
    };
    assert_eq!(annotated("router_score"), (json!("Score models"), [true, false, true, false]));
    assert_eq!(annotated("router_call"), (json!("Call a model"), [false, false, false, true]));
    assert_eq!(annotated("router_fallback"), (json!("Circuit state"), [false, false, true, false]));
    assert_eq!(annotated("router_stats"), (json!("Router statistics"), [true, false, true, false]));
}

#[test]
fn the_router_s_tools_are_registered_together_and_once() {
    let at = CATALOGUE.tools.iter().position(|tool| tool.name == TOOLS[0]).unwrap();
    let (others, from_router) = CATALOGUE.tools.split_at(at);
    let (router, after) = from_router.split_at(TOOLS.len());
    let mut registry = Registry::empty(&CATALOGUE);
    registry.register_all(others).unwrap();
    registry.register_all(after).unwrap();
    let before = registry.tools().len();
    registry.register_all(router).unwrap();
    assert_eq!(registry.tools().len(), before + 4);
    let error = registry.register_all(router).unwrap_err();
    assert_eq!(error.to_string(), "tool already registered: router_score");
    assert_eq!(registry.tools().len(), before + 4);
}

#[test]
fn each_call_leaves_one_closed_row_and_no_thought() {
    let mut server = launch().start();
    for (tool, good, bad) in [
        ("router_score", json!({ "prompt": "x" }), json!({})),
        ("router_call", json!({ "prompt": "x" }), json!({ "prompt": "" })),
        ("router_fallback", json!({}), json!({ "reset": "true" })),
        ("router_stats", json!({}), json!({ "a": 1 })),
    ] {
        server.call(tool, good);
        server.call(tool, bad);
    }
    let sql = server.sql();
    let rows = client_calls(&sql);
    let ends: Vec<_> = rows.iter().map(|row| (&*row.tool, row.end(), row.exit_no.is_some())).collect();
    let refused = ("invalid", Some("INVALID_PARAMS"));
    assert_eq!(
        ends,
        [
            ("router_score", ("ok", None), true),
            ("router_score", refused, true),
            ("router_call", ("error", Some("HANDLER_ERROR")), true),
            ("router_call", refused, true),
            ("router_fallback", ("ok", None), true),
            ("router_fallback", refused, true),
            ("router_stats", ("ok", None), true),
            ("router_stats", refused, true),
        ]
    );
    let thoughts: i64 = sql.query_row("SELECT count(*) FROM thought_records", [], |row| row.get(0)).unwrap();
    assert_eq!(thoughts, 0);
}
