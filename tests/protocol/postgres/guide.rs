//! The guide for many machines, typed from top to bottom. Its machines are folders here, and its database servers two clusters on
//! this machine. What root types is done in the test's own way, since no test has a machine to itself; a line that the test does not
//! know fails it.

#![allow(clippy::print_stderr)]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE, Server};
use colibri_test_support::postgres::{Cluster, Programs, Role, Stop, VARIABLE};
use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// Ends a line of the page that must fail.
const FAILS: &str = "# fails";
/// Where the page has the data of Debian's first cluster, its rules, and the home of its user.
const DATA: &str = "/var/lib/postgresql/15/main";
const RULES: &str = "/etc/postgresql/15/main/pg_hba.conf";
const HOME: &str = "/var/lib/postgresql";

#[test]
fn the_guide_works_typed_from_top_to_bottom() {
    let Some(mut team) = Team::new() else { return };
    let page = repository("docs/guide/many-machines.md");
    let mut server = None;
    let (mut printed, mut typed) = (String::new(), 0);
    for block in blocks(&page) {
        match block {
            Block::Shell(machine, lines) => {
                // A server of a machine goes through the failover.
                if lines == ["systemctl stop postgresql"] {
                    server = Some(team.serve("ben"));
                }
                if let (Some(server), ["psql -c \"SELECT pg_promote()\""]) = (&mut server, &lines[..]) {
                    let told = server.call("task_create", json!({ "title": "Nobody takes it" })).to_string();
                    assert!(told.contains("STORE_UNAVAILABLE"), "{told}");
                }
                printed = lines.iter().map(|line| team.types(machine, line)).collect();
                typed += lines.len();
            }
            Block::Shown(text) => shows(&printed, text),
            Block::Host(text) => team.host(text),
        }
    }
    assert!(typed > 60, "the page has lost its commands: {typed}");
    for cluster in &team.db {
        assert!(!cluster.log().contains("S-PASSWORD"), "the server's log has a password of the page");
    }
    let mut server = server.expect("the page goes through a failover");
    goes_on(&mut server);
    assert_eq!(server.finish().code(), 0);
}

/// One block of the page.
enum Block<'a> {
    /// The machine, and what is typed there.
    Shell(&'a str, Vec<&'a str>),
    /// What the commands before it print.
    Shown(&'a str),
    /// The file of a host on the machine before it.
    Host(&'a str),
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let fenced = page.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap());
    fenced
        .map(|(kind, text)| match kind {
            "sh" => {
                let (machine, lines) = text.split_once('\n').expect("a command");
                let machine = machine.strip_prefix("# ").expect("the first line names the machine");
                Block::Shell(machine, lines.lines().collect())
            }
            "text" => Block::Shown(text),
            "json" => Block::Host(text),
            other => panic!("a block of another kind: {other}"),
        })
        .collect()
}

/// Looks for each line of a block in what was printed, in its order; `…` leaves lines out.
fn shows(printed: &str, text: &str) {
    let mut rest = printed.lines();
    for shown in text.lines().filter(|line| *line != "…") {
        assert!(rest.any(|line| line == shown), "not printed, or not here: {shown}\n{printed}");
    }
}

/// The machines of the page.
struct Team {
    folder: TempDir,
    db: [Cluster; 2],
    /// What each machine's user has set.
    said: HashMap<String, String>,
}

