//! D3, D10 to D12: what descriptions, starts, defaults and the repository's own workflow promise. E is in
//! [`super::doctor`].

use colibri_test_support::sqlite_only;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use colibri::domains::router::model_id::{MODELS, ModelId};
use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::engine;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The shipped server, not yet started.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn finding_d3_the_description_of_task_create_says_which_states_it_accepts() {
    let mut server = launch().start();
    let tools = server.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "task_create").unwrap();
    let said = tool["description"].as_str().unwrap();
    let status = tool["inputSchema"]["properties"]["status"]["description"].as_str().unwrap();
    assert_eq!(
        said,
        "Create a task. It is born in INIT, or in a later live state or CANCELLED when status says so; DONE is refused."
    );
    assert!(status.starts_with("Only for work begun elsewhere"), "{status}");
    // What is said is what happens.
    assert_eq!(server.data("task_create", json!({ "title": "t" }))["status"], "INIT");
    for state in ["GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY", "CANCELLED"] {
        let born = server.data("task_create", json!({ "title": "t", "status": state }));
        assert_eq!(born["status"], state);
    }
    let refused = server.call("task_create", json!({ "title": "t", "status": "DONE" }));
    assert_eq!(refused["data"]["error"]["code"], "ERR_WRITEBACK_REQUIRED", "{refused}");
}

#[test]
fn finding_d3_every_task_of_the_demonstration_begins_in_init() {
    let output = launch().arg("demo").command().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let created: Vec<&str> =
        text.lines().filter(|line| line.contains("task_create") && line.contains('"')).collect();
    assert_eq!(created.len(), 3, "{text}");
    assert!(created.iter().all(|line| line.contains(" is in INIT,")), "{created:?}");
    assert!(text.contains("INIT -> GATHER -> ANALYZE -> PLAN -> APPLY -> VERIFY"), "{text}");
    // The sentence that was not true of a task created past INIT.
    assert!(!text.contains("passes every state"), "{text}");
}

/// A folder with one skill below `.agents/skills`.
fn with_skill(name: &str) -> Arc<TempDir> {
    let folder = Arc::new(TempDir::new().unwrap());
    let directory = folder.path().join(".agents/skills").join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let text = format!("---\nname: {name}\ndescription: Does {name}.\ncapabilities: [read]\n---\nBody.\n");
    std::fs::write(directory.join("SKILL.md"), text).unwrap();
    folder
}

