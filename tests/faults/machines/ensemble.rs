//! Three servers of PostgreSQL under Patroni, with etcd, on this machine. Debian's packages have the programs.

use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use colibri_test_support::postgres::{Place, Programs, kill_server};
use serde_json::{Value, json};

/// `require` for a run that must not skip these tests.
pub const VARIABLE: &str = "COLIBRI_TEST_PATRONI";
/// How long a change of roles may take; far beyond what any takes.
const PATIENCE: Duration = Duration::from_secs(120);
const NODES: [&str; 3] = ["n1", "n2", "n3"];
const PASSWORD: &str = "patroni-test";

/// What the programs are told. The times are short: a leader that is gone is replaced within about ten seconds.
const SETTINGS: &str = "
scope: colibri
name: NAME
restapi: { listen: '127.0.0.1:REST', connect_address: '127.0.0.1:REST' }
etcd3: { hosts: '127.0.0.1:ETCD' }
bootstrap:
  dcs:
    ttl: 8
    loop_wait: 1
    retry_timeout: 3
    primary_start_timeout: 0
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: { wal_log_hints: 'on', shared_buffers: '32MB', dynamic_shared_memory_type: mmap }
  initdb: [ encoding: UTF8, locale: C, no-sync ]
postgresql:
  listen: '127.0.0.1:PORT'
  connect_address: '127.0.0.1:PORT'
  data_dir: 'FOLDER/NAME'
  bin_dir: 'PROGRAMS'
  pgpass: 'FOLDER/NAME.pgpass'
  parameters: { unix_socket_directories: 'FOLDER' }
  authentication:
    superuser: { username: postgres, password: PASSWORD }
    replication: { username: replicator, password: PASSWORD }
    rewind: { username: rewinder, password: PASSWORD }
  pg_hba: [ 'local all all scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256' ]
";

/// A node: its ports, and the process that watches over its server.
struct Node {
    name: &'static str,
    port: u16,
    rest: u16,
    patroni: Option<Child>,
}

/// The nodes, and etcd.
pub struct Ensemble {
    programs: &'static Programs,
    place: Place,
    etcd: Child,
    nodes: Vec<Node>,
}

/// Where the programs are, or why there are none.
fn programs() -> Result<[PathBuf; 3], String> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let find = |program: &str| {
        let mut found = std::env::split_paths(&folders).map(|folder| folder.join(program));
        found.find(|path| path.exists()).ok_or_else(|| {
            format!(
                "the program {program} is missing. Install Patroni and etcd (Debian: patroni etcd-server)"
            )
        })
    };
    Ok([find("etcd")?, find("patroni")?, find("patronictl")?])
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

impl Ensemble {
    /// Starts all and waits for a leader with two standbys. `None` in a run that does not ask for it.
    pub fn start() -> Option<Self> {
        if std::env::var_os(VARIABLE).is_none() {
            eprintln!("skipped without {VARIABLE}=require: .ci/failover runs it");
            return None;
        }
        let [etcd, ..] = programs().unwrap_or_else(|reason| panic!("{VARIABLE} is set, but {reason}"));
        let programs = Programs::find().expect("Patroni watches over servers of PostgreSQL");
        let place = Place::private();
        place.keep();
        // Patroni makes the folders of the data.
        Programs::give(&place.folder);
        let (clients, peers) = (free_port(), free_port());
        let of = |port: u16| format!("http://127.0.0.1:{port}");
        let etcd = spawn(
            programs,
            &place.folder,
            "etcd",
            &etcd,
            &[
                ["--name", "etcd"],
                ["--data-dir", &place.folder.join("etcd").to_string_lossy()],
                ["--listen-client-urls", &of(clients)],
                ["--advertise-client-urls", &of(clients)],
                ["--listen-peer-urls", &of(peers)],
                ["--initial-advertise-peer-urls", &of(peers)],
                ["--initial-cluster", &format!("etcd={}", of(peers))],
            ]
            .concat(),
        );
        let node = |name| Node { name, port: free_port(), rest: free_port(), patroni: None };
        let mut ensemble = Self { programs, place, etcd, nodes: NODES.map(node).into() };
        for at in 0..NODES.len() {
            ensemble.configure(at, clients);
            ensemble.restart(at);
        }
        ensemble.settle();
        Some(ensemble)
    }

    fn configure(&self, at: usize, etcd: u16) {
        let (node, file) = (&self.nodes[at], self.settings(at));
        let folder = self.place.folder.to_string_lossy();
        let settings = SETTINGS
            .replace("NAME", node.name)
            .replace("REST", &node.rest.to_string())
            .replace("ETCD", &etcd.to_string())
            .replace("PORT", &node.port.to_string())
            .replace("FOLDER", &folder)
            .replace("PROGRAMS", &self.programs.folder().to_string_lossy())
            .replace("PASSWORD", PASSWORD);
        std::fs::write(&file, settings).expect("the folder is ours");
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("the file is ours");
        Programs::give(&file);
    }

