//! A database for one test.

use std::sync::atomic::{AtomicU32, Ordering};

use postgres::Client;

use super::cluster::{Cluster, Role};

/// A database in the cluster of the run, dropped at the end.
#[derive(Debug)]
pub struct Database {
    cluster: &'static Cluster,
    name: String,
}

impl Database {
    /// A database without a table, for tests of setup and migrations; `None` without PostgreSQL.
    pub fn empty() -> Option<Self> {
        Some(Self::of(Cluster::shared()?, "template1"))
    }

    fn of(cluster: &'static Cluster, template: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut client = cluster.client(Role::Superuser, "postgres");
        // A killed test may have left one of that name, if the system has used its number again.
        client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).expect("no test uses it");
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}")).expect("a new database");
        Self { cluster, name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cluster it is in, which other tests use, too.
    pub fn cluster(&self) -> &'static Cluster {
        self.cluster
    }

    /// Its URL for a role, over TCP.
    pub fn url(&self, role: Role) -> String {
        self.cluster.url(role, &self.name)
    }

    /// The same over the Unix socket.
    pub fn socket_url(&self, role: Role) -> String {
        self.cluster.socket_url(role, &self.name)
    }

    /// A connection of the test's own.
    pub fn client(&self, role: Role) -> Client {
        self.cluster.client(role, &self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut client = self.cluster.client(Role::Superuser, "postgres");
        let dropped = client.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        // A second panic would hide the first.
        if !std::thread::panicking() {
            dropped.expect("the superuser drops it");
        }
    }
}
