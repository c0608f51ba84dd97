//! `colibri init`: a host is told of Colibri. A block for its configuration, a signing key, and a few lines for agents.
//!
//! ```text
//! settings   what the block's server is told            (home)
//! hosts      where each host wants the block, and how   (json, toml: put into a file that is there)
//! snippet    the lines for AGENTS.md
//! file       a file is replaced as a whole
//! ```
//!
//! Everything is read before anything is written. A file that cannot take the block stays as it is, and the block is printed.

mod file;
mod home;
pub mod hosts;
mod json;
mod settings;
mod snippet;
mod toml;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use colibri_visible::printable;

use self::file::Found;
use self::home::Home;
use self::hosts::{Form, HOSTS, Host, Place};
use self::settings::{PASSWORD, Settings};
use super::Failure;
use super::arguments::init::Init;
use super::keys;
use crate::domains::proof::key_file::read_key_file;
use crate::settings::environment::Environment;
use crate::shell_word::quoted;

/// What is to become of a file's text.
enum Change {
    /// It holds already what it should.
    Nothing,
    /// It becomes this.
    To(String),
}

/// Why a file is left as it is.
struct Left(String);

impl Left {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The host's; the old one is kept, and a new one is private.
    Host,
    /// The project's, which all who work on it read.
    Project,
}

/// A file with what is to become of it.
struct Plan {
    found: Found,
    change: Change,
}

/// Runs the command.
pub fn run(arguments: &Init, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let home = Home::read(env);
    let Some(host) = HOSTS.iter().find(|host| arguments.host.as_deref() == Some(host.name)) else {
        list(&home, out)?;
        return Ok(out.flush()?);
    };
    let settings = Settings::read(arguments, env, &home)?;
    let project = project(arguments, host)?;
    let file = home.file(&host.place);
    let (block, shown) = (Block::of(host, &settings, false), Block::of(host, &settings, true));
    if arguments.write {
        let file = file.ok_or_else(|| {
            Failure::Usage(format!(
                "HOME is not set to an absolute path, so the place of {}'s configuration is unknown; set it",
                host.title
            ))
        })?;
        let of_host = plan_block(host, &block, &settings, &file);
        let of_agents = plan_snippet(&project);
        make_key(settings.key.as_deref(), out)?;
        let at_host = match host.place {
            Place::Dialog(_) => false,
            _ => carry_out(of_host, &file, Owner::Host, out)?,
        };
        if !at_host {
            print_block(host, &shown, &settings, out)?;
        }
        let at_agents = carry_out(of_agents, &project, Owner::Project, out)?;
        if !at_agents {
            write!(out, "\n{}", snippet::snippet())?;
        }
        print_reads(host, &project, out)?;
        let done = at_host && at_agents;
        if done {
            print_next(host, &settings, out)?;
        }
        out.flush()?;
        return if done { Ok(()) } else { Err(Failure::Finding) };
    }
    make_key(settings.key.as_deref(), out)?;
    let named = file.map_or_else(|| format!("the configuration of {}", host.title), |file| shown_path(&file));
    match host.place {
        Place::Dialog(_) => {}
        _ => writeln!(out, "This block belongs in {named}; --write puts it there:")?,
    }
    print_block(host, &shown, &settings, out)?;
    writeln!(out, "\nThese lines belong in {}; --write puts them there:\n", shown_path(&project))?;
    write!(out, "{}", snippet::snippet())?;
    print_reads(host, &project, out)?;
    Ok(out.flush()?)
}

/// Says which file the host looks for, if the lines are in another one.
fn print_reads(host: &Host, project: &Path, out: &mut dyn Write) -> io::Result<()> {
    let (own, name) = (host.reads, project.file_name().unwrap_or_default().to_string_lossy());
    // The others read AGENTS.md and have no other name for it.
    if own == hosts::AGENTS || name == own {
        return Ok(());
    }
    writeln!(
        out,
        "\n{} looks for {own}. If it does not read {name}, write the line @{name} into {own}.",
        host.title
    )
}

