//! PgBouncer in front of a cluster.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{Cluster, Role};
use super::place::Place;
use super::programs::{Programs, VARIABLE};
use crate::client::PATIENCE;

/// Where Debian has it, and others.
const PLACES: [&str; 3] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];

/// A pooler that runs until this value goes.
#[derive(Debug)]
pub struct Pooler {
    server: Child,
    port: u16,
    place: Place,
}

impl Pooler {
    /// Starts one in front of a database, which pools in that way, and ignores these parameters of a start packet. `None` without
    /// PgBouncer, whose package it then names; in a run that asks for PostgreSQL it fails.
    pub fn start(cluster: &Cluster, database: &str, mode: &str, ignored: &str) -> Option<Self> {
        let programs = Programs::find()?;
        let Some(program) = PLACES.iter().find(|place| Path::new(place).exists()) else {
            let reason = "PgBouncer is not installed. Install it (Debian: pgbouncer)";
            assert!(std::env::var_os(VARIABLE).is_none(), "{VARIABLE} is set, but {reason}");
            eprintln!("skipped: {reason}");
            return None;
        };
        let place = Place::private();
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let folder = place.folder.join("pooler");
        std::fs::create_dir(&folder).expect("the folder is ours");
        let (users, settings) = (folder.join("users.txt"), folder.join("pgbouncer.ini"));
        let (app, password, server, log) =
            (Role::App.name(), cluster.password(), cluster.port(), folder.join("log"));
        std::fs::write(&users, format!("\"{app}\" \"{password}\"\n")).expect("the folder is ours");
        let ignored = if ignored.is_empty() {
            String::new()
        } else {
            format!("ignore_startup_parameters = {ignored}\n")
        };
        let text = format!(
            "[databases]\n{database} = host=127.0.0.1 port={server} dbname={database}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {}\npool_mode = {mode}\nlogfile = {}\n{ignored}",
            users.display(),
            log.display()
        );
        std::fs::write(&settings, text).expect("the folder is ours");
        [&folder, &users, &settings].into_iter().for_each(|path| Programs::give(path));
        let mut command = programs.command(program);
        command.arg(&settings).stdout(Stdio::null()).stderr(Stdio::null());
        let pooler = Self { server: command.spawn().expect("PgBouncer starts"), port, place };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            assert!(began.elapsed() < PATIENCE, "PgBouncer does not listen: {said}");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(pooler)
    }

    /// The URL of the same database through the pooler.
    pub fn url(&self, cluster: &Cluster, database: &str) -> String {
        cluster
            .url(Role::App, database)
            .replace(&format!(":{}/", cluster.port()), &format!(":{}/", self.port))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = std::fs::remove_dir_all(&self.place.folder);
    }
}
