//! `colibri wrap -- COMMAND`: another server's calls in the same log. Exit: the server's own code if it ended by itself or was not found, 0 if the client
//! or a signal ended it in time, 1 if it had to be killed or a row could not be made durable, 2 for a bad command line or setting, 75 if the
//! database does not open in time. With `--check`: 0 if the tools are the pinned ones, or new and without signs of an attack, else 1.

mod check;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use colibri_canonical::{HexDigest, NumberRule, canonical_json};
use colibri_runtime::chain::log::{Level, Log};
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::progress::Progress;
use colibri_runtime::wire::stdio::{self, Modes};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Failure;
use super::arguments::wrap::{NAME_THE_COMMAND, Wrap};
use super::database::on_database;
use crate::catalogue::{Dispatcher, ToolId};
use crate::lifecycle::log::Logger;
use crate::lifecycle::operation::Operator;
use crate::lifecycle::options::Options;
use crate::lifecycle::process::hook_panics;
use crate::lifecycle::{exit, limits};
use crate::relay::{Relay, Run, child, pin_of};
use crate::settings::config::{Config, load_config};
use crate::settings::environment::Environment;
use crate::settings::keys;
use crate::settings::mode::Mode;
use crate::tools::Domains;
use crate::wrap::name::Name;
use crate::wrap::policy::{Pattern, Policy};
use crate::wrap::watch::Watch;

/// The variables that the server does not see.
const OWN_VARIABLES: &str = "COLIBRI_";

/// Runs the server until it or the client ends; returns the exit code.
pub fn run(arguments: &Wrap, env: &Environment, out: &mut dyn Write) -> Result<u8, Failure> {
    let command = &arguments.command;
    let [program, ..] = command.as_slice() else {
        return Err(Failure::Usage(NAME_THE_COMMAND.to_owned()));
    };
    let name = match &arguments.name {
        Some(name) => name.clone(),
        None => Name::of_command(command).map_err(|error| Failure::Usage(error.to_string()))?,
    };
    let policy = Policy::new(arguments.allow.clone(), arguments.deny.clone(), arguments.read_only)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    if let Some(other) = arguments.keep_env.iter().find(|name| !name.starts_with(OWN_VARIABLES)) {
        return Err(Failure::Usage(format!(
            "--keep-env takes names of {OWN_VARIABLES} variables, and the server sees {other} anyway; leave it out"
        )));
    }
    if arguments.check {
        return check::run(arguments, (&name, policy), env, out).map(|()| exit::SUCCESS);
    }
    let modes = Modes::default();
    let (environment, config) = settings(arguments, env)?;
    let log: Arc<dyn Log> =
        Arc::new(Logger::beside(config.log_level, Redactor::new(config.secrets()), modes.midline()));
    hook_panics(log.clone());
    let options = Options {
        environment,
        config: Some(config.clone()),
        log: Some(log.clone()),
        on_open: Some(Box::new(|db| {
            db.map_or(Ok(()), |db| db.keep_pages(PAGES_KIB)).map_err(|fault| fault.to_string())
        })),
        ..Options::default()
    };
    limits::check(&*options.clock).map_err(Failure::Failed)?;
    let opened = end_late_start(&config, log.clone());
    let mut operator = Operator::open(Dispatcher(Domains::default()), options)?;
    // The start is over.
    drop(opened);
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        let begun = begin(&mut operator, &name, program, arguments, config.wrap_session.as_deref()).await?;
        let pin = pin_of(&mut operator, name.as_str())
            .map_err(|reason| Failure::Failed(format!("the pin cannot be read: {reason}")))?;
        let watch = Watch::new(name.clone(), arguments.pin, policy, pin);
        let kept: Vec<OsString> = arguments.keep_env.iter().map(OsString::from).collect();
        let errors = if colibri_stderr::has_reader() { Stdio::piped() } else { Stdio::inherit() };
        let server = child::start(command, env.for_another(OWN_VARIABLES, &kept), errors)
            .map_err(|error| Failure::Failed(format!("the server cannot be started: {error}")))?;
        let client = stdio::open(&modes)
            .map_err(|error| Failure::Failed(format!("the client's streams cannot be used: {error}")))?;
        let midline = modes.midline();
        let run = Run { operator: &mut operator, name, run_id: begun, watch, log, midline, client, server };
        let relay = Relay::new(run)
            .map_err(|error| Failure::Failed(format!("cannot listen to the server: {error}")))?;
        Ok::<u8, Failure>(relay.run().await)
    });
    modes.restore();
    code
}

