//! Short ids: the last characters of an id, and the one id that a few characters stand for.
//!
//! Agents choose ids, too, so a chosen id can be made to look like the short form of another one. Views show such an id behind
//! [`EXACT`], and a fragment that is an id and also the short form of another is refused rather than guessed.

use colibri_visible::printable;

use super::Failure;
use super::views::cut;
use crate::domains::tasks::shown::title;
use colibri_store::db::Db;
use colibri_store::find::{IdColumn, MOST_FOUND, has_id, ids_like, longer_ids, newest_ids};
use colibri_suggest::closest;

/// How many characters are shown of an id that the server made.
const SHORT: usize = 8;
/// How many characters are shown of an id that people chose.
const CHOSEN: usize = 24;
/// The fewest characters that stand for an id.
const LEAST: usize = 4;
/// The mark before a whole id, so that it is not taken for a short form.
const EXACT: char = '=';
/// The mark before the end of a long id that people chose.
const CUT: char = '…';

/// The ids of tasks, and those that sessions and records name as their task.
const ABOUT: &str = "(SELECT id, rowid AS made FROM tasks UNION ALL SELECT task_id, rowid FROM audit_sessions \
     UNION ALL SELECT task_id, min(seq) FROM thought_records GROUP BY task_id) AS about";

/// What has the ids.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Task,
    /// What sessions and records name as their task, also one that another program keeps.
    About,
    Session,
    /// A thought record.
    Record,
    /// What calls of the log are about.
    Subject,
}

impl Kind {
    fn place(self) -> IdColumn {
        let (table, id, order) = match self {
            Self::Task => ("tasks", "id", "rowid"),
            Self::About => (ABOUT, "id", "made"),
            Self::Session => ("audit_sessions", "session_id", "rowid"),
            Self::Record => ("thought_records", "id", "seq"),
            Self::Subject => ("actions", "subject", "sequence_no"),
        };
        IdColumn { table, id, order }
    }

    fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Task | Self::About => ("task", "tasks"),
            Self::Session => ("audit session", "audit sessions"),
            Self::Record => ("record", "records"),
            Self::Subject => ("subject", "subjects"),
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Task => "colibri tasks --all lists them",
            Self::About => "colibri tasks --all and colibri sessions list them",
            Self::Session => "colibri sessions lists them",
            Self::Record => "colibri export SESSION prints those of a session",
            Self::Subject => "colibri log lists them",
        }
    }
}

/// Returns an id as views show it. Ids that the server made end with random characters; of those that people chose the end is shown
/// only if they are long. Either one may be typed. A chosen id never looks like the short form of a made or of a longer one.
pub fn short(id: &str) -> String {
    if is_made(id) {
        return id[id.len() - SHORT..].to_owned();
    }
    let mark = match id.char_indices().rev().nth(CHOSEN) {
        Some((before, character)) => {
            return format!("{CUT}{}", printable(&id[before + character.len_utf8()..]));
        }
        None if is_end_of_made(id) || id.starts_with([EXACT, CUT]) => "=",
        None => "",
    };
    format!("{mark}{}", printable(id))
}

/// Checks for the form in which ids that the server made are shown.
fn is_end_of_made(text: &str) -> bool {
    text.len() == SHORT && text.bytes().all(|byte| byte.is_ascii_hexdigit())
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
    if let Some(id) = fitting(db, kind, fragment)? {
        return Ok(id);
    }
    let hint = if is_short(fragment) {
        format!("write at least {LEAST} characters of its id; ")
    } else {
        let newest = newest_ids(db, &kind.place())?;
        let ends: Vec<String> = newest.iter().map(|id| short(id)).collect();
        let meant = closest(fragment, newest.iter().chain(&ends).map(String::as_str));
        meant.map_or(String::new(), |id| format!("did you mean {}? ", printable(id)))
    };
    let (one, _) = kind.nouns();
    Err(Failure::Usage(format!("there is no {one} {fragment:?}; {hint}{}", kind.list())))
}

