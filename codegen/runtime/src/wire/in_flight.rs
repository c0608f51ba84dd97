//! The ids of calls that are not answered yet (protocol#ids). A client that uses such an id again could take the second answer for the
//! first one's. So the second message waits, and is refused behind the first answer.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::chain::call::Member;

/// While more refusals wait, nothing more is read.
const MOST_HELD: usize = 256;
/// Integers below this are the same number however they are written: a double holds each of them.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The ids, and the refusals that wait behind them.
#[derive(Debug, Default)]
pub struct InFlight {
    /// Of each call the array that it came in.
    calls: HashMap<Box<str>, Option<u64>>,
    held: Vec<(Box<str>, Held)>,
}

/// The answer to a message whose id is in flight.
#[derive(Debug)]
pub struct Held {
    /// Its place, if it came in an array.
    pub member: Option<Member>,
    /// The line.
    pub line: Vec<u8>,
}

impl InFlight {
    /// Notes a call.
    pub fn begin(&mut self, id: &str, member: Option<Member>) {
        self.calls.insert(meaning(id).into(), member.map(|member| member.array));
    }

    /// Returns whether the answer to a message must wait for the call with its id. The answers to one array leave together, so its
    /// members do not wait for one another.
    pub(super) fn delays(&self, id: &str, member: Option<Member>) -> bool {
        let array = self.calls.get(&*meaning(id));
        array.is_some_and(|array| array.is_none() || *array != member.map(|member| member.array))
    }

    /// Returns whether a call with that id is in flight.
    pub fn has(&self, id: &str) -> bool {
        self.calls.contains_key(&*meaning(id))
    }

    /// Keeps an answer until the call with its id is answered.
    pub fn hold(&mut self, id: &str, held: Held) {
        self.held.push((meaning(id).into(), held));
    }

    /// Ends a call, and returns the answers that waited for it.
    pub fn end(&mut self, id: &str) -> Vec<Held> {
        self.calls.remove(&*meaning(id));
        self.take(id)
    }

    /// Returns the answers that wait under an id and keeps them no longer.
    pub fn take(&mut self, id: &str) -> Vec<Held> {
        if self.held.is_empty() {
            return Vec::new();
        }
        let id = meaning(id);
        let (taken, kept) = std::mem::take(&mut self.held).into_iter().partition(|(held, _)| **held == *id);
        self.held = kept;
        let taken: Vec<(Box<str>, Held)> = taken;
        taken.into_iter().map(|(_, held)| held).collect()
    }

    /// Returns whether too many answers wait to read more.
    pub fn is_full(&self) -> bool {
        self.held.len() >= MOST_HELD
    }
}

/// Returns one text for all JSON texts that mean the same id.
fn meaning(id: &str) -> Cow<'_, str> {
    if id.bytes().all(|byte| byte.is_ascii_digit()) || id.starts_with('"') && !id.contains('\\') {
        return Cow::Borrowed(id);
    }
    let same = match id.starts_with('"') {
        true => serde_json::from_str::<String>(id).map(|text| serde_json::Value::from(text).to_string()).ok(),
        false => {
            let number = id.parse::<f64>().ok();
            // A zero has no sign.
            number.filter(|number| number.abs() < EXACT).map(|number| (number + 0.0).to_string())
        }
    };
    same.map_or(Cow::Borrowed(id), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_mean_the_same_are_the_same() {
        let same = [
            ("7", "7.0"),
            ("7", "70e-1"),
            ("0", "-0"),
            ("\"a\"", "\"\\u0061\""),
            ("\"\\ud83d\\ude00\"", "\"😀\""),
        ];
        for (one, other) in same {
            assert_eq!(meaning(one), meaning(other));
        }
        let different = [
            ("7", "\"7\""),
            ("7", "7.5"),
            ("9007199254740993", "9007199254740992"),
            ("\"\\ud83d\"", "\"\\ude00\""),
            ("1e400", "2e400"),
        ];
        for (one, other) in different {
            assert_ne!(meaning(one), meaning(other));
        }
    }

    #[test]
    fn an_answer_waits_for_the_call_and_not_inside_its_array() {
        let mut ids = InFlight::default();
        let place = |array| Some(Member { array, place: 0 });
        ids.begin("7", place(1));
        assert!(ids.has("7.0") && ids.delays("7", None) && ids.delays("7", place(2)));
        assert!(!ids.delays("7", place(1)) && !ids.delays("8", None));
        ids.hold("7.0", Held { member: None, line: b"x".to_vec() });
        assert!(ids.end("8").is_empty());
        assert_eq!(ids.end("7").len(), 1);
        assert!(!ids.has("7"));
    }
}