impl Team {
    fn new() -> Option<Self> {
        if std::env::var_os(VARIABLE).is_none() {
            eprintln!(
                "skipped: the guide copies whole servers; .ci/postgres types it, or {VARIABLE}=require"
            );
            return None;
        }
        let programs = Programs::find()?;
        for program in ["psql", "pg_basebackup"].map(|name| programs.folder().join(name)) {
            if !program.exists() {
                return skipped(&format!("there is no {}", program.display()));
            }
        }
        // A server that logs what it is told, passwords too.
        let chatty = "log_statement = 'all'\nlog_min_duration_statement = 0";
        let db = [Cluster::private(chatty)?, Cluster::private(chatty)?];
        for cluster in &db {
            // A new server has no roles of Colibri's.
            let mut client = cluster.client(Role::Superuser, "postgres");
            for role in
                ["test_owner", "test_app", "test_read", "colibri_owner", "colibri_app", "colibri_read"]
            {
                client.batch_execute(&format!("DROP ROLE {role}")).unwrap();
            }
            // As Debian does; the page admits others.
            cluster.admit("local all all trust\n");
        }
        let folder = TempDir::new().unwrap();
        for name in ["bin", "ada", "ben", "ops"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        symlink(BINARY, folder.path().join("bin/colibri")).unwrap();
        let team = Self { folder, db, said: HashMap::new() };
        let old = team.home("ops").join("old.db");
        let call = ["call", "task_create", r#"{"title": "From the file"}"#];
        let made = call.iter().fold(Launch::new(BINARY).env("COLIBRI_DB_PATH", old), Launch::arg);
        assert!(made.command().output().unwrap().status.success(), "a file of before");
        Some(team)
    }

    fn home(&self, machine: &str) -> PathBuf {
        self.folder.path().join(machine)
    }

    /// Types a line on a machine and returns what it prints.
    fn types(&mut self, machine: &str, line: &str) -> String {
        let (name, user) = machine.split_once(", as ").unwrap_or((machine, ""));
        let cluster = ["db1", "db2"].iter().position(|server| *server == name);
        let output = match (cluster, user) {
            (Some(at), "root") => {
                self.as_root(at, line);
                return String::new();
            }
            (Some(at), "postgres") => self.db[at].shell(&self.here(at, line)).output().unwrap(),
            (None, "") if line.starts_with("scp ") => {
                self.copy_to_machine(line);
                return String::new();
            }
            (None, "") => self.as_agent(name, line),
            _ => panic!("no such machine: {machine}"),
        };
        let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let may = !line.ends_with(FAILS);
        assert_eq!(output.status.success(), may, "{machine}: {line}\n{stdout}{stderr}");
        assert!(!stderr.contains("ERROR:"), "{machine}: {line}\n{stderr}");
        if let (Some(at), true) = (cluster, line.contains("synchronous_standby_names")) {
            self.await_standby(at);
        }
        stdout
    }

    /// Waits until the standby that commits are to wait for follows the server. A person does not type the next line before that.
    fn await_standby(&self, at: usize) {
        let mut client = self.db[at].client(Role::Superuser, "postgres");
        let began = Instant::now();
        let sql = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
        while client.query(sql, &[]).unwrap().is_empty() {
            assert!(began.elapsed() < PATIENCE, "no standby follows");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn as_agent(&mut self, name: &str, line: &str) -> Output {
        let said = self.said.entry(name.to_owned()).or_default().clone();
        let script = self.here(0, &format!("{said}{line}"));
        if line.starts_with("export ") || line.starts_with("unset ") {
            *self.said.get_mut(name).unwrap() += &format!("{line}\n");
        }
        let path = format!("{}:/usr/bin:/bin", self.home("bin").display());
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).current_dir(self.home(name)).env_clear();
        shell.env("HOME", self.home(name)).env("PATH", path).output().unwrap()
    }

    /// What root types on a database server; `at` says on which.
    fn as_root(&mut self, at: usize, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            // The gate installs the same package.
            ["apt-get", "install", "-y", package] => {
                let gate = repository(".ci/postgres");
                assert!(gate.contains(&format!("--no-install-recommends {package} ")), "{package}");
            }
            ["systemctl", what @ ("start" | "stop" | "restart"), "postgresql"] => {
                if what != "start" {
                    self.db[at].stop(Stop::Fast);
                }
                if what != "stop" {
                    let data = self.db[at].data().display().to_string();
                    // A copy of another server's data has that server's address.
                    self.db[at].configure(&format!(
                        "port = {}\nunix_socket_directories = '{data}'",
                        self.db[at].port()
                    ));
                    self.db[at].start();
                }
            }
            ["scp", ref files @ .., "/var/lib/postgresql/"] => {
                for file in files {
                    let name = file.strip_prefix(&format!("db1.example.com:{HOME}/")).expect(line);
                    let to = self.db[at].home().join(name);
                    fs::copy(self.db[0].home().join(name), &to).unwrap();
                    Programs::give(&to);
                }
            }
            // Copying them has given them away.
            ["chown", "postgres:", ref files @ ..] => {
                for file in files {
                    assert!(Path::new(&self.here(at, file)).exists(), "{file}");
                }
            }
            _ => panic!("the test does not know what root types: {line}"),
        }
    }

    /// `scp db1.example.com:FILE FILE` on a machine of an agent.
    fn copy_to_machine(&self, line: &str) {
        let [_, from, to] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let from = self.here(0, from.strip_prefix("db1.example.com:").expect(line));
        let name = to.strip_prefix("$HOME/").expect(line);
        for machine in ["ada", "ben", "ops"] {
            fs::copy(&from, self.home(machine).join(name)).unwrap();
        }
    }

    /// The line with the places of this run. `at` says which server's the local ones are.
    fn here(&self, at: usize, line: &str) -> String {
        let ports = [0, 1].map(|at| format!("localhost:{}", self.db[at].port()));
        let data = self.db[at].data().display().to_string();
        line.replace("@db1.example.com,db2.example.com/", &format!("@{},{}/", ports[0], ports[1]))
            .replace("@db1.example.com/", &format!("@{}/", ports[0]))
            .replace("@db2.example.com/", &format!("@{}/", ports[1]))
            .replace("DNS:db1.example.com,DNS:db2.example.com", "DNS:localhost")
            .replace(RULES, &format!("{data}/pg_hba.conf"))
            .replace(DATA, &data)
            .replace(HOME, &self.db[at].home().display().to_string())
    }

    /// Starts a server with the file of a host, on the machine of its user.
    fn host(&self, text: &str) {
        let text = self.here(0, text).replace("/path/to", self.home("ada").to_str().unwrap());
        let file: Value = serde_json::from_str(&text).unwrap();
        let variables = file["mcpServers"]["colibri"]["env"].as_object().unwrap();
        let launch = variables
            .iter()
            .fold(Launch::new(BINARY), |launch, (name, value)| launch.env(name, value.as_str().unwrap()));
        let mut server = launch.start();
        server.ready_by("task_list", json!({}));
        assert_eq!(server.data("task_list", json!({}))["total_count"], 2);
        assert_eq!(server.finish().code(), 0);
    }

    /// Starts a server with what the user of a machine has set.
    fn serve(&mut self, name: &str) -> Server {
        let set = self.as_agent(name, "env").stdout;
        let set = String::from_utf8(set).unwrap();
        let set =
            set.lines().filter(|line| line.starts_with("COLIBRI_")).filter_map(|line| line.split_once('='));
        let launch = Launch::new(BINARY).env("COLIBRI_DATABASE_LOCK_TIMEOUT_MS", "1000");
        let mut server = set.fold(launch, |launch, (name, value)| launch.env(name, value)).start();
        server.ready_by("task_list", json!({}));
        server
    }
}

/// A server that was there before the failover serves after it, by itself.
fn goes_on(server: &mut Server) {
    let began = Instant::now();
    loop {
        let reply = server.call("task_create", json!({ "title": "Through the failover" }));
        if reply["ok"] == true {
            return;
        }
        let text = reply.to_string();
        assert!(text.contains("STORE_UNAVAILABLE") && began.elapsed() < PATIENCE, "{text}");
    }
}

fn skipped<T>(reason: &str) -> Option<T> {
    eprintln!("skipped: the guide for many machines: {reason}");
    None
}

fn repository(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}
