//! The command line (chain#commands): serving, and the other commands.
//!
//! ```text
//! arguments -> serve   nothing here: the caller starts the server
//!           |- tools   the catalogue as a table or as JSON
//!           |- call    one tool call through a child server        (client)
//!           |- verify  recomputes a whole database                (crate::verification)
//!           |- backup  a verified copy of the database
//!           |- init    a host is told of Colibri
//!           |- doctor  what is wrong with this set-up, and what to do
//!           |- tasks, task, next, sessions, timeline, board, graph, overview   what people look at  (views, database)
//!           |- log     the audit log, filtered                    (database)
//!           |- pins    the tools of wrapped servers, compared and accepted     (database, operator)
//!           |- retention    old contents packed and pruned, through the chain     (operator)
//!           |- reputation   epoch, import, export and verify of reputation
//!           |- keys    a key that signs seals, made or shown
//!           |- proof, export, report   a sealed record, a session, a page     (database, session, output)
//!           |- check-proof, verify-export   without any database              (colibri_proof::command)
//!           |- completions, man    for shells and manual readers    (manual)
//!           |- wrap    another server behind this process, its calls in the log   (crate::relay)
//!           '- demo    the main job as a transcript                (client, transcript)
//! ```
//!
//! Exit codes (chain#commands): 0 done or sound, 1 a finding or a failure, 2 bad command line or input, 3 the content holds, but
//! only by a key or root that the reader did not give, 130 ended by Ctrl-C.

pub mod arguments;
mod backup;
mod call;
mod call_end;
mod client;
mod copy;
mod database;
mod demo;
mod doctor;
mod export;
mod ids;
mod init;
mod keys;
mod log;
mod manual;
mod moments;
mod operator;
mod output;
mod pins;
mod postgres;
mod proof;
mod report;
mod reputation;
mod restore;
mod retention;
mod session;
mod source;
mod time_prefix;
mod tools;
mod transcript;
pub(crate) mod variables;
mod verify;
mod views;
mod who;
mod work;
mod wrap;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};

use colibri_proof::Verdict;
use colibri_proof::command::{self, check_proof, verify_export};
use colibri_stderr::{Lines, stderr};
use colibri_visible::printable;

use arguments::{Command, Parsed};
use output::{ToTheEnd, Visible, text_only};
use views::Screen;

use crate::lifecycle::limits::ignore_file_size_signal_in_command;
use crate::relay::child;
use crate::settings::environment::Environment;
use crate::settings::named_path::HOME;
use crate::settings::place::{shows_password, without_url};
use colibri_store::db::sqlite::bounds;

/// The program's name in front of its complaints.
const PROGRAM: &str = "colibri";

/// What the process does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Serve over stdio.
    Serve {
        /// Answer no call before the start is over.
        after_start: bool,
    },
    /// End with this code.
    Exit(u8),
}

/// The process's streams, as a command sees them.
pub struct Streams<'a> {
    /// Where results go.
    pub out: &'a mut dyn Write,
    /// Where complaints go.
    pub err: &'a mut dyn Write,
    /// Where `-` reads from.
    pub input: &'a mut dyn Read,
    /// Whether `out` shows colours.
    pub color: bool,
    /// How many columns the terminal has behind `out`.
    pub width: Option<usize>,
}

