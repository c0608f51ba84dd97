//! Calls that continue after their replies: a later call brings the input that the server asked for, or a task ends. Pure.

use std::collections::VecDeque;

use colibri_canonical::HexDigest;
use colibri_runtime::wire::params::{member, members, text_of};
use serde_json::value::RawValue;

use super::limits::{CONTINUED, ID_BYTES, INPUT_ANSWERS};

/// What a later call says of the one that it continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterRound {
    /// The hash of `requestState`, the server's token.
    pub state: HexDigest,
    /// How each of the requests for input was answered, in the order of the call: `accept`, `decline`, `cancel`, or nothing of these.
    pub actions: Vec<Option<&'static str>>,
}

impl LaterRound {
    /// Reads the parameters of a call. `None` if it is a first one.
    pub(super) fn read(params: &RawValue) -> Option<Self> {
        let [state, responses] = members(params, ["requestState", "inputResponses"])?;
        let state = state_of(state?)?;
        let actions = responses.and_then(Answers::read).unwrap_or_default().0;
        Some(Self { state, actions })
    }
}

/// Returns the hash of a `requestState`.
fn state_of(state: &RawValue) -> Option<HexDigest> {
    Some(HexDigest::of(text_of(state.get())?.as_bytes()))
}

/// The actions of `inputResponses`, an object by names that the server chose.
#[derive(Default)]
struct Answers(Vec<Option<&'static str>>);

impl Answers {
    fn read(responses: &RawValue) -> Option<Self> {
        let responses: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(responses.get()).ok()?;
        let action = |answer: &serde_json::Value| {
            let action = answer.get("action").and_then(serde_json::Value::as_str);
            ["accept", "decline", "cancel"].into_iter().find(|known| action == Some(*known))
        };
        Some(Self(responses.values().take(INPUT_ANSWERS).map(action).collect()))
    }
}

/// Returns the hash of the `requestState` in a result that asks for input.
pub(crate) fn asked_state(result: &[u8]) -> Option<HexDigest> {
    let result: &RawValue = serde_json::from_slice(result).ok()?;
    state_of(member(result, "requestState")?)
}

/// Returns the id of the task in a result that is a task's handle: of the utility of 2025-11-25 in `task`, of the extension in the result itself.
pub(crate) fn task_id(result: &[u8]) -> Option<String> {
    let result: &RawValue = serde_json::from_slice(result).ok()?;
    let of = |object: &RawValue| text_of(member(object, "taskId")?.get()).map(|id| id.into_owned());
    let id = member(result, "task").and_then(of).or_else(|| of(result))?;
    (id.len() <= ID_BYTES).then_some(id)
}

/// Returns the status in a result of `tasks/get` or `tasks/cancel`, if the task has ended with it.
pub(crate) fn ended_status(result: &[u8]) -> Option<&'static str> {
    let result: &RawValue = serde_json::from_slice(result).ok()?;
    let status = member(result, "status").or_else(|| member(member(result, "task")?, "status"))?;
    let status = text_of(status.get())?;
    ["completed", "failed", "cancelled"].into_iter().find(|ended| *ended == status)
}

/// The newest calls that may continue, by the names that later messages use for them.
#[derive(Debug)]
pub(crate) struct Continued<K, V>(VecDeque<(K, V)>);

impl<K, V> Default for Continued<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: PartialEq, V> Continued<K, V> {
    /// Remembers a call; of equal names the newest counts.
    pub fn add(&mut self, name: K, call: V) {
        self.0.retain(|(other, _)| *other != name);
        if self.0.len() == CONTINUED {
            self.0.pop_front();
        }
        self.0.push_back((name, call));
    }

    /// Returns the call with that name.
    pub fn get(&self, name: &K) -> Option<&V> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, call)| call)
    }

    /// Forgets the call with that name, and returns it.
    pub fn take(&mut self, name: &K) -> Option<V> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        self.0.remove(at).map(|(_, call)| call)
    }
}
