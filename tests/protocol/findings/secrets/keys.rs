//! C1 and C2: the key of a provider, echoed by the provider or sent by a client, goes nowhere.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use colibri::domains::router::profile::PROFILES;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

/// A key whose every part is as good as random.
fn key() -> String {
    let part = || RandomState::new().hash_one("key");
    format!("{:016x}{:016x}", part(), part())
}

/// A server whose providers are all this one.
fn launch(provider: &Loopback, key: &str) -> Launch {
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).env("COLIBRI_LOG_LEVEL", "trace");
    PROFILES.into_iter().fold(launch, |launch, profile| {
        launch.env(&profile.base_variable(), provider.url("")).env(&profile.key_variable(), key)
    })
}

/// An answer of a provider's.
fn answer(text: &str, model: &str) -> Reply {
    let content = json!([{ "type": "text", "text": text }]);
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let body = json!({ "content": content, "model": model, "stop_reason": text, "usage": usage });
    Reply::json(200, &body)
}

/// Fails when eight characters of the key stand together in the bytes, white space and escapes left out.
fn assert_clean(place: &str, bytes: &[u8], key: &str) {
    let text = String::from_utf8_lossy(bytes).replace("\\n", "").replace("\\t", "").replace("\\r", "");
    let text: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    for start in 0..=key.len() - 8 {
        assert!(!text.contains(&key[start..start + 8]), "the key is in {place}");
    }
}

fn assert_folder_clean(folder: &Path, key: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            assert_clean(&path.display().to_string(), &std::fs::read(&path).unwrap(), key);
        }
    }
}

/// The server's end: nothing that it leaves behind holds the key.
fn end(server: Server, key: &str) {
    let folder = server.shared_folder();
    assert_folder_clean(folder.path(), key);
    let ended = server.finish();
    assert_clean("the log", ended.stderr.as_bytes(), key);
    assert_folder_clean(folder.path(), key);
}

/// Calls the router; the answer as text.
fn ask(server: &mut Server) -> String {
    server.call("router_call", json!({ "prompt": "ping" })).to_string()
}

#[test]
fn finding_c1_a_model_name_is_redacted_before_it_is_cut() {
    let key = key();
    // The log keeps 100 characters of a name: eleven of the key would be among them.
    let model = format!("{}{key}", "m".repeat(89));
    let provider = Loopback::playing([answer("pong", &model)]);
    let mut server = launch(&provider, &key).start();
    let told = ask(&mut server);
    assert!(told.contains("pong"), "{told}");
    assert_clean("the reply", told.as_bytes(), &key);
    end(server, &key);
}

#[test]
fn finding_c1_a_providers_answer_is_redacted_like_everything_else() {
    let key = key();
    let provider = Loopback::playing([answer(&format!("Hello, {key} is yours."), &key)]);
    let mut server = launch(&provider, &key).start();
    let told = ask(&mut server);
    assert!(told.contains("Hello, [redacted] is yours."), "{told}");
    assert_clean("the reply", told.as_bytes(), &key);
    end(server, &key);
}

#[test]
fn finding_c1_white_space_and_escapes_inside_a_key_do_not_hide_it() {
    let key = key();
    let with = |filler: &str| key.chars().map(|c| format!("{c}{filler}")).collect::<String>();
    let escaped: String = key.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let percent: String = key.chars().map(|c| format!("%{:02X}", u32::from(c))).collect();
    let mut echoes: Vec<String> =
        ["\n", " ", "\t", "\r\n  ", "\u{a0}", "\u{200b}", "\\n", "\\r\\n", "\\u000a", "\\\\n"]
            .map(with)
            .into();
    echoes.extend([escaped, percent, format!("\\n{key}"), format!("\\{key}")]);
    for (status, echo) in echoes.iter().flat_map(|echo| [(200, echo), (401, echo)]) {
        let reply = match status {
            200 => answer(echo, "m"),
            _ => Reply::json(status, &json!({ "error": { "message": format!("bad key {echo} here") } })),
        };
        let provider = Loopback::always(reply);
        let mut server = launch(&provider, &key).start();
        let told = ask(&mut server);
        assert!(told.contains("[redacted]"), "{status} {echo:?}: {told}");
        assert_clean(&format!("the reply to {echo:?}"), told.as_bytes(), &key);
        end(server, &key);
    }
}

#[test]
fn finding_c2_a_key_as_an_id_is_in_no_row_reply_or_log() {
    let key = key();
    let provider = Loopback::playing([]);
    let mut server = launch(&provider, &key).start();
    server.ready_by("task_list", json!({}));
    let escaped = format!("\\u{:04x}{}", u32::from(key.as_bytes()[0]), &key[1..]);
    let mut told = Vec::new();
    for id in [format!("\"{key}\""), format!("\"a-{escaped}\\n\""), format!("\"\\n{key}\"")] {
        for method in ["ping", "tools/list", "no/such", "tools/call"] {
            let params = json!({ "name": "server_ping", "arguments": {} });
            server.send_line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
            ));
            told.push(server.receive());
        }
        // What cannot be read as a request is answered under its id too.
        server.send_line(&format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"ping"}}"#));
        told.push(server.receive());
    }
    assert!(
        told.iter().all(|reply| reply["id"].as_str().is_some_and(|id| id.contains("[redacted]"))),
        "{told:?}"
    );
    assert_clean("the replies", json!(told).to_string().as_bytes(), &key);
    // An id without a secret comes back as it was written.
    server.send_line(r#"{"jsonrpc":"2.0","id":"\u0061 [redacted]\t","method":"ping"}"#);
    assert_eq!(server.receive()["id"], "a [redacted]\t");
    server.send_line(r#"{"jsonrpc":"2.0","id":12345678,"method":"ping"}"#);
    assert_eq!(server.receive()["id"], 12_345_678);
    end(server, &key);
}

#[test]
fn finding_c2_a_key_as_a_method_or_a_revision_is_not_repeated() {
    let key = key();
    let provider = Loopback::playing([]);
    let mut server = launch(&provider, &key).start();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": key,
        "io.modelcontextprotocol/clientCapabilities": {} });
    for (method, params) in [
        (key.as_str(), json!({})),
        ("tools/list", json!({ "_meta": meta })),
        ("tools/call", json!({ "name": key, "arguments": {} })),
        ("initialize", json!({ "protocolVersion": key, "capabilities": {}, "clientInfo": { "name": key } })),
    ] {
        let told = server.request(method, params);
        assert_clean(method, told.to_string().as_bytes(), &key);
    }
    end(server, &key);
}

#[test]
fn finding_c2_a_key_as_an_argument_is_stored_nowhere() {
    let key = key();
    let provider = Loopback::playing([]);
    let mut server = launch(&provider, &key).start();
    let spaced: String = key.chars().map(|c| format!("{c}\n")).collect();
    let session = server.data("audit_session_start", json!({ "session_id": key, "intent": spaced }));
    assert_eq!(session["session_id"], "[redacted]");
    let thought = json!({ "session_id": key, "task_id": format!("T-{key}"), "agent_id": "a", "type": "plan",
        "content": format!("The key is {key}.") });
    let told: Value = server.data("thought_record", thought);
    assert_clean("the record", told.to_string().as_bytes(), &key);
    let task = server.data("task_create", json!({ "title": format!("Use {key}") }));
    assert_eq!(task["title"], "Use [redacted]");
    let sealed = server.data("merkle_finalize", json!({ "session_id": key }));
    assert_eq!(sealed["record_count"], 1, "the session is found under the name that stands for it: {sealed}");
    end(server, &key);
}