/// Why a command's exit code is not 0.
#[derive(Debug)]
enum Failure {
    /// It ran and found something, and has printed it: exit 1.
    Finding,
    /// It found nothing, but what the reader gave does not confirm the content: exit 3.
    Unconfirmed,
    /// It could not do its work: exit 1.
    Failed(String),
    /// It was used the wrong way: exit 2.
    Usage(String),
    /// It was given bad input, and has printed so: exit 2.
    BadInput,
    /// Ctrl-C or another signal ended it, and it has tidied up: exit 130. The text says what is left.
    Interrupted(Option<&'static str>),
    /// Its output cannot be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<command::Failure> for Failure {
    fn from(failure: command::Failure) -> Self {
        match failure {
            command::Failure::Finding => Self::Finding,
            command::Failure::Unconfirmed => Self::Unconfirmed,
            command::Failure::Usage(text) => Self::Usage(text),
            command::Failure::Output(error) => Self::Output(error),
        }
    }
}

impl From<client::ClientError> for Failure {
    fn from(error: client::ClientError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Tells a person who starts the server by hand what it waits for. Where a host has pipes, this asks the system once and says
/// nothing.
pub fn greet() {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let version = crate::VERSION;
        let text = format!(
            "colibri {version} waits for an MCP client on stdin; a host such as Claude Code starts it. Ctrl-D ends it.\n\
             colibri init sets it up in a host, colibri tasks shows what is in the database, colibri help lists the commands.\n"
        );
        // The server serves without these lines, too.
        stderr().line(&text, |_| String::new());
    }
}

/// Runs the command line of this process (without the program's name), or returns that the server is to be started.
pub fn run(arguments: &[OsString], env: &Environment) -> Next {
    // Serving is the common case and must not wait for a parser to be built.
    if arguments.is_empty() {
        return Next::Serve { after_start: false };
    }
    if let [first, arguments @ ..] = arguments
        && first == child::EXECUTE
    {
        let (code, complaint) = child::execute(arguments);
        colibri_stderr::say(PROGRAM, &format!("{PROGRAM}: {}", printable(&complaint)));
        return Next::Exit(code);
    }
    tell_panics();
    // Without the handler, exceeding a limit on the length of files ends the command in the middle, as before.
    let _ = ignore_file_size_signal_in_command();
    let color = io::stdout().is_terminal()
        && env.get_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && text_only(env).is_none();
    // A bar draws on stderr from a thread of its own, so no other may hold its lock.
    let (mut out, mut err, mut input) = (io::stdout().lock(), Lines::of(PROGRAM), io::stdin().lock());
    let width = terminal_width();
    run_with(arguments, env, Streams { out: &mut out, err: &mut err, input: &mut input, color, width })
}

/// Tells a panic in one line. It is a bug, or a thread for which the system has no memory. With `RUST_BACKTRACE` the standard library's
/// own report asks for memory while it holds the lock that its report of missing memory waits for, so the command would never end.
fn tell_panics() {
    std::panic::set_hook(Box::new(|info| colibri_stderr::say(PROGRAM, &format!("{PROGRAM}: {info}"))));
}

/// Returns how many columns the terminal behind stdout has, if there is one and it says so.
fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let (columns, _) = crossterm::terminal::size().ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Like [`run`], on given streams.
pub fn run_with(arguments: &[OsString], env: &Environment, streams: Streams<'_>) -> Next {
    let command = match arguments::parse(arguments, env.get_os(HOME)) {
        Parsed::Command(Command::Serve { after_start }) => return Next::Serve { after_start },
        Parsed::Command(command) => command,
        Parsed::Show(text) => return end(show(streams.out, &text), streams.err),
        Parsed::Refused(text) => {
            // A closed stderr changes nothing about the refusal.
            let _ = Visible(streams.err).write_all(text.as_bytes());
            return Next::Exit(2);
        }
    };
    let Streams { out, err, input, color, width } = streams;
    if arguments.iter().any(|argument| shows_password(&argument.to_string_lossy())) {
        let text = "other users of this machine can read the password of this command line; set COLIBRI_DATABASE_URL instead";
        let _ = writeln!(err, "colibri: {text}");
    }
    if examines(&command) {
        bounds::bound_memory();
    }
    // A terminal shows what a command writes whole, from any source. Three commands write a product, whose bytes count;
    // the demonstration and the views have colours, and escape what they show themselves.
    let done = match command {
        Command::Serve { after_start } => return Next::Serve { after_start },
        Command::Tools { json } => tools::run(json, env, &mut Visible(out)),
        Command::Call { tool, arguments } => {
            call::run(&tool, arguments.as_deref(), env, &mut Visible(out), input)
        }
        Command::Init(arguments) => init::run(&arguments, env, out),
        Command::Doctor { json } => {
            doctor::run(json, env, Screen { width: None, color }, &mut ToTheEnd(out), err)
        }
        Command::View(view) => views::run(&view, env, Screen { width, color }, out, err),
        Command::Log(arguments) => log::run(&arguments, env, width, &mut Visible(out)),
        Command::Pins(arguments) => pins::run(&arguments, env, &mut ToTheEnd(&mut Visible(out))),
        Command::Reputation(command) => reputation::run(&command, env, out, &mut Visible(err), input),
        Command::Keys(arguments) => keys::run(&arguments, &mut Visible(out)),
        Command::Proof(arguments) => proof::run(&arguments, env, out),
        Command::CheckProof(arguments) => {
            check_proof(&arguments, &mut ToTheEnd(&mut Visible(out)), input).map_err(Failure::from)
        }
        Command::Export(arguments) => export::run(&arguments, env, out, err),
        Command::VerifyExport(arguments) => {
            verify_export(&arguments, &mut ToTheEnd(&mut Visible(out)), input).map_err(Failure::from)
        }
        Command::Report(arguments) => report::run(&arguments, env, &mut ToTheEnd(&mut Visible(out)), err),
        Command::Verify(arguments) => {
            verify::run(&arguments, env, Screen { width: None, color }, &mut ToTheEnd(out), err)
        }
        Command::Backup(arguments) => backup::run(&arguments, env, &mut ToTheEnd(&mut Visible(out)), err),
        Command::Copy(arguments) => copy::run(&arguments, env, &mut ToTheEnd(&mut Visible(out)), err),
        Command::Restore(arguments) => restore::run(&arguments, env, &mut ToTheEnd(&mut Visible(out)), err),
        Command::Retention(arguments) => {
            retention::run(&arguments, env, &mut ToTheEnd(&mut Visible(out)), err)
        }
        Command::Postgres(command) => postgres::run(&command, env, &mut Visible(out)),
        Command::Completions { shell } => manual::completions(shell, out),
        Command::Man { folder } => manual::man(&folder, &mut Visible(out)),
        Command::Demo => demo::run(out, color),
        Command::Wrap(arguments) => match wrap::run(&arguments, env, &mut ToTheEnd(&mut Visible(out))) {
            Ok(code) => return Next::Exit(code),
            Err(failure) => Err(failure),
        },
    };
    end(done, err)
}

/// Checks whether a command reads a database that may be made to mislead it. The others read none, or are a server themselves.
fn examines(command: &Command) -> bool {
    match command {
        Command::Serve { .. }
        | Command::Tools { .. }
        | Command::Call { .. }
        | Command::Demo
        | Command::Wrap(_)
        | Command::Init(_)
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Postgres(_)
        | Command::Keys(_)
        | Command::CheckProof(_)
        | Command::VerifyExport(_)
        | Command::Retention(_)
        | Command::Pins(arguments::pins::Pins {
            command: Some(arguments::pins::Command::Accept(_)), ..
        })
        | Command::Reputation(arguments::reputation::Reputation::Import(_)) => false,
        Command::Doctor { .. }
        | Command::View(_)
        | Command::Log(_)
        | Command::Pins(_)
        | Command::Reputation(_)
        | Command::Proof(_)
        | Command::Export(_)
        | Command::Report(_)
        | Command::Verify(_)
        | Command::Backup(_)
        | Command::Copy(_)
        | Command::Restore(_) => true,
    }
}

fn show(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Returns the exit code of a command, and prints its error to stderr.
fn end(done: Result<(), Failure>, err: &mut dyn Write) -> Next {
    let (code, complaint) = match done {
        Ok(()) => (0, None),
        Err(Failure::Finding) => (Verdict::Fails.exit_code(), None),
        Err(Failure::Unconfirmed) => (Verdict::Unconfirmed.exit_code(), None),
        Err(Failure::BadInput) => (2, None),
        Err(Failure::Interrupted(text)) => (work::INTERRUPTED, text.map(str::to_owned)),
        Err(Failure::Failed(text)) => (1, Some(text)),
        Err(Failure::Usage(text)) => (2, Some(text)),
        // The reader has seen enough (`colibri tools | head`).
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => (0, None),
        Err(Failure::Output(error)) => (1, Some(format!("cannot write the result: {error}"))),
    };
    if let Some(complaint) = complaint {
        // A closed stderr changes nothing about the code.
        let _ = writeln!(err, "colibri: {}", printable(&without_url(&complaint)));
    }
    Next::Exit(code)
}