fn skills(server: &mut Server) -> Vec<String> {
    let data = server.data("skill_list", json!({}));
    let skills = data["skills"].as_array().unwrap().iter();
    let names: Vec<String> = skills.map(|skill| skill["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(data["total_count"], names.len());
    assert_eq!(server.data("server_health", json!({}))["skill_count"], names.len());
    names
}

fn verified(database: &Path) -> (bool, String) {
    let output = launch().database(database).arg("verify").command().output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[test]
fn finding_d10_people_51_a_start_on_another_root_leaves_the_skills_of_a_running_server() {
    let (one, other) = (with_skill("colibri-one"), with_skill("colibri-other"));
    let database = one.path().join("colibri.db");
    let mut first = launch().in_folder(one.clone()).start();
    assert_eq!(skills(&mut first), ["colibri-one"]);
    let mut second = launch().in_folder(other).database(&database).start();
    assert_eq!(skills(&mut second), ["colibri-other"], "each server shows the skills of its own root");
    assert_eq!(skills(&mut first), ["colibri-one"], "the second start has pruned the skills of the first");
    let (sound, report) = verified(&database);
    assert!(sound, "{report}");
    for server in [first, second] {
        assert_eq!(server.finish().code(), 0);
    }
    // READONLY shows what the starts of its own root have stored.
    let mut reader = launch().in_folder(one).env("COLIBRI_MODE", "READONLY").start();
    assert_eq!(skills(&mut reader), ["colibri-one"]);
}

#[test]
fn finding_d10_a_one_shot_call_elsewhere_prunes_nothing() {
    let one = with_skill("colibri-one");
    let mut server = launch().in_folder(one).start();
    assert_eq!(skills(&mut server), ["colibri-one"]);
    // In a folder of its own, without any skills.
    let call = launch().arg("call").arg("skill_list").database(&server.database());
    let output = call.command().output().unwrap();
    assert!(output.status.success());
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["data"]["total_count"], 0, "{reply}");
    assert_eq!(skills(&mut server), ["colibri-one"]);
    // A folder that is not there, and that no start has indexed before, leaves no trace.
    let roots: i64 =
        server.sql().query_row("SELECT count(*) FROM skill_roots", [], |row| row.get(0)).unwrap();
    assert_eq!(roots, 1);
}

#[test]
fn finding_d10_roots_are_told_apart_by_their_true_paths() {
    let one = with_skill("colibri-one");
    let mut first = launch().in_folder(one.clone()).start();
    assert_eq!(skills(&mut first), ["colibri-one"]);
    std::os::unix::fs::symlink(one.path().join(".agents"), one.path().join("link")).unwrap();
    let named = launch().in_folder(one).env("COLIBRI_SKILLS_ROOT", "./link/../link/skills");
    let mut second = named.start();
    assert_eq!(skills(&mut second), ["colibri-one"]);
    let roots: i64 = first.sql().query_row("SELECT count(*) FROM skill_roots", [], |row| row.get(0)).unwrap();
    assert_eq!(roots, 1, "two names of one folder are one root");
}

#[test]
fn finding_d11_people_54_a_missing_key_is_recorded_and_trips_no_breaker() {
    let mut server = launch().start();
    for _ in 0..4 {
        let reply = server.call("router_call", json!({ "prompt": "Say hello." }));
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.ends_with("COLIBRI_ANTHROPIC_API_KEY is not set"), "{message}");
    }
    assert_eq!(server.data("router_fallback", json!({})), json!({ "circuitState": {} }));
    let stats = server.data("router_stats", json!({}));
    assert!(
        stats.to_string().contains("\"failures\":4") || stats.to_string().contains("\"failure_count\":4"),
        "{stats}"
    );
}

#[test]
fn finding_d11_default_models_are_none_that_their_providers_have_retired() {
    // Retired, or with an announced end in the month of the check.
    const GONE: [&str; 8] = [
        "claude-sonnet-4-5",
        "claude-3-5-sonnet-20241022",
        "claude-3-5-haiku-20241022",
        "gemini-1.5-pro",
        "gemini-2.5-pro",
        "open-mixtral-8x22b",
        "kimi-k2-0905-preview",
        "kimi-k2.5",
    ];
    for model in MODELS {
        assert!(!GONE.contains(&model.default_upstream()), "{model}: {}", model.default_upstream());
    }
}

#[test]
fn finding_d11_the_guide_names_each_default_with_its_price_and_the_day_of_the_check() {
    let page = std::fs::read_to_string(repository().join("docs/explanation/router.md")).unwrap();
    assert!(page.contains("checked on 2026-11-22"), "the page does not say when it was checked");
    for model in MODELS {
        let price = colibri::domains::router::candidates::list_price(model);
        let dollars = |millionths: u64| format!("{:.2}", millionths as f64 / 1000.0);
        let named = |line: &&str| {
            line.starts_with('|')
                && line.contains(&format!("`{model}`"))
                && line.contains(&format!("`{}`", model.default_upstream()))
        };
        let priced = format!("| {} | {} |", dollars(price.input), dollars(price.output));
        let rows: Vec<&str> = page.lines().filter(named).collect();
        assert!(rows.iter().any(|row| row.contains(&priced)), "{model}: {priced} is in none of {rows:#?}");
    }
    assert_eq!(ModelId::Claude.default_upstream(), ModelId::ClaudeSonnet35.default_upstream());
}

/// The workflow of this repository.
fn workflow() -> (String, Value) {
    let path = repository().join(".github/workflows/ci.yml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parsed = serde_yaml::from_str(&text).unwrap();
    (text, parsed)
}

fn steps(workflow: &Value) -> Vec<Value> {
    let jobs = workflow["jobs"].as_object().unwrap().values();
    jobs.flat_map(|job| job["steps"].as_array().unwrap().clone()).collect()
}

#[test]
fn finding_d12_the_workflow_runs_the_gate_on_pushes_and_pull_requests() {
    let (_, workflow) = workflow();
    assert!(workflow["on"].get("pull_request").is_some(), "{}", workflow["on"]);
    assert_eq!(workflow["on"]["push"]["branches"], json!(["main"]));
    assert_eq!(
        workflow["permissions"],
        json!({ "contents": "read" }),
        "no job may write but where it says so"
    );
    let lines: Vec<String> = steps(&workflow)
        .iter()
        .filter_map(|step| step["run"].as_str())
        .flat_map(|run| run.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    assert!(lines.iter().any(|line| line == ".ci/run"), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("drift catalogue") && line.contains("--format markdown")),
        "{lines:?}"
    );
}

#[test]
fn finding_d12_every_action_is_pinned_by_a_commit_hash() {
    let (text, workflow) = workflow();
    let mut pinned = 0;
    for step in steps(&workflow) {
        let Some(action) = step["uses"].as_str() else { continue };
        let (name, commit) = action.split_once('@').unwrap_or((action, ""));
        let full = commit.len() == 40 && commit.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        assert!(full, "{name} is pinned by {commit:?}, which is no commit hash");
        let line = text.lines().find(|line| line.contains(commit)).unwrap();
        assert!(line.contains(" # v"), "{line}: a comment names the release");
        pinned += 1;
    }
    assert!(pinned > 0);
}

#[test]
fn finding_d12_the_commands_of_the_workflow_exist() {
    let (_, workflow) = workflow();
    let (mut scripts, mut commands) = (0, 0);
    let steps = steps(&workflow);
    for line in steps.iter().filter_map(|step| step["run"].as_str()).flat_map(str::lines) {
        for word in
            line.split_whitespace().filter(|word| word.starts_with(".ci/") || word.starts_with("tests/"))
        {
            let script =
                std::fs::metadata(repository().join(word)).unwrap_or_else(|_| panic!("{word} is missing"));
            assert!(std::os::unix::fs::PermissionsExt::mode(&script.permissions()) & 0o111 != 0, "{word}");
            scripts += 1;
        }
        if let Some((_, words)) = line.split_once("colibri-codegen -- ") {
            let run = std::fs::read_to_string(repository().join(".ci/run")).unwrap();
            // The gate itself uses the same subcommand, so it was run where the gate was.
            let subcommand = words.split(' ').next().unwrap();
            assert!(run.contains(&format!("$codegen {subcommand} ")), "`{subcommand}` is no step of .ci/run");
            commands += 1;
        }
    }
    assert!(scripts > 0 && commands > 0, "{scripts} scripts, {commands} commands");
}

#[test]
fn finding_a5_a_start_on_a_locked_file_ends_with_words_about_the_lock() {
    sqlite_only!("it is about locks of a file");
    let mut first = launch().start();
    first.data("task_list", json!({}));
    let folder = first.shared_folder();
    assert_eq!(first.finish().code(), 0);
    let conn = engine::open(folder.path().join("colibri.db"));
    for journal in ["WAL", "DELETE"] {
        conn.execute_batch(&format!("PRAGMA journal_mode = {journal}; BEGIN EXCLUSIVE")).unwrap();
        for mode in ["FULL", "READONLY"] {
            // A reader goes on beside a writer that keeps a log.
            if (journal, mode) == ("WAL", "READONLY") {
                continue;
            }
            let late = launch().in_folder(folder.clone()).env("COLIBRI_STARTUP_TIMEOUT_MS", "3000");
            let mut late = late.env("COLIBRI_MODE", mode).start();
            late.send_call("task_list", json!({}));
            let answer = envelope(&late.receive());
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.starts_with("STARTUP_FAILED: database is locked: "), "{journal} {mode}: {answer}");
            let ended = late.wait();
            assert_eq!(ended.code(), 1, "{journal} {mode}: {}", ended.stderr);
            assert!(
                ended.stderr.contains("fatal: database is locked: "),
                "{journal} {mode}: {}",
                ended.stderr
            );
        }
        conn.execute_batch("COMMIT").unwrap();
    }
}
