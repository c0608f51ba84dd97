//! Who did something, as far as the log knows it (people#callers). Every view asks here, so all of them say the same.
//!
//! A name without quotes is known: the operator's actor, or the user and the machine that the server found. A name in quotes is
//! claimed: an agent or a client calls itself so. No claimed name can look like a known one, since quotes inside it are escaped.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use colibri_runtime::chain::client::Source;
use colibri_runtime::handler::Fault;
use colibri_store::callers::{CallerRow, caller, caller_of_call};
use colibri_store::db::Db;
use colibri_store::log::log_query::first_since;
use colibri_visible::printable;

use crate::domains::tasks::history;
use crate::domains::trail;
pub(crate) use crate::report::UNCHECKED;

/// An agent, if one is named, and the caller of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    agent: Option<String>,
    caller: Option<Arc<CallerRow>>,
}

impl Who {
    /// The agent, if one is named, and the caller, which many may share.
    pub fn new(agent: Option<String>, caller: Option<Arc<CallerRow>>) -> Self {
        Self { agent, caller }
    }

    /// The caller alone.
    pub fn caller(caller: Option<&CallerRow>) -> Self {
        Self { agent: None, caller: caller.cloned().map(Arc::new) }
    }

    /// An agent and the caller that acted for it.
    pub fn agent(agent: &str, caller: Option<&CallerRow>) -> Self {
        Self { agent: Some(agent.to_owned()), ..Self::caller(caller) }
    }

    /// An agent and the caller of the call that names it.
    ///
    /// # Errors
    /// Storage faults.
    pub fn of_call(db: &Db, agent: &str, call: Option<i64>) -> Result<Self, Fault> {
        let caller = match call {
            Some(call) => caller_of_call(db, call)?.and_then(|(_, caller)| caller),
            None => None,
        };
        Ok(Self::agent(agent, caller.as_ref()))
    }

    /// Returns the row of the caller.
    pub fn row(&self) -> Option<&CallerRow> {
        self.caller.as_deref()
    }

    /// Returns whether the log knows the caller.
    pub fn is_known(&self) -> bool {
        self.caller.is_some()
    }

    fn actor(&self) -> Option<&str> {
        self.caller.as_ref()?.actor.as_deref()
    }

    fn client(&self) -> Option<&str> {
        let caller = self.caller.as_ref()?;
        caller.client_title.as_deref().or(caller.client_name.as_deref())
    }

    /// Returns whether the process of the caller had so many clients that the log stores no names of the later ones.
    fn is_one_of_many(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.source == Source::Many.as_str())
    }

    /// Returns whether a part of it has this name.
    pub fn has(&self, name: &str) -> bool {
        let caller = self.caller.as_ref();
        let client = caller.map(|caller| [&caller.client_title, &caller.client_name]);
        let claimed = client.into_iter().flatten().chain([&self.agent]);
        claimed.filter_map(Option::as_deref).chain(self.actor()).any(|own| own == name)
    }

    /// Returns the names of its parts.
    pub fn names(&self) -> impl Iterator<Item = String> + use<> {
        let names = [self.agent.as_deref(), self.actor(), self.client()];
        names.map(|name| name.map(str::to_owned)).into_iter().flatten()
    }
}

impl fmt::Display for Who {
    /// `"claude-1" (mallory, "colibri-call")`; without the agent where its name is also the actor's or the client's.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (actor, client) = (self.actor(), self.client());
        let agent = self.agent.as_deref().filter(|agent| ![actor, client].contains(&Some(agent)));
        let known = match (&self.caller, actor, client) {
            (_, Some(actor), _) => Some(printable(actor).into_owned()),
            (Some(caller), None, None) => {
                Some(format!("{}@{}", printable(&caller.os_user), printable(&caller.host)))
            }
            _ => None,
        };
        let client = match self.is_one_of_many() {
            true => Some("one of many clients".to_owned()),
            false => client.map(claimed),
        };
        match (agent.map(claimed), known, client) {
            (Some(agent), Some(known), Some(client)) => write!(out, "{agent} ({known}, {client})"),
            (Some(first), Some(second), None)
            | (None, Some(first), Some(second))
            | (Some(first), None, Some(second)) => write!(out, "{first} ({second})"),
            (Some(only), None, None) | (None, Some(only), None) | (None, None, Some(only)) => {
                out.write_str(&only)
            }
            (None, None, None) => out.write_str("-"),
        }
    }
}

/// Returns a name that an agent or a client gave itself, in quotes and printable.
pub fn claimed(name: &str) -> String {
    let name = name.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", printable(&name))
}

/// The actors under which each agent acted.
#[derive(Debug, Default)]
pub struct Shared(BTreeMap<String, BTreeSet<Option<String>>>);

