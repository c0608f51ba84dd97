//! Opens a shared database for a server (postgres#start). Nothing is written before the server and the schema are known to be what
//! Colibri needs; a server never changes the schema.

use std::time::Duration;

use colibri_runtime::chain::store::StoreFault;

use crate::db::Db;
use crate::db::postgres::{PgError, SessionOptions};
use crate::postgres::backend::{PgBackend, State, Unsynced};
use crate::postgres::flight;
use crate::postgres::lease::{self, Lease, Tenant};
use crate::postgres::link::Link;
use crate::postgres::options::{Durability, PostgresOptions};
use crate::postgres::probe;
use crate::postgres::witness::{self, Witness};
use crate::sqlite::open::process;
use crate::store::{IntoBackend, OpenBackend};

/// A shared database that is open, to be handed to [`ServerStore::attach`](crate::ServerStore::attach).
#[derive(Debug)]
pub struct OpenedPostgres {
    db: Db,
    backend: PgBackend,
    /// Calls of dead processes that this start closed.
    pub aborted: usize,
    /// What the operator should know, one sentence each.
    pub warnings: Vec<String>,
}

impl OpenedPostgres {
    /// Returns the database, for what boot does before the store takes over.
    pub fn db(&self) -> &Db {
        &self.db
    }
}

impl IntoBackend for OpenedPostgres {
    fn into_backend(self) -> Result<(Db, OpenBackend), StoreFault> {
        Ok((self.db, OpenBackend(Box::new(self.backend))))
    }
}

/// Connects, checks and registers.
///
/// # Errors
/// One sentence: what is wrong, and what to do.
pub fn open(options: &PostgresOptions) -> Result<OpenedPostgres, String> {
    let link = link_of(options);
    let (mut session, name) = link.connect().map_err(|error| error.to_string())?;
    let warnings = probe::check(&mut session, &link, options)?;
    let mut witness = Witness::open(options.witness.as_deref())?;
    let said = |error: PgError| format!("the database cannot be opened: {error}");
    let head = flight::tip(&mut session).map_err(said)?;
    match witness.seen {
        Some(seen) if !flight::holds_exit(&mut session, &seen).map_err(said)? => {
            return Err(witness::loss(&seen));
        }
        // What this process sees from here on must stay.
        None if head.last_exit_no > 0 => witness.seen = Some(head),
        _ => {}
    }
    let (mut lease, mut aborted) = (None, 0);
    if !options.read_only {
        let tenant = Tenant {
            boot_id: options.boot_id.clone(),
            host: process::host(),
            pid: i64::from(std::process::id()),
            length: options.lease,
            aborted: options.process_aborted,
            now: options.now,
        };
        lease::begin(&mut session, &tenant).map_err(said)?;
        aborted = lease::sweep(&mut session, &tenant).map_err(said)?;
        lease = Some(
            Lease::begin(tenant, link.clone())
                .map_err(|error| format!("no thread for the lease: {error}"))?,
        );
    }
    let backend = PgBackend {
        link,
        name,
        lease,
        witness,
        durable: options.durability != Durability::Normal,
        read_only: options.read_only,
        state: State::Idle,
        last_number: head.last_sequence_no,
        unsynced: Unsynced::default(),
        latch: None,
    };
    Ok(OpenedPostgres { db: Db::from(session), backend, aborted, warnings })
}

/// Returns how this server connects.
fn link_of(options: &PostgresOptions) -> Link {
    let milliseconds = |time: Duration| time.as_millis().to_string();
    let settings = [
        ("search_path", "colibri, pg_temp".to_owned()),
        ("application_name", format!("colibri {}", options.boot_id)),
        // A process that stands still in a transaction keeps the others waiting no longer than a lock may take.
        ("idle_in_transaction_session_timeout", milliseconds(options.lock)),
        // Also if its machine is gone.
        ("tcp_user_timeout", milliseconds(options.lock)),
        ("synchronous_commit", "on".to_owned()),
        ("default_transaction_isolation", "read committed".to_owned()),
        ("timezone", "UTC".to_owned()),
    ];
    let session = SessionOptions {
        connect: options.connect,
        statement: Some(options.statement),
        lock: Some(options.lock),
        settings: settings.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..SessionOptions::default()
    };
    Link { url: options.url.clone(), options: session, patience: options.lock }
}
