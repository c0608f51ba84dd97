//! Attempts against a scripted network: retries, limits, modes, and the log line (router#retries, router#errors).

use crate::domains::router::completion::{AttemptCode, Blame};
use crate::domains::router::http::NetworkFailure;
use crate::domains::router::model_id::ModelId;
use crate::domains::router::retry::{self, next_wait};
use colibri_runtime::chain::log::Level;

use crate::domains::router::tests::adapters::fixtures::fixture;
use crate::domains::router::tests::adapters::support::{
    Step, answer, attempt, config, fails, retry_after, status,
};

const LIMIT: u32 = 30_000;

fn gpt(script: Vec<Step>) -> crate::domains::router::tests::adapters::support::Outcome {
    attempt(config(&[]), ModelId::Gpt4o, LIMIT, script)
}

#[test]
fn four_requests_with_doubling_waits() {
    let outcome = gpt((0..4).map(|_| status(500)).collect());
    assert_eq!((outcome.requests(), outcome.waits.as_slice()), (4, &[100, 200, 400][..]));
    let text = "OpenAI retries exhausted after 4 requests: HTTP 500";
    assert_eq!(outcome.error(), ("OPENAI_RETRIES_EXHAUSTED".to_owned(), text));
    assert_eq!(outcome.result.unwrap_err().status, Some(500));
}

#[test]
fn a_later_request_may_succeed() {
    let success = answer(fixture("openai", "success"));
    let outcome = gpt(vec![status(503), status(429), success]);
    let result = outcome.result.expect("an answer");
    assert_eq!((result.content.as_str(), result.latency_ms), ("Hello there.", 300));
    // Each request gets what is left of the attempt.
    assert_eq!(outcome.limits, [30_000, 29_900, 29_700]);
}

#[test]
fn a_short_retry_after_is_waited_for() {
    let success = || answer(fixture("openai", "success"));
    for (value, wait) in [("1", 1000), ("5", 5000), (" 2 ", 2000), ("0", 100)] {
        let outcome = gpt(vec![retry_after(429, value), success()]);
        assert_eq!((outcome.waits, outcome.result.is_ok()), (vec![wait], true), "{value}");
    }
    // The wait is the longer of the two.
    let outcome = gpt(vec![status(503), status(503), retry_after(503, "0"), success()]);
    assert_eq!(outcome.waits, [100, 200, 400]);
}

#[test]
fn a_long_retry_after_ends_the_attempt() {
    for value in ["6", "60", "99999999999999999999999999"] {
        let outcome = gpt(vec![retry_after(429, value)]);
        assert_eq!((outcome.requests(), outcome.waits.len()), (1, 0), "{value}");
        let text = "OpenAI retries exhausted after 1 requests: HTTP 429";
        assert_eq!(outcome.error(), ("OPENAI_RETRIES_EXHAUSTED".to_owned(), text));
    }
}

#[test]
fn dates_and_junk_are_not_waited_for() {
    for value in ["Wed, 21 Oct 2015 07:28:00 GMT", "1.5", "-1", "+1", "soon", ""] {
        let outcome = gpt(vec![retry_after(429, value), answer(fixture("openai", "success"))]);
        assert_eq!(outcome.waits, [100], "{value}");
    }
}

#[test]
fn other_statuses_are_asked_once() {
    for code in [300, 302, 400, 401, 403, 404, 408, 409, 413, 422, 600] {
        let outcome = gpt(vec![status(code)]);
        assert_eq!((outcome.requests(), outcome.error().0.as_str()), (1, "OPENAI_API_ERROR"), "{code}");
    }
    for code in 0..1000 {
        assert_eq!(retry::is_transient(code), code == 429 || (500..600).contains(&code), "{code}");
    }
}

