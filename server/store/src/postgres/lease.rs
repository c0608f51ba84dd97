//! Which processes live (postgres#leases): a row each, with an end in the server's time. A process that finds an ended lease closes
//! the calls that the other process left open.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use colibri_runtime::kernel::{Clock, rfc3339_ms};

use crate::db::Row;
use crate::db::postgres::handle::Owned;
use crate::db::postgres::lists::EXITS;
use crate::db::postgres::{Limit, PgError, Session};
use crate::log::rows::{Closing, OPEN_COLUMNS, read_open};
use crate::params;
use crate::postgres::flight::{self, LOCK_CLASS, Lock, UNREADABLE, integer, only, settle};
use crate::postgres::link::Link;

/// The message of a row whose process may have ended, or only slept: others see that it gave no sign of life.
const MESSAGE: &str = "process gave no sign of life for longer than its lease before audit exit";
/// The most calls that one transaction closes.
const MOST_AT_ONCE: i64 = 1_000;

/// What a lease's row says.
#[derive(Clone)]
pub(super) struct Tenant {
    pub boot_id: String,
    pub host: String,
    pub pid: i64,
    /// How long a lease lasts.
    pub length: Duration,
    /// The code for rows of processes that have ended.
    pub aborted: &'static str,
    /// The clock by which their rows are closed.
    pub clock: Arc<dyn Clock>,
}

/// The lease of this process, and the thread that renews it while a call runs and no other begins.
pub(super) struct Lease {
    tenant: Tenant,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    renewed: Instant,
    swept: Instant,
    /// The calls that run, and those of them whose ends are on their way.
    open: BTreeSet<i64>,
    closing: Vec<i64>,
    over: bool,
}

