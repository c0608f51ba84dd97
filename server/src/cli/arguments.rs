//! The command line's definition: commands, options and help texts.

pub(crate) mod audit;
pub(crate) mod init;
pub(crate) mod pins;
pub(crate) mod postgres;
pub(crate) mod reputation;
pub(crate) mod views;
pub(crate) mod wrap;

use colibri_proof::command::CheckFile;
use std::ffi::{OsStr, OsString};
use std::iter;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser, ValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use colibri_visible::printable;

use super::variables;
use crate::catalogue::ToolId;
use crate::settings::named_path::expanded;
use crate::settings::place::without_url;

/// An MCP server for agents whose work must be accountable.
///
/// Without a command it serves the Model Context Protocol over stdin and stdout. All settings are environment
/// variables.
#[derive(Debug, Parser)]
#[command(name = "colibri", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand, PartialEq, Eq)]
pub enum Command {
    /// Serve MCP over stdin and stdout; the same as no command at all
    Serve {
        /// Answer no call before the start is complete; by default the server answers probes at once
        #[arg(long)]
        after_start: bool,
    },
    /// List the tools, and the modes that admit them
    Tools {
        /// Print the tools as `tools/list` publishes them
        #[arg(long)]
        json: bool,
    },
    /// Call one tool and print its reply; exit 1 if the reply is an error
    Call {
        /// The tool's name
        tool: String,
        /// The arguments, a JSON object; `-` reads it from stdin, absent means {}
        #[arg(value_name = "JSON", allow_hyphen_values = true)]
        arguments: Option<String>,
    },
    /// Set Colibri up in a host: a block for its configuration, a signing key, and lines for AGENTS.md
    Init(init::Init),
    /// Check configuration and database, and say how to fix each problem
    Doctor {
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    View(views::Views),
    /// Print the audit log: one line for each call, newest last
    Log(Box<audit::Log>),
    /// List the pinned tools of wrapped servers, compare them with another list, and accept it
    Pins(pins::Pins),
    /// Make or show the key that signs seals
    #[command(subcommand)]
    Keys(audit::Keys),
    /// Write one record of a sealed session, with its proof, to a file that is checked without the database
    Proof(audit::Proof),
    /// Check a proof file; needs no database. Exit 1 if it does not hold
    CheckProof(CheckFile),
    /// Write a session as JSON Lines that are verified without the database
    Export(audit::Export),
    /// Verify an export; needs no database. Exit 1 if it is not sound
    VerifyExport(CheckFile),
    /// Write a session as one HTML page for people
    Report(audit::Report),
    /// Recompute every chain, seal and signature of a database; exit 1 if anything does not match
    Verify(VerifyArguments),
    /// Copy the database to a new file while servers write to it, and verify the copy
    Backup(BackupArguments),
    /// Copy a whole database into an empty one, between a file and PostgreSQL in either direction, and verify the copy
    Copy(CopyArguments),
    /// Replace the database by a verified backup while no server runs, and keep the old files
    Restore(RestoreArguments),
    /// Pack the content of old thoughts, and remove the content of the oldest; it cannot be undone
    Retention(RetentionArguments),
    /// Import, export and verify reputation; print the present epoch
    #[command(subcommand)]
    Reputation(reputation::Reputation),
    /// Set up and migrate a PostgreSQL database that several machines share
    #[command(subcommand)]
    Postgres(postgres::Postgres),
    /// Print the completion of commands and options for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write one manual page for each command into a folder; an existing page is never overwritten
    Man {
        /// The folder, such as ~/.local/share/man/man1; it is made if it is missing
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Start another MCP server, and record the calls of its tools in the same log
    Wrap(Box<wrap::Wrap>),
    /// Show the main job: an agent works, an auditor verifies, a changed letter is found
    Demo,
}

/// What `verify` is asked for.
#[derive(Debug, Clone, Default, clap::Args, PartialEq, Eq)]
#[command(
    after_help = "Exit codes: 0 sound, 1 not sound, 2 not verified, 3 everything matches, but a seal is signed by a key that is neither\n\
                  given with --key nor configured."
)]
pub struct VerifyArguments {
    /// The database, a file or a URL; by default the configured one
    #[arg(long, value_name = "FILE|URL")]
    pub db: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Also compare with an earlier checkpoint, which was kept elsewhere
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Write a checkpoint of a sound database to a new file; keep it elsewhere
    #[arg(long, value_name = "FILE")]
    pub write_checkpoint: Option<PathBuf>,
    /// A public key that you trust, as 64 hex characters or a file that holds them; may be repeated. From the first
    /// signed tree head on, each must then be signed by one of these keys; the configured keys do not count
    #[arg(long = "key", value_name = "FILE|HEX")]
    pub keys: Vec<String>,
    /// Require the signatures that --key requires, also where no --key is given: by the configured keys
    #[arg(long)]
    pub require_key: bool,
    /// Show progress on stderr, even if stderr is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// What `backup` is asked for.
#[derive(Debug, Clone, clap::Args, PartialEq, Eq)]
pub struct BackupArguments {
    /// The new file for the copy
    pub file: PathBuf,
    /// The database, a file or a URL; by default the configured one
    #[arg(long, value_name = "FILE|URL")]
    pub db: Option<PathBuf>,
    /// Show progress on stderr, even if stderr is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// What `copy` is asked for.
#[derive(Debug, Clone, clap::Args, PartialEq, Eq)]
#[command(
    after_help = "Servers may use FROM meanwhile. TO must be a new file, or a PostgreSQL database that `colibri postgres migrate`\n\
                  made ready; there, the login role must be a member of colibri_owner."
)]
pub struct CopyArguments {
    /// The database to read, a file or a URL
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The database to fill, a new file or a URL; by default the configured one
    #[arg(value_name = "TO")]
    pub to: Option<PathBuf>,
    /// Show progress on stderr, even if stderr is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// What `restore` is asked for.
#[derive(Debug, Clone, clap::Args, PartialEq, Eq)]
pub struct RestoreArguments {
    /// The backup; it is not changed
    pub backup: PathBuf,
    /// The database file to replace; by default the configured one
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Show progress on stderr, even if stderr is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// What `retention` is asked for.
#[derive(Debug, Clone, clap::Args, PartialEq, Eq)]
#[command(
    after_help = "Of each task it keeps the text of the 100 newest thoughts, packs that of the next 900, and removes the rest. Hashes,\n\
                  links and seals stay and still verify. Thoughts of an open session keep their text. Begin with --dry-run."
)]
pub struct RetentionArguments {
    /// Only this task's thoughts; by default those of every task
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Count what would be moved, and move nothing; only the calls themselves are recorded
    #[arg(long)]
    pub dry_run: bool,
    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,
    /// Show progress on stderr, even if stderr is not a terminal
    #[arg(long)]
    pub progress: bool,
}

