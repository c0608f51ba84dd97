//! Who a call comes from, as its client or the operator says (people#callers). The chain trusts none of it: it admits, refuses and
//! changes nothing by it.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

/// Where an identity comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The connection's last `initialize`.
    Initialize,
    /// The `_meta` of a stateless call.
    Meta,
    /// No `initialize` came before the call.
    None,
    /// A command of the operator's.
    Command,
    /// Stands for all identities beyond the limit.
    Many,
}

impl Source {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Meta => "meta",
            Self::None => "none",
            Self::Command => "command",
            Self::Many => "many",
        }
    }
}

/// An identity. Its texts hold no secret of the server's and are not longer than the limits of people#callers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    /// Where it comes from.
    pub source: Source,
    /// `clientInfo.name`.
    pub name: Option<String>,
    /// `clientInfo.title`.
    pub title: Option<String>,
    /// `clientInfo.version`.
    pub version: Option<String>,
    /// The protocol's revision: the one that `initialize` was answered with, or the call's own.
    pub protocol: Option<&'static str>,
}

impl Client {
    /// An identity of which nothing else is known.
    pub const fn unnamed(source: Source) -> Self {
        Self { source, name: None, title: None, version: None, protocol: None }
    }

    /// Returns the arguments of the operation that stores it.
    fn arguments(&self) -> Value {
        json!({
            "source": self.source.as_str(),
            "client_name": self.name,
            "client_title": self.title,
            "client_version": self.version,
            "protocol": self.protocol,
        })
    }
}

/// Shows the name, or `-`.
impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name.as_deref().unwrap_or("-"))
    }
}

/// How many identities of a process are stored before one of [`Source::Many`] stands for all further ones.
pub(super) const MOST_CLIENTS: usize = 1000;

/// Which identities the log knows. The first call of a new one is preceded by a call of an operation that stores it.
#[derive(Debug, Default)]
pub(super) struct Introductions {
    /// The operation; without one no identity is stored.
    pub operation: Option<&'static str>,
    /// What is committed.
    stored: Stored,
    /// What the open transaction adds.
    open: Option<Stored>,
}

#[derive(Debug, Clone, Default)]
struct Stored {
    last: Option<Arc<Client>>,
    count: usize,
}

impl Introductions {
    /// A transaction begins: forgets what the last one has added and not committed.
    pub fn begin(&mut self) {
        self.open = None;
    }

    /// The transaction is committed.
    pub fn commit(&mut self) {
        if let Some(stored) = self.open.take() {
            self.stored = stored;
        }
    }

    /// Returns whether a call of this client needs no introduction now.
    pub fn knows(&self, client: &Arc<Client>) -> bool {
        let stored = self.open.as_ref().unwrap_or(&self.stored);
        let is_last = |last: &Arc<Client>| Arc::ptr_eq(last, client) || last == client;
        self.operation.is_none() || stored.count > MOST_CLIENTS || stored.last.as_ref().is_some_and(is_last)
    }

    /// Returns the operation and its arguments if the client must be stored before its call. Notes it as stored.
    pub fn due(&mut self, client: &Arc<Client>) -> Option<Introduction> {
        let operation = self.operation.filter(|_| !self.knows(client))?;
        let count = self.open.as_ref().unwrap_or(&self.stored).count + 1;
        let crowded = count > MOST_CLIENTS;
        let client = if crowded { Arc::new(Client::unnamed(Source::Many)) } else { client.clone() };
        let arguments = client.arguments();
        self.open = Some(Stored { last: Some(client.clone()), count });
        Some(Introduction { operation, arguments, client, crowded })
    }
}

/// A call of the operation that stores an identity.
pub(super) struct Introduction {
    pub operation: &'static str,
    pub arguments: Value,
    pub client: Arc<Client>,
    /// The process has had too many identities.
    pub crowded: bool,
}
