//! Configuration and modes as pure functions (chain#modes, chain#configuration), and the documents made from the key table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use colibri::catalogue::CATALOGUE;
use colibri::settings::config::{Config, Durability, SessionPolicy, assert_no_donor_namespace, load_config};
use colibri::settings::environment::Environment;
use colibri::settings::keys;
use colibri::settings::mode::{Mode, detect_mode};
use colibri::settings::rules::CandidateSource;
use colibri_runtime::chain::log::Level;
use colibri_runtime::chain::redact::Redactor;
use colibri_store::TlsPolicy;
use colibri_test_support::client::Launch;

const PID: u32 = 4711;
/// A shared database, with a password that needs escapes.
const URL: &str = "postgres://anna:c4nary%2Fp%40ss@db.team.example:6432/board?application_name=x";

fn load(env: impl Into<Environment>) -> Result<(Config, Vec<String>), Vec<String>> {
    load_config(&env.into(), PID)
}

fn problems(env: impl Into<Environment>) -> Vec<String> {
    load(env).err().unwrap_or_default()
}

fn config(env: impl Into<Environment>) -> Config {
    load(env).unwrap_or_else(|problems| panic!("{problems:?}")).0
}

#[test]
fn mode_is_full_unless_set_exactly() {
    assert_eq!(detect_mode(&Environment::default()), Ok(Mode::Full));
    for mode in Mode::ALL {
        assert_eq!(detect_mode(&[("COLIBRI_MODE", mode.as_str())].into()), Ok(mode));
    }
    for (bad, form) in [("readonly", ", in capitals"), ("WATCH", ""), (" FULL", ""), ("FULL\n", "")] {
        let text =
            format!("Invalid COLIBRI_MODE: \"{bad}\". Expected one of FULL, READONLY, TEST, MINIMAL{form}.");
        assert_eq!(detect_mode(&[("COLIBRI_MODE", bad)].into()), Err(text.clone()), "{bad:?}");
        assert_eq!(problems([("COLIBRI_MODE", bad)]), [text]);
    }
}

#[test]
fn legacy_variables_are_refused_by_name() {
    let env: Environment = [("AMS_ROOT", "x"), ("AMS_MODE", "FULL"), ("COLIBRI_MODE", "bad")].into();
    let text = "Colibri does not support the legacy AMS_* namespace. Found: AMS_MODE, AMS_ROOT. \
                Rename to COLIBRI_* or unset.";
    assert_eq!(assert_no_donor_namespace(&env), Err(text.to_owned()));
    assert_eq!(load_config(&env, PID).err(), Some(vec![text.to_owned()]));
    assert_eq!(
        detect_mode(&[("AMS_MODE", "FULL")].into()).unwrap_err(),
        "Colibri does not support the legacy AMS_MODE variable. Rename to COLIBRI_MODE or unset."
    );
}

/// Every variable that names a file or a folder.
const PATHS: [&str; 5] = [
    "COLIBRI_DB_PATH",
    "COLIBRI_SKILLS_ROOT",
    "COLIBRI_PROOF_SIGNING_KEY_FILE",
    "COLIBRI_CONSENSUS_KEY_FILE",
    "COLIBRI_WITNESS_DIR",
];

#[test]
fn a_leading_tilde_in_a_path_is_the_home() {
    for name in PATHS {
        let config = config([("HOME", "/h/ada"), (name, "~/work/file")]);
        let found = [
            config.place.file().map(Path::to_owned),
            Some(config.skills_root),
            config.proof_signing_key_file,
            config.consensus_key_file,
            config.sharing.witness_dir,
        ];
        assert!(
            found.iter().flatten().any(|path| path == Path::new("/h/ada/work/file")),
            "{name}: {found:?}"
        );
    }
    let router = config([("HOME", "/h/ada"), ("COLIBRI_ROUTER_CANDIDATES", "file:~/models.json")]);
    assert_eq!(router.router_candidates, CandidateSource::File("/h/ada/models.json".into()));
}

