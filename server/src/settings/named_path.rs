//! Paths as people write them into the configuration of a host, where no shell expands them: a leading `~/` is the home, and what a
//! shell or an editor would replace is refused. Taken literally, it would name a new folder in the working directory.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::place::is_url;

/// The variable that names the home.
pub(crate) const HOME: &str = "HOME";

/// Returns the path that is meant. `home` is the value of `HOME`.
///
/// # Errors
/// Why it is refused, as the end of a sentence that begins with its name.
pub(crate) fn expanded(named: &Path, home: Option<&OsStr>) -> Result<PathBuf, String> {
    // The URL of a database may hold any characters.
    if is_url(named) {
        return Ok(named.to_owned());
    }
    if let Some(word) = named.components().find_map(replaced_elsewhere) {
        return Err(format!(
            "has {word} in it, which nothing replaces here; write the folder's own path, or begin it with ~/"
        ));
    }
    if let Some(user) = home_of_user(named) {
        return Err(format!(
            "begins with {user}, which nothing replaces here; write the folder's own path, or begin it with ~/"
        ));
    }
    match named.strip_prefix("~") {
        Err(_) => Ok(named.to_owned()),
        Ok(below) => match home.map(Path::new).filter(|home| home.is_absolute()) {
            Some(home) => Ok(home.join(below)),
            None => {
                Err("begins with ~, and HOME is not set to an absolute path; write the whole path".to_owned())
            }
        },
    }
}

/// Returns the first folder of a path, if a shell would take it for the home of a user.
fn home_of_user(named: &Path) -> Option<&str> {
    let mut parts = named.components();
    let first = parts.next()?.as_os_str().to_str()?;
    let is_user = first.strip_prefix('~').is_some_and(|user| !user.is_empty());
    (is_user && parts.next().is_some()).then_some(first)
}

/// Returns what a shell or an editor would replace in a part of a path.
fn replaced_elsewhere(part: Component<'_>) -> Option<String> {
    let text = part.as_os_str().to_str()?;
    if let Some((_, rest)) = text.split_once("${") {
        return Some(format!("${{{}", rest.split_inclusive('}').next().unwrap_or_default()));
    }
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_ascii_alphanumeric() || "_()".contains(letter))
    };
    let first_word = text.split(['\\', '/']).next().unwrap_or_default();
    let is_variable = |mark: char| {
        let name = first_word.strip_prefix(mark);
        name.is_some_and(|name| {
            is_name(if mark == '%' { name.strip_suffix(mark).unwrap_or_default() } else { name })
        })
    };
    (is_variable('$') || is_variable('%')).then(|| first_word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_tilde_is_the_home() {
        let home = Some(OsStr::new("/h/ada"));
        for (named, meant) in [
            ("~/work/c.db", "/h/ada/work/c.db"),
            ("~", "/h/ada"),
            ("a/~/c.db", "a/~/c.db"),
            ("~old.db", "~old.db"),
            ("./~old/c.db", "./~old/c.db"),
            ("c.db~", "c.db~"),
            ("/srv/100%/cost$/c.db", "/srv/100%/cost$/c.db"),
            ("/srv/$1/%/c.db", "/srv/$1/%/c.db"),
            ("postgres://a:%20${b}@host/c", "postgres://a:%20${b}@host/c"),
        ] {
            assert_eq!(expanded(Path::new(named), home), Ok(meant.into()), "{named}");
        }
        for home in [None, Some(OsStr::new("")), Some(OsStr::new("relative"))] {
            assert!(expanded(Path::new("~/c.db"), home).is_err_and(|text| text.contains("HOME is not set")));
        }
    }

    #[test]
    fn what_a_shell_or_an_editor_would_replace_is_refused_by_its_name() {
        for (named, word) in [
            ("${HOME}/c.db", "${HOME}"),
            ("/srv/${workspaceFolder}/c.db", "${workspaceFolder}"),
            ("${env:HOME}/c.db", "${env:HOME}"),
            ("${HOME", "${HOME"),
            ("$HOME/c.db", "$HOME"),
            ("%USERPROFILE%/c.db", "%USERPROFILE%"),
            ("%USERPROFILE%\\c.db", "%USERPROFILE%"),
            ("%ProgramFiles(x86)%\\c.db", "%ProgramFiles(x86)%"),
        ] {
            let refusal = expanded(Path::new(named), Some(OsStr::new("/h/ada")));
            assert!(refusal.is_err_and(|text| text.starts_with(&format!("has {word} in it"))), "{named}");
        }
    }

    #[test]
    fn the_home_of_a_named_user_is_refused_by_its_name() {
        for home in [None, Some(OsStr::new("/h/ada"))] {
            let refusal = expanded(Path::new("~root/c.db"), home);
            assert!(refusal.is_err_and(|text| text.starts_with("begins with ~root, which nothing replaces")));
        }
    }
}
