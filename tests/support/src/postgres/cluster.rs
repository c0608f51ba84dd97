//! A server of PostgreSQL with its data, which a test may stop at once and start again.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use postgres::{Client, NoTls};

use super::place::Place;
use super::programs::Programs;
use crate::client::PATIENCE;

/// Who connects. Setup makes the groups; the tests' login roles are members of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Owns everything, as the operator of the database server does.
    Superuser,
    /// A member of `colibri_owner`: migrates.
    Owner,
    /// A member of `colibri_app`: serves.
    App,
    /// A member of `colibri_read`: only reads.
    Read,
}

impl Role {
    /// The name of the login role.
    pub fn name(self) -> &'static str {
        match self {
            Self::Superuser => "postgres",
            Self::Owner => "test_owner",
            Self::App => "test_app",
            Self::Read => "test_read",
        }
    }
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// In order: open transactions are rolled back, everything is written.
    Fast,
    /// At once, as when the power goes but the files stay: the next start recovers from the write-ahead log.
    Immediate,
    /// Each of its processes is killed, so that none says goodbye.
    Kill,
}

/// What a cluster starts with: each value is the least that shows what a default server does, or keeps tests quick.
const SETTINGS: &str = "
listen_addresses = '127.0.0.1'
max_connections = 300
shared_buffers = 64MB
max_wal_size = 256MB
wal_level = replica
hot_standby = on
dynamic_shared_memory_type = mmap
log_line_prefix = '%m %a %u@%d '
";

/// Login roles for the groups that setup makes; the groups, too, for tests that run no setup.
const ROLES: [(&str, Role); 3] =
    [("colibri_owner", Role::Owner), ("colibri_app", Role::App), ("colibri_read", Role::Read)];

/// A server with its data.
#[derive(Debug)]
pub struct Cluster {
    programs: &'static Programs,
    /// Keeps the folder; of a shared cluster for as long as the process lives.
    place: Place,
    data: PathBuf,
    /// The words before the server's program.
    entry: Vec<String>,
    port: u16,
    password: String,
    /// `None` when it is stopped, or when another process started it.
    server: Option<Child>,
    shared: bool,
}