#[test]
fn a_path_that_nothing_expands_is_refused_by_name_in_settings_and_options() {
    for name in PATHS {
        for word in ["${HOME}", "$HOME", "${workspaceFolder}", "%USERPROFILE%"] {
            let named = format!("{word}/work/file");
            let problems = problems([("HOME", "/h/ada"), (name, named.as_str())]);
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(
                problems[0].starts_with(&format!("{name} has {word} in it, which nothing replaces")),
                "{problems:?}"
            );
        }
    }
    let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"));
    let folder = launch.folder();
    for arguments in [
        &["tasks", "--db", "${HOME}/c.db"][..],
        &["verify", "--write-checkpoint", "%USERPROFILE%/c.json"],
        &["init", "--host", "claude-code", "--db", "${workspaceFolder}/c.db"],
    ] {
        let launch = Launch::new(env!("CARGO_BIN_EXE_colibri-under-test")).in_folder(folder.clone());
        let output = arguments.iter().fold(launch, Launch::arg).command().output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("in it, which nothing replaces here"), "{arguments:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn test_mode_has_a_database_of_its_own_that_goes_away() {
    let test = config([("COLIBRI_MODE", "TEST")]);
    let name = test.place.file().unwrap().to_str().unwrap();
    assert!(name.starts_with("data/colibri-4711-") && name.ends_with(".test.db"), "{name}");
    let second = config([("COLIBRI_MODE", "TEST")]);
    assert_ne!(second.place.file(), test.place.file(), "a process of the same number in another container");
    assert!(test.ephemeral_db);
    let named = config([("COLIBRI_MODE", "TEST"), ("COLIBRI_DB_PATH", "kept.db")]);
    assert_eq!(named.place.file(), Some(Path::new("kept.db")));
    assert!(!named.ephemeral_db);
    let shared = config([("COLIBRI_MODE", "TEST"), ("COLIBRI_DATABASE_URL", URL)]);
    assert!(shared.place.file().is_none() && !shared.ephemeral_db);
}

#[test]
fn every_bad_variable_is_reported_and_unknown_ones_are_warned_about() {
    let env = [("COLIBRI_STARTUP_TIMEOUT_MS", "abc"), ("COLIBRI_LOG_LEVEL", "loud")];
    assert_eq!(
        problems(env),
        [
            "COLIBRI_LOG_LEVEL must be one of silent, error, warn, info, debug, trace",
            "COLIBRI_STARTUP_TIMEOUT_MS must be an integer between 1 and 600000",
        ]
    );
    let suggestions = [
        ("COLIBRI_DB", "did you mean COLIBRI_DB_PATH?"),
        ("COLIBRI_ROOT", "did you mean COLIBRI_SKILLS_ROOT?"),
        ("COLIBRI_WATCH_MODE", "did you mean COLIBRI_MODE?"),
        ("COLIBRI_LOGLEVEL", "did you mean COLIBRI_LOG_LEVEL?"),
        ("COLIBRI_FROBNICATION", "`colibri --help` lists the known ones"),
    ];
    for (name, hint) in suggestions {
        let (_, warnings) = load([(name, "x")]).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert_eq!(warnings, [format!("unknown variable {name} is ignored; {hint}")]);
    }
}

#[test]
fn defaults_are_those_of_the_table() {
    let config = config(Environment::default());
    assert_eq!(config.place.file(), Some(Path::new("data/colibri.db")));
    assert_eq!(config.log_level, Some(Level::Info));
    assert_eq!(config.startup_timeout_ms, 30_000);
    assert_eq!(config.durability, Durability::Full);
    assert_eq!(config.skills_root, PathBuf::from(".agents/skills"));
    assert_eq!(config.trail_session_policy, SessionPolicy::Required);
    assert_eq!(config.router_candidates, CandidateSource::Off);
    assert_eq!((config.epoch_seconds, config.reputation_feed), (86_400, true));
    assert_eq!((config.session_id, config.proof_signing_key_file), (None, None));
    assert_eq!(Config::for_tests("x.db").place.file(), Some(Path::new("x.db")));
    let sharing = config.sharing;
    let times = (sharing.connect_timeout_ms, sharing.lock_timeout_ms, sharing.statement_timeout_ms);
    assert_eq!((times, sharing.lease_seconds), ((5_000, 5_000, 30_000), 60));
    assert_eq!((sharing.tls, sharing.witness_dir), (TlsPolicy::Verify, None));
}

#[test]
fn an_empty_variable_is_not_set() {
    let unset = config(Environment::default());
    let names: Vec<&str> =
        keys::all().map(|key| key.name()).chain(["AMS_MODE", "AMS_ROOT", "COLIBRI_UNKNOWN"]).collect();
    let every = Environment::from_iter(names.iter().map(|name| (*name, "")));
    for env in names.iter().map(|name| Environment::from([(*name, "")])).chain([every]) {
        let (empty, warnings) = load(env.clone()).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert_eq!(warnings, [] as [&str; 0]);
        assert_eq!(
            (empty.place.file(), empty.mode, empty.durability),
            (unset.place.file(), unset.mode, unset.durability)
        );
        assert_eq!(
            (&empty.proof_signing_key_file, &empty.skills_root),
            (&unset.proof_signing_key_file, &unset.skills_root)
        );
        assert_eq!(
            (&empty.consensus_key_file, empty.sharing.witness_dir.is_none()),
            (&unset.consensus_key_file, true)
        );
        assert_eq!(detect_mode(&env), Ok(Mode::Full));
        assert_eq!(assert_no_donor_namespace(&env), Ok(()));
    }
}

#[test]
fn every_refusal_names_its_variable_and_what_is_allowed() {
    let long = "x".repeat(129);
    let cases = [
        ("COLIBRI_SESSION_ID", long.as_str(), "must be 1 to 128 printable ASCII characters"),
        ("COLIBRI_SESSION_ID", "a\tb", "must be 1 to 128 printable ASCII characters"),
        ("COLIBRI_DURABILITY", "loud", "must be one of full, normal, replicated"),
        ("COLIBRI_DATABASE_URL", "mysql://u@h/d", "does not start with postgres://"),
        ("COLIBRI_DATABASE_TLS", "off", "must be one of verify, insecure"),
        ("COLIBRI_DATABASE_LEASE_SECONDS", "4", "must be an integer between 5 and 86400"),
        ("COLIBRI_TRAIL_SESSION_POLICY", "maybe", "must be one of required, optional"),
        ("COLIBRI_REPUTATION_FEED", "ON", "must be one of on, off"),
        ("COLIBRI_EPOCH_SECONDS", "0", "must be an integer between 1 and 31536000"),
        ("COLIBRI_ROUTER_CANDIDATES", "bogus", "must be one of off, auto, db, file:<path>"),
        ("COLIBRI_ROUTER_ATTEMPT_TIMEOUT_MS", "60001", "must be an integer between 1 and 60000"),
    ];
    for (name, value, refusal) in cases {
        assert_eq!(problems([(name, value)]), [format!("{name} {refusal}")]);
    }
}

#[test]
fn log_levels_are_read_in_any_case() {
    assert_eq!(config([("COLIBRI_LOG_LEVEL", "WARN")]).log_level, Some(Level::Warn));
    assert_eq!(config([("COLIBRI_LOG_LEVEL", "Silent")]).log_level, None);
}

#[test]
fn readonly_never_feeds_reputation() {
    let env = [("COLIBRI_MODE", "READONLY"), ("COLIBRI_REPUTATION_FEED", "on")];
    assert!(!config(env).reputation_feed);
}

#[test]
fn api_keys_are_kept_for_calls_and_for_redaction() {
    let config = config([
        ("COLIBRI_OPENAI_API_KEY", "sk-openai-0001"),
        ("COLIBRI_OPENIA_API_KEY", "sk-misspelt-01"),
        ("COLIBRI_KIMI_API_KEY", "short"),
        ("COLIBRI_ANTHROPIC_MODEL", "some-model"),
    ]);
    let key = config.at_call("COLIBRI_OPENAI_API_KEY").unwrap().expect("the key is set");
    assert_eq!(key.expose(), "sk-openai-0001");
    assert!(config.at_call("COLIBRI_GEMINI_API_KEY").unwrap().is_none());
    let redacted = Redactor::new(config.secrets());
    let text = "a sk-openai-0001 b sk-misspelt-01 c short d some-model";
    assert_eq!(redacted.redact(text), "a [redacted] b [redacted] c short d some-model");
}

#[test]
fn machines_11_no_form_of_a_url_or_its_password_passes_the_redactor() {
    let config = config([("COLIBRI_DATABASE_URL", URL)]);
    let redactor = Redactor::new(config.secrets());
    for told in [
        URL,
        "c4nary%2Fp%40ss",
        "c4nary/p@ss",
        "c4nary%2fp%40ss",
        "c4nary\\u002fp@ss",
        "anna:c4nary%2Fp%40ss@db.team",
    ] {
        let clean = redactor.redact(told);
        assert!(clean.contains("[redacted]") && !clean.contains("c4nary"), "{told}: {clean}");
    }
    // The name of a host or a user is a word that agents may use.
    assert_eq!(redactor.redact("db.team.example anna"), "db.team.example anna");
    assert_eq!(config.place.to_string(), "the PostgreSQL database");
    let asked = config_by_query("password=c4nary%2Fp%40ss");
    assert_eq!(Redactor::new(asked.secrets()).redact("c4nary/p@ss"), "[redacted]");
}

fn config_by_query(query: &str) -> Config {
    config([("COLIBRI_DATABASE_URL", format!("postgres://anna@localhost/board?{query}"))])
}

#[test]
fn a_server_uses_one_database_and_only_a_shared_one_has_standbys() {
    assert_eq!(
        problems([("COLIBRI_DATABASE_URL", URL), ("COLIBRI_DB_PATH", "x.db")]),
        [
            "COLIBRI_DATABASE_URL and COLIBRI_DB_PATH are both set, and a server uses one database; unset one of them"
        ]
    );
    assert_eq!(
        problems([("COLIBRI_DB_PATH", "Postgres://anna:c4nary@localhost/board")]),
        [
            "COLIBRI_DB_PATH is the URL of a database, and takes the path of a file; set COLIBRI_DATABASE_URL instead"
        ]
    );
    assert_eq!(
        problems([("COLIBRI_DURABILITY", "replicated")]),
        [
            "COLIBRI_DURABILITY is replicated, but a file has no standbys; set COLIBRI_DATABASE_URL, or write full"
        ]
    );
    let replicated = config([("COLIBRI_DURABILITY", "replicated"), ("COLIBRI_DATABASE_URL", URL)]);
    assert_eq!(replicated.durability, Durability::Replicated);
    let insecure = "postgres://anna:c4nary@db.team.example/board?sslmode=require";
    let refused = problems([("COLIBRI_DATABASE_URL", insecure)]);
    assert!(refused.len() == 1 && refused[0].contains("COLIBRI_DATABASE_TLS=insecure"), "{refused:?}");
    assert!(!refused[0].contains("c4nary") && !refused[0].contains("team"), "{refused:?}");
    let env = [("COLIBRI_DATABASE_URL", insecure), ("COLIBRI_DATABASE_TLS", "insecure")];
    let (_, warnings) = load(env).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert!(
        warnings.len() == 1 && warnings[0].starts_with("COLIBRI_DATABASE_TLS is insecure"),
        "{warnings:?}"
    );
}

#[cfg(unix)]
#[test]
fn values_that_are_not_text_are_problems_at_boot_or_at_the_call_that_needs_them() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let bytes = || OsString::from_vec(vec![b'a', 0xff]);
    assert_eq!(problems([("COLIBRI_DB_PATH", bytes())]), ["COLIBRI_DB_PATH must be valid UTF-8"]);
    let config = config([("COLIBRI_OPENAI_API_KEY", bytes())]);
    let refusal = config.at_call("COLIBRI_OPENAI_API_KEY").err();
    assert_eq!(refusal.as_deref(), Some("COLIBRI_OPENAI_API_KEY must be valid UTF-8"));
}