/// Says what the user does next.
fn print_next(host: &Host, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let (set, look) = match settings.file() {
        Some(file) => {
            let file = quoted(file);
            (format!("COLIBRI_DB_PATH={file} "), format!("colibri board --db {file}"))
        }
        None => (String::new(), "colibri board".to_owned()),
    };
    let url = if settings.file().is_none() { ", with COLIBRI_DATABASE_URL set" } else { "" };
    writeln!(
        out,
        "\nNext: restart {}, and ask its agent to make a task with colibri. Then look at the work{url}:\n  {}\n\
         If the agent does not find colibri:\n  {}",
        host.title,
        printable(&look),
        printable(&format!("{set}colibri doctor"))
    )
}

/// Lists the hosts whose configuration is found.
fn list(home: &Home, out: &mut dyn Write) -> Result<(), Failure> {
    home.below("", "pass --host NAME")?;
    let found: Vec<(&Host, PathBuf)> = HOSTS
        .iter()
        .filter_map(|host| Some((host, home.file(&host.place)?)))
        .filter(|(host, file)| home.has(&host.place, file))
        .collect();
    if found.is_empty() {
        writeln!(out, "No host's configuration was found below the home folder.")?;
    }
    let width = HOSTS.iter().map(|host| host.name.len()).max().unwrap_or(0);
    for (host, file) in &found {
        let done = if starts_colibri(host, file) { "  (has colibri)" } else { "" };
        writeln!(out, "{:width$}  {}{done}", host.name, shown_path(file))?;
    }
    let names = HOSTS.map(|host| host.name).join(", ");
    writeln!(out, "\ncolibri init --host NAME prints the block for one of {names}.")?;
    Ok(())
}

/// Checks whether the host's configuration has an entry of colibri, as far as it can be read.
fn starts_colibri(host: &Host, file: &Path) -> bool {
    let Ok(Found { old: Some((text, _)), .. }) = file::find(file) else { return false };
    match &host.form {
        Form::Json(servers, _) => json::has_server(&text, servers),
        Form::Toml(servers) => toml::has_server(&text, servers),
    }
}

/// A host's block: the whole text, and the entry in it.
struct Block {
    text: String,
    entry: serde_json::Value,
}

impl Block {
    fn of(host: &Host, settings: &Settings, shown: bool) -> Self {
        let variables = if shown { settings.shown() } else { settings.variables.clone() };
        match &host.form {
            Form::Json(servers, entry) => {
                let of_server = entry.of(&settings.command, &variables);
                let text = json::pretty(&entry.alone(servers, &of_server), "  ") + "\n";
                Self { text, entry: of_server }
            }
            Form::Toml(servers) => {
                let text = hosts::tables(servers, &settings.command, &variables);
                Self { text, entry: serde_json::Value::Null }
            }
        }
    }
}

/// Prints a block, and what else there is to know.
fn print_block(host: &Host, block: &Block, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    if let Place::Dialog(_) = host.place {
        let dialog = "Settings > Tools > AI Assistant > Model Context Protocol (MCP) > Add > As JSON";
        writeln!(out, "This block belongs in a dialog of the IDE, {dialog}:")?;
    }
    write!(out, "\n{}", block.text)?;
    if settings.has_password {
        writeln!(out, "\nWrite the database's password in the place of {PASSWORD}.")?;
    }
    Ok(())
}

