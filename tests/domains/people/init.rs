//! `colibri init`: the blocks of ten hosts, the files it writes and the files it leaves alone. Each test has a home of its own.

mod left;
mod snippet;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use colibri_test_support::shell::{Run, Shell};
use serde_json::{Map, Value, json};

/// Each host, its file below the home folder, and the way to its servers.
const HOSTS: [(&str, &str, &str); 9] = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", ".config/Code/User/mcp.json", "servers"),
    ("codex", ".codex/config.toml", "mcp_servers"),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("zed", ".config/zed/settings.json", "context_servers"),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "mcpServers"),
    ("opencode", ".config/opencode/opencode.json", "mcp"),
];

/// A home whose path has a space, and a project in it.
struct Desk {
    shell: Shell,
}

impl Desk {
    fn new() -> Self {
        let shell = Shell::new(env!("CARGO_BIN_EXE_colibri-under-test"));
        fs::create_dir_all(shell.path().join("my home/project")).unwrap();
        Self { shell }
    }

    fn home(&self) -> PathBuf {
        self.shell.path().join("my home")
    }

    fn file(&self, path: &str) -> PathBuf {
        self.home().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.file(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap()
    }

    /// `colibri init`, in the project.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.shell.command(&[&["init"], arguments].concat());
        command.env("HOME", self.home()).env_remove("XDG_CONFIG_HOME").env_remove("COLIBRI_DATABASE_URL");
        command.current_dir(self.file("project"));
        command
    }

    fn init(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// All files below the home folder, with their modes and content.
    fn files(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                if metadata.is_dir() {
                    folders.push(path);
                } else {
                    let content = fs::read(&path).unwrap_or_default();
                    found.push((path, metadata.permissions().mode() & 0o7777, content));
                }
            }
        }
        found.sort();
        found
    }
}

/// Says something past the harness, which keeps what a test prints if it passes.
fn say(text: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{text}").unwrap();
}

/// A text of JSON or TOML as a value. Python reads TOML: another reader than ours.
fn parsed(text: &str) -> Option<Value> {
    if text.starts_with('{') {
        return Some(serde_json::from_str(text).unwrap());
    }
    let script = "import json, sys, tomllib; print(json.dumps(tomllib.loads(sys.stdin.read())))";
    let mut python = Command::new("python3");
    let started = python
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        say("skipped: python3 is missing, which reads the block of TOML; on Debian: apt-get install python3");
        return None;
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("No module named 'tomllib'") {
        say("skipped: python3 has no tomllib, which reads the block of TOML; install Python 3.11 or later");
        return None;
    }
    assert!(output.status.success(), "{stderr}\n{text}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// The block among what was printed.
fn block(printed: &str) -> String {
    let (_, rest) = printed.split_once(":\n\n").unwrap();
    rest.split("\n\nThese lines").next().unwrap().to_owned() + "\n"
}

/// Starts the command of an entry as a host does, and makes a call.
fn starts(entry: &Value, folder: &Path) {
    let words: Vec<&str> = match &entry["command"] {
        Value::Array(words) => words.iter().map(|word| word.as_str().unwrap()).collect(),
        command => [command.as_str().unwrap()]
            .into_iter()
            .chain(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()))
            .collect(),
    };
    let empty = Map::new();
    let variables = entry["env"].as_object().or(entry["environment"].as_object()).unwrap_or(&empty);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env_clear().current_dir(folder);
    command.envs(variables.iter().map(|(name, value)| (name, value.as_str().unwrap())));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "init", "version": "1" },
    });
    let call = json!({ "name": "task_create", "arguments": { "title": "One" } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ];
    let text = messages.iter().map(|message| format!("{message}\n")).collect::<String>();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let answers: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    assert_eq!(answers.len(), 2, "{stderr}");
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "colibri", "{stderr}");
    assert_eq!(answers[1]["result"]["structuredContent"]["ok"], true, "{answers:?}");
    assert!(!stderr.contains("WARN") && !stderr.contains("ERROR"), "{stderr}");
}

