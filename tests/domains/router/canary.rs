//! A key that is used in every way a call can end, and then looked for everywhere.

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use colibri::domains::router::attempt::Providers;
use colibri::domains::router::completion::{Completion, CompletionRequest, Pending, Sleeper};
use colibri::domains::router::http::{HttpRequest, HttpResponse, NetworkFailure};
use colibri::domains::router::model_id::MODELS;
use colibri::domains::router::profile::PROFILES;
use colibri::domains::router::transport::Transport;
use colibri::settings::config::load_config;
use colibri::settings::environment::Environment;
use colibri_runtime::chain::log::NoLog;
use colibri_runtime::kernel::SystemClock;
use colibri_test_support::client::Launch;
use colibri_test_support::embed::block_on;
use colibri_test_support::engine;
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

use super::world::{canary, fixture, launch_with};

/// Everything a run of the program wrote to its streams.
struct Output {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Sends requests and waits for as many lines; then ends the input and waits for the end.
fn converse(launch: &Launch, requests: &[Value]) -> Output {
    let mut command = launch.command();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for request in requests {
        writeln!(stdin, "{request}").unwrap();
    }
    let (mut stdout, mut out) = (Vec::new(), child.stdout.take().unwrap());
    let mut chunk = [0; 4096];
    while stdout.iter().filter(|byte| **byte == b'\n').count() < requests.len() {
        let length = out.read(&mut chunk).unwrap();
        assert!(length > 0, "the server ends early: {}", String::from_utf8_lossy(&stdout));
        stdout.extend_from_slice(&chunk[..length]);
    }
    drop(stdin);
    out.read_to_end(&mut stdout).unwrap();
    let rest = child.wait_with_output().unwrap();
    assert!(rest.status.success(), "{}", String::from_utf8_lossy(&rest.stderr));
    Output { stdout, stderr: rest.stderr }
}

fn call(id: usize, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

/// Fails when the key, or most of it, is in the bytes.
fn assert_clean(place: &str, bytes: &[u8], key: &str) {
    let needle = &key.as_bytes()[..key.len() - 2];
    let found = bytes.windows(needle.len()).any(|window| window == needle);
    assert!(!found, "the key is in {place}");
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
    files
}

/// Success, a refusal that repeats the key, a time-out, an error page that repeats it, arguments that hold it.
fn script(key: &str) -> [Reply; 5] {
    let echo =
        json!({ "type": "error", "error": { "message": format!("bad key {key}; Bearer {key}; key={key}") } });
    [
        fixture("anthropic", "success"),
        Reply::json(401, &echo),
        Reply::silence(),
        Reply::json(400, &echo).header("x-echo", key),
        Reply::new(200, format!("<html>{key}</html>")),
    ]
}

#[test]
fn the_key_is_nowhere_but_in_the_requests() {
    let key = canary();
    let provider = Loopback::playing(script(&key));
    let launch = launch_with(&provider, &format!(" {key} "))
        .env("COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS", "300")
        .env("COLIBRI_LOG_LEVEL", "trace")
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "full");
    let thought =
        json!({ "session_id": "S", "task_id": "T", "agent_id": "a", "type": "plan", "content": "c" });
    let mut requests = vec![
        call(0, "audit_session_start", json!({ "session_id": "S", "intent": "canary" })),
        call(1, "thought_record", thought),
    ];
    requests.extend((2..7).map(|id| call(id, "router_call", json!({ "prompt": "ping" }))));
    // What a client sends of its own accord is kept out as well.
    requests.push(call(7, "router_call", json!({ "prompt": "ping", "apiKey": key })));
    requests.push(call(8, "router_call", json!({ "prompt": "ping", "options": { key.as_str(): 1 } })));
    requests.push(call(9, "router_stats", json!({})));
    requests.push(call(10, "merkle_finalize", json!({ "session_id": "S" })));
    let output = converse(&launch, &requests);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        told.contains("Hello there.") && told.contains("[redacted]") && told.contains("timed out"),
        "{told}"
    );
    assert_clean("stdout", &output.stdout, &key);
    assert_clean("stderr", &output.stderr, &key);
    assert!(output.stderr.windows(6).any(|window| window == b"[claud"), "the log was written");

