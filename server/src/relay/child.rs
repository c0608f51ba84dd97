//! The wrapped server as processes: its start in a group of its own, the signals to that group, and its end.
//!
//! The server is started by way of this program, as `colibri wrap-exec PARENT -- COMMAND…`: that process asks the system to be killed with
//! its parent, and then executes COMMAND in its own place.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getppid, kill_process_group, waitid};
use tokio::sync::oneshot;

/// The command that starts the server in its own place.
pub const EXECUTE: &str = "wrap-exec";
/// The exit code for a command that was not found.
pub(super) const NOT_FOUND: u8 = 127;
/// The exit code for a command that cannot be executed.
pub(super) const NOT_EXECUTABLE: u8 = 126;

/// The server's process and its group.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    group: Pid,
    reaped: Option<ExitStatus>,
}

/// A server that has just been started.
pub struct Started {
    /// Its process.
    pub child: Child,
    /// Its stdin.
    pub input: OwnedFd,
    /// Its stdout.
    pub output: OwnedFd,
    /// Its stderr, if that is not this process's own.
    pub errors: Option<OwnedFd>,
    /// Resolves when the process has ended. It stays a zombie until [`Child::end`], so that its group's number stays its own.
    pub ended: oneshot::Receiver<()>,
}

/// Starts the server with these variables and no others, and with that stderr.
///
/// # Errors
/// The process could not be made. A command that cannot be executed shows as its exit code.
pub fn start<'a>(
    command: &[OsString],
    variables: impl Iterator<Item = (&'a OsStr, &'a OsStr)>,
    errors: Stdio,
) -> io::Result<Started> {
    // The link leads to the running program, even if an update has replaced its file.
    let program = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe()?,
    };
    let mut process = Command::new(program)
        .arg(EXECUTE)
        .arg(std::process::id().to_string())
        .arg("--")
        .args(command)
        .env_clear()
        .envs(variables)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()?;
    let (Some(input), Some(output), Some(group)) = (
        process.stdin.take(),
        process.stdout.take(),
        i32::try_from(process.id()).ok().and_then(Pid::from_raw),
    ) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let errors = process.stderr.take().map(OwnedFd::from);
    let (sender, ended) = oneshot::channel();
    std::thread::Builder::new().name("server".to_owned()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(group), options) {}
        // The loop may have ended first.
        let _ = sender.send(());
    })?;
    let child = Child { process, group, reaped: None };
    Ok(Started { child, input: input.into(), output: output.into(), errors, ended })
}

impl Child {
    /// Sends a signal to the whole group. A group that has gone needs no signal.
    pub fn signal(&self, signal: Signal) {
        // Launchers such as npx have children that outlive a signal to the launcher alone.
        let _ = kill_process_group(self.group, signal);
    }

    /// Kills what is left of the group, and returns how the server has ended.
    ///
    /// # Errors
    /// The system does not say.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.reaped {
            return Ok(status);
        }
        // Before the leader is reaped: afterwards the number may become another group's.
        self.signal(Signal::KILL);
        let status = self.process.wait()?;
        self.reaped = Some(status);
        Ok(status)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The loop may also end by a panic. Nothing of the server is left behind.
        let _ = self.end();
    }
}

/// Returns the exit code that says the same as the status: 128 + n after signal n.
pub fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Returns whether the command was not found or cannot be executed, as its exit code says.
pub fn is_absent(status: ExitStatus) -> bool {
    [NOT_FOUND, NOT_EXECUTABLE].contains(&code_of(status))
}

/// Returns the status in words: `exit code 3`, `signal 9`.
pub fn words_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// Executes a command in place of this process: `PARENT -- COMMAND ARGS…`. Returns only if that is impossible: the exit code, and
/// what to print.
pub fn execute(arguments: &[OsString]) -> (u8, String) {
    let [parent, dashes, command, arguments @ ..] = arguments else {
        return (2, format!("{EXECUTE} is for colibri wrap alone"));
    };
    let parent = parent.to_str().and_then(|text| text.parse().ok());
    if parent.is_none() || dashes != "--" {
        return (2, format!("{EXECUTE} is for colibri wrap alone"));
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
        return (1, format!("cannot bind the server to its parent: {error}"));
    }
    // The parent may have died before the system was asked.
    if getppid().map(Pid::as_raw_nonzero).map(std::num::NonZeroI32::get) != parent {
        return (1, "the process that started the server has ended".to_owned());
    }
    let error = Command::new(command).args(arguments).exec();
    let shown = command.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => (NOT_FOUND, format!("cannot start {shown:?}: not found")),
        io::ErrorKind::PermissionDenied => {
            (NOT_EXECUTABLE, format!("cannot start {shown:?}: not executable"))
        }
        _ => (NOT_EXECUTABLE, format!("cannot start {shown:?}: {error}")),
    }
}