/// Decides what becomes of the host's file.
fn plan_block(host: &Host, block: &Block, settings: &Settings, file: &Path) -> Result<Plan, Left> {
    let found = file::find(file)?;
    if settings.has_password && !found.is_private() {
        return Err(Left::new(
            "others could read the database's password in it; restrict it with chmod 600 first",
        ));
    }
    let change = match (&found.old, &host.form) {
        (Some((text, _)), _) if text.starts_with('\u{feff}') => {
            return Err(Left::new("it begins with a byte order mark; save it as UTF-8 without one first"));
        }
        (None, _) => Change::To(block.text.clone()),
        // Some hosts make their file empty at first.
        (Some((text, _)), _) if text.trim().is_empty() => Change::To(block.text.clone()),
        (Some((text, _)), Form::Json(servers, _)) => json::with_server(text, servers, &block.entry)?,
        (Some((text, _)), Form::Toml(servers)) => toml::with_server(text, servers, &block.text)?,
    };
    if found.old.is_some() && matches!(change, Change::To(_)) && kept(&found).symlink_metadata().is_ok() {
        return Err(Left::new(format!("{} is there already; move it away", shown_path(&kept(&found)))));
    }
    Ok(Plan { found, change })
}

/// Decides what becomes of the project's file for agents.
fn plan_snippet(file: &Path) -> Result<Plan, Left> {
    let found = file::find(file)?;
    let change = snippet::placed(found.old.as_ref().map_or("", |(text, _)| text))?;
    Ok(Plan { found, change })
}

/// Writes a file as planned, and says so; returns whether it now holds what it should.
fn carry_out(
    plan: Result<Plan, Left>,
    file: &Path,
    owner: Owner,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let Plan { found, change } = match plan {
        Ok(plan) => plan,
        Err(Left(reason)) => {
            writeln!(out, "left   {}: {}. Put this there:", shown_path(file), printable(&reason))?;
            return Ok(false);
        }
    };
    let shown = shown_path(&found.path);
    let Change::To(new) = change else {
        writeln!(out, "same   {shown}: it has these lines already")?;
        return Ok(true);
    };
    let kept = (owner == Owner::Host && found.old.is_some()).then(|| kept(&found));
    found.replace(&new, kept.as_deref(), owner == Owner::Project)?;
    match kept {
        Some(kept) => writeln!(out, "wrote  {shown}; the old file is {}", shown_path(&kept))?,
        None => writeln!(out, "wrote  {shown}")?,
    }
    Ok(true)
}

/// Returns the name under which the old file stays.
fn kept(found: &Found) -> PathBuf {
    let mut name = found.path.file_name().unwrap_or_default().to_owned();
    name.push(".before-colibri");
    found.path.with_file_name(name)
}

/// Makes the signing key, if its file is missing.
fn make_key(file: Option<&Path>, out: &mut dyn Write) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let there = file.symlink_metadata().is_ok();
    let key = if there {
        read_key_file(file).map_err(|error| Failure::Usage(error.to_string()))?
    } else {
        make_folder(file)?;
        keys::generate(file)?
    };
    let (done, file) = (if there { "same " } else { "wrote" }, shown_path(file));
    writeln!(
        out,
        "{done}  {file}: the key that signs seals; auditors need its public key {}",
        key.public_key().hex()
    )?;
    Ok(())
}

/// Makes the folder of a key for its owner alone.
fn make_folder(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder).map_err(|error| {
        Failure::Failed(format!(
            "cannot make the folder {}: {error}; name another file with --key",
            folder.display()
        ))
    })
}

/// Returns the project's file for agents: the one that the host reads, if it is there, or `CLAUDE.md`, if only that is there, otherwise
/// `AGENTS.md`.
fn project(arguments: &Init, host: &Host) -> Result<PathBuf, Failure> {
    let named = arguments.project.as_deref().unwrap_or(Path::new("."));
    let folder = named.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        Failure::Usage(format!(
            "there is no folder {}; name the project's folder with --project",
            named.display()
        ))
    })?;
    let files = [host.reads, hosts::AGENTS, hosts::CLAUDE].map(|name| folder.join(name));
    let there = files.into_iter().find(|file| file.symlink_metadata().is_ok());
    Ok(there.unwrap_or_else(|| folder.join(hosts::AGENTS)))
}

fn shown_path(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}
