//! Error statuses in words (router#blame, router#errors), and the party to blame (router#blame). Pure.

use colibri_visible::is_hidden;
use serde_json::Value;

use crate::domains::router::completion::{AttemptCode, AttemptError, Blame};
use crate::domains::router::http::HttpResponse;
use crate::domains::router::profile::Profile;
use crate::domains::router::redact::Redaction;

/// The longest excerpt of an error body, in characters.
const EXCERPT_LENGTH: usize = 200;

/// Converts a response whose status is not 2xx into an error.
pub fn refusal(profile: Profile, response: &HttpResponse, redaction: &Redaction) -> AttemptError {
    let status = response.status;
    let what = match status {
        300..400 => "redirect refused".to_owned(),
        _ => excerpt(response, redaction),
    };
    AttemptError {
        code: AttemptCode::Api(profile),
        message: format!("{profile} API error {status}: {what}"),
        status: Some(status),
        blame: match status {
            400 | 404 | 413 | 415 | 422 => Blame::Request,
            _ => Blame::Provider,
        },
    }
}

/// Returns the body's description of the error: one line, without keys, not too long.
fn excerpt(response: &HttpResponse, redaction: &Redaction) -> String {
    let body = serde_json::from_slice::<Value>(&response.body).unwrap_or_default();
    let places = [body["error"].get("message"), body.get("error"), body.get("message")];
    let found = places.into_iter().flatten().filter_map(Value::as_str).find(|text| !text.trim().is_empty());
    let Some(found) = found else { return format!("HTTP {}", response.status) };
    // Control characters are removed before the search for keys, and the cut comes last. Otherwise half a key could
    // remain unrecognised.
    let line: String = found.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect();
    redaction.redact(&line).chars().take(EXCERPT_LENGTH).collect()
}
