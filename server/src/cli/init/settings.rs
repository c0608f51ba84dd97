//! What the server of a block is told: absolute paths, since each host chooses its own working directory.

use std::path::{Path, PathBuf};

use colibri_visible::first_hidden;

use super::home::Home;
use crate::cli::Failure;
use crate::cli::arguments::init::Init;
use crate::cli::database::place_of;
use crate::settings::environment::Environment;
use crate::settings::keys::{ACTOR, DATABASE_URL, DB_PATH, PROOF_SIGNING_KEY_FILE, TOOLS};
use crate::settings::place::{Place, shows_password};
use crate::settings::rules::Rule;

/// What the default places lie below.
const HOME: &str = "HOME";
/// What stands for a password that is not shown.
pub const PASSWORD: &str = "PASSWORD";

/// The command of a block and its variables.
pub struct Settings {
    /// The program.
    pub command: String,
    /// Its variables, in the order of the table of settings.
    pub variables: Vec<(&'static str, String)>,
    /// The key file among them.
    pub key: Option<PathBuf>,
    /// Whether a variable has a password.
    pub has_password: bool,
}

impl Settings {
    /// Reads them from the command line.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a value that the server would refuse, or a default without a home.
    pub fn read(arguments: &Init, env: &Environment, home: &Home) -> Result<Self, Failure> {
        let key = match (&arguments.key, arguments.no_key) {
            (_, true) => None,
            (Some(file), _) => Some(absolute(file, "--key")?),
            (None, _) => {
                Some(home.below(".config/colibri/seal.key", "name the key with --key, or pass --no-key")?)
            }
        };
        let (database, has_password) = database(arguments, env, home)?;
        let mut variables = Vec::new();
        if let Some(tools) = &arguments.tools {
            TOOLS.rule.parse(tools).map_err(|refusal| Failure::Usage(format!("--tools {refusal}")))?;
            variables.push((TOOLS.name, tools.clone()));
        }
        variables.push(database);
        if let Some(actor) = &arguments.actor {
            ACTOR
                .rule
                .parse(actor)
                .map_err(|_| Failure::Usage(format!("--actor must be {}", ACTOR.rule.describe())))?;
            variables.push((ACTOR.name, plain(actor.clone(), "--actor")?));
        }
        if let Some(key) = &key {
            let named = if arguments.key.is_some() { "--key" } else { HOME };
            variables.push((PROOF_SIGNING_KEY_FILE.name, text(key, named)?));
        }
        Ok(Self { command: text(&program(env)?, "the path of colibri")?, variables, key, has_password })
    }

    /// Returns the database, if it is a file.
    pub fn file(&self) -> Option<&str> {
        let file = self.variables.iter().find(|(name, _)| *name == DB_PATH.name);
        file.map(|(_, file)| file.as_str())
    }