#[test]
fn network_failures_are_asked_once() {
    for (failure, kind) in [
        (NetworkFailure::Refused, "connection refused"),
        (NetworkFailure::Dns, "dns failure"),
        (NetworkFailure::Tls, "tls failure"),
        (NetworkFailure::Closed, "connection closed"),
        (NetworkFailure::TooLarge, "response too large"),
        (NetworkFailure::Other, "network error"),
    ] {
        let outcome = gpt(vec![fails(failure)]);
        let text = format!("OpenAI request failed: {kind}");
        assert_eq!(outcome.error(), ("OPENAI_API_ERROR".to_owned(), text.as_str()));
        assert_eq!(outcome.requests(), 1);
        let error = outcome.result.unwrap_err();
        assert_eq!((error.status, error.blame), (None, Blame::Provider));
    }
}

#[test]
fn an_unreadable_answer_is_not_asked_for_again() {
    for name in ["malformed_json", "wrong_shape"] {
        let outcome = gpt(vec![answer(fixture("openai", name))]);
        assert_eq!((outcome.requests(), outcome.error().1), (1, "OpenAI API error 200: malformed response"));
    }
}

#[test]
fn a_wait_past_the_limit_is_not_begun() {
    let slow = Step { takes_ms: 29_950, ..status(503) };
    let outcome = gpt(vec![slow]);
    assert_eq!(outcome.error().1, "OpenAI retries exhausted after 1 requests: HTTP 503");
    assert!(outcome.waits.is_empty());
    // A wait that ends with the limit leaves no time for the request after it.
    assert_eq!((next_wait(1, None, 100), next_wait(1, None, 101)), (None, Some(100)));
}

#[test]
fn the_limit_inside_a_request_is_a_timeout() {
    let slow = Step { takes_ms: 200, ..fails(NetworkFailure::Timeout) };
    let outcome = attempt(config(&[]), ModelId::Gpt4o, 200, vec![slow]);
    assert_eq!(outcome.error(), ("ROUTER_TIMEOUT".to_owned(), "gpt-4o timed out after 200 ms"));
    assert_eq!(outcome.result.unwrap_err().blame, Blame::Provider);
}

#[test]
fn modes_without_outside_traffic_send_nothing_and_read_no_setting() {
    for mode in ["TEST", "READONLY", "MINIMAL"] {
        for key in ["", "a\nb", "good-key"] {
            let variables = [("COLIBRI_MODE", mode), ("COLIBRI_ANTHROPIC_API_KEY", key)];
            let outcome = attempt(config(&variables), ModelId::Claude, LIMIT, Vec::new());
            let text = format!("external I/O disabled in mode {mode}");
            assert_eq!(outcome.error(), ("ANTHROPIC_CONFIG_ERROR".to_owned(), text.as_str()));
            assert_eq!(outcome.result.unwrap_err().blame, Blame::Nobody);
        }
    }
}

#[test]
fn a_success_is_one_line_of_numbers() {
    let outcome = attempt(config(&[]), ModelId::Claude, LIMIT, vec![answer(fixture("anthropic", "success"))]);
    let line =
        "[claude] model=claude-sonnet-4-5-20250929 prompt_tokens=1000 completion_tokens=500 latency_ms=0";
    assert_eq!(outcome.log, [(Level::Info, line.to_owned())]);
    for (model, tag) in [
        (ModelId::Gpt4oMini, "openai"),
        (ModelId::KimiK2, "kimi"),
        (ModelId::Llama3370b, "llama"),
        (ModelId::Mixtral8x22b, "mistral"),
    ] {
        let outcome = attempt(config(&[]), model, LIMIT, vec![answer(fixture("openai", "success"))]);
        assert!(
            outcome.log[0].1.starts_with(&format!("[{tag}] model=gpt-4o-2024-08-06 ")),
            "{:?}",
            outcome.log
        );
    }
    let outcome =
        attempt(config(&[]), ModelId::Gemini15Pro, LIMIT, vec![answer(fixture("gemini", "success"))]);
    assert!(outcome.log[0].1.starts_with("[gemini] model=gemini-1.5-pro-002 "), "{:?}", outcome.log);
    assert!(gpt(vec![status(401)]).log.is_empty());
}

#[test]
fn codes_are_those_of_the_profile() {
    let error = gpt(vec![status(401)]).result.unwrap_err();
    assert_eq!(error.code, AttemptCode::Api(ModelId::Gpt4o.profile()));
}
