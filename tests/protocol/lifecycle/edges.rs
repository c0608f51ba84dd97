//! The rare turns of create, start and stop. `.ci/coverage` asks that each of their lines is executed.

use colibri_test_support::sqlite_only;
use std::io;
use std::sync::Arc;

use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::create_server;
use colibri::lifecycle::transport::{Opening, Ready, Transport};
use colibri::settings::config::Config;
use colibri::settings::mode::Mode;
use colibri_runtime::chain::log::Level;
use colibri_runtime::serve::{Control, Finish};
use colibri_test_support::embed::{Lines, Wire, block_on, converse, environment, options};
use colibri_test_support::probe::{CATALOGUE, Dispatcher, Probe};
use serde_json::json;

use super::embedded;

/// Streams that are closed with a complaint.
struct Reluctant(Ready);

impl Transport for Reluctant {
    fn open(&mut self) -> Opening<'_> {
        self.0.open()
    }
    fn close(&mut self) -> io::Result<()> {
        Err(io::Error::other("stuck"))
    }
}

fn errors(lines: &Lines) -> Vec<String> {
    let errors = lines.taken().into_iter().filter(|(level, _)| *level == Level::Error);
    errors.map(|(_, message)| message).collect()
}

#[test]
fn a_stop_goes_on_when_streams_and_store_complain() {
    sqlite_only!("a process has no lock file beside a shared database");
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let lines = Arc::new(Lines::default());
    let (_, unused) = Wire::pair();
    let mut server = embedded(Options {
        transport: Box::new(Reluctant(Ready::new(streams))),
        log: Some(lines.clone()),
        audit: AuditChoice::ByMode,
        ..options(unused, folder.path())
    });
    let path = folder.path().to_owned();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        wire.call("task_list", json!({})).await;
        // Another process removes the server's sign of life before the server does.
        for entry in std::fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap().path();
            if entry.extension().is_some_and(|extension| extension == "lock") {
                std::fs::remove_file(entry).unwrap();
            }
        }
    }));
    let errors = errors(&lines);
    assert_eq!(errors[0], "[Shutdown] stop failed: stuck");
    assert!(errors[1].starts_with("[Shutdown] close failed: process lock file"), "{errors:?}");
    assert_eq!(lines.taken().last().unwrap().1, "[Shutdown] Ended after a failure");
}

#[test]
fn a_throw_away_database_is_gone_after_the_stop() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("throw-away.db");
    let (wire, streams) = Wire::pair();
    let mut config = Config::for_tests(&path);
    config.ephemeral_db = true;
    config.mode = Mode::Test;
    let mut server = embedded(Options { config: Some(config), ..options(streams, folder.path()) });
    assert_eq!(server.config().mode, Mode::Test);
    let there = path.clone();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        wire.call("task_list", json!({})).await;
        assert!(there.exists());
    }));
    assert!(!path.exists());
}

#[test]
fn warnings_are_logged_and_a_mode_without_writes_audits_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let lines = Arc::new(Lines::default());
    let (wire, streams) = Wire::pair();
    let mut server = embedded(Options {
        environment: environment(folder.path()).with("COLIBRI_DB", "x").with("COLIBRI_MODE", "MINIMAL"),
        audit: AuditChoice::ByMode,
        log: Some(lines.clone()),
        ..options(streams, folder.path())
    });
    let (level, warning) = lines.taken().remove(0);
    assert_eq!(level, Level::Warn);
    assert!(warning.starts_with("unknown variable COLIBRI_DB is ignored"), "{warning}");
    assert_eq!(block_on(server.run()), Finish::EndOfInput, "nothing is served before the start");
    let (health, _) = block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        wire.call("server_health", json!({})).await
    }));
    assert_eq!(health["data"]["middleware"]["audit_sink"], "memory");
}

#[test]
fn a_forced_stop_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let lines = Arc::new(Lines::default());
    let (wire, streams) = Wire::pair();
    let options = Options { log: Some(lines.clone()), ..options(streams, folder.path()) };
    let mut server = create_server(&CATALOGUE, Dispatcher(Probe), options).unwrap();
    let controls = server.controls();
    let (_, finish) = block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        wire.call("probe_echo", json!({ "required": "x" })).await;
        wire.send_call("probe_network", json!({ "ms": 600_000 })).await;
        // The call is in flight once a later one is answered.
        wire.send_call("probe_echo", json!({ "required": "x" })).await;
        wire.receive().await;
        controls.send(Control::Stop).ok().unwrap();
        controls.send(Control::Expire).ok().unwrap();
    }));
    assert_eq!(finish, Finish::Forced);
    assert_eq!(lines.taken().last().unwrap().1, "[Shutdown] Forced after 5000ms timeout");
}