#[test]
fn no_variable_is_listed_twice_and_all_are_explained() {
    let mut names = BTreeSet::new();
    for key in keys::all() {
        assert!(key.name().starts_with("COLIBRI_"), "{}", key.name());
        assert!(names.insert(key.name()), "{} is listed twice", key.name());
        assert!(key.help().ends_with('.') && !key.form().is_empty() && !key.default_text().is_empty());
    }
    assert_eq!(names.len(), 51);
}

#[test]
fn what_the_catalogue_calls_a_setting_is_one() {
    for relaxed in CATALOGUE.tools.iter().filter_map(|tool| tool.relaxed) {
        let config = config([(relaxed.setting, relaxed.value)]);
        assert_eq!(config.word(relaxed.setting), Some(relaxed.value));
    }
    let asked = config([("COLIBRI_TRAIL_SESSION_POLICY", "optional")]);
    assert_eq!(asked.word("COLIBRI_TRAIL_SESSION_POLICY"), Some("optional"));
    assert_eq!(asked.word("COLIBRI_DB_PATH"), None);
    let defaults = Config::for_tests("x.db");
    assert_eq!(defaults.word("COLIBRI_TRAIL_SESSION_POLICY"), Some("required"));
}

/// Returns the reference page of variables, in Markdown.
fn reference_page() -> String {
    let mut owners: Vec<&str> = Vec::new();
    for key in keys::all() {
        if !owners.contains(&key.owner()) {
            owners.push(key.owner());
        }
    }
    let mut page = String::from(PAGE_HEAD);
    for owner in owners {
        page.push_str(&heading(owner));
        page.push_str(TABLE_HEAD);
        keys::all().filter(|key| key.owner() == owner).for_each(|key| page.push_str(&row(key)));
    }
    page
}

