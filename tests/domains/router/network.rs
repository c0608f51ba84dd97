//! The network itself against a scripted server: router#network, and what dropping does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use colibri::domains::router::adapters;
use colibri::domains::router::completion::CompletionRequest;
use colibri::domains::router::http::{HttpRequest, HttpResponse, NetworkFailure};
use colibri::domains::router::profile::Profile;
use colibri::domains::router::settings::Target;
use colibri::domains::router::transport::{BODY_LIMIT, Network, Transport};
use colibri::settings::config::load_config;
use colibri_test_support::client::PATIENCE;
use colibri_test_support::embed::block_on;
use colibri_test_support::loopback::{Loopback, Reply};

const LIMIT_MS: u64 = 30_000;

/// A request to a base URL on this machine.
fn request(base: &str) -> Arc<HttpRequest> {
    let variables = [("COLIBRI_OPENAI_API_KEY", "sk-canary-network"), ("COLIBRI_OPENAI_BASE_URL", base)]
        .into_iter()
        .collect();
    let config =
        load_config(&variables, 1).map_err(|problems| problems.join(", ")).expect("good variables").0;
    let target = Target::of_profile(&config, Profile::OpenAi, "m".to_owned()).expect("good settings");
    assert!(target.base.loopback, "a test reaches for the network");
    let prompt = CompletionRequest { prompt: "ping".to_owned(), ..CompletionRequest::default() };
    Arc::new(adapters::build(&target, &prompt))
}

fn send(base: &str, limit_ms: u64) -> Result<HttpResponse, NetworkFailure> {
    block_on(Network::new(None).send(request(base), limit_ms))
}

/// What comes of one reply.
fn exchange(reply: Reply) -> Result<HttpResponse, NetworkFailure> {
    send(&Loopback::playing([reply]).url(""), LIMIT_MS)
}

#[test]
fn a_request_arrives_as_it_was_built() {
    let server = Loopback::playing([Reply::new(200, "answer").header("Retry-After", "7")]);
    let response = send(&server.url("/v1"), LIMIT_MS).expect("an answer");
    let expected = HttpResponse { status: 200, retry_after: Some("7".to_owned()), body: b"answer".to_vec() };
    assert_eq!(response, expected);
    let seen = server.only();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(seen.header("authorization"), Some("Bearer sk-canary-network"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("application/json"));
    assert!(seen.header("user-agent").is_some_and(|agent| agent.starts_with("colibri/")), "{seen:?}");
    assert_eq!((seen.header("accept-encoding"), seen.header("cookie")), (None, None));
    assert_eq!(seen.json()["messages"][0]["content"], "ping");
}

#[test]
fn every_status_is_an_answer() {
    for status in [200, 204, 400, 401, 404, 429, 500, 529] {
        let response = exchange(Reply::new(status, "")).expect("an answer");
        assert_eq!((response.status, response.retry_after), (status, None));
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Loopback::always(Reply::new(200, "{}"));
    for status in [301, 302, 303, 307, 308] {
        let reply = Reply::new(status, "").header("Location", &elsewhere.url("/v1/chat/completions"));
        assert_eq!(exchange(reply).expect("an answer").status, status);
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn ends_of_connections_are_told_apart() {
    assert_eq!(exchange(Reply::hang_up()), Err(NetworkFailure::Closed));
    assert_eq!(exchange(Reply::new(200, "half of it").closing_after(4)), Err(NetworkFailure::Closed));
    // A port that was free a moment ago.
    let gone = Loopback::playing([]).url("");
    assert_eq!(send(&gone, LIMIT_MS), Err(NetworkFailure::Refused));
}

#[test]
fn a_body_over_the_limit_is_not_taken() {
    let limit = usize::try_from(BODY_LIMIT).expect("a size");
    assert_eq!(exchange(Reply::new(200, vec![b'x'; 9 << 20])), Err(NetworkFailure::TooLarge));
    let whole = exchange(Reply::new(200, vec![b'x'; limit])).expect("an answer");
    assert_eq!(whole.body.len(), limit);
    assert_eq!(exchange(Reply::new(200, vec![b'x'; limit + 1])), Err(NetworkFailure::TooLarge));
    let long = "x".repeat(100_000);
    assert_eq!(exchange(Reply::new(200, "").header("x-long", &long)), Err(NetworkFailure::TooLarge));
}

#[test]
fn plain_text_where_tls_is_expected_gets_no_request() {
    let server = Loopback::always(Reply::new(200, ""));
    let base = server.url("").replace("http:", "https:");
    assert_eq!(send(&base, LIMIT_MS), Err(NetworkFailure::Tls));
    assert!(server.seen().iter().all(|seen| seen.method.is_empty()), "{:?}", server.seen());
}

#[test]
fn the_limit_holds_for_silence_and_for_a_stalled_body() {
    for reply in [
        Reply::silence(),
        Reply::new(200, "the rest never comes").stalling_after(8),
        Reply::new(200, "late").headers_after(Duration::from_millis(500)),
    ] {
        let server = Loopback::playing([reply.clone()]);
        assert_eq!(send(&server.url(""), 150), Err(NetworkFailure::Timeout), "{reply:?}");
    }
}

#[test]
fn dropping_closes_the_connection_and_ends_the_thread() {
    for reply in [Reply::silence(), Reply::new(200, "the rest never comes").stalling_after(8)] {
        let server = Loopback::playing([reply]);
        let request = request(&server.url(""));
        block_on(async {
            let sending = Network::new(None).send(request, 600_000);
            tokio::select! {
                biased;
                _ = sending => panic!("it is answered"),
                () = asked(&server) => {}
            }
        });
        server.await_abandoned(1);
    }
    await_no_thread("provider");
}

/// Is over when the server has got a request.
async fn asked(server: &Loopback) {
    while server.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn two_requests_do_not_touch_each_other() {
    let (stalled, quick) =
        (Loopback::playing([Reply::silence()]), Loopback::playing([Reply::new(200, "ok")]));
    let network = Network::new(None);
    let answer = block_on(async {
        let first = network.send(request(&stalled.url("")), LIMIT_MS);
        let second = async {
            // The first must be under way: one that is given up before it connects leaves no connection to be closed.
            stalled.await_seen(1);
            network.send(request(&quick.url("")), LIMIT_MS).await
        };
        tokio::select! {
            biased;
            first = first => first,
            second = second => second,
        }
    });
    assert_eq!(answer.expect("the second's").body, b"ok");
    stalled.await_abandoned(1);
}

/// Waits until this process has no thread of that name; other tests' threads are awaited with it.
#[cfg(target_os = "linux")]
fn await_no_thread(name: &str) {
    let began = Instant::now();
    let running = || {
        let tasks = std::fs::read_dir("/proc/self/task").expect("the list of threads");
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|comm| comm.trim() == name).count()
    };
    while running() > 0 {
        assert!(began.elapsed() < PATIENCE, "a thread goes on after nobody waits for it");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(not(target_os = "linux"))]
fn await_no_thread(_: &str) {}
