//! The name of a wrapped server: what its rows and its pins hang on.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The longest name, in characters.
const LENGTH: usize = 32;

/// Programs that start the server named behind them. Two of them do so by a word of their own.
const LAUNCHERS: [(&str, Option<&str>); 8] = [
    ("npx", None),
    ("bunx", None),
    ("uvx", None),
    ("node", None),
    ("deno", Some("run")),
    ("python", None),
    ("python3", None),
    ("pnpm", Some("dlx")),
];

/// Programs that run many servers, whose own name says nothing about the one they run.
const RUNNERS: [&str; 21] = [
    "bash", "bun", "cargo", "cmd", "dash", "docker", "dotnet", "env", "fish", "go", "java", "nice", "nohup",
    "npm", "pipx", "podman", "sh", "sudo", "timeout", "uv", "zsh",
];

/// Extensions of scripts and programs. Anything else behind a dot may be part of a name, such as `socket.io`.
const EXTENSIONS: [&str; 12] =
    [".bat", ".cjs", ".cmd", ".cts", ".exe", ".jar", ".js", ".mjs", ".mts", ".py", ".sh", ".ts"];

/// A server's name: a letter or digit, then up to 31 letters, digits, `.`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

/// Why a name is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadName {
    /// It was given, and has another form.
    Form,
    /// The command, whose program is given, tells none.
    Untold(String),
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => write!(
                f,
                "a name has at most {LENGTH} letters, digits, \".\", \"_\" and \"-\", and begins with a letter or a digit"
            ),
            Self::Untold(program) => write!(f, "cannot tell a name from \"{program}\"; give --name"),
        }
    }
}

impl std::error::Error for BadName {}

impl FromStr for Name {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let begins_well = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let sound = begins_well && text.len() <= LENGTH && text.chars().all(is_allowed);
        sound.then(|| Self(text.to_owned())).ok_or(BadName::Form)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Derives a name from the server's command: from what a launcher starts, else from the program.
    ///
    /// # Errors
    /// The command is empty, runs another program that only its arguments tell, or no letter or digit is left.
    pub fn of_command(command: &[OsString]) -> Result<Self, BadName> {
        let mut words = command.iter().map(|word| word.to_string_lossy());
        let program = words.next().unwrap_or_default();
        let untold = || BadName::Untold(program.to_string());
        let own = without_extension(last_part(&program));
        let mut arguments = words.filter(|word| !word.starts_with('-'));
        let told = match LAUNCHERS.iter().find(|(launcher, _)| *launcher == own) {
            Some((_, Some(word))) if arguments.next().as_deref() != Some(word) => return Err(untold()),
            Some(_) => arguments.next().ok_or_else(untold)?.into_owned(),
            None if RUNNERS.contains(&own) => return Err(untold()),
            None => program.to_string(),
        };
        let part = last_part(&told);
        // An npm scope is a folder; what is left of an `@` behind the name is a version.
        let unversioned = part.split(['@', '=']).next().unwrap_or_default();
        let replaced = |letter: char| if is_allowed(letter) { letter } else { '-' };
        let name: String = without_extension(unversioned).chars().map(replaced).collect();
        let name: String = name
            .trim_start_matches(|first: char| !first.is_ascii_alphanumeric())
            .chars()
            .take(LENGTH)
            .collect();
        name.parse().map_err(|_| untold())
    }
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-')
}

/// The part behind the last `/` or `\`.
fn last_part(path: &str) -> &str {
    let path = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.rsplit('\\').next().unwrap_or_default()
}

fn without_extension(name: &str) -> &str {
    let stem = EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension));
    stem.unwrap_or(name)
}
