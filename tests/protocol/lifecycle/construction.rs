//! What is injected when a server is put together.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use colibri::VERSION;
use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::options::{AuditChoice, Options};
use colibri::lifecycle::server::{StartError, create_server};
use colibri::lifecycle::transport::{Opening, Transport};
use colibri::settings::environment::Environment;
use colibri::settings::mode::{Mode, detect_mode};
use colibri::tools::Domains;
use colibri_runtime::wire::stdio::Streams;
use colibri_test_support::embed::{
    Lines, ManualClock, Recorder, Seen, Wire, block_on, converse, environment, options,
};
use colibri_test_support::probe;
use serde_json::json;

use super::embedded;

/// A transport that writes down what is asked of it.
struct Watched {
    streams: Option<Streams>,
    asked: Rc<RefCell<Vec<&'static str>>>,
}

impl Transport for Watched {
    fn open(&mut self) -> Opening<'_> {
        self.asked.borrow_mut().push("open");
        let streams = self.streams.take().ok_or_else(|| io::Error::other("opened before"));
        Box::pin(std::future::ready(streams))
    }
    fn close(&mut self) -> io::Result<()> {
        self.asked.borrow_mut().push("close");
        Ok(())
    }
}

/// The signals that this process catches, as the kernel says.
fn caught_signals() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("SigCgt")).unwrap().to_owned()
}

#[test]
fn an_embedders_own_skills_root_comes_before_the_environments() {
    let folder = tempfile::tempdir().unwrap();
    let root_of = |own: Option<&str>| {
        let (_wire, streams) = Wire::pair();
        let mut options = options(streams, folder.path());
        options.skills_root = own.map(Into::into);
        embedded(options).config().skills_root.clone()
    };
    assert_eq!(root_of(Some("elsewhere")), std::path::Path::new("elsewhere"));
    assert_ne!(root_of(None), std::path::Path::new("elsewhere"));
}

#[test]
fn a_server_that_is_only_constructed_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_wire, streams) = Wire::pair();
    let asked = Rc::new(RefCell::new(Vec::new()));
    let signals = caught_signals();
    let mut options = options(streams, folder.path());
    let (_, unused) = Wire::pair();
    options.transport = Box::new(Watched { streams: Some(unused), asked: asked.clone() });
    let server = embedded(options);
    assert!(!server.is_connected());
    assert!(asked.borrow().is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(caught_signals(), signals);
}

#[test]
fn a_second_start_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let asked = Rc::new(RefCell::new(Vec::new()));
    let (_, unused) = Wire::pair();
    let mut options = options(unused, folder.path());
    options.transport = Box::new(Watched { streams: Some(streams), asked: asked.clone() });
    let mut server = embedded(options);
    let signals = caught_signals();
    block_on(async {
        server.start().await.unwrap();
        server.start().await.unwrap();
        converse(&mut server, wire, async |wire: &mut Wire| {
            assert_eq!(wire.call("task_list", json!({})).await["ok"], true);
        })
        .await;
    });
    assert_eq!(*asked.borrow(), ["open", "close"]);
    // Signal handlers are the process's (chain#life-cycle): a server inside another program installs none.
    assert_eq!(caught_signals(), signals);
}

#[test]
fn a_server_without_options_is_the_packages() {
    let server = embedded(Options::default());
    assert_eq!((server.version(), VERSION), (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_VERSION")));
    assert_eq!(Ok(server.mode()), detect_mode(&Environment::capture()));
}

#[test]
fn version_mode_and_clock_are_injected() {
    let folder = tempfile::tempdir().unwrap();
    // READONLY needs a database to read.
    let (wire, streams) = Wire::pair();
    block_on(converse(&mut embedded(options(streams, folder.path())), wire, async |wire: &mut Wire| {
        wire.call("task_list", json!({})).await;
    }));
    let bad_mode = environment(folder.path()).with("COLIBRI_MODE", "bad");

    let (wire, streams) = Wire::pair();
    let mut injected = options(streams, folder.path());
    injected.environment = bad_mode.clone();
    injected.version = Some("9.9.9-test".to_owned());
    injected.mode = Some(Mode::Readonly);
    injected.clock = ManualClock::at(1284.7);
    injected.boot_start_ms = Some(1.2);
    let mut server = embedded(injected);
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        let ping = wire.call("server_ping", json!({})).await;
        assert_eq!(ping["data"], json!({ "version": "9.9.9-test", "mode": "READONLY", "uptime_ms": 1283 }));
    }));

    let (_, streams) = Wire::pair();
    let mut without = options(streams, folder.path());
    without.environment = bad_mode;
    let error = create_server(&CATALOGUE, Dispatcher(Domains::default()), without).err().unwrap();
    let text = "Invalid COLIBRI_MODE: \"bad\". Expected one of FULL, READONLY, TEST, MINIMAL.";
    assert_eq!(error, StartError::Configuration(vec![text.to_owned()]));
}

