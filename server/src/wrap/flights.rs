//! Requests that wait for the server's answers, found by the ids of those answers. Pure.
//!
//! Ids are equal if they are the same JSON value: `5`, `5.0` and `50e-1` are one number, `"a"` and `"\u0061"` one text. Besides, a
//! text that is a decimal integer equals the number of that value, since servers exist that answer `5` with `"5"` and the official
//! clients take that. No other text equals a number: a client that takes `"0x5"` for 5 would have a reply without a row.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use super::limits::{ID_BYTES, IN_FLIGHT};
use super::text::unescaped;

/// The most digits of a text that equals a number. No client counts further.
const INTEGER_DIGITS: usize = 16;

/// A request's id: a string or a number.
#[derive(Debug, Clone)]
pub struct Id {
    raw: Box<str>,
    key: Key,
}

/// What an id stands for, in one form for each value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The number `digits * 10^exponent`; `digits` neither begin nor end with a zero, and zero has none.
    Number {
        negative: bool,
        digits: Box<[u8]>,
        exponent: i64,
    },
    Text(Box<[u8]>),
}

impl Id {
    /// Reads an id from its JSON text. `None` if no request can have it: it is neither a string nor a number, longer than
    /// [`ID_BYTES`], or not written as JSON demands.
    pub fn read(raw: &[u8]) -> Option<Self> {
        if raw.len() > ID_BYTES {
            return None;
        }
        let text = std::str::from_utf8(raw).ok()?;
        let key = if text.starts_with('"') {
            let text = unescaped(raw)?;
            integer(&text).unwrap_or_else(|| Key::Text(text.into()))
        } else {
            number(text)?
        };
        Some(Self { raw: text.into(), key })
    }

    /// Returns the JSON text as it was written, for the answer.
    pub fn as_str(&self) -> &str {
        &self.raw
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

/// The number that a text stands for; `None` unless it is `-?(0|[1-9][0-9]{0,15})`.
fn integer(text: &[u8]) -> Option<Key> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let plain = digits.len() <= INTEGER_DIGITS && digits.iter().all(u8::is_ascii_digit);
    // The grammar of numbers refuses no digits, and a zero in front of others.
    if plain { number(std::str::from_utf8(text).ok()?) } else { None }
}

/// Reads a JSON number exactly. `None` if it is not one, or its exponent does not fit 64 bits.
fn number(text: &str) -> Option<Key> {
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, rest) = digits(rest)?;
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    let (fraction, rest) = rest.strip_prefix('.').map_or(Some(("", rest)), digits)?;
    let exponent = match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let (sign, unsigned) = match exponent.strip_prefix(['+', '-']) {
                Some(unsigned) => (if exponent.starts_with('-') { -1 } else { 1 }, unsigned),
                None => (1, exponent),
            };
            let (unsigned, "") = digits(unsigned)? else { return None };
            sign * unsigned.parse::<i64>().ok()?
        }
        None if rest.is_empty() => 0,
        None => return None,
    };
    let all = [whole, fraction].concat();
    let kept = all.trim_end_matches('0');
    // Both are at most as long as an id.
    let moved = i64::try_from(all.len() - kept.len()).ok()? - i64::try_from(fraction.len()).ok()?;
    let kept = kept.trim_start_matches('0');
    if kept.is_empty() {
        return Some(Key::Number { negative: false, digits: Box::default(), exponent: 0 });
    }
    Some(Key::Number { negative, digits: kept.as_bytes().into(), exponent: exponent.checked_add(moved)? })
}

/// Splits at least one digit from what follows.
fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    if end == 0 { None } else { Some(text.split_at(end)) }
}

/// Names one request in flight, also among others with its id. Later requests have greater tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// The requests in flight with what is known of each. A request is in flight from when its line was written to the server until
/// its answer.
#[derive(Debug)]
pub struct Flights<T> {
    requests: BTreeMap<Ticket, (Id, T)>,
    /// The tickets under each id, oldest first.
    tickets: HashMap<Id, VecDeque<Ticket>>,
    last: u64,
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self { requests: BTreeMap::new(), tickets: HashMap::new(), last: 0 }
    }
}

impl<T> Flights<T> {
    /// Returns how many requests wait.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether no request waits.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Returns whether as many requests wait as may: [`IN_FLIGHT`].
    pub fn is_full(&self) -> bool {
        self.len() >= IN_FLIGHT
    }

    /// Adds a request, behind those with the same id. Look at [`is_full`](Self::is_full) before.
    pub fn begin(&mut self, id: Id, request: T) -> Ticket {
        self.last += 1;
        let ticket = Ticket(self.last);
        self.tickets.entry(id.clone()).or_default().push_back(ticket);
        self.requests.insert(ticket, (id, request));
        ticket
    }

    /// Returns the request that an answer with this id is for: the oldest one with an equal id.
    pub fn oldest(&self, id: &Id) -> Option<Ticket> {
        self.tickets.get(id)?.front().copied()
    }

    /// Returns a request with its id as the client wrote it.
    pub fn get(&self, ticket: Ticket) -> Option<(&Id, &T)> {
        self.requests.get(&ticket).map(|(id, request)| (id, request))
    }

    /// Takes a request out, because it was answered or is given up.
    pub fn end(&mut self, ticket: Ticket) -> Option<(Id, T)> {
        let (id, request) = self.requests.remove(&ticket)?;
        if let Some(tickets) = self.tickets.get_mut(&id) {
            // They are in order, and nearly always it is the first.
            if let Ok(place) = tickets.binary_search(&ticket) {
                tickets.remove(place);
            }
            if tickets.is_empty() {
                self.tickets.remove(&id);
            }
        }
        Some((id, request))
    }

    /// Returns the requests in the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = (Ticket, &Id, &T)> {
        self.requests.iter().map(|(ticket, (id, request))| (*ticket, id, request))
    }
}
