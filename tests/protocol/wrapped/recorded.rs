//! What the row of a call holds.

use std::time::{Duration, Instant};

use colibri_test_support::actions::actions;
use colibri_test_support::client::{Launch, PATIENCE};
use serde_json::{Value, json};

use super::{COLIBRI, ERAS, Era, Row, Setup, Wrapped};

/// Stands in every text of the server's.
const CANARY: &str = "canary-1d9e77";

/// A reply with that result or error.
fn reply(member: &str, value: &Value) -> Value {
    json!([{ "write": format!("{{\"jsonrpc\":\"2.0\",\"{member}\":{value},\"id\":${{id}}}}\n") }])
}

#[test]
fn wrap_39_a_row_says_how_the_server_answered_and_holds_none_of_its_words() {
    let failed = json!({ "isError": true, "content": [{ "type": "text", "text": CANARY }],
        "structuredContent": { CANARY: CANARY }, "_meta": { CANARY: 1 } });
    let refused = json!({ "code": -32050, "message": CANARY, "data": { CANARY: CANARY } });
    let unnumbered = json!({ "code": CANARY, "message": CANARY });
    let unknown = json!({ "resultType": CANARY, "content": [] });
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        wrap.echo(json!(1));
        for (id, member, value) in [
            (2, "result", &failed),
            (3, "error", &refused),
            (4, "error", &unnumbered),
            (5, "result", &unknown),
        ] {
            wrap.play(json!(id), reply(member, value));
            assert_eq!(wrap.message()[member], *value);
        }
        let codes = ["ok", "domain_error/TOOL_ERROR", "error/RPC_ERROR", "error/RPC_ERROR"];
        assert_eq!(wrap.endings()[..4], codes);
        assert_eq!(wrap.endings()[4], "domain_error/RESULT_UNKNOWN");
        let messages: Vec<_> = wrap.rows().into_iter().map(|row| row.message.unwrap_or_default()).collect();
        assert_eq!(messages[1], "the server says that the tool failed");
        assert_eq!(messages[2], "JSON-RPC error -32050");
        assert_eq!(messages[3], "JSON-RPC error without a number");
        let conn = wrap.server.sql();
        for table in conn.tables().iter().map(String::as_str).chain(["actions"]) {
            let bytes = conn.bytes_of(table);
            let found = bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
            assert!(!found, "{table} holds a text of the server's");
        }
        assert!(!wrap.server.stderr().contains(CANARY), "{}", wrap.server.stderr());
    }
}

/// Sends calls with these parameters, and returns their rows. The server need not answer them.
fn rows_of(wrap: &mut Wrapped, params: &[String]) -> Vec<Row> {
    for (id, params) in params.iter().enumerate() {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        wrap.server.send_line(&line);
    }
    // Before the first one is passed on, the database may not be there.
    wrap.await_read("\"id\":0");
    let began = Instant::now();
    while wrap.rows().len() < params.len() {
        assert!(began.elapsed() < PATIENCE, "{} rows", wrap.rows().len());
        std::thread::sleep(Duration::from_millis(2));
    }
    wrap.rows()
}