#[test]
fn a_transport_is_opened_by_start_and_closed_once() {
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let (asked, lines) = (Rc::new(RefCell::new(Vec::new())), Arc::new(Lines::default()));
    let (_, unused) = Wire::pair();
    let mut options = options(unused, folder.path());
    options.transport = Box::new(Watched { streams: Some(streams), asked: asked.clone() });
    options.log = Some(lines.clone());
    let mut server = embedded(options);
    assert!(!server.is_connected());
    assert!(server.registry().lookup("server_ping").is_some());
    assert!(asked.borrow().is_empty());
    block_on(async {
        server.start().await.unwrap();
        assert!(server.is_connected());
        assert_eq!(*asked.borrow(), ["open"]);
        drop(wire);
        server.run().await;
    });
    let place = |text: &str| lines.taken().iter().position(|(_, line)| line.contains(text));
    let starting = place(&format!("[colibri] starting in mode=FULL version={VERSION}"));
    assert!(starting.is_some() && starting < place("[Startup] Phase 1 ready"), "{:?}", lines.taken());
    server.stop();
    server.stop();
    assert!(!server.is_connected());
    assert_eq!(*asked.borrow(), ["open", "close"]);
}

/// A UUID of version 4.
fn is_v4(id: &str) -> bool {
    let parts: Vec<usize> = id.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12] && id.as_bytes()[14] == b'4' && b"89ab".contains(&id.as_bytes()[19])
}

#[test]
fn a_sink_sees_one_pair_of_events_a_call() {
    for asynchronous in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let sink = Recorder::answering(asynchronous);
        let (wire, streams) = Wire::pair();
        let mut options = options(streams, folder.path());
        options.audit = sink.choice();
        let mut server = create_server(&probe::CATALOGUE, probe::Dispatcher(probe::Probe), options).unwrap();
        block_on(converse(&mut server, wire, async |wire: &mut Wire| {
            wire.call("probe_status", json!({})).await;
            wire.call("probe_fail_a", json!({ "round": 7 })).await;
        }));
        match sink.seen().as_slice() {
            [
                Seen::Enter(good, _, id),
                Seen::Exit { tool, correlation_id, duration_ms, result, error, .. },
                failing @ ..,
            ] => {
                assert_eq!((good, id), (tool, correlation_id));
                assert!(is_v4(id) && *duration_ms >= 0, "{id} {duration_ms}");
                assert!(result.is_some() && error.is_none(), "{result:?} {error:?}");
                match failing {
                    [
                        Seen::Enter(_, _, id),
                        Seen::Exit { correlation_id, result: None, error: Some(error), .. },
                    ] => {
                        assert_eq!(id, correlation_id);
                        assert_eq!(error, &("HANDLER_ERROR".to_owned(), "ROUND_NOT_FOUND: 7".to_owned()));
                    }
                    other => panic!("asynchronous {asynchronous}: {other:?}"),
                }
            }
            other => panic!("asynchronous {asynchronous}: {other:?}"),
        }
    }
}

#[test]
fn the_no_op_sink_is_the_librarys_default() {
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let options = options(streams, folder.path());
    assert!(matches!(options.audit, AuditChoice::NoOp));
    block_on(converse(&mut embedded(options), wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("server_ping", json!({})).await["ok"], true);
        let health = wire.call("server_health", json!({})).await;
        assert_eq!(health["data"]["middleware"]["audit_sink"], "noop", "{health}");
        assert_eq!(health["data"]["middleware"]["last_sequence_no"], json!(null), "{health}");
    }));
}