/// What a command line means.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// Run this.
    Command(Command),
    /// Print this text and end well.
    Show(String),
    /// Print this text to stderr and end with code 2.
    Refused(String),
}

/// Reads a command line without the program's name. `home` is the value of `HOME`.
pub fn parse(arguments: &[OsString], home: Option<&OsStr>) -> Parsed {
    match read(arguments.iter().cloned(), home) {
        Ok(Arguments { command }) => {
            Parsed::Command(command.unwrap_or(Command::Serve { after_start: false }))
        }
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Parsed::Show(error.render().to_string()),
            _ => Parsed::Refused(refusal(&error, arguments, home)),
        },
    }
}

fn read(arguments: impl Iterator<Item = OsString>, home: Option<&OsStr>) -> Result<Arguments, clap::Error> {
    let line = iter::once(OsString::from("colibri")).chain(arguments);
    with_paths(definition(), home)
        .try_get_matches_from(line)
        .and_then(|found| Arguments::from_arg_matches(&found))
}

/// Lets every argument that is a path mean what people write in the configuration of a host, where no shell expands it.
fn with_paths(command: clap::Command, home: Option<&OsStr>) -> clap::Command {
    let path = ValueParser::path_buf();
    let meant = {
        let home = home.map(OsStr::to_owned);
        ValueParser::new(
            OsStringValueParser::new().try_map(move |text| expanded(Path::new(&text), home.as_deref())),
        )
    };
    let command =
        command.mut_args(|argument| match argument.get_value_parser().type_id() == path.type_id() {
            true => argument.value_parser(meant.clone()),
            false => argument,
        });
    command.mut_subcommands(|inner| with_paths(inner, home))
}

