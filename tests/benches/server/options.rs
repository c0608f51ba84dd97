//! The command line.

use std::path::PathBuf;

use crate::load::Plan;
use crate::peers;
use crate::process::check_folder;
use crate::target::{Setting, Shapes, Target, Tool};

/// What `--help` says.
pub const USAGE: &str = "\
usage: cargo bench -p colibri-tests --bench server -- MODE [OPTION ...]

  beside   Colibri beside peers: server_ping (with its audit row), task_create, thought_record; without sync on a
           memory file system and with full durability on a disk
  floor    task_create one at a time with full durability, beside a bare commit of the same rows and a bare pipe
  start    start to the first answer, and to the first stored call, beside peers
  memory   peak and present memory of one server after 10,000 to 150,000 calls

  --rounds N           runs of each server, alternating (default 7; start: 21)
  --calls N            calls of a pipelined run (default 5000; memory: 150000)
  --leave-out N        the first calls of it that are not counted (default 1000)
  --window N           calls in flight (default 16)
  --together           write the requests for answers that came together in one piece, not one by one
  --serial N           calls of a run one at a time (default 1000; floor: 500)
  --slice N            floor: calls of one kind before it is the next kind's turn (default 10)
  --tool NAME          beside: only this tool; may be repeated
  --setting memory|disk  only this one (default: beside both, memory memory, others disk); may be repeated
  --memory DIR         a folder on a memory file system (default /dev/shm)
  --disk DIR           a folder on a disk (default: in Cargo's target folder)
  --colibri COMMAND    another Colibri than the one just built
  --no-own-peers       without the peers of tests/benches/peer
  --peer NAME=COMMAND  another server over pipes, run by `sh -c exec`. It finds PEER_DB, PEER_SYNC (NORMAL or FULL) and
                       PEER_PING_AUDIT=1 in its environment; may be repeated
  --task JSON          the arguments that the --peer before it wants for task_create, with {n} for the call's number
  --thought JSON       the same for thought_record";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// See [`crate::beside`].
    Beside,
    /// See [`crate::floor`].
    Floor,
    /// See [`crate::start`].
    Start,
    /// See [`crate::memory`].
    Memory,
    /// See [`crate::echo`].
    Echo,
}

/// The command line, read.
pub struct Options {
    /// What is measured.
    pub mode: Mode,
    /// Runs of each server.
    pub rounds: usize,
    /// The pipelined runs.
    pub plan: Plan,
    /// Calls of a run one at a time.
    pub serial: usize,
    /// Calls of one kind in a row, for `floor`.
    pub slice: usize,
    /// The tools asked for.
    pub tools: Vec<Tool>,
    /// The settings asked for.
    pub settings: Vec<Setting>,
    /// Colibri.
    pub colibri: Target,
    /// The servers that it is compared with.
    pub peers: Vec<Target>,
    memory: PathBuf,
    disk: PathBuf,
}

impl Options {
    /// Where the databases of a setting lie.
    pub fn folder(&self, setting: Setting) -> &PathBuf {
        match setting {
            Setting::Memory => &self.memory,
            Setting::Disk => &self.disk,
        }
    }

    /// Colibri first, then the peers.
    pub fn targets(&self) -> Vec<&Target> {
        std::iter::once(&self.colibri).chain(&self.peers).collect()
    }

    /// Reads the command line.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mode = mode(&arguments.next().unwrap_or_else(|| "--help".to_owned()))?;
        let mut options = Self::of(mode);
        let (mut own_peers, mut calls) = (true, None);
        while let Some(option) = arguments.next() {
            match option.as_str() {
                "--together" => options.plan.together = true,
                "--no-own-peers" => own_peers = false,
                "--help" => return Err(USAGE.to_owned()),
                _ => {
                    let value = arguments.next().ok_or_else(|| format!("{option} needs a value"))?;
                    if option == "--calls" {
                        calls = Some(number(&option, &value)?);
                    } else {
                        options.set(&option, value)?;
                    }
                }
            }
        }
        options.plan.calls = calls.unwrap_or(options.plan.calls);
        if options.plan.leave_out >= options.plan.calls {
            options.plan.leave_out = options.plan.calls / 5;
        }
        if options.tools.is_empty() {
            options.tools = Tool::ALL.to_vec();
        }
        if options.settings.is_empty() {
            options.settings = mode.settings();
        }
        for setting in &options.settings {
            check_folder(options.folder(*setting), *setting)?;
        }
        if own_peers && matches!(mode, Mode::Beside | Mode::Start) {
            options.peers.splice(0..0, peers::own()?);
        }
        Ok(options)
    }

    fn of(mode: Mode) -> Self {
        let calls = if mode == Mode::Memory { 150_000 } else { 5000 };
        Self {
            mode,
            rounds: if mode == Mode::Start { 21 } else { 7 },
            plan: Plan { calls, leave_out: 1000, window: 16, together: false },
            serial: if mode == Mode::Floor { 500 } else { 1000 },
            slice: 10,
            tools: Vec::new(),
            settings: Vec::new(),
            colibri: Target::colibri(&peers::quoted(env!("CARGO_BIN_EXE_colibri-under-test"))),
            peers: Vec::new(),
            memory: PathBuf::from("/dev/shm"),
            disk: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        }
    }

    fn set(&mut self, option: &str, value: String) -> Result<(), String> {
        let no_peer = || format!("{option} belongs behind a --peer");
        match option {
            "--rounds" => self.rounds = number(option, &value)?,
            "--leave-out" => self.plan.leave_out = number(option, &value)?,
            "--window" => self.plan.window = number(option, &value)?,
            "--serial" => self.serial = number(option, &value)?,
            "--slice" => self.slice = number(option, &value)?,
            "--tool" => self.tools.push(Tool::parse(&value).ok_or_else(|| format!("no tool {value}"))?),
            "--setting" => self.settings.push(setting(&value)?),
            "--memory" => self.memory = value.into(),
            "--disk" => self.disk = value.into(),
            "--colibri" => self.colibri.command = value,
            "--peer" => {
                let (name, command) = value.split_once('=').ok_or("--peer needs NAME=COMMAND")?;
                self.peers.push(Target::peer(name, command, &[], Shapes::default()));
            }
            "--task" => self.peers.last_mut().ok_or_else(no_peer)?.shapes.task = value,
            "--thought" => self.peers.last_mut().ok_or_else(no_peer)?.shapes.thought = value,
            _ => return Err(format!("no option {option}; --help names them")),
        }
        Ok(())
    }
}

impl Mode {
    fn settings(self) -> Vec<Setting> {
        match self {
            Self::Beside => Setting::ALL.to_vec(),
            Self::Floor | Self::Start => vec![Setting::Disk],
            Self::Memory => vec![Setting::Memory],
            Self::Echo => Vec::new(),
        }
    }
}

fn mode(name: &str) -> Result<Mode, String> {
    Ok(match name {
        "beside" => Mode::Beside,
        "floor" => Mode::Floor,
        "start" => Mode::Start,
        "memory" => Mode::Memory,
        "echo" => Mode::Echo,
        "--help" => return Err(USAGE.to_owned()),
        _ => return Err(format!("no mode {name}; --help names them")),
    })
}

fn setting(name: &str) -> Result<Setting, String> {
    match name {
        "memory" => Ok(Setting::Memory),
        "disk" => Ok(Setting::Disk),
        _ => Err(format!("no setting {name}")),
    }
}

fn number(option: &str, value: &str) -> Result<usize, String> {
    value
        .parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| format!("{option} needs a number from 1 on"))
}
