//! Machines of their own on one network: a network namespace each, joined by a bridge. A machine that is cut off hears no more of the
//! others, and no one is told. (man 7 network_namespaces.) Nothing here needs root where the system lets users make namespaces.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The network of the machines.
pub const RANGE: &str = "10.77.0.0/24";
/// `require` for a run that must not skip these tests.
const VARIABLE: &str = "COLIBRI_TEST_NAMESPACES";

/// The network; it goes with this value.
pub struct Network {
    hub: Mutex<Hub>,
    /// A process in the namespace of each machine.
    machines: Vec<String>,
}

/// A shell in the namespace of the bridge.
struct Hub {
    shell: Child,
    stdin: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Hub {
    fn start() -> Self {
        let mut command = Command::new("unshare");
        if !is_root() {
            command.args(["--user", "--map-current-user", "--keep-caps"]);
        }
        command.args(["--net", "sh"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut shell = command.spawn().expect("unshare of util-linux starts");
        let (stdin, stdout) = (shell.stdin.take().expect("a pipe"), shell.stdout.take().expect("a pipe"));
        Self { shell, stdin, answers: BufReader::new(stdout) }
    }

    /// Runs commands; returns their last line, or `None` if one failed.
    fn run(&mut self, script: &str) -> Option<String> {
        let script = format!("( set -e\n{script}\n)\necho \"end $?\"\n");
        self.stdin.write_all(script.as_bytes()).ok()?;
        let (mut line, mut last) = (String::new(), String::new());
        while self.answers.read_line(&mut line).ok()? > 0 {
            match line.trim_end().strip_prefix("end ") {
                Some("0") => return Some(last),
                Some(_) => return None,
                None => last = std::mem::take(&mut line).trim_end().to_owned(),
            }
        }
        None
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The address of a machine.
pub fn address(machine: usize) -> String {
    format!("10.77.0.{}", machine + 1)
}

impl Network {
    /// Makes that many machines. Returns `None` if the system gives us no namespaces.
    pub fn new(machines: usize) -> Option<Self> {
        let mut hub = Hub::start();
        let bridges =
            "for bridge in near far; do ip link add $bridge type bridge; ip link set $bridge up; done";
        let made = hub.run(bridges).and_then(|_| (0..machines).map(|machine| hub.machine(machine)).collect());
        if made.is_none() {
            let asked = std::env::var_os(VARIABLE).is_some();
            assert!(!asked, "{VARIABLE} is set, but there are no network namespaces");
            eprintln!(
                "skipped: the system makes no network namespaces for this user, or `ip` is missing. Run it as root, or allow users \
                 namespaces, and install iproute2"
            );
        }
        Some(Self { hub: Mutex::new(hub), machines: made? })
    }

    /// The words that run a program on a machine.
    pub fn entry(&self, machine: usize) -> Vec<String> {
        let user: &[&str] = if is_root() { &[] } else { &["--user", "--preserve-credentials"] };
        let words = ["nsenter"].iter().chain(user).chain(&["--net", "--target"]);
        words.copied().chain([self.machines[machine].as_str(), "--"]).map(str::to_owned).collect()
    }

    /// Cuts machines off from the others; among themselves they go on.
    pub fn part(&self, machines: &[usize]) {
        self.join_to("far", machines);
    }

    /// Joins all machines again.
    pub fn heal(&self) {
        self.join_to("near", &(0..self.machines.len()).collect::<Vec<_>>());
    }

    fn join_to(&self, bridge: &str, machines: &[usize]) {
        let script: Vec<String> =
            machines.iter().map(|machine| format!("ip link set port{machine} master {bridge}")).collect();
        let mut hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
        hub.run(&script.join("\n")).expect("the hub moves its ports");
    }
}

impl Hub {
    /// Makes a machine with a cable to the bridge; returns a process in its namespace, which ends with the hub.
    fn machine(&mut self, machine: usize) -> Option<String> {
        let address = address(machine);
        self.run(&format!(
            "unshare --net sh -c 'while kill -0 $0 2>&-; do sleep 1; done' $$ <&- >&- 2>&- & inside=$!
             until [ \"$(readlink /proc/$inside/ns/net)\" != \"$(readlink /proc/self/ns/net)\" ]; do sleep 0.01; done
             ip link add port{machine} type veth peer name cable{machine}
             ip link set port{machine} master near up
             ip link set cable{machine} netns $inside
             nsenter --net --target $inside ip addr add {address}/24 dev cable{machine}
             nsenter --net --target $inside ip link set cable{machine} up
             nsenter --net --target $inside ip link set lo up
             echo $inside"
        ))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for machine in &self.machines {
            let _ = Command::new("kill").args(["-KILL", machine]).stderr(Stdio::null()).status();
        }
        let mut hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = hub.shell.kill().and_then(|()| hub.shell.wait());
    }
}