impl Shared {
    /// Takes each agent that recorded a thought or claimed a task since a time.
    ///
    /// # Errors
    /// Storage faults.
    pub fn since(db: &Db, since: &str) -> Result<Self, Fault> {
        let (mut shared, mut callers) = (Self::default(), HashMap::new());
        let Some(first) = first_since(db, since)? else { return Ok(shared) };
        for (agent, number) in trail::shown::agents_since(db, since, first)?
            .into_iter()
            .chain(history::agents_since(db, since, first)?)
        {
            let row = match callers.entry(number) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(caller(db, number)?.map(Arc::new)),
            };
            shared.take(&Who::new(Some(agent), row.clone()));
        }
        Ok(shared)
    }

    /// Takes someone who is shown.
    pub fn take(&mut self, who: &Who) {
        if let Some(agent) = who.agent.as_deref().filter(|_| who.is_known()) {
            let actors = self.0.entry(agent.to_owned()).or_default();
            actors.insert(who.actor().map(str::to_owned));
        }
    }

    /// Names each agent that acted under several actors.
    pub fn notes(&self) -> Vec<String> {
        let several = self.0.iter().filter(|(_, actors)| actors.len() > 1);
        several
            .map(|(agent, actors)| {
                let names: Vec<String> = actors
                    .iter()
                    .map(|actor| actor.as_deref().map_or("none".into(), printable).into_owned())
                    .collect();
                format!(
                    "The agent_id {} was used under {} actors: {}.",
                    claimed(agent),
                    names.len(),
                    names.join(", ")
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{CallerRow, Shared, Source, Who};

    fn caller(actor: Option<&str>, client: Option<&str>) -> CallerRow {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        CallerRow {
            caller_no: 1,
            boot_id: "boot".to_owned(),
            source: "initialize".to_owned(),
            client_name: owned(client),
            client_title: None,
            client_version: None,
            protocol: None,
            actor: owned(actor),
            os_user: "root".to_owned(),
            host: "box".to_owned(),
            pid: 1,
            first_seen: "then".to_owned(),
            sequence_no: 1,
        }
    }

    #[test]
    fn agent_actor_and_client_are_all_shown_where_they_differ() {
        for (agent, actor, client, shown) in [
            (
                Some("claude-1"),
                Some("mallory"),
                Some("colibri-call"),
                r#""claude-1" (mallory, "colibri-call")"#,
            ),
            (Some("claude-1"), Some("mallory"), None, r#""claude-1" (mallory)"#),
            (Some("claude-1"), None, Some("host"), r#""claude-1" ("host")"#),
            (Some("claude-1"), None, None, r#""claude-1" (root@box)"#),
            (Some("alice"), Some("alice"), Some("host"), r#"alice ("host")"#),
            (Some("host"), None, Some("host"), r#""host""#),
            (None, Some("alice"), Some("host"), r#"alice ("host")"#),
            (None, Some("alice"), None, "alice"),
            (None, None, Some("host"), r#""host""#),
            (None, None, None, "root@box"),
        ] {
            let caller = caller(actor, client);
            let who = Who::new(agent.map(str::to_owned), Some(caller.into()));
            assert_eq!(who.to_string(), shown);
        }
        assert_eq!(Who::agent("claude-1", None).to_string(), r#""claude-1""#);
        assert_eq!(Who::caller(None).to_string(), "-");
    }

    #[test]
    fn a_client_beyond_the_most_that_are_stored_is_said_to_be_one_of_many() {
        for (agent, actor, shown) in [
            (Some("claude-1"), Some("mallory"), r#""claude-1" (mallory, one of many clients)"#),
            (None, Some("alice"), "alice (one of many clients)"),
            (None, None, "root@box (one of many clients)"),
            (Some("claude-1"), None, r#""claude-1" (root@box, one of many clients)"#),
        ] {
            let many = CallerRow { source: Source::Many.as_str().to_owned(), ..caller(actor, None) };
            assert_eq!(Who::new(agent.map(str::to_owned), Some(many.into())).to_string(), shown);
        }
    }

    #[test]
    fn no_claimed_name_looks_like_a_known_one() {
        let honest = Who::caller(Some(&caller(Some("alice"), Some("claude-code")))).to_string();
        for name in [
            "alice",
            "alice (claude-code)",
            "alice (\"claude-code\")",
            "\" alice (\"claude-code",
            "alice\" (\\",
        ] {
            for who in [
                Who::caller(Some(&caller(None, Some(name)))),
                Who::agent(name, None),
                Who::agent(name, Some(&caller(None, None))),
            ] {
                let shown = who.to_string();
                assert_ne!(shown, honest);
                assert!(shown.starts_with('"'), "{shown}");
                let name = shown.strip_suffix(" (root@box)").unwrap_or(&shown);
                let inner = &name[1..name.len() - 1];
                let bare = inner.replace("\\\\", "").replace("\\\"", "");
                assert!(name.ends_with('"') && !bare.contains('"'), "{shown}");
            }
        }
    }

    #[test]
    fn an_agent_under_several_actors_is_named() {
        let mut shared = Shared::default();
        for (agent, actor) in [("a", Some("alice")), ("a", Some("alice")), ("b", Some("bob")), ("b", None)] {
            shared.take(&Who::agent(agent, Some(&caller(actor, None))));
        }
        shared.take(&Who::agent("a", None));
        assert_eq!(shared.notes(), ["The agent_id \"b\" was used under 2 actors: none, bob."]);
    }
}