#[test]
fn people_69_the_block_of_each_host_starts_a_server() {
    let hosts = HOSTS.iter().map(|(host, _, servers)| (*host, *servers));
    for (host, servers) in hosts.chain([("jetbrains", "mcpServers")]) {
        let desk = Desk::new();
        let run = desk.init(&["--host", host, "--actor", "Ada \"B\"", "--tools", "core"]).ends(0);
        assert!(run.err.is_empty(), "{}", run.err);
        let Some(block) = parsed(&block(&run.out)) else { continue };
        let entry = &block[servers]["colibri"];
        let variables = if host == "opencode" { &entry["environment"] } else { &entry["env"] };
        let below = |path: &str| json!(desk.file(path));
        let expected = json!({
            "COLIBRI_TOOLS": "core",
            "COLIBRI_DB_PATH": below(".local/share/colibri/colibri.db"),
            "COLIBRI_ACTOR": "Ada \"B\"",
            "COLIBRI_PROOF_SIGNING_KEY_FILE": below(".config/colibri/seal.key"),
        });
        assert_eq!(*variables, expected, "{host}");
        starts(entry, desk.shell.path());
        assert!(desk.file(".local/share/colibri/colibri.db").exists(), "{host}");
        // Printing changes no file of the host or the project.
        let files = desk.files();
        let other = files.iter().find(|(path, ..)| !path.to_string_lossy().contains("/colibri/"));
        assert!(other.is_none(), "{other:?}");
    }
}