impl Cluster {
    /// The cluster of this run of tests, or `None` without PostgreSQL. The first test starts it, and it ends by itself
    /// some seconds after the last. A test must not stop it or change its settings.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        let programs = Programs::find()?;
        Some(SHARED.get_or_init(|| Self::join(programs, || Place::shared(programs))))
    }

    /// Joins the cluster of that folder, and makes it anew if no server runs there: one may have died and left its files.
    pub(super) fn join(programs: &'static Programs, enter: impl Fn() -> Place) -> Self {
        let place = enter();
        let data = place.folder.join("shared");
        place.alone(|| {
            let serves = place.folder.join("serves");
            if serves.exists() && runs(&data) {
                return;
            }
            let _ = std::fs::remove_file(&serves);
            place.keep();
            let _ = std::fs::remove_dir_all(&data);
            initialise(programs, &data);
            let mut cluster = Self::of(programs, enter(), data.clone(), true);
            cluster.start_first();
            cluster.create_roles();
            File::create(serves).expect("the folder is ours");
        });
        Self::of(programs, place, data, true)
    }

    /// A cluster for this test alone, with these lines at the end of its settings; `None` without PostgreSQL.
    pub fn private(settings: &str) -> Option<Self> {
        let programs = Programs::find()?;
        let place = Place::private();
        place.keep();
        let data = place.folder.join("data");
        initialise(programs, &data);
        let mut cluster = Self::of(programs, place, data, false);
        cluster.configure(settings);
        cluster.start_first();
        cluster.create_roles();
        Some(cluster)
    }

    fn of(programs: &'static Programs, place: Place, data: PathBuf, shared: bool) -> Self {
        let read = |name: &str| std::fs::read_to_string(data.join(name)).expect("the cluster is initialised");
        let (port, password) = (read("test.port"), read("test.password"));
        let port = port.parse().expect("a number");
        Self { programs, place, data, entry: Vec::new(), port, password, server: None, shared }
    }

    /// A copy of this cluster, which must be stopped, in a place of its own. It is stopped, too.
    pub fn copy(&self) -> Self {
        assert!(!self.shared && self.server.is_none(), "the cluster is stopped");
        let place = Place::private();
        place.keep();
        let data = place.folder.join("data");
        let copied = Command::new("cp").arg("-a").arg(&self.data).arg(&data).status();
        assert!(copied.expect("cp starts").success(), "the data is copied");
        let mut copy = Self::of(self.programs, place, data, false);
        copy.port = write_addresses(&copy.data);
        copy
    }

    /// Runs one process after the other, where they share the cluster.
    pub(super) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        self.place.alone(work)
    }

    /// The major version of the server.
    pub fn version(&self) -> u32 {
        self.programs.version
    }

    /// The port it listens on, at 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its data, which also has its Unix socket.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The password of every role in it.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A shell of the user that the server runs as, which reaches the server by its socket as the superuser, without a password.
    /// The user owns the folder of the data.
    pub fn shell(&self, script: &str) -> Command {
        assert!(!self.shared, "other tests use this cluster");
        let home = self.home();
        let path = format!("{}:/usr/bin:/bin", self.programs.folder().display());
        let mut shell = self.programs.command("/bin/sh");
        shell.args(["-c", script]).current_dir(&home).env("HOME", &home).env("PATH", path);
        shell.env("PGHOST", &self.data).env("PGPORT", self.port.to_string());
        shell.env("PGUSER", Role::Superuser.name());
        shell
    }

    /// The home of that user, beside the data.
    pub fn home(&self) -> PathBuf {
        let home = self.data.with_extension("home");
        if !home.exists() {
            std::fs::create_dir(&home).expect("the folder is ours");
            Programs::give(&home);
            Programs::give(&self.place.folder);
        }
        home
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log_file()).unwrap_or_default()).into_owned()
    }

    fn log_file(&self) -> PathBuf {
        self.data.with_extension("log")
    }

    /// The URL of a database for a role, over TCP.
    pub fn url(&self, role: Role, database: &str) -> String {
        format!("postgres://{}:{}@127.0.0.1:{}/{database}", role.name(), self.password, self.port)
    }

    /// The same over the Unix socket.
    pub fn socket_url(&self, role: Role, database: &str) -> String {
        let folder = self.data.display();
        format!("postgres://{}:{}@/{database}?host={folder}&port={}", role.name(), self.password, self.port)
    }

    /// A connection of the test's own, by a client that shares no code with the server's.
    pub fn client(&self, role: Role, database: &str) -> Client {
        Client::connect(&self.socket_url(role, database), NoTls)
            .unwrap_or_else(|error| panic!("{error:?}; the server's log:\n{}", self.log()))
    }

    /// Adds lines to the settings. They count from the next start, or the next [`Self::reload`] where that suffices.
    pub fn configure(&self, settings: &str) {
        append(&self.data.join("postgresql.conf"), settings);
    }

    /// Runs behind these words from the next start on, such as those that enter a network namespace, and serves that network, too.
    pub fn run_behind(&mut self, entry: Vec<String>, network: &str) {
        self.configure("listen_addresses = '*'");
        let rules = format!("host all,replication all {network} scram-sha-256");
        append(&self.data.join("pg_hba.conf"), &rules);
        self.entry = entry;
    }

    /// Replaces the rules of who may connect, and how (`pg_hba.conf`), and has the server read them.
    pub fn admit(&self, rules: &str) {
        std::fs::write(self.data.join("pg_hba.conf"), rules).expect("the data is ours");
        self.reload();
    }

    /// Has the server read its settings again.
    pub fn reload(&self) {
        self.signal("HUP");
    }

    /// Starts it and waits until it serves.
    pub fn start(&mut self) {
        assert!(self.try_start(), "PostgreSQL ended: {}", self.log());
    }

    /// Starts it for the first time. Another program may have taken the port that was free.
    pub(super) fn start_first(&mut self) {
        for _ in 0..5 {
            if self.try_start() {
                return;
            }
            assert!(self.log().contains("could not bind"), "PostgreSQL ended: {}", self.log());
            self.port = write_addresses(&self.data);
        }
        panic!("no port stays free: {}", self.log());
    }

    /// Returns false if it ends.
    fn try_start(&mut self) -> bool {
        assert!(self.server.is_none(), "the server runs already");
        let log = OpenOptions::new().create(true).append(true).open(self.log_file()).expect("a log");
        let mut command = self.programs.command_behind(&self.entry, "postgres");
        command.arg("-D").arg(&self.data).stdout(Stdio::null()).stderr(log);
        let mut server = command.spawn().expect("PostgreSQL starts");
        let began = Instant::now();
        while !is_ready(&self.data, server.id()) {
            if server.try_wait().expect("the server can be waited for").is_some() {
                return false;
            }
            assert!(began.elapsed() < PATIENCE, "PostgreSQL does not get ready: {}", self.log());
            std::thread::sleep(Duration::from_millis(2));
        }
        self.server = Some(server);
        true
    }

    /// Stops it and waits for its end.
    pub fn stop(&mut self, how: Stop) {
        match how {
            Stop::Fast => self.signal("INT"),
            Stop::Immediate => self.signal("QUIT"),
            Stop::Kill => kill_server(&self.data),
        }
        let mut server = self.server.take().expect("this process has started the server");
        server.wait().expect("the server can be waited for");
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.server.is_some()
    }

    fn signal(&self, name: &str) {
        assert!(!self.shared, "other tests use this cluster");
        let server = self.server.as_ref().expect("the server runs");
        let status = Command::new("kill").arg(format!("-{name}")).arg(server.id().to_string()).status();
        assert!(status.expect("kill runs").success());
    }

    fn create_roles(&self) {
        let mut client = self.client(Role::Superuser, "postgres");
        for (group, role) in ROLES {
            let (name, password) = (role.name(), &self.password);
            let sql = format!(
                "CREATE ROLE {group} NOLOGIN; CREATE ROLE {name} LOGIN PASSWORD '{password}' IN ROLE {group}"
            );
            client.batch_execute(&sql).expect("the superuser creates roles");
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.shared {
            return;
        }
        if self.is_running() {
            self.stop(Stop::Immediate);
        }
        let _ = std::fs::remove_dir_all(&self.place.folder);
    }
}

