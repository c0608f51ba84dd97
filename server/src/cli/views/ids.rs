//! Short ids: the last characters of an id, and the one id that a few characters stand for.

use colibri_visible::printable;

use crate::cli::Failure;
use colibri_store::db::Db;
use colibri_store::find::{MOST_FOUND, ids_like};

/// How many characters are shown of an id that the server made.
const SHORT: usize = 8;
/// How many characters are shown of an id that people chose.
const CHOSEN: usize = 24;
/// The fewest characters that stand for an id.
const LEAST: usize = 4;

/// What has the ids.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Task,
}

impl Kind {
    fn place(self) -> (&'static str, &'static str) {
        match self {
            Self::Task => ("tasks", "id"),
        }
    }

    fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Task => ("task", "tasks"),
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Task => "colibri tasks --all lists them",
        }
    }
}

/// Returns an id as views show it. Ids that the server made end with random characters; of those that people chose the end is shown
/// only if they are long. Either one may be typed.
pub fn short(id: &str) -> String {
    let most = if is_made(id) { SHORT } else { CHOSEN };
    let from = id.char_indices().rev().nth(most - 1).map_or(0, |(at, _)| at);
    printable(&id[from..]).into_owned()
}

/// Checks for the form of a UUID.
fn is_made(id: &str) -> bool {
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Returns the id that a fragment stands for.
///
/// # Errors
/// [`Failure::Usage`] if it stands for none, or for several; storage faults.
pub fn resolve(db: &Db, kind: Kind, fragment: &str) -> Result<String, Failure> {
    let ((table, column), (one, several)) = (kind.place(), kind.nouns());
    let mut found = ids_like(db, table, column, fragment)?;
    let is_whole = found.first().is_some_and(|id| id == fragment);
    if !is_whole && fragment.chars().count() < LEAST {
        return Err(Failure::Usage(format!(
            "{fragment:?} is too short for the id of a {one}; write at least {LEAST} characters of it"
        )));
    }
    match found.len() {
        0 => Err(Failure::Usage(format!("there is no {one} {fragment:?}; {}", kind.list()))),
        1 => Ok(found.swap_remove(0)),
        many => {
            let shown = found.iter().take(MOST_FOUND).map(String::as_str).collect::<Vec<_>>().join(", ");
            let (count, more) = if many > MOST_FOUND {
                (format!("more than {MOST_FOUND}"), ", …")
            } else {
                (many.to_string(), "")
            };
            Err(Failure::Usage(format!("{fragment:?} fits {count} {several}: {shown}{more}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn ids_are_shown_by_their_ends() {
        for (id, shown) in [
            ("01a204cb-d8da-75e5-9f31-639c5c1d7e3b", "5c1d7e3b"),
            ("release-42", "release-42"),
            ("a-name-that-someone-chose-long-ago", "t-someone-chose-long-ago"),
            ("", ""),
            ("a\u{1b}b", "a\\u{1b}b"),
        ] {
            assert_eq!(short(id), shown);
        }
    }
}
