//! Roots of skills whose folder is gone, and what providers themselves refuse.

use colibri_test_support::client::Launch;
use colibri_test_support::loopback::{Loopback, Reply};
use serde_json::{Value, json};

use super::era::{Client, Era, launch};

/// What `colibri doctor` says of skills.
fn doctor(launch: Launch) -> Vec<String> {
    let output = launch.arg("doctor").arg("--json").command().output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let skills = findings.filter(|finding| finding["check"] == "skills");
    skills
        .map(|finding| {
            format!("{}: {}", finding["level"].as_str().unwrap(), finding["message"].as_str().unwrap())
        })
        .collect()
}

#[test]
fn people_51_doctor_names_a_root_whose_folder_is_gone_and_removes_nothing() {
    let client = Client::new(Era::Handshake);
    let root = client.server.folder().join("elsewhere");
    let skill = root.join("colibri-one");
    std::fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: colibri-one\ndescription: Does one.\ncapabilities: [read]\n---\nBody.\n";
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    let beside = || launch().beside(&client.server);
    let mut other = Client::of(beside().env("COLIBRI_SKILLS_ROOT", &root), Era::Handshake);
    assert_eq!(other.data("skill_list", json!({}))["total_count"], 1);
    let named = std::fs::canonicalize(&root).unwrap();
    let gone = format!("ok: the folder {} of stored skills is gone; its skills stay stored", named.display());
    assert!(!doctor(beside()).contains(&gone));
    std::fs::remove_dir_all(&root).unwrap();
    for _ in 0..2 {
        let found = doctor(beside());
        assert!(found.contains(&gone), "{found:?}");
    }
}

#[test]
fn people_54_a_key_that_the_provider_refuses_opens_its_circuit() {
    let refusal = json!({ "type": "error", "error": { "type": "authentication_error", "message": "invalid x-api-key" } });
    let provider = Loopback::always(Reply::json(401, &refusal));
    let launch = launch()
        .env("COLIBRI_ANTHROPIC_API_KEY", "sk-refused")
        .env("COLIBRI_ANTHROPIC_BASE_URL", provider.url(""));
    let mut client = Client::of(launch, Era::Handshake);
    for number in 1..=3 {
        let envelope = client.call("router_call", json!({ "prompt": "ping" }));
        assert!(envelope["error"]["message"].as_str().unwrap().contains("401"), "{envelope}");
        let circuit = client.data("router_fallback", json!({}))["circuitState"]["claude"].clone();
        assert_eq!((&circuit["failures"], circuit["openedAt"].is_null()), (&json!(number), number < 3));
    }
    let envelope = client.call("router_call", json!({ "prompt": "ping" }));
    assert!(envelope["error"]["message"].as_str().unwrap().contains("circuit open"), "{envelope}");
    assert_eq!(provider.seen().len(), 3);
}