/// The values were computed with Python's `hashlib`: of canonical JSON; of the line `colibri-call-v1` and canonical JSON; of the line
/// `colibri-raw-v1` and the bytes of `params`.
const VECTORS: [(&str, &str); 8] = [
    (r#""arguments":{}"#, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    (r#""arguments":null"#, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    (
        r#""arguments":{ "name":"\u00e9", "b":[1.50,"\u0061"],"a":null}"#,
        "de31b79185fb381e70d18cd2eee72a4b7d7cdf7ffb5524ec546a3fddad7fd741",
    ),
    (
        r#""requestState":"s","inputResponses":{"k":{"z":1,"y":2}},"arguments":{"q":1}"#,
        "d865dbce60682c14b81f6cc1632e6cd003b5027f86d650d0ca6153e6dadd4b37",
    ),
    (
        r#""inputResponses":{"k":{"y":2.0,"z":1}},"arguments":{"q":1e0},"requestState":"\u0073""#,
        "d865dbce60682c14b81f6cc1632e6cd003b5027f86d650d0ca6153e6dadd4b37",
    ),
    (r#""arguments":{"a":1e999}"#, "7fc8940a305ac930b84cdf1ab55fe88136c436e8dbe696f535e4b578d4dc3cb1"),
    (r#""arguments":{"a":"\ud800"}"#, "9300d0f9a9db3139051e0f35e1811e382187fd257e00637f3ed7540d7b9d58fd"),
    (r#""arguments":{"a":1,"a":2}"#, "32a0ef0fa729927ac6dfe52feee8a83579fe0a0864e03c0bf3f2bfd006d20b0e"),
];
/// So many of them have a canonical form.
const CANONICAL: usize = 6;

#[test]
fn wrap_40_arguments_have_one_of_three_hashes() {
    let mut wrap = Wrapped::new(Era::Handshake);
    let params = VECTORS.map(|(members, _)| format!(r#"{{"name":"echo",{members}}}"#));
    let hashes = rows_of(&mut wrap, &params).into_iter().map(|row| row.args_hash);
    assert_eq!(hashes.collect::<Vec<_>>(), VECTORS.map(|(_, hash)| hash));
    // What a stateless call says of itself is not among its arguments.
    let mut wrap = Wrapped::new(Era::Stateless);
    let (canonical, meta) = (&VECTORS[..CANONICAL], wrap.meta());
    let params: Vec<String> = canonical
        .iter()
        .map(|(members, _)| format!(r#"{{{members},"_meta":{},"name":"echo"}}"#, meta))
        .collect();
    let hashes = rows_of(&mut wrap, &params).into_iter().map(|row| row.args_hash);
    assert_eq!(hashes.collect::<Vec<_>>(), canonical.iter().map(|(_, hash)| *hash).collect::<Vec<_>>());
}

#[test]
fn wrap_40_a_call_has_the_hash_that_colibris_own_server_gives_it() {
    for era in ERAS {
        let mut wrap = Wrapped::new(era);
        let mut server = Launch::new(COLIBRI).beside(&wrap.server).start();
        let arguments =
            json!({ "title": "\u{e9} \u{1f426} \"q\"", "priority": "high", "description": "1\n2" });
        server.data("task_create", arguments.clone());
        let call = wrap.call(json!(1), "task_create", arguments);
        wrap.send(&call);
        assert_eq!(wrap.message()["id"], json!(1));
        let rows = actions(&wrap.server.sql());
        let hash_of = |tool: &str| rows.iter().find(|row| row.tool == tool).map(|row| row.args_hash.clone());
        assert!(hash_of("task_create").is_some());
        assert_eq!(hash_of("odd/task_create"), hash_of("task_create"));
    }
}

#[test]
fn wrap_41_a_tools_name_is_cut_kept_and_printed_escaped_and_redacted() {
    const SECRET: &str = "s3cr3t-of-the-operator";
    for era in ERAS {
        let mut wrap = Setup::new(era).env("COLIBRI_OPENAI_API_KEY", SECRET).start();
        let names = ["n".repeat(500), "get\u{202e}txt\u{7}".to_owned(), format!("read {SECRET} now")];
        for (id, name) in (0..).zip(&names) {
            let call = wrap.call(json!(id), name, json!({}));
            wrap.send(&call);
            assert_eq!(wrap.message()["id"], json!(id));
            // The server gets the name as it is.
            assert!(wrap.read().contains(&json!(name).to_string()));
        }
        let tools: Vec<String> = wrap.rows().into_iter().map(|row| row.tool).collect();
        assert!(tools[0].starts_with("odd/nnn") && (128..=132).contains(&tools[0].len()), "{}", tools[0]);
        assert_eq!(tools[1], format!("odd/{}", names[1]));
        assert!(tools[2].starts_with("odd/read ") && !tools[2].contains(SECRET), "{}", tools[2]);
        let printed =
            Launch::new(COLIBRI).in_folder(wrap.server.shared_folder()).arg("log").command().output();
        let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
        assert!(printed.contains("odd/get\\u{202e}txt\\u{7}"), "{printed}");
        assert!(!printed.contains('\u{202e}') && !printed.contains('\u{7}') && !printed.contains(SECRET));
    }
}