/// Returns the id that a fragment stands for; `None` if no id has it, or if it is too short and no whole id.
///
/// # Errors
/// [`Failure::Usage`] if it stands for several; storage faults.
pub fn fitting(db: &Db, kind: Kind, fragment: &str) -> Result<Option<String>, Failure> {
    if let Some(whole) = fragment.strip_prefix(EXACT)
        && has_id(db, &kind.place(), whole)?
    {
        return Ok(Some(whole.to_owned()));
    }
    let mut found = match fragment.strip_prefix(CUT) {
        Some(end) => longer_ids(db, &kind.place(), end, true)?,
        None => ids_like(db, &kind.place(), fragment)?,
    };
    let is_whole = found.first().is_some_and(|id| id == fragment);
    if is_whole {
        let others = also_meant(db, kind, fragment)?;
        if !others.is_empty() {
            return Err(shadowed(fragment, kind, &others));
        }
    }
    if found.is_empty() || is_short(fragment) && !is_whole {
        return Ok(None);
    }
    if found.len() == 1 {
        return Ok(found.pop());
    }
    Err(several(db, kind, fragment, &found)?)
}

/// Returns the other ids that a whole id may stand for, too: ids of the server that have it as a part, and long ones that views show
/// by it.
pub fn also_meant(db: &Db, kind: Kind, id: &str) -> Result<Vec<String>, Failure> {
    let is_part_of_made =
        !is_made(id) && !is_short(id) && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_part_of_made && id.chars().count() != CHOSEN {
        return Ok(Vec::new());
    }
    let mut others = longer_ids(db, &kind.place(), id, !is_part_of_made)?;
    others.retain(|other| !is_part_of_made || is_made(other));
    Ok(others)
}

/// Returns the refusal of an id that is also the short form of others.
pub fn shadowed(id: &str, kind: Kind, others: &[String]) -> Failure {
    let (one, _) = kind.nouns();
    let others: Vec<String> = others.iter().map(|id| printable(id).into_owned()).collect();
    Failure::Usage(format!(
        "{id:?} is the whole id of one {one} and a part of another's; write {EXACT}{} for the first, or the whole id {}",
        printable(id),
        others.join(" or ")
    ))
}

fn several(db: &Db, kind: Kind, fragment: &str, found: &[String]) -> Result<Failure, Failure> {
    let (_, several) = kind.nouns();
    let shown: Vec<String> = found
        .iter()
        .take(MOST_FOUND)
        .map(|id| match kind {
            Kind::Task | Kind::About => with_title(db, id),
            _ => Ok(printable(id).into_owned()),
        })
        .collect::<Result<_, Failure>>()?;
    let (count, more) = match found.len() {
        many if many > MOST_FOUND => (format!("more than {MOST_FOUND}"), ", …"),
        many => (many.to_string(), ""),
    };
    Ok(Failure::Usage(format!("{fragment:?} fits {count} {several}: {}{more}", shown.join(", "))))
}

/// Returns a task's id with its title.
fn with_title(db: &Db, id: &str) -> Result<String, Failure> {
    /// The widest that a title is shown.
    const WIDEST: usize = 40;
    let shown = printable(id).into_owned();
    // A task that another program keeps has no title here.
    let Some(title) = title(db, id)? else { return Ok(shown) };
    Ok(format!("{shown} ({})", cut(&printable(&title), WIDEST)))
}

fn is_short(fragment: &str) -> bool {
    fragment.chars().count() < LEAST
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn ids_are_shown_by_their_ends() {
        for (id, shown) in [
            ("01a204cb-d8da-75e5-9f31-639c5c1d7e3b", "5c1d7e3b"),
            ("release-42", "release-42"),
            ("a-name-that-someone-chose-long-ago", "…t-someone-chose-long-ago"),
            ("t-someone-chose-long-ago", "t-someone-chose-long-ago"),
            ("5c1d7e3b", "=5c1d7e3b"),
            ("5C1D7E3B", "=5C1D7E3B"),
            ("=5c1d7e3b", "==5c1d7e3b"),
            ("…t-someone", "=…t-someone"),
            ("", ""),
            ("a\u{1b}b", "a\\u{1b}b"),
        ] {
            assert_eq!(short(id), shown);
        }
    }
}
