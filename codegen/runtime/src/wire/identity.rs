//! Who calls, as the protocol says it (people#callers): `clientInfo` of the connection's last `initialize`, or of each stateless call.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::era::{CLIENT_INFO_KEY, PROTOCOL_VERSION_KEY, Stateless, supported};
use super::params::{members, text_of};
use crate::chain::client::{Client, Source};
use crate::chain::redact::Redactor;

/// How many characters of a client's name and of its title are kept.
const NAME_CHARACTERS: usize = 128;
/// How many characters of its version are kept.
const VERSION_CHARACTERS: usize = 64;

/// The identities of a connection's calls. A call that repeats the one before shares its value and is not parsed again.
pub struct Identities {
    connection: Arc<Client>,
    stateless: Option<Told>,
}

/// What the last stateless call said.
struct Told {
    info: Option<Box<str>>,
    revision: Option<&'static str>,
    client: Arc<Client>,
}

impl Default for Identities {
    fn default() -> Self {
        Self { connection: Arc::new(Client::unnamed(Source::None)), stateless: None }
    }
}

impl Identities {
    /// Takes the identity of an `initialize` that was answered with `revision`.
    pub fn greeted(&mut self, info: Option<&RawValue>, revision: Option<&'static str>, redactor: &Redactor) {
        self.connection = Arc::new(read(Source::Initialize, info, revision, redactor));
    }

    /// Returns who a call comes from; `told` is what a stateless call says itself.
    pub fn of_call(&mut self, told: Option<Stateless<'_>>, redactor: &Redactor) -> Arc<Client> {
        match told {
            Some(Stateless { revision, client_info }) => {
                self.of_stateless(Some(revision), client_info, redactor)
            }
            None => self.connection.clone(),
        }
    }

    /// The same of a call to another server. `meta` is the JSON text of a stateless call's members, and the revision may be unknown.
    pub fn of_foreign(&mut self, meta: Option<&str>, redactor: &Redactor) -> Arc<Client> {
        let Some(meta) = meta.and_then(|meta| serde_json::from_str::<&RawValue>(meta).ok()) else {
            return self.connection.clone();
        };
        let [revision, client_info] =
            members(meta, [PROTOCOL_VERSION_KEY, CLIENT_INFO_KEY]).unwrap_or_default();
        let revision = revision.and_then(|raw| text_of(raw.get())).and_then(|text| supported(&text));
        self.of_stateless(revision, client_info, redactor)
    }

    fn of_stateless(
        &mut self,
        revision: Option<&'static str>,
        client_info: Option<&RawValue>,
        redactor: &Redactor,
    ) -> Arc<Client> {
        let info = client_info.map(RawValue::get);
        if let Some(last) = &self.stateless
            && last.info.as_deref() == info
            && last.revision == revision
        {
            return last.client.clone();
        }
        let client = Arc::new(read(Source::Meta, client_info, revision, redactor));
        self.stateless = Some(Told { info: info.map(Box::from), revision, client: client.clone() });
        client
    }
}

/// Reads a `clientInfo`. Members that are not texts, and empty ones, count as absent.
fn read(
    source: Source,
    info: Option<&RawValue>,
    revision: Option<&'static str>,
    redactor: &Redactor,
) -> Client {
    let [name, title, version] =
        info.and_then(|info| members(info, ["name", "title", "version"])).unwrap_or_default();
    let text = |raw: Option<&RawValue>, most: usize| {
        let text = text_of(raw?.get()).filter(|text| !text.is_empty())?;
        // It is redacted before it is cut, or a part of a secret would stay.
        let text = redactor.redact(&text);
        Some(match text.char_indices().nth(most) {
            Some((end, _)) => text[..end].to_owned(),
            None => text.into_owned(),
        })
    };
    Client {
        source,
        name: text(name, NAME_CHARACTERS),
        title: text(title, NAME_CHARACTERS),
        version: text(version, VERSION_CHARACTERS),
        protocol: revision,
    }
}