    let seen = provider.seen();
    assert_eq!(seen.len(), 5);
    for seen in &seen {
        assert_eq!(seen.header("x-api-key"), Some(key.as_str()));
        assert!(!seen.path.contains(&key) && !seen.body.contains(&key), "{seen:?}");
    }

    let mut report: Command = launch.command();
    let report = report.args(["report", "S", "--html", "page.html"]).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    assert_clean("the report's streams", &[report.stdout, report.stderr].concat(), &key);
    let files = files(launch.folder().path());
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert!(engine::is_postgres() || names.iter().any(|name| name.ends_with("colibri.db")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("page.html")), "{names:?}");
    for (name, bytes) in &files {
        assert_clean(name, bytes, &key);
    }
}

#[test]
fn exhaustion_of_all_models_shows_no_key() {
    let key = canary();
    let provider = Loopback::always(Reply::json(403, &json!({ "message": format!("{key} {key}") })));
    let launch = launch_with(&provider, &key).env("COLIBRI_ROUTER_CANDIDATES", "auto");
    let output = converse(&launch, &[call(0, "router_call", json!({ "prompt": "ping" }))]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("exhausted (attempts: 8)"));
    assert_clean("stdout", &output.stdout, &key);
    assert_clean("stderr", &output.stderr, &key);
    for (name, bytes) in files(launch.folder().path()) {
        assert_clean(&name, &bytes, &key);
    }
    let sent = |seen: &colibri_test_support::loopback::Seen| {
        seen.headers.iter().any(|(_, value)| value.contains(&key))
    };
    assert!(provider.seen().iter().all(sent));
}

/// A network that goes wrong in the worst way: it panics with all it knows.
struct Panicking;

impl Transport for Panicking {
    fn send(
        &self,
        request: Arc<HttpRequest>,
        timeout_ms: u64,
    ) -> Pending<'static, Result<HttpResponse, NetworkFailure>> {
        panic!("{request:?} within {timeout_ms} ms");
    }
}

impl Sleeper for Panicking {
    fn sleep(&self, _: u64) -> Pending<'static, ()> {
        Box::pin(async {})
    }
}

#[test]
fn a_panic_shows_no_key() {
    let key = canary();
    let variables = PROFILES.into_iter().flat_map(|profile| {
        [(profile.key_variable(), key.clone()), (profile.base_variable(), "http://127.0.0.1:9".to_owned())]
    });
    let config = load_config(&variables.collect::<Environment>(), 1).map_err(|problems| problems.join(", "));
    let config = Arc::new(config.unwrap().0);
    let told = Arc::new(Mutex::new(String::new()));
    let (hook, thread) = (told.clone(), std::thread::current().id());
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == thread {
            hook.lock().unwrap().push_str(&format!("{panic}\n"));
        } else {
            before(panic);
        }
    }));
    let providers = Providers::new(
        config,
        Arc::new(Panicking),
        Arc::new(Panicking),
        Arc::new(SystemClock::default()),
        Arc::new(NoLog),
    );
    let request = CompletionRequest { prompt: "the prompt".to_owned(), ..CompletionRequest::default() };
    for model in MODELS {
        let panic = catch_unwind(AssertUnwindSafe(|| block_on(providers.complete(model, &request, 1000))));
        let payload = panic.expect_err("it panics");
        let text = payload.downcast_ref::<String>().expect("a text");
        assert_clean("the panic's payload", text.as_bytes(), &key);
    }
    let _ = std::panic::take_hook();
    let told = told.lock().unwrap();
    assert_eq!(told.matches("HttpRequest").count(), MODELS.len(), "{told}");
    assert_clean("the panic's message", told.as_bytes(), &key);
    assert!(!told.contains("the prompt"), "{told}");
}
