//! What holds for any answer and any text.

use crate::domains::router::completion::AttemptCode;
use crate::domains::router::engine::base_url::BaseUrl;
use crate::domains::router::http::HttpResponse;
use crate::domains::router::profile::PROFILES;
use crate::domains::router::redact::Redaction;
use crate::domains::router::retry::{MAX_RETRIES, next_wait};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::domains::router::tests::adapters::support::parsed;

/// JSON made of the members that adapters look for, with anything in their places.
fn answers() -> impl Strategy<Value = Value> {
    let names = [
        "content",
        "type",
        "text",
        "tool_use",
        "id",
        "name",
        "input",
        "usage",
        "input_tokens",
        "output_tokens",
        "stop_reason",
        "model",
        "choices",
        "message",
        "finish_reason",
        "tool_calls",
        "function",
        "arguments",
        "function_call",
        "prompt_tokens",
        "candidates",
        "parts",
        "finishReason",
        "functionCall",
        "args",
        "thought",
        "usageMetadata",
        "promptTokenCount",
        "promptFeedback",
        "blockReason",
        "error",
        "STOP",
        "stop",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::sample::select(names.to_vec()).prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, move |inner| {
        let member = (proptest::sample::select(names.to_vec()), inner.clone());
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(Value::from),
            proptest::collection::vec(member, 0..6).prop_map(|members| {
                Value::Object(
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_answer_is_read_or_refused(body in answers(), place in 0..3_usize, status in 200..600_u16) {
        // Half of them inside what makes an answer of the provider's.
        let body = match place {
            0 => body,
            1 => json!({ "content": [body.clone()], "choices": [{ "message": body.clone() }],
                "candidates": [{ "content": { "parts": [body] } }] }),
            _ => json!({ "content": [], "usage": body.clone(), "usageMetadata": body.clone(), "candidates": [{}],
                "choices": [{ "finish_reason": body.clone() }], "error": body }),
        };
        let response = HttpResponse { status, retry_after: None, body: body.to_string().into_bytes() };
        for profile in PROFILES {
            match parsed(profile, &response) {
                Ok(result) => {
                    prop_assert!(status < 300 && !result.stop_reason.is_empty() && !result.model.is_empty());
                    prop_assert!(result.prompt_tokens.max(result.completion_tokens) < 1 << 53);
                    prop_assert_eq!(parsed(profile, &response), Ok(result));
                }
                Err(error) => {
                    prop_assert_eq!((error.code, error.status), (AttemptCode::Api(profile), Some(status)));
                    prop_assert!(!error.message.contains(char::is_control));
                    prop_assert!(error.message.chars().count() < 300);
                }
            }
        }
    }

    #[test]
    fn no_key_survives_redaction(
        key in "[!-~]{4,40}",
        other in "[!-~]{4,12}",
        before in "\\PC{0,20}",
        after in "\\PC{0,20}",
    ) {
        let redaction = Redaction::new([key.as_str(), other.as_str()]);
        let clean = redaction.redact(&format!("{before}{key}{after}{other}{key}"));
        // The mark itself may happen to hold a short key.
        let without_marks = clean.replace("[redacted]", "\u{0}");
        prop_assert!(!without_marks.contains(&key) && !without_marks.contains(&other), "{}", clean);
    }

    #[test]
    fn whatever_is_accepted_is_https_or_here(text in "(https?|ftp|HTTP)://[a-z0-9.:@/?#\\[\\]-]{0,24}") {
        if let Ok(base) = BaseUrl::parse(&text) {
            prop_assert!(base.text.starts_with("https://") || base.loopback, "{}", text);
            prop_assert!(!base.text.contains(['?', '#']), "{}", text);
            // The host is what stands before the path, and nothing in it is a user's name.
            prop_assert!(base.text.split('/').nth(2).is_some_and(|host| !host.contains('@')), "{}", text);
        }
    }

    #[test]
    fn waits_are_bounded(requests in 1..10_u32, header in "\\PC{0,6}", left in 0..100_000_u64) {
        for header in [None, Some(header.as_str())] {
            if let Some(wait) = next_wait(requests, header, left) {
                prop_assert!(requests <= MAX_RETRIES && wait < left && (100..=5_000).contains(&wait));
            }
        }
    }
}
