//! The commands beside `serve`, run as a user runs them (chain#commands).

use colibri_test_support::sqlite_only;
use std::io::Write;
use std::process::Stdio;

use colibri_test_support::engine;
use colibri_test_support::shell::{Run, Shell};
use serde_json::Value;

/// A working directory with one skill, so that its absence is nothing that commands could warn of.
fn furnished() -> Shell {
    let shell = super::shell();
    skill(&shell, "colibri-pm", "---\nname: colibri-pm\ndescription: Plans.\n---\n");
    shell
}

/// Writes a skill where the server looks for skills.
fn skill(shell: &Shell, directory: &str, text: &str) {
    let directory = shell.path().join(".agents/skills").join(directory);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("SKILL.md"), text).unwrap();
}

/// How many files and folders there are beside the skills.
fn created(shell: &Shell) -> usize {
    std::fs::read_dir(shell.path()).unwrap().count() - 1
}

/// The findings of `doctor --json` at one level, as `check: message`.
fn findings(report: &Value, level: &str) -> Vec<String> {
    let all = report["findings"].as_array().unwrap();
    let chosen = all.iter().filter(|finding| finding["level"] == level);
    chosen.map(|f| format!("{}: {}", f["check"].as_str().unwrap(), f["message"].as_str().unwrap())).collect()
}

