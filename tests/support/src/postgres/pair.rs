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
        // A copy of a stopped server's data is a whole copy, and needs no program for backups.
        primary.stop(Stop::Fast);
        let mut standby = primary.copy();
        let (port, password) = (primary.port(), primary.password());
        standby.configure(&format!(
            "primary_conninfo = 'host=127.0.0.1 port={port} user=postgres password={password} application_name={STANDBY}'"
        ));
        std::fs::write(standby.data().join("standby.signal"), "").expect("the data is ours");
        if replication == Replication::Synchronous {
            primary.configure(&format!("synchronous_standby_names = '{STANDBY}'"));
        }
        primary.start();
        standby.start_first();
        let pair = Self { primary, standby };
        pair.await_following(if replication == Replication::Synchronous { "sync" } else { "async" });
        Some(pair)
    }

    /// Stops the primary at once, where it still runs, and makes the standby the primary.
    pub fn fail_over(&mut self) {
        if self.primary.is_running() {
            self.primary.stop(Stop::Immediate);
        }
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