impl Lease {
    /// Starts the thread. The row has just been written.
    pub(super) fn begin(tenant: Tenant, link: Link) -> std::io::Result<Self> {
        let now = Instant::now();
        let state =
            State { renewed: now, swept: now, open: BTreeSet::new(), closing: Vec::new(), over: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let (beside, row) = (shared.clone(), tenant.clone());
        let thread =
            std::thread::Builder::new().name("lease".to_owned()).spawn(move || beside.serve(&row, &link))?;
        Ok(Self { tenant, shared, thread: Some(thread) })
    }

    /// Queues the renewal if half of the lease is spent; returns whether it did.
    pub(super) fn renew_if_due(&self, session: &mut Session) -> Result<bool, PgError> {
        if self.shared.lock().renewed.elapsed() < self.tenant.length / 2 {
            return Ok(false);
        }
        renew(session, &self.tenant)?;
        Ok(true)
    }

    /// Notes that a renewal is committed that was queued at that time.
    pub(super) fn renewed(&self, at: Instant) {
        self.shared.lock().renewed = at;
    }

    /// Notes calls that begin.
    pub(super) fn opened(&self, numbers: RangeInclusive<i64>) {
        self.shared.lock().open.extend(numbers);
    }

    /// Notes the end of a call, which is still to be committed.
    pub(super) fn closing(&self, number: i64) {
        self.shared.lock().closing.push(number);
    }

    /// Notes that all ends so far are committed.
    pub(super) fn closed(&self) {
        let mut state = self.shared.lock();
        for number in std::mem::take(&mut state.closing) {
            state.open.remove(&number);
        }
    }

    /// Closes calls of processes without a lease, once in the time of a lease, unless another process is at work. What fails is for
    /// the next time.
    pub(super) fn sweep_if_due(&self, session: &mut Session) {
        let due = self.shared.lock().swept.elapsed() >= self.tenant.length;
        if due {
            self.shared.lock().swept = Instant::now();
            if sweep_if_free(session, &self.tenant).is_err() {
                // A lost connection has rolled back already.
                let _ = session.simple("ROLLBACK");
            }
        }
    }

    /// Ends the thread.
    pub(super) fn end(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        // It is at work for moments only, and a panic in it does not concern the stop.
        let _ = self.thread.take().map(JoinHandle::join);
    }

    pub(super) fn tenant(&self) -> &Tenant {
        &self.tenant
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("boot_id", &self.tenant.boot_id).finish_non_exhaustive()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    /// Locks the state. A thread that panics leaves it consistent.
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the thread. It renews the lease while calls run for long, by a short connection each time. A process without a running call
    /// needs no lease, and opens no connection: the first flight of its next batch begins the lease again.
    fn serve(&self, tenant: &Tenant, link: &Link) {
        let pause = tenant.length / 3;
        loop {
            let state = self.lock();
            let (state, _) = self
                .changed
                .wait_timeout_while(state, pause, |state| !state.over)
                .unwrap_or_else(PoisonError::into_inner);
            if state.over {
                return;
            }
            let due = state.renewed.elapsed() >= pause && !state.open.is_empty();
            drop(state);
            if !due {
                continue;
            }
            let at = Instant::now();
            // A server that cannot be reached is the calls' to report; the next round tries again.
            let Ok((mut session, _)) = link.connect() else { continue };
            if renew(&mut session, tenant).and_then(|()| settle(&mut session)).is_ok() {
                self.lock().renewed = at;
            }
            let sweep_due = self.lock().swept.elapsed() >= tenant.length;
            if sweep_due && sweep(&mut session, tenant).is_ok() {
                self.lock().swept = at;
            }
        }
    }
}

/// Queues the renewal of a lease, or its beginning.
pub(super) fn renew(session: &mut Session, tenant: &Tenant) -> Result<(), PgError> {
    let milliseconds = i64::try_from(tenant.length.as_millis()).unwrap_or(i64::MAX);
    session.queue(
        "INSERT INTO processes (boot_id, host, pid, lease_until) \
         VALUES (?1, ?2, ?3, clock_timestamp() + CAST(?4 AS bigint) * interval '1 millisecond') \
         ON CONFLICT (boot_id) DO UPDATE SET lease_until = EXCLUDED.lease_until",
        params![tenant.boot_id, tenant.host, tenant.pid, milliseconds],
    )
}

/// Begins the lease, and waits for it.
pub(super) fn begin(session: &mut Session, tenant: &Tenant) -> Result<(), PgError> {
    renew(session, tenant)?;
    settle(session)
}

/// Queues the end of a lease.
pub(super) fn sign_off(session: &mut Session, tenant: &Tenant) -> Result<(), PgError> {
    session.queue("DELETE FROM processes WHERE boot_id = ?1", params![tenant.boot_id])
}

/// Closes the calls of processes without a lease, oldest first; returns how many. The commits wait for no disk: the next mark
/// covers them.
pub(super) fn sweep(session: &mut Session, tenant: &Tenant) -> Result<usize, PgError> {
    let mut closed = 0;
    loop {
        let some = sweep_some(session, tenant);
        if some.is_err() {
            // A lost connection has rolled back already.
            let _ = session.simple("ROLLBACK");
        }
        let some = some?;
        closed += some;
        if i64::try_from(some).unwrap_or(i64::MAX) < MOST_AT_ONCE {
            return Ok(closed);
        }
    }
}

/// Closes some calls, unless another process holds the lock.
fn sweep_if_free(session: &mut Session, tenant: &Tenant) -> Result<(), PgError> {
    session.queue("BEGIN", &[])?;
    let sql = "SELECT set_config('synchronous_commit', 'off', true), \
               pg_try_advisory_xact_lock(CAST(?1 AS int), CAST(?2 AS int))";
    let rows = session.query(sql, params![LOCK_CLASS, Lock::Exit as i64], Limit::ONE)?;
    match integer(&only(&rows)?, 1) {
        Some(1) => sweep_locked(session, tenant).map(drop),
        _ => session.simple("ROLLBACK"),
    }
}

fn sweep_some(session: &mut Session, tenant: &Tenant) -> Result<usize, PgError> {
    session.queue("BEGIN", &[])?;
    flight::lock(session, Lock::Exit)?;
    sweep_locked(session, tenant)
}

/// Does it inside of a transaction that holds the lock of exits, and commits.
fn sweep_locked(session: &mut Session, tenant: &Tenant) -> Result<usize, PgError> {
    // A process that renews its lease at this moment waits for this transaction, and finds its row gone: then it gets a new one, and
    // its open calls are closed all the same.
    session.queue("DELETE FROM processes WHERE lease_until < clock_timestamp()", &[])?;
    let mut head = flight::tip(session)?;
    let running = head.last_sequence_no.saturating_sub(head.last_exit_no);
    // Both numberings are without gaps, so the head says how many calls are running; they are among the last ones.
    let sql = format!(
        "SELECT {OPEN_COLUMNS} FROM (SELECT * FROM enters AS e WHERE NOT EXISTS (SELECT 1 FROM exits AS x \
         WHERE x.sequence_no = e.sequence_no) ORDER BY sequence_no DESC LIMIT ?1) AS running \
         WHERE boot_id NOT IN (SELECT boot_id FROM processes) ORDER BY sequence_no LIMIT ?2"
    );
    let rows = session.query(&sql, params![running, MOST_AT_ONCE], Limit::ALL)?;
    let now = rfc3339_ms(tenant.clock.wall_ms());
    let closing = Closing::aborted(tenant.aborted, MESSAGE, &now);
    let mut exits = Vec::with_capacity(rows.len() * EXITS.width());
    for row in rows.iter() {
        let open = read_open(&Row::from(row)).map_err(|_| UNREADABLE)?;
        flight::exit(
            |values| exits.extend(values.iter().copied().map(Owned::from)),
            &mut head,
            &open,
            &closing,
        )?;
    }
    EXITS.queue(session, &exits)?;
    session.queue_commit()?;
    settle(session)?;
    Ok(rows.len())
}