#[test]
fn version_and_help_are_printed_to_stdout() {
    let shell = furnished();
    let version = shell.run(&["--version"]);
    assert_eq!(
        (version.code, version.out.as_str()),
        (Some(0), concat!("colibri ", env!("CARGO_PKG_VERSION"), "\n"))
    );
    let help = shell.run(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    for expected in ["Usage:", "Examples:", "colibri demo", "COLIBRI_DB_PATH", "default: info"] {
        assert!(help.out.contains(expected), "{expected} is missing:\n{}", help.out);
    }
    assert!(!shell.run(&["-h"]).out.contains("COLIBRI_SESSION_ID"));
}

#[test]
fn a_wrong_command_line_ends_with_2_and_usage_on_stderr() {
    let shell = furnished();
    for wrong in [&["--bogus"][..], &["serve", "more"], &["call"], &["tools", "--xml"]] {
        let run = shell.run(wrong);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(run.err.contains("Usage: colibri"), "{wrong:?}: {}", run.err);
    }
    let run = shell.run(&["tols"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert_eq!(run.err, "colibri: there is no command tols; did you mean tools? colibri help lists them\n");
}

#[test]
fn tools_are_listed_as_a_table_and_as_published() {
    let shell = furnished();
    let table = shell.run(&["tools"]);
    let create = table.out.lines().find(|line| line.starts_with("task_create ")).unwrap();
    let columns: Vec<_> = create.split_whitespace().take(7).collect();
    assert_eq!(columns, ["task_create", "core", "yes", "-", "yes", "-", "Create"]);
    let listed = shell.run(&["tools", "--json"]).json();
    assert_eq!(listed[0]["name"], "server_ping");
    assert!(listed.as_array().unwrap().iter().all(|tool| tool["inputSchema"]["type"] == "object"));
}

#[test]
fn a_call_prints_its_envelope_and_ends_with_1_when_refused() {
    let shell = furnished();
    let made = shell.run(&["call", "task_create", "{\"title\": \"A\"}"]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""));
    let id = made.json()["data"]["id"].as_str().unwrap().to_owned();
    let refused = shell.run(&["call", "task_update", &format!("{{\"id\": \"{id}\", \"status\": \"DONE\"}}")]);
    assert_eq!(refused.code, Some(1), "Pattern B");
    assert_eq!(refused.json()["data"]["error"]["code"], "ERR_INVALID_TRANSITION");
    let invalid = shell.run(&["call", "task_get", "{}"]);
    assert_eq!(invalid.code, Some(1), "Pattern A");
    assert_eq!(invalid.json()["error"]["code"], "INVALID_PARAMS");
    let denied = shell.run_with(&[("COLIBRI_MODE", "READONLY")], &["call", "task_create", "{}"]);
    assert_eq!(denied.code, Some(1));
    assert_eq!(denied.json()["error"]["details"]["reason"], "readonly_mode");
}

#[test]
fn a_call_reads_its_arguments_from_stdin() {
    let shell = furnished();
    let mut child = shell
        .command(&["call", "task_create", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"{\n  \"title\": \"over\\nlines\"\n}\n").unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.json()["data"]["title"], "over\nlines");
}

#[test]
fn a_call_that_makes_no_sense_ends_with_2_before_any_server_starts() {
    let shell = furnished();
    let unknown = shell.run(&["call", "task_creat"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(2), ""));
    assert_eq!(unknown.err, "colibri: there is no tool task_creat; did you mean task_create?\n");
    let bad = shell.run(&["call", "task_get", "{bad"]);
    assert_eq!(bad.code, Some(2));
    assert_eq!(
        bad.err,
        "colibri: the arguments are not JSON (line 1, column 2: names stand in double quotes); write an object such as '{\"limit\": 5}'\n"
    );
    assert_eq!(created(&shell), 0);
}

#[test]
fn a_call_whose_server_does_not_start_ends_with_1_and_shows_why() {
    let shell = furnished();
    let run = shell.run_with(&[("COLIBRI_DURABILITY", "loud")], &["call", "server_ping"]);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    assert!(run.err.contains("COLIBRI_DURABILITY must be one of full, normal"), "{}", run.err);
}

#[test]
fn doctor_finds_a_sound_set_up_sound() {
    let shell = furnished();
    let fresh = shell.run(&["doctor", "--json"]);
    assert_eq!((fresh.code, fresh.json()["ok"].as_bool()), (Some(0), Some(true)));
    assert_eq!(created(&shell), 0, "a look creates nothing");
    shell.run(&["call", "task_create", "{\"title\": \"A\"}"]);
    let used = shell.run(&["doctor"]);
    assert_eq!(used.code, Some(0), "{}", used.out);
    assert!(used.out.lines().all(|line| line.starts_with("ok  ")), "{}", used.out);
    assert!(used.out.contains("2 closed calls, the chain is unbroken"), "{}", used.out);
}

#[test]
fn doctor_counts_good_skills_and_says_why_others_are_left_out() {
    let shell = furnished();
    skill(&shell, "colibri-qa", "---\nname: colibri-qa\ndescription: Checks.\n---\n");
    skill(&shell, "colibri-bad", "---\nname: colibri-bad\ndescription: Greek: eta\n---\n");
    skill(&shell, "colibri-x", "---\nname: colibri-y\ndescription: d\n---\n");
    let run = shell.run(&["doctor", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.out);
    let report = run.json();
    let mut left_out = findings(&report, "warn");
    let whole = left_out.remove(0);
    assert!(
        whole.starts_with("skills: 2 skills from ") && whole.ends_with("/.agents/skills, 2 left out"),
        "{whole:?}"
    );
    let expected = ["colibri-bad/SKILL.md: YAML_SYNTAX: ", "colibri-x/SKILL.md: NAME_MISMATCH: "];
    assert_eq!(left_out.len(), expected.len(), "{left_out:?}");
    for (text, expected) in left_out.iter().zip(expected) {
        let expected = format!("skills: Invalid SKILL.md at .agents/skills/{expected}");
        assert!(text.starts_with(&expected), "{text}");
    }
    let all = report["findings"].as_array().unwrap().iter();
    let mut advised = all.filter(|finding| finding["check"] == "skills" && finding["level"] == "warn");
    assert!(
        advised.all(|finding| finding["advice"].as_str().is_some_and(|advice| !advice.is_empty())),
        "{report}"
    );
    assert_eq!(created(&shell), 0, "a look creates nothing");
}

#[test]
fn doctor_warns_of_a_root_without_skills() {
    let shell = furnished();
    let warned = |root: &str| {
        let run = shell.run_with(&[("COLIBRI_SKILLS_ROOT", root)], &["doctor", "--json"]);
        assert_eq!(run.code, Some(0), "{}", run.out);
        findings(&run.json(), "warn")
    };
    let missing = warned("none");
    assert!(missing.len() == 1 && missing[0].contains("/none cannot be read: "), "{missing:?}");
    let empty = warned(".agents");
    assert!(empty.len() == 1 && empty[0].starts_with("skills: no valid skills in "), "{empty:?}");
    let minimal = shell
        .run_with(&[("COLIBRI_SKILLS_ROOT", "none"), ("COLIBRI_MODE", "MINIMAL")], &["doctor", "--json"]);
    assert_eq!(findings(&minimal.json(), "warn"), [] as [&str; 0], "MINIMAL reads no skills");
}

#[test]
fn doctor_says_what_is_wrong_with_the_router_and_with_the_nodes_key() {
    let shell = furnished();
    let looked = |variables: &[(&str, &str)]| {
        let run = shell.run_with(variables, &["doctor", "--json"]);
        let report = run.json();
        (run.code, findings(&report, "fail"), findings(&report, "warn"), findings(&report, "ok"))
    };
    let (code, _, warned, _) = looked(&[("COLIBRI_ROUTER_CANDIDATES", "file:nothing.json")]);
    assert_eq!((code, warned.len()), (Some(0), 1), "{warned:?}");
    assert!(warned[0].starts_with("router: the file of candidates cannot"), "{warned:?}");
    let (code, _, warned, _) =
        looked(&[("COLIBRI_OPENAI_API_KEY", "k-1"), ("COLIBRI_OPENAI_BASE_URL", "http://example.com")]);
    assert_eq!((code, warned.len()), (Some(0), 1), "{warned:?}");
    assert!(warned[0].starts_with("router: COLIBRI_OPENAI_BASE_URL is not an acceptable"), "{warned:?}");
    assert!(!warned[0].contains("example.com") && !warned[0].contains("k-1"), "{warned:?}");
    std::fs::write(shell.path().join("node.key"), "not a key\n").unwrap();
    let (code, _, warned, _) = looked(&[("COLIBRI_CONSENSUS_KEY_FILE", "node.key")]);
    assert_eq!((code, warned.len()), (Some(0), 1), "{warned:?}");
    assert!(warned[0].starts_with("consensus: node key file: "), "{warned:?}");
    let (code, failed, _, fine) = looked(&[("COLIBRI_CONSENSUS_KEY_FILE", "later.key")]);
    assert_eq!((code, failed.len()), (Some(0), 0), "{failed:?}");
    assert!(fine.iter().any(|text| text == "consensus: the key file is made when the key is first needed"));
    assert_eq!(created(&shell), 1, "a look creates nothing");
}

#[test]
fn doctor_reports_every_bad_variable() {
    let shell = furnished();
    let variables = [("COLIBRI_LOG_LEVEL", "loud"), ("COLIBRI_STARTUP_TIMEOUT_MS", "abc")];
    let run = shell.run_with(&variables, &["doctor", "--json"]);
    assert_eq!(run.code, Some(1));
    assert_eq!(findings(&run.json(), "fail").len(), 2);
    let warned = shell.run_with(&[("COLIBRI_DB", "x")], &["doctor", "--json"]);
    assert_eq!(warned.code, Some(0));
    assert_eq!(
        findings(&warned.json(), "warn"),
        ["configuration: unknown variable COLIBRI_DB is ignored; did you mean COLIBRI_DB_PATH?"]
    );
}

#[test]
fn doctor_knows_what_a_server_would_refuse() {
    sqlite_only!("it is about a file; what doctor says of PostgreSQL has tests of its own");
    let shell = furnished();
    let missing = shell.run_with(&[("COLIBRI_MODE", "READONLY")], &["doctor", "--json"]);
    assert_eq!(missing.code, Some(1));
    assert!(
        findings(&missing.json(), "fail")[0]
            .contains("database not found: data/colibri.db (READONLY never creates")
    );

    let foreign = shell.path().join("foreign.db");
    engine::open(&foreign).execute_batch("CREATE TABLE t (n)").unwrap();
    let run = shell.run_with(&[("COLIBRI_DB_PATH", "foreign.db")], &["doctor", "--json"]);
    assert_eq!(findings(&run.json(), "fail"), ["schema: not a Colibri database: foreign.db"]);

    std::fs::write(shell.path().join("text.db"), "no database at all, ".repeat(100)).unwrap();
    let run = shell.run_with(&[("COLIBRI_DB_PATH", "text.db")], &["doctor"]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("not a Colibri database: text.db"), "{}", run.out);
}

#[test]
fn doctor_sees_other_versions_and_a_log_that_was_changed() {
    sqlite_only!("it is about a file; what doctor says of PostgreSQL has tests of its own");
    let shell = furnished();
    shell.run(&["call", "task_create", "{\"title\": \"A\"}"]);
    let database = shell.path().join("data/colibri.db");
    let change = |sql: &str| engine::open(&database).execute_batch(sql).unwrap();
    change("PRAGMA user_version = 1");
    let older = shell.run(&["doctor", "--json"]);
    assert_eq!(older.code, Some(0), "FULL migrates it");
    assert!(findings(&older.json(), "warn")[0].starts_with("schema: version 1 is older than "));
    let readonly = shell.run_with(&[("COLIBRI_MODE", "READONLY")], &["doctor"]);
    assert_eq!(readonly.code, Some(1), "READONLY cannot");
    change("PRAGMA user_version = 999");
    let newer = shell.run(&["doctor", "--json"]);
    assert!(
        findings(&newer.json(), "fail")[0].starts_with("schema: database schema version 999 is newer than ")
    );

    let triggers: Vec<String> = {
        let conn = engine::open(&database);
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'actions'";
        let mut statement = conn.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for trigger in triggers {
        change(&format!("DROP TRIGGER {trigger}"));
    }
    change("UPDATE actions SET tool = 'other'");
    let changed = shell.run(&["doctor", "--json"]).json();
    assert!(
        findings(&changed, "fail").iter().any(|finding| finding.starts_with("audit log: actions row 1")),
        "{changed}"
    );
}

#[test]
fn doctor_notices_calls_cut_off_by_a_crash() {
    sqlite_only!("it is about a file; what doctor says of PostgreSQL has tests of its own");
    let shell = furnished();
    shell.run(&["call", "task_create", "{\"title\": \"A\"}"]);
    let database = shell.path().join("data/colibri.db");
    // What a killed process leaves: an open row, and a lock file that no process holds.
    engine::open(&database)
        .execute_batch(
            "INSERT INTO actions (sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, enter_ms)
             SELECT sequence_no + 1, '00000000-0000-4000-8000-000000000000', boot_id, tool, mode, args_hash, entered_at, enter_ms
             FROM actions WHERE tool = 'task_create';
             UPDATE actions_head SET last_sequence_no = last_sequence_no + 1;",
        )
        .unwrap();
    std::fs::write(shell.path().join("data/colibri.db.0123456789abcdef0123456789abcdef.lock"), "").unwrap();
    let run = shell.run(&["doctor", "--json"]);
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(
        findings(&run.json(), "warn"),
        [
            "calls: 1 interrupted when their server ended unexpectedly",
            "lock files: 1 left by servers that ended unexpectedly",
        ]
    );
}

#[test]
fn the_demonstration_runs_to_its_end_and_leaves_nothing_behind() {
    let shell = furnished();
    let temporary = shell.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    // A setting of the user's must not leak into the demonstration.
    let variables = [("TMPDIR", temporary.to_str().unwrap()), ("COLIBRI_MODE", "MINIMAL")];
    let run = shell.run_with(&variables, &["demo"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{}", run.out);
    let mut rest = run.out.as_str();
    // The main job in its order, from the session to the forgery that is named.
    for expected in [
        "audit_session_start",
        "task_create",
        "thought_record",
        "ERR_INVALID_TRANSITION",
        "ERR_WRITEBACK_REQUIRED",
        "DONE",
        "merkle_finalize",
        "+50 session_sealed  from the seal of the session, 3 records",
        "+50 task_done       from the task \"Write the migration\", done",
        "agent-7 stands at 100 of 10000",
        "Sound:",
        "The proof holds.",
        "HASH_MISMATCH",
        "Not sound:",
    ] {
        let at = rest.find(expected).unwrap_or_else(|| panic!("{expected} is missing:\n{}", run.out));
        rest = &rest[at..];
    }
    assert!(!run.out.contains('\u{1b}'), "no colours without a terminal");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let shell = furnished();
    let mut child =
        shell.command(&["tools", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
}
