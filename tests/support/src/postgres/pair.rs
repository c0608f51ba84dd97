//! A primary and its standby.

use std::time::{Duration, Instant};

use super::cluster::{Cluster, Role, Stop};
use crate::client::PATIENCE;

/// The name under which the standby follows the primary.
const STANDBY: &str = "standby";

/// Whether a commit waits for the standby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replication {
    /// It does, so that the standby holds every commit that the primary has acknowledged.
    Synchronous,
    /// It does not, so that a failover may lose commits.
    Asynchronous,
}

/// A primary and its standby, on one machine.
#[derive(Debug)]
pub struct Pair {
    /// Serves and writes.
    pub primary: Cluster,
    /// Follows and may be read.
    pub standby: Cluster,
}

impl Pair {
    /// Starts both and waits until the standby follows; `None` without PostgreSQL.
    pub fn start(replication: Replication) -> Option<Self> {
        let mut primary = Cluster::private("")?;
        primary.stop(Stop::Fast);
        Some(Self::of(primary, replication, |port| port))
    }

    /// Makes a pair of a stopped cluster, starts both and waits until the standby follows. `by` is given the primary's port and returns
    /// the one by which the standby reaches it.
    pub fn of(primary: Cluster, replication: Replication, by: impl FnOnce(u16) -> u16) -> Self {
        // A copy of a stopped server's data is a whole copy, and needs no program for backups.
        let standby = primary.copy();
        Self::join(primary, standby, replication, "127.0.0.1", by)
    }

    /// Makes a pair of a stopped cluster and its copy. The standby reaches the primary at that address.
    pub fn join(
        mut primary: Cluster,
        mut standby: Cluster,
        replication: Replication,
        address: &str,
        by: impl FnOnce(u16) -> u16,
    ) -> Self {
        if replication == Replication::Synchronous {
            primary.configure(&format!("synchronous_standby_names = '{STANDBY}'"));
        }
        primary.start_first();
        let (port, password) = (by(primary.port()), primary.password());
        standby.configure(&format!(
            "primary_conninfo = 'host={address} port={port} user=postgres password={password} sslmode=disable gssencmode=disable \
             application_name={STANDBY}'"
        ));
        std::fs::write(standby.data().join("standby.signal"), "").expect("the data is ours");
        standby.start_first();
        let pair = Self { primary, standby };
        pair.await_following(if replication == Replication::Synchronous { "sync" } else { "async" });
        pair
    }

    /// Stops the primary at once, where it still runs, and makes the standby the primary.
    pub fn fail_over(&mut self) {
        if self.primary.is_running() {
            self.primary.stop(Stop::Immediate);
        }
        self.promote();
    }

    /// Makes the standby the primary. The old one goes on, where it runs.
    pub fn promote(&self) {
        let mut client = self.standby.client(Role::Superuser, "postgres");
        let promoted: bool = client.query_one("SELECT pg_promote(true)", &[]).expect("a standby").get(0);
        assert!(promoted, "the standby does not become the primary: {}", self.standby.log());
    }

    fn await_following(&self, state: &str) {
        let mut client = self.primary.client(Role::Superuser, "postgres");
        let began = Instant::now();
        let sql = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = $1";
        while client.query_one(sql, &[&state]).expect("a count").get::<_, i64>(0) == 0 {
            assert!(began.elapsed() < PATIENCE, "the standby does not follow: {}", self.standby.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
