//! The pins and the lists that wait, as they are stored.

use colibri_runtime::handler::Fault;
use colibri_visible::printable;

use crate::cli::Failure;
use crate::domains::wrap::store::{events_of, list_of, pinned_names};
use crate::domains::wrap::{Unlike, unlikes};
use crate::relay::stored_pin;
use crate::wrap::findings::Comparison;
use crate::wrap::pin::{Pin, SHOWN_DIGITS, SeenList};
use colibri_store::db::Db;

/// A server's pin.
pub(super) struct Pinned {
    /// The server's name.
    pub name: String,
    /// The pin.
    pub pin: Pin,
    /// The lists that wait, the one that was seen last at the end.
    pub waiting: Vec<Noted>,
    /// The lists that were never accepted and that the server has left since.
    pub left: Vec<Noted>,
}

/// A list that was seen.
pub(super) struct Noted {
    /// Its hash.
    pub list_hash: String,
    /// Since when the server has it, or when it was last seen with it: UTC, RFC 3339 with milliseconds.
    pub seen_at: String,
    /// The list.
    pub seen: SeenList,
}

impl Pinned {
    /// Says that no list waits, and names those that were never accepted.
    pub fn none_waits(&self) -> String {
        let mut text = format!("No list of {} waits: its tools are the pinned ones.", printable(&self.name));
        for list in &self.left {
            text.push_str(&format!("\n{}", self.left_behind(list)));
        }
        text
    }

    /// Returns the lists that wait, but for one, in words: those that bear on security first, then the newest.
    pub fn also_waiting(&self, but: Option<&str>) -> Vec<String> {
        let others = self.waiting.iter().rev().filter(|list| Some(list.list_hash.as_str()) != but);
        let mut others: Vec<(usize, String)> = others
            .map(|list| {
                let signs = self.signs(list);
                let since = printable(&list.seen_at);
                (signs, format!("Another list waits since {since}: {}", self.look(list, signs)))
            })
            .collect();
        others.sort_by_key(|(signs, _)| *signs == 0);
        others.into_iter().map(|(_, text)| text).collect()
    }

    /// Says that the server had a list that was never accepted.
    pub fn left_behind(&self, list: &Noted) -> String {
        let (at, look) = (printable(&list.seen_at), self.look(list, self.signs(list)));
        format!("Another list was last seen at {at} and not accepted: {look}")
    }

    /// Returns how a list differs in a few words, and the command that says it all.
    fn look(&self, list: &Noted, signs: usize) -> String {
        let counts = self.pin.difference(&list.seen).counts();
        let signs = match signs {
            0 => String::new(),
            1 => ", 1 finding bears on security".to_owned(),
            count => format!(", {count} findings bear on security"),
        };
        let name = printable(&self.name);
        format!("{counts}{signs}; look: colibri pins diff {name} --list {}", list.shown())
    }

    /// Returns how many findings of a list bear on security.
    fn signs(&self, list: &Noted) -> usize {
        let Ok(name) = self.name.parse() else { return 0 };
        let meaning = Comparison::new(name, Some(self.pin.clone()), list.seen.clone()).meaning();
        meaning.findings.iter().filter(|finding| finding.security).count()
    }
}

impl Noted {
    /// Returns the digits of the hash that are shown.
    pub fn shown(&self) -> String {
        printable(self.list_hash.get(..SHOWN_DIGITS).unwrap_or(&self.list_hash)).into_owned()
    }
}

/// Returns all pins, by name.
pub(super) fn all(db: &Db) -> Result<Vec<Pinned>, Failure> {
    let names = pinned_names(db).map_err(unreadable)?;
    names.into_iter().map(|name| pinned(db, name)).collect()
}

/// Returns the pin of a name.
pub(super) fn one(db: &Db, name: &str) -> Result<Pinned, Failure> {
    let names = pinned_names(db).map_err(unreadable)?;
    if names.iter().any(|one| one == name) {
        return pinned(db, name.to_owned());
    }
    let close = colibri_suggest::closest(name, names.iter().map(String::as_str));
    let hint = close.map_or_else(
        || "; colibri pins lists the names".to_owned(),
        |close| format!("; did you mean {}?", printable(close)),
    );
    Err(Failure::Usage(format!("no tools of {} are pinned{hint}", printable(name))))
}

fn pinned(db: &Db, name: String) -> Result<Pinned, Failure> {
    let pin = stored_pin(db, &name).map_err(|reason| {
        Failure::Failed(format!("the pin of {} cannot be read: {reason}", printable(&name)))
    })?;
    let unlikes = unlikes(db, &name).map_err(unreadable)?;
    let load = |lists: &[Unlike]| {
        lists.iter().map(|list| noted(db, &name, &list.list_hash, &list.at)).collect::<Result<Vec<_>, _>>()
    };
    let (waiting, left) = (load(&unlikes.waiting)?, load(&unlikes.left)?);
    Ok(Pinned { name, pin: pin.unwrap_or_default(), waiting, left })
}

/// Returns the list of a name whose hash begins so.
pub(super) fn choose(db: &Db, name: &str, part: &str) -> Result<Noted, Failure> {
    let events = events_of(db, name).map_err(unreadable)?;
    let is_long = part.len() >= SHOWN_DIGITS;
    let found = events.iter().find(|event| is_long && event.list_hash.starts_with(part));
    if let Some(event) = found {
        return noted(db, name, &event.list_hash, &event.recorded_at);
    }
    let hashes = events.iter().filter_map(|event| event.list_hash.get(..SHOWN_DIGITS));
    let near = colibri_suggest::closest(part.get(..SHOWN_DIGITS).unwrap_or(part), hashes);
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {}?", printable(near)));
    Err(Failure::Usage(format!(
        "{} has no list {}; name at least the first {SHOWN_DIGITS} digits of its hash{hint}",
        printable(name),
        printable(part)
    )))
}

fn noted(db: &Db, name: &str, list_hash: &str, at: &str) -> Result<Noted, Failure> {
    let text = list_of(db, name, list_hash).map_err(unreadable)?;
    let changed = || Failure::Failed("a stored list of tools was changed; run colibri verify".to_owned());
    let seen = text.as_deref().and_then(SeenList::stored).ok_or_else(changed)?;
    Ok(Noted { list_hash: list_hash.to_owned(), seen_at: at.to_owned(), seen })
}

fn unreadable(fault: Fault) -> Failure {
    Failure::Failed(format!("the pins cannot be read: {fault}; `colibri verify` says what is wrong"))
}
