//! Opens a shared database for a server (postgres#start). Nothing is written before the server and the schema are known to be what
//! Colibri needs; a server never changes the schema.

use std::time::{Duration, Instant};

use colibri_runtime::chain::store::StoreFault;

use crate::db::Db;
use crate::db::postgres::{PgError, Session, Target};
use crate::postgres::backend::{PgBackend, State, Unsynced};
use crate::postgres::flight;
use crate::postgres::lease::{self, Lease, Tenant};
use crate::postgres::link::{Link, Name};
pub use crate::postgres::options::{Durability, PostgresOptions};
use crate::postgres::probe;
use crate::postgres::watch::Watch;
use crate::postgres::witness::{Witness, WitnessError};
use crate::sqlite::open::process;
use crate::store::{OpenBackend, OpenedDatabase};

/// How long that is where no setting says it.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(5);
/// How long a start waits before it asks again a server that starts itself.
const PAUSE: Duration = Duration::from_millis(200);
/// What such a server says (`cannot_connect_now`).
const STARTING: &str = "SQLSTATE 57P03";

/// A shared database that is open.
#[derive(Debug)]
struct OpenedPostgres {
    db: Db,
    backend: PgBackend,
    schema_version: i64,
    aborted: usize,
    warnings: Vec<String>,
}

impl OpenedDatabase for OpenedPostgres {
    fn db(&self) -> &Db {
        &self.db
    }

    fn schema_version(&self) -> i64 {
        self.schema_version
    }