    /// Returns the same for a reader's eyes: without the password of a URL.
    pub fn shown(&self) -> Vec<(&'static str, String)> {
        let shown = |(name, value): &(&'static str, String)| match *name == DATABASE_URL.name {
            true => (*name, without_password(value)),
            false => (*name, value.clone()),
        };
        self.variables.iter().map(shown).collect()
    }
}

/// Returns the variable that names the database, and whether it has a password.
fn database(
    arguments: &Init,
    env: &Environment,
    home: &Home,
) -> Result<((&'static str, String), bool), Failure> {
    let (named, by) = match &arguments.db {
        Some(named) => (Some(named.clone()), "--db"),
        None => (env.get_os(DATABASE_URL.name).map(PathBuf::from), DATABASE_URL.name),
    };
    let Some(named) = named else {
        let file = home.below(".local/share/colibri/colibri.db", "name the database with --db")?;
        return Ok(((DB_PATH.name, text(&file, HOME)?), false));
    };
    match place_of(env, Some(&named))?.0 {
        Place::Shared(_) => {
            let url = text(&named, by)?;
            let secret = shows_password(&url);
            Ok(((DATABASE_URL.name, url), secret))
        }
        Place::File(_) if by == DATABASE_URL.name => {
            Err(Failure::Usage(format!("{by} is not a URL; unset it, or name the database with --db")))
        }
        place if place.is_memory() => {
            Err(Failure::Usage("a database in memory keeps nothing; name a file with --db".to_owned()))
        }
        Place::File(file) => Ok(((DB_PATH.name, text(&absolute(&file, "--db")?, "--db")?), false)),
    }
}

/// Returns the URL with [`PASSWORD`] for what may be a password: the end of the login, and the parameter of that name.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (login, place) = rest.rsplit_once('@').map_or(("", rest), |(login, place)| (login, place));
    let login = match login.split_once(':') {
        Some((user, _)) => format!("{user}:{PASSWORD}@"),
        None if login.is_empty() => String::new(),
        None => format!("{login}@"),
    };
    let place = match place.split_once("password=") {
        Some((before, value)) => {
            let after = value.find('&').map_or("", |end| &value[end..]);
            format!("{before}password={PASSWORD}{after}")
        }
        None => place.to_owned(),
    };
    format!("{scheme}://{login}{place}")
}

/// Returns this program as its user finds it: a link in `PATH` stays where it is when a new release replaces what it leads to.
fn program(env: &Environment) -> Result<PathBuf, Failure> {
    let real = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
        Failure::Failed(format!("this program does not find its own file: {error}; start it by its path"))
    })?;
    if is_fetched(&real) {
        return Err(Failure::Usage(format!(
            "{} is emptied now and then, and the host would start this program from there; install it first, with \
             `npm install --global` or `uv tool install`",
            real.parent().unwrap_or(&real).display()
        )));
    }
    let path = env.get_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(path)
        .map(|folder| folder.join("colibri"))
        .find(|named| named.is_absolute() && named.canonicalize().is_ok_and(|found| found == real));
    Ok(in_path.unwrap_or(real))
}

/// Returns whether a program lies where `npx` and `uvx` keep what they fetch.
fn is_fetched(program: &Path) -> bool {
    let has = |folder: &str| program.iter().any(|part| part == folder);
    has("_npx") || has("uv") && has("archive-v0")
}

fn absolute(path: &Path, option: &str) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::Usage(format!("{option} is not a path: {error}; name a file")))
}

/// Returns a path as a text that every host takes as it is.
fn text(path: &Path, option: &str) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| {
        Failure::Usage(format!(
            "{option} is not UTF-8, which a host's configuration must be; {}",
            instead(option)
        ))
    })?;
    plain(text.to_owned(), option)
}

/// Hosts put variables of their own in the place of `$NAME`, `${NAME}` and `{env:NAME}`.
fn plain(text: String, option: &str) -> Result<String, Failure> {
    match text.contains(['$', '{']) || first_hidden(&text).is_some() {
        false => Ok(text),
        true => Err(Failure::Usage(format!(
            "{option} has a $, a {{ or a hidden character, which hosts replace; {}",
            instead(option)
        ))),
    }
}

/// Returns what to do about a value that a host's configuration cannot hold.
fn instead(option: &str) -> &'static str {
    match option {
        HOME => "name both files elsewhere, with --db and --key",
        _ => "choose a value without them",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_fetched;

    #[test]
    fn what_is_fetched_to_run_once_is_told_from_what_is_installed() {
        for fetched in
            ["/u/.npm/_npx/3888/node_modules/x/bin/colibri", "/u/.cache/uv/archive-v0/a1/bin/colibri"]
        {
            assert!(is_fetched(Path::new(fetched)), "{fetched}");
        }
        for installed in [
            "/usr/bin/colibri",
            "/u/.local/share/uv/tools/x/bin/colibri",
            "/u/lib/node_modules/x/bin/colibri",
        ] {
            assert!(!is_fetched(Path::new(installed)), "{installed}");
        }
    }
}
