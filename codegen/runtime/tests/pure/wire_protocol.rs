//! The protocol's own answers, in both eras.

use colibri_runtime::chain::call::Arguments;
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::chain::selection::Selection;
use colibri_runtime::schema::{Additional, ObjectRule, Schema, Shape};
use colibri_runtime::spec::{CatalogueSpec, ChainCode, ChainCodes, Pattern, Profile, Runs, ToolSpec};
use colibri_runtime::wire::call::ToolCall;
use colibri_runtime::wire::era::Era;
use colibri_runtime::wire::message::{Incoming, decode};
use colibri_runtime::wire::protocol::{Answer, Protocol};
use serde_json::{Value, json};

static EMPTY: Schema = Schema {
    shape: Shape::Object(&ObjectRule { properties: &[], additional: Additional::Closed }),
    nullable: false,
    message: None,
};

const fn tool(name: &'static str, listing: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        domain: "demo",
        toolset: None,
        pattern: Pattern::A,
        runs: Runs::Store { mutates: false },
        early: false,
        sensitive: &[],
        input: &EMPTY,
        rules: &[],
        output: &EMPTY,
        codes: &[],
        listing,
        relaxed: None,
    }
}

const fn code(code: &'static str, message: &'static str, remedy: &'static str) -> ChainCode {
    ChainCode { code, message, remedy }
}

pub static CATALOGUE: CatalogueSpec = CatalogueSpec {
    name: "demo",
    title: "Demo \"server\"",
    version: "9.9.9",
    instructions: "Say hello.\nThen wave.",
    profile: Profile::House,
    toolsets: &[],
    announcements: &[],
    tools: &[
        tool("hello", r#"{"name":"hello","inputSchema":{"type":"object"}}"#),
        tool("wave", r#"{"name":"wave","inputSchema":{"type":"object"}}"#),
    ],
    operations: &[],
    codes: ChainCodes {
        invalid_params: code("A", "Invalid parameters for {tool}: {problems}", "correct it"),
        handler_error: code("B", "B", ""),
        audit_enter_failed: code(
            "C",
            "the call could not be entered in the audit log, so it was not run: {reason}",
            "call again",
        ),
        not_admitted: code("D", "{tool} is not admitted", "ask"),
        not_in_toolset: code("D", "{tool} is left out", "ask"),
        unknown_tool: code(
            "E",
            "Unknown tool: {tool}; did you mean {name}?",
            "list the tools; did you mean {name}?",
        ),
        process_aborted: code("F", "the process died", ""),
        cancelled: code("G", "cancelled by the client", ""),
        storage_failure: code("H", "H: {reason}", "call again"),
        store_commit_failed: code("I", "I: {reason}", "read first"),
        startup_failed: code("J", "J: {reason}", "ask"),
        arguments_redacted: Some(code("K", "A secret was taken out of {arguments}.", "")),
    },
    foreign: None,
};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn answer(line: &str) -> Answer<'_> {
    match decode(line.as_bytes()) {
        Incoming::Request(request) => {
            Protocol::new(&CATALOGUE, CATALOGUE.tools, &Selection::All, None, "1.2.3")
                .answer(request, &Redactor::default())
        }
        other => panic!("{line}: {other:?}"),
    }
}

fn reply_line(method: &str, params: &str) -> Vec<u8> {
    match answer(&format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{method}","params":{params}}}"#)) {
        Answer::Reply(line) | Answer::Handshake { reply: line, .. } => line,
        Answer::Call(call) => panic!("{call:?}"),
    }
}

fn reply(method: &str, params: &str) -> Value {
    let line = reply_line(method, params);
    assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
    let reply: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(reply["jsonrpc"], "2.0");
    assert_eq!(reply["id"], 5);
    reply
}

fn error(method: &str, params: &str) -> (i64, String) {
    let reply = reply(method, params);
    let message = reply["error"]["message"].as_str().unwrap_or_else(|| panic!("{reply}"));
    (reply["error"]["code"].as_i64().unwrap(), message.to_owned())
}

fn call(params: &str) -> ToolCall<'static> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}"#);
    match answer(&line) {
        Answer::Call(call) => ToolCall {
            unreadable: call.unreadable,
            id: call.id.into_owned(),
            name: call.name.into_owned().into(),
            era: call.era,
            stateless: None,
            arguments: &*call.arguments.to_owned().leak(),
            args_hash: call.args_hash,
            trace_context: call.trace_context,
            progress_token: call.progress_token.map(|token| &*token.to_owned().leak()),
        },
        other => panic!("{other:?}"),
    }
}

fn value(arguments: &str) -> Value {
    Arguments::Text(arguments.into()).into_value()
}