    fn aborted(&self) -> usize {
        self.aborted
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn into_backend(self: Box<Self>) -> Result<(Db, OpenBackend), StoreFault> {
        Ok((self.db, OpenBackend(Box::new(self.backend))))
    }
}

/// Connects, checks and registers.
///
/// # Errors
/// One sentence: what is wrong, and what to do.
pub fn open(options: &PostgresOptions) -> Result<Box<dyn OpenedDatabase>, String> {
    let mut link = link_of(options);
    let (mut session, name) = started(&link).map_err(|error| error.to_string())?;
    let warnings = probe::check(&mut session, &link, options)?;
    if !options.read_only {
        // The first host of the URL may be a standby later, and behind what was acknowledged.
        link.options.target = Target::ReadWrite;
    }
    let said = |error: PgError| format!("the database cannot be opened: {error}");
    let mut witness =
        Witness::open(options.witness.as_deref(), &mut session).map_err(|error| match error {
            WitnessError::File(reason) => reason,
            WitnessError::Server(error) => said(error),
        })?;
    let head = flight::tip(&mut session).map_err(said)?;
    if let Some(loss) = witness.loss_in(&mut session, options.read_only).map_err(said)? {
        return Err(loss);
    }
    let (mut lease, mut aborted) = (None, 0);
    if !options.read_only {
        let tenant = Tenant {
            boot_id: options.boot_id.clone(),
            host: process::host(),
            pid: i64::from(std::process::id()),
            length: options.lease,
            aborted: options.process_aborted,
            clock: options.clock.clone(),
        };
        lease::begin(&mut session, &tenant).map_err(said)?;
        // The lease is durable, and so is all before it. A process that only reads confirms nothing, so it remembers nothing: what it
        // has read may be gone after a crash, and no one was told that it stays.
        if witness.seen.is_none() && head.last_exit_no > 0 {
            witness.seen = Some(head);
        }
        aborted = lease::sweep(&mut session, &tenant).map_err(|error| match error.sqlstate() {
            Some("55P03") => flight::kept(&mut session, link.patience),
            _ => said(error),
        })?;
        lease = Some(
            Lease::begin(tenant, link.clone())
                .map_err(|error| format!("no thread for the lease: {error}"))?,
        );
    }
    let watch = Watch::begin(&mut session, options.schema).map_err(said)?;
    let backend = PgBackend {
        link,
        name,
        lease,
        witness,
        watch,
        durable: options.durability != Durability::Normal,
        read_only: options.read_only,
        state: State::Idle,
        last_number: head.last_sequence_no,
        unsynced: Unsynced::default(),
        latch: None,
    };
    let schema_version = options.schema.version();
    Ok(Box::new(OpenedPostgres { db: Db::from(session), backend, schema_version, aborted, warnings }))
}

/// Connects once, or again as long as a call would wait while the server itself starts: then it is there, and will answer.
fn started(link: &Link) -> Result<(Session, Name), PgError> {
    let until = Instant::now() + link.patience;
    loop {
        match link.connect() {
            Err(PgError::Unreachable(reason)) if reason.contains(STARTING) && Instant::now() < until => {
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

/// Returns how long calls wait for others' locks, and for a server that is away.
fn patience(options: &PostgresOptions) -> Duration {
    options.session.lock.unwrap_or(DEFAULT_PATIENCE)
}

/// The most bytes that PostgreSQL keeps of a connection's name, and what a name and a host get of them at most.
const BYTES_OF_NAME: usize = 63;
const BYTES_OF_LABEL: usize = 20;
/// How much of a boot id tells processes apart.
const BYTES_OF_BOOT: usize = 12;

/// Returns what this connection is called, so that others can say whose it is: what the URL calls it, its process, and its host.
/// PostgreSQL shows no other login the address. (`pg_stat_activity`.)
fn name(label: &str, boot_id: &str, host: &str) -> String {
    let ascii = |text: &str, most: usize| -> String {
        text.chars().map(|c| if c.is_ascii_graphic() { c } else { '?' }).take(most).collect()
    };
    let tail = boot_id.len().saturating_sub(BYTES_OF_BOOT);
    let boot_id = boot_id.get(tail..).unwrap_or(boot_id);
    let mut name = format!(
        "{} {} on {}",
        ascii(label, BYTES_OF_LABEL),
        ascii(boot_id, BYTES_OF_BOOT),
        ascii(host, BYTES_OF_NAME)
    );
    name.truncate(BYTES_OF_NAME);
    name
}

/// Returns how this server connects.
fn link_of(options: &PostgresOptions) -> Link {
    let milliseconds = |time: Duration| time.as_millis().to_string();
    let settings = [
        ("search_path", "colibri, pg_temp".to_owned()),
        ("application_name", name(options.url.application_name(), &options.boot_id, &process::host())),
        // A process that stands still in a transaction keeps the others waiting no longer than a lock may take.
        ("idle_in_transaction_session_timeout", milliseconds(patience(options))),
        // Also if its machine is gone.
        ("tcp_user_timeout", milliseconds(patience(options))),
        ("synchronous_commit", "on".to_owned()),
        ("default_transaction_isolation", "read committed".to_owned()),
        ("timezone", "UTC".to_owned()),
        // Rows that a policy hides are an error.
        ("row_security", "off".to_owned()),
    ];
    let mut session = options.session.clone();
    session.settings = settings.map(|(name, value)| (name.to_owned(), value)).to_vec();
    if !options.read_only {
        // A role or a database may have it on.
        session.settings.push(("default_transaction_read_only".to_owned(), "off".to_owned()));
    }
    let replicated = options.durability == Durability::Replicated && !options.read_only;
    Link { url: options.url.clone(), options: session, patience: patience(options), replicated }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_connection_is_called_by_its_label_its_process_and_its_host() {
        let boot = "0192f3ab-1111-7222-8333-0123456789ab";
        assert_eq!(name("colibri", boot, "build-07"), "colibri 0123456789ab on build-07");
        assert_eq!(name("pay ments", "x", "h\u{f6}st"), "pay?ments x on h?st");
        let long = name(&"l".repeat(99), boot, &"h".repeat(99));
        assert!(long.len() == 63 && long.contains(" 0123456789ab on hhhh"), "{long}");
    }
}