    fn settings(&self, at: usize) -> PathBuf {
        self.place.folder.join(self.nodes[at].name).with_extension("yml")
    }

    /// Starts the Patroni of a node, which starts the server.
    pub fn restart(&mut self, at: usize) {
        let [_, patroni, _] = programs().expect("they were there");
        let settings = self.settings(at);
        let settings = settings.to_string_lossy();
        let name = self.nodes[at].name;
        self.nodes[at].patroni =
            Some(spawn(self.programs, &self.place.folder, name, &patroni, &[settings.as_ref()]));
    }

    /// Kills the server of a node, and its Patroni, too, if so asked.
    pub fn kill(&mut self, at: usize, with_patroni: bool) {
        if with_patroni && let Some(mut patroni) = self.nodes[at].patroni.take() {
            patroni.kill().and_then(|()| patroni.wait()).expect("it is ours");
        }
        kill_server(&self.place.folder.join(self.nodes[at].name));
    }

    /// Has another node lead, as an operator does.
    pub fn switch_over(&self, from: usize) {
        let [.., patronictl] = programs().expect("they were there");
        let mut command = self.programs.command(&patronictl.to_string_lossy());
        command.arg("-c").arg(self.settings(from)).args(["switchover", "--force", "--leader", NODES[from]]);
        let output = command.env("HOME", &self.place.folder).output().expect("patronictl starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("Successfully switched over"),
            "{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Waits until the cluster is whole: a leader, and two standbys that follow it, one of which it waits for.
    pub fn settle(&self) -> usize {
        let began = Instant::now();
        loop {
            let members = self.members();
            let of = |at: usize| members.as_array()?.iter().find(|member| member["name"] == NODES[at]);
            let roles: Vec<_> = (0..NODES.len())
                .filter_map(of)
                .filter(|member| {
                    ["running", "streaming"].map(|state| json!(state)).contains(&member["state"])
                })
                .map(|member| (member["role"].as_str().unwrap_or_default(), &member["timeline"]))
                .collect();
            let leader = roles.iter().position(|(role, _)| *role == "leader");
            let waits = roles.iter().any(|(role, _)| *role == "sync_standby");
            let together = roles.iter().all(|(_, timeline)| *timeline == roles[0].1);
            if let (Some(leader), 3, true, true) = (leader, roles.len(), waits, together) {
                return leader;
            }
            assert!(began.elapsed() < PATIENCE, "no whole cluster: {members:#}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Which node leads, if one does.
    pub fn leader(&self) -> Option<usize> {
        let members = self.members();
        let leader = members.as_array()?.iter().find(|member| member["role"] == "leader")?;
        let runs = leader["state"] == "running";
        NODES.iter().position(|name| leader["name"] == *name && runs)
    }

    /// What the first Patroni that answers says of all nodes.
    fn members(&self) -> Value {
        let asked = |node: &Node| -> Option<Value> {
            let mut stream = TcpStream::connect(("127.0.0.1", node.rest)).ok()?;
            stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
            stream.write_all(b"GET /cluster HTTP/1.0\r\n\r\n").ok()?;
            let mut text = String::new();
            stream.read_to_string(&mut text).ok()?;
            serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
        };
        self.nodes.iter().find_map(asked).map_or(Value::Null, |mut found: Value| found["members"].take())
    }

    /// The URL of a database on one node, for its superuser.
    pub fn superuser_url(&self, at: usize, database: &str) -> String {
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{}/{database}", self.nodes[at].port)
    }

    /// A URL that names all nodes.
    pub fn url(&self, user: &str, database: &str) -> String {
        let hosts: Vec<String> = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port)).collect();
        format!("postgres://{user}:{PASSWORD}@{}/{database}?target_session_attrs=read-write", hosts.join(","))
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The password of every user.
    pub fn password(&self) -> &str {
        PASSWORD
    }

    /// The last lines of what the nodes have logged.
    pub fn logs(&self) -> String {
        let last = |name: &str| {
            let text = std::fs::read_to_string(self.place.folder.join(name).with_extension("log"));
            let text = text.unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            format!("{name}:\n{}\n", lines[lines.len().saturating_sub(20)..].join("\n"))
        };
        NODES.map(last).concat()
    }
}

impl Drop for Ensemble {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().filter_map(|node| node.patroni.as_mut()).chain([&mut self.etcd]) {
            let _ = child.kill().and_then(|()| child.wait());
        }
        // The keeper of the place then ends the servers.
    }
}

/// Starts a program that ends with this thread.
fn spawn(programs: &Programs, folder: &Path, name: &str, program: &Path, arguments: &[&str]) -> Child {
    let log = File::options().create(true).append(true).open(folder.join(name).with_extension("log"));
    let log = log.expect("the folder is ours");
    let mut command: Command = programs.command("/usr/bin/setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program).args(arguments).env("HOME", folder);
    command.stdout(log.try_clone().expect("a log")).stderr(log).spawn().expect("the program starts")
}