#[test]
fn a_token_is_a_string_or_an_integer() {
    let token = |json: &str| {
        let call = call(&format!(r#"{{"name":"t","_meta":{{"traceparent":"p","progressToken":{json}}}}}"#));
        assert_eq!(call.trace_context.as_deref(), Some(r#"{"traceparent":"p"}"#));
        call.progress_token
    };
    for json in [r#""""#, r#""a \"b\" \u00e9""#, "0", "-7", "12345678901234567890"] {
        assert_eq!(token(json), Some(json));
    }
    for json in ["1.5", "1e3", "1.0", "{}", "[1]", "true", "null"] {
        assert_eq!(token(json), None, "{json}");
    }
    assert_eq!(call(r#"{"name":"t"}"#).progress_token, None);
}

#[test]
fn initialize_echoes_supported_versions() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let reply = reply("initialize", &format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#));
        assert_eq!(
            reply["result"],
            json!({
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "demo", "title": "Demo \"server\"", "version": "1.2.3"},
                "instructions": "Say hello.\nThen wave.",
            })
        );
    }
    for params in [
        r#"{"protocolVersion":"1999-01-01"}"#,
        r#"{"protocolVersion":"2026-07-28"}"#,
        "{}",
        "[]",
        r#"{"protocolVersion":7}"#,
    ] {
        assert_eq!(reply("initialize", params)["result"]["protocolVersion"], "2025-11-25", "{params}");
    }
}

#[test]
fn unknown_methods_are_named() {
    for method in ["resources/list", "prompts/get", "logging/setLevel", "x"] {
        let expected = (-32601, format!("Method not found: {method}"));
        assert_eq!(error(method, "{}"), expected);
        assert_eq!(error(method, &format!("{{{META}}}")), expected);
    }
}

#[test]
fn calls_without_a_usable_name_are_refused() {
    let expected = (-32602, r#"Invalid params: tools/call requires a non-empty string "name""#.to_owned());
    for params in
        ["{}", r#"{"name":7}"#, r#"{"name":""}"#, r#"{"name":null}"#, "[]", "null", "7", r#"["name"]"#]
    {
        assert_eq!(error("tools/call", params), expected, "{params}");
    }
    match answer(r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#) {
        Answer::Reply(line) => assert!(String::from_utf8(line).unwrap().contains("-32602")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn calls_are_decoded() {
    let decoded = call(r#"{"name":"he\u006clo","arguments":{"a":2,"b":{"c":[]}}}"#);
    assert_eq!(decoded.name, "hello");
    assert_eq!(value(decoded.arguments).to_string(), r#"{"a":2,"b":{"c":[]}}"#);
    assert_eq!(decoded.era, Era::Handshake);
    assert_eq!(decoded.trace_context, None);
    assert_eq!(value(call(r#"{"name":"x"}"#).arguments), json!({}));
    assert_eq!(value(call(r#"{"name":"x","arguments":null}"#).arguments), json!({}));
    assert_eq!(value(call(r#"{"name":"x","arguments":[]}"#).arguments), json!([]));
    for params in [r#"{"name":"x","name":"y"}"#, r#"{"name":"x","arguments":{"a":1,"a":1}}"#] {
        let unreadable = call(params).unreadable;
        assert!(unreadable.is_some_and(|flaw| flaw.problem().contains("twice")), "{params}");
    }
}

#[test]
fn arguments_may_use_the_whole_depth_of_a_line() {
    // The message and its params take two levels of the 128.
    let nested = format!("{}{}", "[".repeat(126), "]".repeat(126));
    let text = call(&format!(r#"{{"name":"x","arguments":{nested}}}"#)).arguments;
    assert_eq!(value(text).to_string(), nested);
}

#[test]
fn numbers_no_double_can_hold_make_arguments_unreadable() {
    let of = |number: &str| call(&format!(r#"{{"name":"x","arguments":{{"s":"1e1","a":{number}}}}}"#));
    let long = format!("{}.5", "9".repeat(309));
    for number in ["1e400", "-1E+309", "[0,[2.5e308]]", &long] {
        let unreadable = of(number).unreadable.unwrap_or_else(|| panic!("{number}"));
        assert!(unreadable.problem().contains("\"arguments\""), "{unreadable:?}");
    }
    let least = format!("0.{}1", "0".repeat(400));
    for number in
        ["1e308", "1e-400", "-1E+99", "0e999", "\"1e400\"", "\"\\\"1e400\"", &least, &"9".repeat(308)]
    {
        let call = of(number);
        assert_eq!(call.unreadable, None, "{number}");
        assert!(value(call.arguments)["a"].as_f64().is_some() || number.starts_with('"'), "{number}");
    }
}

#[test]
fn list_is_byte_identical_per_era_and_has_one_page() {
    let first = reply_line("tools/list", "{}");
    assert_eq!(first, reply_line("tools/list", r#"{"cursor":null,"_meta":{"progressToken":1}}"#));
    let result: Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(
        result["result"],
        json!({"tools": [
            {"name": "hello", "inputSchema": {"type": "object"}},
            {"name": "wave", "inputSchema": {"type": "object"}},
        ]})
    );
    let stateless = reply("tools/list", &format!("{{{META}}}"));
    assert_eq!(stateless["result"]["tools"], result["result"]["tools"]);
    assert_eq!(stateless["result"]["resultType"], "complete");
    assert!(stateless["result"]["ttlMs"].is_u64());
    assert_eq!(stateless["result"]["cacheScope"], "public");
    assert_eq!(stateless["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.2.3");
    for cursor in ["\"\"", "\"x\"", "7", "{}"] {
        let expected = (-32602, "Invalid params: unknown cursor".to_owned());
        assert_eq!(error("tools/list", &format!(r#"{{"cursor":{cursor}}}"#)), expected);
        assert_eq!(error("tools/list", &format!(r#"{{"cursor":{cursor},{META}}}"#)), expected);
    }
}

#[test]
fn stateless_era() {
    let discovered = reply("server/discover", &format!("{{{META}}}"));
    let result = &discovered["result"];
    assert_eq!(
        result["supportedVersions"],
        json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
    );
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    assert_eq!(result["instructions"], "Say hello.\nThen wave.");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo");
    assert_eq!(call(&format!(r#"{{"name":"hello",{META}}}"#)).era, Era::Stateless);
    for method in ["ping", "initialize"] {
        assert_eq!(error(method, &format!("{{{META}}}")), (-32601, format!("Method not found: {method}")));
    }
    assert_eq!(reply("ping", "{}")["result"], json!({}));
}

#[test]
fn stateless_requests_must_carry_both_keys() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let cases = [
        ("server/discover", "{}".to_owned(), version),
        ("server/discover", "null".to_owned(), version),
        ("server/discover", r#"{"_meta":7}"#.to_owned(), version),
        ("server/discover", format!(r#"{{"_meta":{{"{capabilities}":{{}}}}}}"#), version),
        ("server/discover", format!(r#"{{"_meta":{{"{version}":"2026-07-28"}}}}"#), capabilities),
        ("tools/list", format!(r#"{{"_meta":{{"{version}":7,"{capabilities}":{{}}}}}}"#), version),
        ("tools/list", format!(r#"{{"_meta":{{"{version}":null,"{capabilities}":{{}}}}}}"#), version),
        ("tools/call", format!(r#"{{"name":"x","_meta":{{"{version}":"2026-07-28"}}}}"#), capabilities),
        (
            "tools/call",
            format!(r#"{{"name":"x","_meta":{{"{version}":"2026-07-28","{capabilities}":[]}}}}"#),
            capabilities,
        ),
    ];
    for (method, params, key) in cases {
        let (code, message) = error(method, &params);
        assert_eq!(code, -32602, "{method} {params}");
        assert!(message.contains(key), "{method} {params}: {message}");
    }
}

#[test]
fn unsupported_version_is_answered_with_the_supported_ones() {
    let meta = META.replace("2026-07-28", "2099-01-01");
    for method in ["server/discover", "tools/list", "tools/call", "ping"] {
        let reply = reply(method, &format!(r#"{{"name":"x",{meta}}}"#));
        assert_eq!(
            reply["error"],
            json!({
                "code": -32022,
                "message": "Unsupported protocol version",
                "data": {
                    "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
                    "requested": "2099-01-01",
                },
            })
        );
    }
}

#[test]
fn tool_results_carry_identity_in_the_stateless_era_only() {
    let protocol = Protocol::new(&CATALOGUE, CATALOGUE.tools, &Selection::All, None, "1.2.3");
    let read = |era| -> Value {
        serde_json::from_slice(&protocol.tool_result(era, "1", r#"{"ok":true}"#, false, None)).unwrap()
    };
    let handshake = read(Era::Handshake);
    let keys = |value: &Value| value["result"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&handshake), ["content", "structuredContent"]);
    let stateless = read(Era::Stateless);
    assert_eq!(keys(&stateless), ["content", "structuredContent", "resultType", "_meta"]);
    assert_eq!(stateless["result"]["resultType"], "complete");
    assert_eq!(
        stateless["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["title"],
        "Demo \"server\""
    );
}

#[test]
fn trace_headers_are_kept_in_canonical_form() {
    let traced = |meta: &str| call(&format!(r#"{{"name":"x","_meta":{meta}}}"#)).trace_context;
    assert_eq!(traced("{}"), None);
    assert_eq!(traced("7"), None);
    assert_eq!(traced(r#"{"traceparent":7,"other":"x"}"#), None);
    assert_eq!(
        traced(r#"{"tracestate":"a=\u0062","traceparent":"00-1","baggage":null,"x":1}"#).as_deref(),
        Some(r#"{"traceparent":"00-1","tracestate":"a=b"}"#)
    );
    let (kept, dropped) = ("é".repeat(8192), "é".repeat(8193));
    assert_eq!(
        traced(&format!(r#"{{"baggage":"{kept}","tracestate":"{dropped}"}}"#)),
        Some(format!(r#"{{"baggage":"{kept}"}}"#))
    );
}
