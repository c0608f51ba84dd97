//! The cache of prepared statements of a connection, keyed by the text and by the kinds of the parameters.
//!
//! A name is used for one Parse and never again. Whether that Parse succeeded is known when its answer comes: until then only statements of the same
//! boundary may use the name, because after an error the server skips all that follows up to the boundary.
//! (PostgreSQL manual, "Extended Query" and "Pipelining".)

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::frontend::{Name, type_of};
use crate::Value;

/// How many statements stay prepared. The server's domains have some 150 texts.
const MOST_STATEMENTS: usize = 512;

/// What a parameter is, as far as the key of the cache goes. NULL and a text announce the same type.
fn kinds<'a>(params: &'a [Value<'a>]) -> impl Iterator<Item = u32> + 'a {
    params.iter().map(type_of)
}

/// A prepared statement.
#[derive(Debug)]
pub(super) struct Statement {
    number: u64,
    /// Counts the boundaries of the connection; the one in which the statement was parsed.
    boundary: u64,
    ready: AtomicBool,
    /// The types of the result's columns, once the server has said them.
    columns: OnceLock<Vec<u32>>,
}

impl Statement {
    /// Returns the statement's name at the server.
    pub fn name(&self) -> Name {
        Name::Statement(self.number)
    }

    /// Notes that the server has parsed it.
    pub fn set_ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }

    /// Notes the columns of its result.
    pub fn set_columns(&self, columns: Vec<u32>) {
        // The server says them once for each Parse.
        let _known = self.columns.set(columns);
    }

    /// Returns the types of the result's columns.
    pub fn columns(&self) -> Option<&[u32]> {
        self.columns.get().map(Vec::as_slice)
    }

    fn may_be_used_in(&self, boundary: u64) -> bool {
        self.ready.load(Ordering::Relaxed) || self.boundary == boundary
    }

    #[cfg(test)]
    pub fn with_columns(columns: Vec<u32>) -> Self {
        Self { number: 0, boundary: 0, ready: AtomicBool::new(true), columns: OnceLock::from(columns) }
    }
}

/// Whether a statement must be parsed first.
pub(super) enum Found {
    Prepared(Arc<Statement>),
    New(Arc<Statement>),
}

#[derive(Debug)]
struct Entry {
    kinds: Vec<u32>,
    statement: Arc<Statement>,
    used: u64,
}

/// The statements of a connection.
#[derive(Debug, Default)]
pub(super) struct Statements {
    by_text: HashMap<String, Vec<Entry>>,
    count: usize,
    next_number: u64,
    uses: u64,
    /// Names to be closed at the server.
    closing: Vec<Arc<Statement>>,
}

impl Statements {
    /// Finds a statement, or makes one that must be parsed in this boundary.
    pub fn find(&mut self, sql: &str, params: &[Value<'_>], boundary: u64) -> Found {
        self.uses += 1;
        let uses = self.uses;
        if let Some(entry) = self.by_text.get_mut(sql).and_then(|entries| {
            entries.iter_mut().find(|entry| entry.kinds.iter().copied().eq(kinds(params)))
        }) {
            entry.used = uses;
            if entry.statement.may_be_used_in(boundary) {
                return Found::Prepared(entry.statement.clone());
            }
            let statement = Arc::new(new(&mut self.next_number, boundary));
            // Should the older Parse have succeeded after all, nothing uses its name any more.
            self.closing.push(std::mem::replace(&mut entry.statement, statement.clone()));
            return Found::New(statement);
        }
        if self.count >= MOST_STATEMENTS {
            self.evict();
        }
        let statement = Arc::new(new(&mut self.next_number, boundary));
        let entry = Entry { kinds: kinds(params).collect(), statement: statement.clone(), used: uses };
        self.by_text.entry(sql.to_owned()).or_default().push(entry);
        self.count += 1;
        Found::New(statement)
    }

    /// Forgets a statement that the server does not have, or whose plan no longer fits.
    pub fn forget(&mut self, statement: &Arc<Statement>) {
        self.by_text.retain(|_, entries| {
            entries.retain(|entry| !Arc::ptr_eq(&entry.statement, statement));
            !entries.is_empty()
        });
        self.count = self.by_text.values().map(Vec::len).sum();
    }

    /// Puts a statement on the list of those to be closed.
    pub fn close(&mut self, statement: Arc<Statement>) {
        self.closing.push(statement);
    }

    /// Returns the statements to be closed now. The server accepts the close of a name that it does not have.
    pub fn take_closing(&mut self) -> Vec<Arc<Statement>> {
        std::mem::take(&mut self.closing)
    }

    /// Forgets the statement that was not used for the longest time. One that is held elsewhere may have an open portal, which would close with it.
    fn evict(&mut self) {
        let age = |entry: &&Entry| (Arc::strong_count(&entry.statement) > 1, entry.used);
        let oldest = self.by_text.values().flatten().min_by_key(age).map(|entry| entry.statement.clone());
        if let Some(statement) = oldest {
            self.forget(&statement);
            self.closing.push(statement);
        }
    }
}

fn new(next_number: &mut u64, boundary: u64) -> Statement {
    *next_number += 1;
    Statement { number: *next_number, boundary, ready: AtomicBool::new(false), columns: OnceLock::new() }
}