/// A relay adds rows and seldom reads one again, so it keeps only as many pages as several turns touch: a host may run ten of them.
const PAGES_KIB: u32 = 512;

fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::Failed(format!("no runtime: {error}")))
}

/// Returns the environment of the database, and its configuration.
fn settings(arguments: &Wrap, env: &Environment) -> Result<(Environment, Config), Failure> {
    let mut environment = match env.get_os(keys::LOG_LEVEL.name) {
        Some(_) => env.clone(),
        // A wrapped server is as quiet as a bare one.
        None => env.with(keys::LOG_LEVEL.name, "warn"),
    };
    if let Some(db) = &arguments.db {
        environment = on_database(&environment, db);
    }
    let (config, warnings) = load_config(&environment, std::process::id())
        .map_err(|problems| Failure::Usage(format!("{}; correct the variable", problems.join("; "))))?;
    let log = Logger::stderr(config.log_level, Redactor::new(config.secrets()));
    for warning in warnings {
        log.write(Level::Warn, &warning);
    }
    match config.mode {
        Mode::Full | Mode::Test => Ok((environment, config)),
        other => Err(Failure::Usage(format!(
            "wrap records calls and needs {}=FULL or TEST; it is {}",
            keys::MODE.name,
            other.as_str()
        ))),
    }
}

/// Ends the process if the database is not open in time. The start is over when what is returned is dropped.
fn end_late_start(config: &Config, log: Arc<dyn Log>) -> Sender<()> {
    let limit = Duration::from_millis(u64::from(config.startup_timeout_ms));
    let (opened, waiting) = channel();
    // Without the thread the start has no limit, which harms nothing.
    let _ = std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
        if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let why = "[colibri] fatal: startup timeout exceeded";
            exit::at_once(&*log, Level::Error, why, exit::STARTUP_TIMEOUT);
        }
    });
    opened
}

/// Stores the run; returns its id.
async fn begin(
    operator: &mut Operator<Dispatcher<Domains>>,
    name: &Name,
    program: &OsString,
    arguments: &Wrap,
    session: Option<&str>,
) -> Result<String, Failure> {
    let words: Vec<Value> =
        arguments.command.iter().map(|word| Value::from(word.to_string_lossy())).collect();
    let text = canonical_json(&Value::Array(words), NumberRule::Wire)
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let program = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
    let patterns =
        |list: &[Pattern]| list.iter().map(|pattern| pattern.as_str().to_owned()).collect::<Vec<_>>();
    let mut run = json!({
        "name": name.as_str(),
        "program": program,
        "command_hash": HexDigest::of(text.as_bytes()).as_str(),
        "pin": arguments.pin.word(),
        "read_only": arguments.read_only,
        "allow": patterns(&arguments.allow),
        "deny": patterns(&arguments.deny),
    });
    if let Some(session) = session {
        run["session_id"] = session.into();
    }
    let envelope = operator.call_within(ToolId::WrapBegin, run, Progress::default()).await?;
    match envelope["data"]["run_id"].as_str().or_else(|| envelope["data"]["run"]["run_id"].as_str()) {
        Some(run_id) => Ok(run_id.to_owned()),
        None => Err(Failure::Failed(format!("the run could not be recorded: {}", envelope["error"]))),
    }
}