/// What is wrong with the line. It repeats arguments, so the line is read again with all of them in printable form: a line
/// feed in one of them cannot begin a line of its own in the message. No message shows what a URL holds.
fn refusal(error: &clap::Error, arguments: &[OsString], home: Option<&OsStr>) -> String {
    let visible =
        arguments.iter().map(|argument| OsString::from(without_url(&printable(&argument.to_string_lossy()))));
    match read(visible, home) {
        // In printable form it is right. This message repeats no argument.
        _ if error.kind() == ErrorKind::InvalidUtf8 => error.render().to_string(),
        Err(same) if same.kind() == ErrorKind::InvalidSubcommand => no_command(&same, arguments),
        Err(same) if is_unmarked_command(&same, arguments) => {
            format!("colibri: {}\n", wrap::NAME_THE_COMMAND)
        }
        Err(same) if same.kind() == error.kind() => same.render().to_string(),
        _ => without_url(&printable(&error.render().to_string())) + "\n",
    }
}

/// Returns whether the command of a server stands behind `wrap` without the mark that begins it.
fn is_unmarked_command(error: &clap::Error, arguments: &[OsString]) -> bool {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return false };
    error.kind() == ErrorKind::UnknownArgument
        && !given.starts_with('-')
        && arguments.first().is_some_and(|first| first == "wrap")
}

/// Says that there is no such command, and which one may be meant.
fn no_command(error: &clap::Error, arguments: &[OsString]) -> String {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return error.render().to_string();
    };
    let mut commands = definition();
    let mut path = String::new();
    while let Some(inner) = arguments
        .iter()
        .take_while(|word| word.to_str() != Some(given))
        .find_map(|word| commands.find_subcommand(word))
        .filter(|inner| inner.has_subcommands())
        .cloned()
    {
        path = format!("{path}{} ", inner.get_name());
        commands = inner;
    }
    let meant = match colibri_suggest::closest(given, commands.get_subcommands().map(clap::Command::get_name))
    {
        Some(close) => format!("; did you mean {close}? "),
        None => "; ".to_owned(),
    };
    let help = format!("help {path}");
    format!("colibri: there is no command {path}{given}{meant}colibri {} lists them\n", help.trim_end())
}

/// The text of `--help`.
pub fn long_help() -> String {
    definition().render_long_help().to_string()
}

/// The commands and options, and what their help says. Completions and manual pages come from it, too.
pub(super) fn definition() -> clap::Command {
    let examples = examples();
    Arguments::command()
        .after_help(format!("{examples}\n\n--help lists the environment variables."))
        .after_long_help(format!("{examples}\n\n{}", variables::help_table()))
}

fn examples() -> String {
    let probe = format!("colibri call {}", ToolId::ServerPing.name());
    let query = format!("colibri call {} '{{\"limit\": 5}}'", ToolId::TaskList.name());
    let lines = [
        ("colibri", "serve MCP over stdin and stdout"),
        ("colibri demo", "watch the whole job, from the plan to the audit"),
        ("colibri board", "follow the agents' tasks in the terminal"),
        ("colibri overview --html o.html", "the same as one page, to keep or to send"),
        ("colibri tools", "list what the server offers"),
        (&probe, "make one call, through the same chain as a client's"),
        (&query, "the same with arguments; - reads them from stdin"),
        (
            "colibri verify --write-checkpoint today.json",
            "check for changes; keep the written file elsewhere",
        ),
        ("COLIBRI_DB_PATH=work.db colibri doctor", "check this set-up, and say how to fix it"),
    ];
    let width = lines.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
    lines
        .iter()
        .fold("Examples:".to_owned(), |text, (line, purpose)| text + &format!("\n  {line:width$}  {purpose}"))
}