#[test]
fn people_69_a_new_file_is_written_once_and_stays() {
    for (host, file, servers) in HOSTS {
        let desk = Desk::new();
        let first = desk.init(&["--host", host, "--write"]).ends(0);
        assert!(first.out.contains(&format!("wrote  {}\n", desk.file(file).display())), "{}", first.out);
        let mode = fs::metadata(desk.file(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{host}");
        if let Some(written) = parsed(&desk.read(file)) {
            starts(&written[servers]["colibri"], desk.shell.path());
        }
        let files = desk.files();
        let second = desk.init(&["--host", host, "--write"]).ends(0);
        assert_eq!(second.out.matches("same ").count(), 3, "{}", second.out);
        assert_eq!(desk.files(), files, "{host}");
    }
}

#[test]
fn people_69_a_file_that_is_there_gets_the_block_and_loses_nothing() {
    for (host, file, servers) in HOSTS {
        let desk = Desk::new();
        let old = match host {
            "codex" => "model = \"o9\"\n\n[mcp_servers.other]\ncommand = \"x\"\nargs = [\"#\"]\n".to_owned(),
            _ => format!(
                "{{\n    \"z\": [1.50, {{\"{servers}\": 1}}],\n    \"{servers}\": {{\n        \"other\": {{\"command\": \"x\"}}\n    \
                 }},\n    \"a\": \"\\u00e9\"\n}}\n"
            ),
        };
        let path = desk.write(file, &old);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let run = desk.init(&["--host", host, "--write"]).ends(0);
        let kept = format!("{file}.before-colibri");
        assert!(
            run.out.contains(&format!("; the old file is {}\n", desk.file(&kept).display())),
            "{}",
            run.out
        );
        assert_eq!(desk.read(&kept), old);
        let new = desk.read(file);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        // Without the block, every line is as it was.
        let end = old.lines().position(|line| line.contains("other")).unwrap();
        assert!(new.lines().zip(old.lines()).take(end).all(|(new, old)| new == old), "{new}");
        if let (Some(mut written), Some(before)) = (parsed(&new), parsed(&old)) {
            starts(&written[servers]["colibri"], desk.shell.path());
            written[servers].as_object_mut().unwrap().remove("colibri").unwrap();
            assert_eq!(written.to_string(), before.to_string(), "{host}");
        }
        let files = desk.files();
        desk.init(&["--host", host, "--write"]).ends(0);
        assert_eq!(desk.files(), files, "{host}");
    }
}

#[test]
fn people_69_hosts_whose_configuration_is_there_are_listed() {
    let desk = Desk::new();
    let none = desk.init(&[]).ends(0);
    assert!(
        none.out.starts_with("No host's configuration was found below the home folder.\n"),
        "{}",
        none.out
    );
    desk.write(".cursor/extensions.json", "{}");
    desk.write(".claude/settings.json", "{}");
    let without = desk.init(&[]).ends(0);
    assert!(!without.out.starts_with("jetbrains") && !without.out.contains("\njetbrains"), "{}", without.out);
    desk.write(".config/JetBrains/IntelliJIdea/a", "");
    desk.write(".config/opencode/opencode.jsonc", "{}");
    let some = desk.init(&[]).ends(0);
    let found: Vec<&str> = some.out.lines().take_while(|line| !line.is_empty()).collect();
    let names: Vec<_> = found.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["claude-code", "cursor", "jetbrains", "opencode"]);
    assert!(found[3].ends_with("my home/.config/opencode/opencode.jsonc"), "{found:?}");
    assert_eq!(desk.files().len(), 4, "nothing is made");
    desk.init(&["--host", "opencode", "--no-key", "--write"]).ends(0);
    assert!(desk.read(".config/opencode/opencode.jsonc").contains("\"colibri\""));
    let after = desk.init(&[]).ends(0);
    let has: Vec<_> = after.out.lines().filter(|line| line.ends_with("  (has colibri)")).collect();
    assert!(has.len() == 1 && has[0].starts_with("opencode "), "{}", after.out);
}

#[test]
fn people_69_an_empty_file_is_filled_and_another_entry_is_told_apart() {
    for (host, file) in [("claude-code", ".claude.json"), ("codex", ".codex/config.toml")] {
        let desk = Desk::new();
        desk.write(file, " \n");
        let run = desk.init(&["--host", host, "--write"]).ends(0);
        run.says("Next: restart ").says("colibri board --db '").says("colibri.db' colibri doctor\n");
        assert!(desk.read(file).contains("colibri"));
    }
    let desk = Desk::new();
    desk.init(&["--host", "cursor", "--no-key", "--actor", "alice", "--write"]).ends(0);
    let again = desk.init(&["--host", "cursor", "--no-key", "--actor", "bob", "--write"]).ends(1);
    again.says(
        "it has another entry \"colibri\" already, which differs in env.COLIBRI_ACTOR. Put this there:",
    );
}

#[test]
fn people_69_without_a_home_the_paths_must_be_named() {
    let desk = Desk::new();
    let run = |home: Option<&str>, arguments: &[&str]| {
        let mut command = desk.command(arguments);
        match home {
            Some(home) => command.env("HOME", home),
            None => command.env_remove("HOME"),
        };
        Run::of(command.output().unwrap())
    };
    for home in [None, Some(""), Some("relative")] {
        for (arguments, told) in [
            (&[][..], "set it, or pass --host NAME"),
            (&["--host", "zed"], "name the key with --key, or pass --no-key"),
            (&["--host", "zed", "--no-key"], "name the database with --db"),
            (
                &["--host", "zed", "--no-key", "--db", "a.db", "--write"],
                "the place of Zed's configuration is unknown",
            ),
        ] {
            let refused = run(home, arguments).ends(2);
            assert!(refused.err.contains(told) && refused.out.is_empty(), "{}{}", refused.out, refused.err);
        }
        let printed = run(home, &["--host", "zed", "--no-key", "--db", "a.db"]).ends(0);
        let block = parsed(&block(&printed.out)).unwrap();
        let variables = &block["context_servers"]["colibri"]["env"];
        assert_eq!(*variables, json!({ "COLIBRI_DB_PATH": desk.file("project/a.db").canonicalize_parent() }));
    }
    assert_eq!(desk.files(), [], "nothing is made");
}

#[test]
fn people_69_a_home_whose_name_hosts_would_replace_is_named() {
    let desk = Desk::new();
    let run = |arguments: &[&str]| {
        let mut command = desk.command(&["--host", "zed"]);
        Run::of(command.args(arguments).env("HOME", "/homes/$user").output().unwrap())
    };
    for arguments in [&[][..], &["--db", "d"], &["--key", "k"]] {
        let refused = run(arguments).ends(2);
        assert!(refused.err.starts_with("colibri: HOME has a $"), "{}", refused.err);
        let told = refused.err.ends_with("name both files elsewhere, with --db and --key\n");
        assert!(told, "{}", refused.err);
    }
    let refused = run(&["--key", "k", "--db", "$d"]).ends(2);
    assert!(refused.err.contains("--db") && refused.err.contains("has $d in it"), "{}", refused.err);
    assert_eq!(desk.files(), [], "nothing is made");
    run(&["--key", "k", "--db", "d"]).ends(0).says("COLIBRI_DB_PATH");
}

trait CanonicalParent {
    /// The path with the links of its folder resolved, as a working directory has it.
    fn canonicalize_parent(&self) -> PathBuf;
}

impl CanonicalParent for PathBuf {
    fn canonicalize_parent(&self) -> PathBuf {
        self.parent().unwrap().canonicalize().unwrap().join(self.file_name().unwrap())
    }
}

#[test]
fn people_69_what_a_server_would_refuse_is_refused_here() {
    let desk = Desk::new();
    for (arguments, told) in [
        (&["--tools", "cor"][..], "--tools has the unknown word \"cor\"; did you mean core?"),
        (&["--actor", " "], "--actor must be 1 to 128 printable characters"),
        (&["--actor", "$USER"], "--actor has a $"),
        (&["--db", "${HOME}/a.db"], "has ${HOME} in it"),
        (&["--db", ":memory:"], "keeps nothing"),
        (&["--db", "postgres://h:99999/d"], "the URL of --db has a port"),
        (&["--project", "missing"], "there is no folder missing"),
        (&["--key", "k", "--no-key"], "cannot be used with"),
    ] {
        let refused = desk.init(&[&["--host", "cursor", "--write"], arguments].concat()).ends(2);
        assert!(refused.err.contains(told) && refused.out.is_empty(), "{arguments:?}: {}", refused.err);
    }
    for arguments in [&["--write"][..], &["--no-key"], &["--host", "emacs"]] {
        desk.init(arguments).ends(2);
    }
    assert_eq!(desk.files(), [], "nothing is made");
}

/// A team's URL has a password. It is shown to no reader, and written only where the owner alone can read it.
#[test]
fn people_69_the_password_of_a_url_stays_private() {
    const URL: &str = "postgres://ada:se-cret@db1.example.com/colibri?sslmode=verify-full";
    let desk = Desk::new();
    let with_url = |arguments: &[&str]| {
        let all = [&["--host", "cursor", "--no-key"], arguments].concat();
        Run::of(desk.command(&all).env("COLIBRI_DATABASE_URL", URL).output().unwrap())
    };
    let printed = with_url(&[]).ends(0);
    assert!(!printed.out.contains("se-cret") && printed.err.is_empty(), "{}{}", printed.out, printed.err);
    printed.says("postgres://ada:PASSWORD@db1.example.com/colibri?").says("in the place of PASSWORD");
    let file = desk.write(".cursor/mcp.json", "{}\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let left = with_url(&["--write"]).ends(1).says("chmod 600").says("ada:PASSWORD@");
    assert!(!left.out.contains("se-cret"), "{}", left.out);
    assert_eq!(desk.read(".cursor/mcp.json"), "{}\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let written = with_url(&["--write"]).ends(0);
    assert!(!written.out.contains("se-cret"), "{}", written.out);
    let block = parsed(&desk.read(".cursor/mcp.json")).unwrap();
    assert_eq!(block["mcpServers"]["colibri"]["env"], json!({ "COLIBRI_DATABASE_URL": URL }));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}
