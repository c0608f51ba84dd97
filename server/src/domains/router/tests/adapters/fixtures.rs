//! Answers of providers, written by hand after their public descriptions: `../vectors/<provider>`.

use std::path::{Path, PathBuf};

use crate::domains::router::http::HttpResponse;
use crate::domains::router::profile::Profile;
use serde_json::Value;

/// A response from a file.
pub fn fixture(folder: &str, name: &str) -> HttpResponse {
    let file = path(folder, name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let fixture: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let body = fixture["text"].as_str().map_or_else(|| fixture["body"].to_string(), str::to_owned);
    HttpResponse {
        status: fixture["status"].as_u64().and_then(|status| u16::try_from(status).ok()).expect("a status"),
        retry_after: fixture["headers"]["retry-after"].as_str().map(str::to_owned),
        body: body.into_bytes(),
    }
}

/// The provider's own response of that name, or, for those who speak OpenAI's form, OpenAI's.
pub fn of(profile: Profile, name: &str) -> HttpResponse {
    let own = profile.prefix().to_ascii_lowercase();
    let folder = if path(&own, name).exists() { own.as_str() } else { "openai" };
    assert!(
        folder == own || !matches!(profile, Profile::Anthropic | Profile::Gemini),
        "{profile}: no {name}"
    );
    fixture(folder, name)
}

/// A 200 with that body.
pub fn success(body: &Value) -> HttpResponse {
    HttpResponse { status: 200, retry_after: None, body: body.to_string().into_bytes() }
}

fn path(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/domains/router/tests/vectors")
        .join(folder)
        .join(format!("{name}.json"))
}
