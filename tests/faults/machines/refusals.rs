//! Servers of PostgreSQL, and what only pretends to be one, that a start refuses by the name of what they lack (postgres#start).

use std::time::Duration;

use colibri_test_support::client::Launch;
use colibri_test_support::postgres::{Pair, Replication, Role};

use super::proxy::{Lie, Proxy, Way};
use super::world::{Target, World, launch};

/// Starts a server, which must end by itself, and returns its last words.
fn refusal(launch: Launch) -> String {
    let ended = launch.start().wait();
    assert_ne!(ended.code(), 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("fatal"), "{}", ended.stderr);
    ended.stderr
}

fn assert_refused(world: &World, port: u16, variables: &[(&'static str, &str)], reason: &str) {
    let target = Target::of(world, &world.database(), port);
    let target = variables.iter().fold(target, |target, (name, value)| target.with(name, value));
    let said = refusal(launch(&target, &world.launch("none", port).folder()));
    assert!(said.contains(reason), "{reason:?} is missing: {said}");
}

/// The stub is a real server, before which a proxy takes the locks away or tells another version.
#[test]
fn machines_14_an_engine_whose_advisory_locks_do_nothing_is_refused_by_name() {
    let Some(world) = World::new("") else { return };
    let functions = "CREATE FUNCTION public.no_lock(int, int) RETURNS void LANGUAGE sql AS 'SELECT'; \
                     CREATE FUNCTION public.free_lock(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT true'";
    world.cluster.client(Role::Superuser, "planted").batch_execute(functions).unwrap();
    let lies = vec![
        Lie { way: Way::Up, tag: b'P', from: b"pg_advisory_xact_lock(", to: b"public.no_lock(" },
        Lie { way: Way::Up, tag: b'P', from: b"pg_try_advisory_xact_lock(", to: b"public.free_lock(" },
    ];
    let stub = Proxy::lying(world.cluster.port(), lies);
    assert_refused(&world, stub.port(), &[], "advisory locks exclude no other connection");
    let half = Proxy::lying(
        world.cluster.port(),
        vec![Lie { way: Way::Up, tag: b'P', from: b"pg_advisory_xact_lock(", to: b"public.no_lock(" }],
    );
    assert_refused(&world, half.port(), &[], "advisory locks exclude no other connection");
}

#[test]
fn machines_14_a_server_of_another_version_is_refused_by_name() {
    let Some(world) = World::new("") else { return };
    let real =
        world.cluster.client(Role::Superuser, "postgres").query_one("SHOW server_version_num", &[]).unwrap();
    let real: &'static [u8] = real.get::<_, String>(0).into_bytes().leak();
    for (claimed, reason) in
        [(b"090624", "PostgreSQL 9,"), (b"990000", "PostgreSQL 99,"), (b"nought", "does not say")]
    {
        let lie = Lie { way: Way::Down, tag: b'D', from: real, to: claimed };
        let proxy = Proxy::lying(world.cluster.port(), vec![lie]);
        assert_refused(&world, proxy.port(), &[], reason);
    }
}

#[test]
fn machines_14_a_server_that_does_not_keep_what_is_promised_is_refused_by_name() {
    let Some(mut world) = World::new("") else { return };
    let port = world.cluster.port();
    let replicated = [("COLIBRI_DURABILITY", "replicated")];
    assert_refused(&world, port, &replicated, "the server waits for no standby");
    for (setting, reason) in [("fsync", "fsync = off"), ("full_page_writes", "full_page_writes = off")] {
        world.cluster.configure(&format!("{setting} = off"));
        world.restart();
        assert_refused(&world, port, &[], reason);
        world.cluster.configure(&format!("{setting} = on"));
    }
    world.restart();
    let mut server = world.launch(&world.database(), port).start();
    server.data("task_create", serde_json::json!({ "title": "all is on again" }));
    assert_eq!(server.finish().code(), 0);
}

#[test]
fn machines_14_a_standby_is_refused_by_name() {
    let Some(world) = World::new("") else { return };
    let pair = Pair::start(Replication::Asynchronous).unwrap();
    pair.primary.set_up("there");
    let url = pair.standby.url(Role::App, "there");
    // The standby follows by and by.
    let newest = |url: String| -> Option<i64> {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).ok()?;
        let newest = client.query_one("SELECT max(version) FROM colibri.schema_version", &[]).ok()?;
        newest.get(0)
    };
    let wanted = newest(pair.primary.socket_url(Role::Superuser, "there"));
    assert!(wanted.is_some());
    while newest(pair.standby.socket_url(Role::Superuser, "there")) != wanted {
        std::thread::sleep(Duration::from_millis(5));
    }
    let target = Target::at(url);
    for durability in ["full", "replicated"] {
        let launch = launch(&target, &world.launch("none", 0).folder()).env("COLIBRI_DURABILITY", durability);
        let said = refusal(launch);
        assert!(said.contains("this server is a standby"), "{durability}: {said}");
    }
}