const PAGE_HEAD: &str = "\
<!-- Generated from the key table in server/src/settings/keys.rs; do not edit. -->
# Configuration

Colibri is configured by environment variables alone; no file is read. They are checked before anything else happens:
every bad value is reported on stderr, one line each, and the server exits with code 1. A variable that starts with
`COLIBRI_` and is not listed here gives a warning. Variables of the legacy namespace `AMS_*` are refused. An empty variable
counts as one that is not set. In a path a leading `~/` is the home. What only a shell or an editor replaces, such as
`~user/`, `$HOME`, `${workspaceFolder}` and `%NAME%`, is refused by its name.
";

const TABLE_HEAD: &str = "\n| Variable | Value | Default | Purpose |\n|---|---|---|---|\n";

fn heading(owner: &str) -> String {
    let mut title = owner.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("\n## {title}\n")
}

fn row(key: &dyn keys::Entry) -> String {
    let cells = [format!("`{}`", key.name()), key.form(), key.default_text(), key.help().to_owned()];
    // Angle brackets would be read as HTML.
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('<', "&lt;").replace('>', "&gt;"));
    format!("| {} |\n", cells.join(" | "))
}

/// `UPDATE_GOLDEN=1` writes the page instead of comparing it.
#[test]
fn the_reference_page_of_variables_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/configuration.md");
    let page = reference_page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, page).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == page, "{} is stale: run the test with UPDATE_GOLDEN=1", path.display());
}

#[test]
fn the_long_help_names_every_variable() {
    let help = colibri::cli::arguments::long_help();
    for key in keys::all() {
        assert!(help.contains(key.name()), "{} is missing from --help", key.name());
    }
}
