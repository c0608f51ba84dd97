//! A cluster of a campaign's own, and databases in it that begin alike.

use std::cell::Cell;
use std::sync::Arc;

use colibri_test_support::client::Launch;
use colibri_test_support::engine;
use colibri_test_support::postgres::{Cluster, Role, Stop};
use serde_json::json;
use tempfile::TempDir;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");
/// The session that thoughts belong to.
pub const SESSION: &str = "shared";
/// Tasks that all agents claim.
pub const SHARED_TASKS: usize = 4;
/// What the databases are copies of.
pub const PLANTED: &str = "planted";

/// A cluster with a planted database.
pub struct World {
    pub cluster: Cluster,
    next: Cell<u32>,
}

impl World {
    /// A cluster with these settings; `None` without PostgreSQL, or in a run on SQLite.
    pub fn new(settings: &str) -> Option<Self> {
        let asked = ["COLIBRI_MACHINE_RUNS", super::five::SECONDS]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
        if !engine::is_postgres() && !asked {
            eprintln!("skipped on SQLite: .ci/postgres runs it");
            return None;
        }
        let world = Self { cluster: Cluster::private(settings)?, next: Cell::new(0) };
        world.cluster.set_up(PLANTED);
        let mut server = world.launch(PLANTED, world.cluster.port()).start();
        server.data("audit_session_start", json!({ "intent": "share", "session_id": SESSION }));
        for number in 0..SHARED_TASKS {
            server.data("task_create", json!({ "title": format!("shared {number}"), "priority": "high" }));
        }
        assert_eq!(server.finish().code(), 0);
        Some(world)
    }

    /// A fresh copy of the planted database.
    pub fn database(&self) -> String {
        self.next.set(self.next.get() + 1);
        let name = format!("run_{}", self.next.get());
        let mut client = self.cluster.client(Role::Superuser, "postgres");
        let old = self.next.get().saturating_sub(2);
        client
            .batch_execute(&format!("DROP DATABASE IF EXISTS run_{old} WITH (FORCE)"))
            .expect("a superuser may");
        client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {PLANTED}")).expect("a database");
        name
    }

    /// Stops the database and starts it again, so that its settings count.
    pub fn restart(&mut self) {
        self.cluster.stop(Stop::Fast);
        self.cluster.start();
    }

    /// How a server is started that reaches the database through that port.
    pub fn launch(&self, database: &str, port: u16) -> Launch {
        launch(&Target::of(self, database, port), &Arc::new(TempDir::new().expect("a folder")))
    }
}

/// Where a server finds its database.
#[derive(Debug, Clone)]
pub struct Target {
    pub url: String,
    /// Settings beside the URL.
    pub variables: Vec<(&'static str, String)>,
    /// The words before the server's program.
    pub entry: Vec<String>,
}

impl Target {
    pub fn of(world: &World, database: &str, port: u16) -> Self {
        let url = world.cluster.url(Role::App, database);
        let url = url.replace(&format!(":{}/", world.cluster.port()), &format!(":{port}/"));
        Self::at(url)
    }

    pub fn at(url: String) -> Self {
        Self { url, variables: Vec::new(), entry: Vec::new() }
    }

    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.variables.push((name, value.to_string()));
        self
    }
}

pub fn launch(target: &Target, folder: &Arc<TempDir>) -> Launch {
    let launch = match target.entry.split_first() {
        None => Launch::new(PROGRAM),
        Some((first, words)) => words.iter().fold(Launch::new(first), Launch::arg).arg(PROGRAM),
    };
    let launch = launch.in_folder(folder.clone()).env("COLIBRI_DATABASE_URL", &target.url);
    let launch = launch.env("COLIBRI_LOG_LEVEL", "error");
    target.variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value))
}
