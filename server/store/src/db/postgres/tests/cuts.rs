//! Connections that are cut at any byte: what the client says about the commit must be what the server did.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use colibri_test_support::postgres::{Cluster, Role};

use super::super::{CommitState, Limit, PgCell, PgError, Session, SessionOptions};
use super::{parse, session};
use crate::params;

/// No cut.
const ENDLESS: i64 = i64::MAX / 2;

/// A proxy that passes on so many bytes a direction, and then cuts both.
struct Proxy {
    port: u16,
    up: Arc<AtomicI64>,
    down: Arc<AtomicI64>,
}

impl Proxy {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self { port, up: Arc::new(ENDLESS.into()), down: Arc::new(ENDLESS.into()) };
        let (up, down) = (proxy.up.clone(), proxy.down.clone());
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || pass(from, to, &up));
            pass(server, client, &down);
        });
        proxy
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64) {
    let mut buffer = [0; 4096];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        let before = left.fetch_sub(i64::try_from(got).unwrap(), Ordering::SeqCst);
        let passed = usize::try_from(before.max(0)).unwrap().min(got);
        if to.write_all(&buffer[..passed]).is_err() || passed < got {
            break;
        }
    }
    let _closed = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Inserts a row in a flight of two boundaries, cut after so many bytes; returns what is said of it.
fn insert(session: &mut Session, table: &str, n: i64) -> Result<(), PgError> {
    session.queue("BEGIN", &[])?;
    session.queue(&format!("INSERT INTO {table} VALUES (?1)"), params![n])?;
    session.queue_commit()?;
    let committed = session.boundary();
    session.queue("SELECT 'mark'", &[])?;
    let mark = session.boundary();
    session.send()?;
    session.wait(committed)?;
    // The outcome of the commit is known now, with or without the mark.
    let _marked = session.wait(mark);
    Ok(())
}

#[test]
fn a_cut_at_any_byte_is_judged_as_the_server_did() {
    let (Some(cluster), Some(mut judge)) = (Cluster::shared(), session()) else { return };
    let table = format!("public.cuts_{}", std::process::id());
    judge
        .simple(&format!("DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (n bigint PRIMARY KEY)"))
        .unwrap();
    let (mut stored, mut absent, mut unknown) = (0, 0, 0);
    let cuts =
        (0..520).step_by(7).map(|up| (up, ENDLESS)).chain((0..200).step_by(5).map(|down| (ENDLESS, down)));
    for (n, (up, down)) in (1..).zip(cuts) {
        let proxy = Proxy::start(cluster.port());
        let url = cluster
            .url(Role::Superuser, "postgres")
            .replace(&format!(":{}/", cluster.port()), &format!(":{}/", proxy.port));
        let mut session = Session::connect(&parse(&url), &SessionOptions::default()).unwrap();
        proxy.up.store(up, Ordering::SeqCst);
        proxy.down.store(down, Ordering::SeqCst);
        let said = insert(&mut session, &table, n);
        // The server's process may not have noticed the end; afterwards it can do nothing more.
        let pid = i64::from(session.backend_pid());
        drop(session);
        judge.query("SELECT pg_terminate_backend(?1::integer)", params![pid], Limit::ONE).unwrap();
        let alive = "SELECT 1 FROM pg_stat_activity WHERE pid = ?1";
        while !judge.query(alive, params![pid], Limit::ONE).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let rows = judge
            .query(&format!("SELECT count(*) FROM {table} WHERE n = ?1"), params![n], Limit::ONE)
            .unwrap();
        let is_there = rows.row(0).unwrap().cell(0) == Ok(PgCell::Integer(1));
        match said {
            Ok(()) => {
                assert!(is_there, "cut {up}/{down}: acknowledged and lost");
                stored += 1;
            }
            Err(PgError::Lost(lost)) if lost.commit == CommitState::NotSent => {
                assert!(!is_there, "cut {up}/{down}: {lost}");
                absent += 1;
            }
            Err(PgError::Lost(_)) => unknown += 1,
            Err(other) => panic!("cut {up}/{down}: {other:?}"),
        }
    }
    judge.simple(&format!("DROP TABLE {table}")).unwrap();
    assert!(stored > 5 && unknown > 50, "{stored} stored, {absent} absent, {unknown} unknown");
}
