//! The process, and parts of the server that other parts do without.

use serde_json::json;

use super::site::{Finding, Site};
use super::{Cause, fails, warns};

const ROOT: &str = "COLIBRI_SKILLS_ROOT";
const CANDIDATES: &str = "COLIBRI_ROUTER_CANDIDATES";
const GOOD: &str = "---\nname: colibri-a\ndescription: Does a.\ncapabilities: [read]\n---\nBody.\n";

fn skill(site: &Site, content: &str) {
    site.set(ROOT, "skills");
    site.write("skills/colibri-a/SKILL.md", content);
}

fn put_a_skill(site: &Site, _: &Finding) {
    skill(site, GOOD);
}

/// The limit of the advice, in the shell that starts the server.
fn lifted(site: &Site, _: &Finding) {
    site.limit("");
}

pub const CAUSES: &[Cause] = &[
    fails(
        "Too few file descriptors",
        |site| site.limit("ulimit -n 20;"),
        "file descriptors are left",
        |site, found| {
            assert!(found.message.contains("`ulimit -n`"));
            site.limit("ulimit -n 256;");
        },
    ),
    fails(
        "A limit on the length of files that no database fits into",
        |site| site.limit("ulimit -f 100;"),
        "files of at most 100 KiB",
        lifted,
    ),
    warns(
        "A limit on the length of files",
        |site| site.limit("ulimit -f 100000;"),
        "files of at most 100000 KiB",
        lifted,
    ),
    warns(
        "A folder of skills that is not there",
        |site| site.set(ROOT, "skills"),
        "skills cannot be read",
        put_a_skill,
    ),
    warns(
        "A folder of skills without any",
        |site| {
            site.set(ROOT, "skills");
            site.write("skills/README.md", "none yet");
        },
        "no valid skills in",
        put_a_skill,
    ),
    warns(
        "A skill that does not begin as it should",
        |site| skill(site, "Body alone.\n"),
        "MISSING_FRONTMATTER",
        |site, found| {
            assert!(found.advice.contains("begin the file with a line `---`"));
            skill(site, &GOOD.replace("Body.", "Body alone."));
        },
    ),
    warns(
        "A skill with the name of another",
        |site| skill(site, &GOOD.replace("name: colibri-a", "name: colibri-b")),
        "NAME_MISMATCH",
        |site, found| {
            assert!(found.advice.contains("rename the directory"));
            site.rename("skills/colibri-a", "skills/colibri-b");
        },
    ),
    warns(
        "A file of candidates that is not there",
        |site| site.set(CANDIDATES, "file:models.json"),
        "the file of candidates cannot be read",
        |site, found| {
            assert!(found.advice.contains(&format!("set {CANDIDATES} to off")));
            site.set(CANDIDATES, "off");
        },
    ),
    warns(
        "A file of candidates that is not valid",
        |site| {
            site.set(CANDIDATES, "file:models.json");
            site.write("models.json", "{\"candidates\": [{\"model_id\": \"gpt-5\"}]}");
        },
        "the file of candidates is not valid",
        |site, _| {
            let row = json!({
                "model_id": "kimi-k2", "provider": "moonshot", "context_window_tokens": 1000, "latency_tier": "fast",
                "cost_bps_per_kilotoken": 1, "domain_fit_profile": 255, "enabled": true,
            });
            site.write("models.json", json!({ "candidates": [row] }).to_string());
        },
    ),
    warns(
        "A provider at an address without TLS",
        |site| {
            site.set("COLIBRI_OPENAI_API_KEY", "sk-1");
            site.set("COLIBRI_OPENAI_BASE_URL", "http://example.com");
        },
        "COLIBRI_OPENAI_BASE_URL is not an acceptable",
        |site, _| site.set("COLIBRI_OPENAI_BASE_URL", "https://example.com"),
    ),
    warns(
        "Epochs of another length than the database's",
        |site| site.set("COLIBRI_EPOCH_SECONDS", "60"),
        "COLIBRI_EPOCH_SECONDS=60 is ignored",
        |site, found| {
            site.set("COLIBRI_EPOCH_SECONDS", found.word_behind("set COLIBRI_EPOCH_SECONDS to ", &[' ']));
        },
    ),
];