/// Kills all processes of the server with that data, if one runs, and removes what a killed server leaves behind in the system.
pub fn kill_server(data: &Path) {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let Some(server) = text.lines().next() else { return };
    let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    for process in [server].into_iter().chain(children.unwrap_or_default().split_whitespace()) {
        // It may have ended by itself.
        let _ = Command::new("kill").args(["-KILL", process]).stderr(Stdio::null()).status();
    }
    // The seventh line has the key and the number of a segment of shared memory.
    if let Some(segment) = text.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)) {
        let _ = Command::new("ipcrm").args(["-m", segment]).stderr(Stdio::null()).status();
    }
}

/// Whether a server of that data runs. The number in its file may be another program's by now.
fn runs(data: &Path) -> bool {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let server = text.lines().next().unwrap_or_default();
    std::fs::read_link(format!("/proc/{server}/cwd")).is_ok_and(|folder| folder == data)
}

/// Whether that server serves; it writes on the eighth line of its file how far it is.
fn is_ready(data: &Path, server: u32) -> bool {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let mut lines = text.lines();
    lines.next() == Some(&server.to_string())
        && lines.nth(6).is_some_and(|status| ["ready", "standby"].contains(&status.trim_end()))
}

fn initialise(programs: &Programs, data: &Path) {
    let password = random_password();
    let file = data.with_extension("password");
    std::fs::write(&file, &password).expect("the folder is ours");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("the file is ours");
    std::fs::create_dir(data).expect("the folder is ours");
    Programs::give(&file);
    Programs::give(data);
    let mut command = programs.command("initdb");
    command.arg("-D").arg(data).args(["--no-sync", "--no-instructions", "--locale=C", "--encoding=UTF8"]);
    command.args(["--username=postgres", "--auth=scram-sha-256", "--pwfile"]).arg(&file);
    let output = command.output().expect("initdb starts");
    assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&file, data.join("test.password")).expect("the folder is ours");
    append(&data.join("postgresql.conf"), SETTINGS);
    write_addresses(data);
}

/// Chooses a free port and writes where to listen into the settings.
fn write_addresses(data: &Path) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let folder = data.display();
    append(&data.join("postgresql.conf"), &format!("port = {port}\nunix_socket_directories = '{folder}'"));
    std::fs::write(data.join("test.port"), port.to_string()).expect("the folder is ours");
    port
}

fn append(file: &Path, lines: &str) {
    let mut file = OpenOptions::new().append(true).open(file).expect("the file is there");
    writeln!(file, "\n{lines}").expect("the file is ours");
}

fn random_password() -> String {
    let mut bytes = [0; 16];
    let mut source = File::open("/dev/urandom").expect("Linux");
    source.read_exact(&mut bytes).expect("random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
