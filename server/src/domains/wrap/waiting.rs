//! Which lists of a name differ from its pin, and which of them the server has now.

use colibri_runtime::handler::{Fault, ToolError as _};

use super::{listed, pin_of, store};
use crate::catalogue::PinsNoteError;
use colibri_store::db::Db;

/// A list that differs from the pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unlike {
    /// Its hash.
    pub list_hash: String,
    /// Since when the server has it, or when it was last seen with it: UTC, RFC 3339 with milliseconds.
    pub at: String,
}

/// The lists of a name that differ from its pin, in the order in which they were seen last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unlikes {
    /// Those that wait: no pinned list was seen since, and none was accepted of which it is an earlier one.
    pub waiting: Vec<Unlike>,
    /// Those that were never accepted and that the server has left since.
    pub left: Vec<Unlike>,
}

/// That a list was seen.
struct Sighting {
    list_hash: String,
    at: String,
    sequence_no: i64,
}

/// Returns the lists of a name that differ from its pin.
///
/// # Errors
/// Storage faults; a stored list that was changed.
pub(crate) fn unlikes(db: &Db, name: &str) -> Result<Unlikes, Fault> {
    let events = store::events_of(db, name)?;
    let (mut unlikes, mut others, mut settled) = (Unlikes::default(), Vec::new(), 0);
    // Most names have one list.
    let Some(first) = events.first().filter(|_| events.len() > 1) else { return Ok(unlikes) };
    let pin = pin_of(db, name)?;
    let sightings = sightings(db, name, &events, first.sequence_no)?;
    for event in events.iter().filter(|event| event.event != "accepted") {
        let text = store::list_of(db, name, &event.list_hash)?.unwrap_or_default();
        if pin.holds(&listed(&text)?) {
            let last =
                seen(&sightings, &event.list_hash).map(|one| one.sequence_no).max().unwrap_or_default();
            settled = settled.max(last);
        } else {
            others.push(event);
        }
    }
    let accepted = |hash: Option<&str>| {
        let of_it = events.iter().filter(move |event| {
            event.event == "accepted" && hash.is_none_or(|hash| event.list_hash == *hash)
        });
        of_it.map(|event| event.sequence_no).max()
    };
    let mut waiting = Vec::new();
    for event in others {
        let hash = event.list_hash.as_str();
        let was_pinned = event.event == "pinned" || accepted(Some(hash)).is_some();
        // A list that was the pin is overtaken by the one that was accepted after it.
        let since = if was_pinned { settled.max(accepted(None).unwrap_or_default()) } else { settled };
        let Some(last) = seen(&sightings, hash).next_back() else { continue };
        let unlike = |one: &Sighting| Unlike { list_hash: hash.to_owned(), at: one.at.clone() };
        match seen(&sightings, hash).find(|one| one.sequence_no > since) {
            Some(one) => waiting.push((last.sequence_no, unlike(one))),
            None if !was_pinned => unlikes.left.push(unlike(last)),
            None => {}
        }
    }
    waiting.sort_by_key(|(last, _)| *last);
    unlikes.waiting = waiting.into_iter().map(|(_, unlike)| unlike).collect();
    Ok(unlikes)
}

fn seen<'a>(sightings: &'a [Sighting], hash: &'a str) -> impl DoubleEndedIterator<Item = &'a Sighting> {
    sightings.iter().filter(move |one| one.list_hash == hash)
}

/// Returns when the lists were seen, in this order. A list is stored once; that it was seen again is in the log alone.
fn sightings(db: &Db, name: &str, events: &[store::Event], first: i64) -> Result<Vec<Sighting>, Fault> {
    let stored = events.iter().filter(|event| event.event != "accepted");
    let (mut sightings, mut known) = (Vec::new(), Vec::new());
    for event in stored {
        let list_hash = event.list_hash.clone();
        let error = PinsNoteError::ErrPinKnown { name: name.to_owned(), list_hash: list_hash.clone() };
        known.push((error.message(), list_hash.clone()));
        sightings.push(Sighting { list_hash, at: event.recorded_at.clone(), sequence_no: event.sequence_no });
    }
    store::each_note_of_known(db, first, |sequence_no, at, message| {
        let found = known.iter().find(|(text, _)| text == message);
        sightings.extend(found.map(|(_, list_hash)| Sighting {
            list_hash: list_hash.clone(),
            at,
            sequence_no,
        }));
        Ok(true)
    })?;
    sightings.sort_by_key(|one| one.sequence_no);
    Ok(sightings)
}
