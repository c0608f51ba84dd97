//! Servers that ask for what must not be told, that lie, break off, or never end.

use std::time::Duration;

use proptest::prelude::*;

use super::super::{CommitState, Limit, PgError, Session, SessionOptions, Target};
use super::fake::{Fake, Peer, error, login, message, ready};
use super::parse;
use crate::params;

/// Times that no slow machine reaches.
fn options() -> SessionOptions {
    let long = Duration::from_secs(15);
    SessionOptions { connect: long, statement: Some(long), most_bytes: 1 << 20, ..SessionOptions::default() }
}

/// Times for a server that must be given up.
fn hurried() -> SessionOptions {
    let short = Duration::from_millis(300);
    SessionOptions { statement: Some(short), reserve: Duration::ZERO, ..options() }
}

/// Connects to a scripted server, and returns why that failed. No word of it may be of the URL.
fn refusal(
    parameters: &str,
    script: impl FnOnce(&mut Peer) -> std::io::Result<()> + Send + 'static,
) -> PgError {
    let fake = Fake::start(script);
    let refused = Session::connect(&parse(&fake.url(parameters)), &options()).expect_err("it is refused");
    fake.end();
    without_canary(&refused);
    refused
}

fn without_canary(error: &PgError) {
    let said = format!("{error} {error:?}");
    assert!(!said.contains("canary"), "{said}");
}

#[test]
fn a_server_that_asks_for_anything_but_scram_is_refused_by_name() {
    for (request, name) in [
        (vec![0, 0, 0, 3], "cleartext"),
        (vec![0, 0, 0, 5, 1, 2, 3, 4], "MD5"),
        (vec![0, 0, 0, 2], "Kerberos V5"),
        (vec![0, 0, 0, 6], "SCM credentials"),
        (vec![0, 0, 0, 7], "GSSAPI"),
        (vec![0, 0, 0, 9], "SSPI"),
        ([&[0, 0, 0, 10], &b"OAUTHBEARER\0\0"[..]].concat(), "OAUTHBEARER"),
        ([&[0, 0, 0, 10], &b"SCRAM-SHA-256-PLUS\0\0"[..]].concat(), "SCRAM-SHA-256-PLUS"),
    ] {
        let refused = refusal("", move |peer| {
            peer.read_start()?;
            peer.send(&message(b'R', &request))?;
            // What the client says now would be the password.
            assert!(peer.read_to(b'p').is_err(), "the client answers");
            Ok(())
        });
        assert!(
            matches!(&refused, PgError::Refused(text) if text.contains(name) && text.contains("refused")),
            "{refused:?}"
        );
    }
}

#[test]
fn a_server_that_does_not_prove_that_it_knows_the_password_is_refused() {
    let first = |peer: &mut Peer, count: &str| {
        peer.read_start()?;
        peer.send(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"))?;
        let asked = peer.read_to(b'p')?;
        let nonce = String::from_utf8_lossy(&asked).split("r=").nth(1).unwrap_or_default().to_owned();
        let text = format!("r={nonce}more,s=c2FsdA==,i={count}");
        peer.send(&message(b'R', &[b"\0\0\0\x0b", text.as_bytes()].concat()))
    };
    let skipped = refusal("", move |peer| {
        first(peer, "4096")?;
        peer.read_to(b'p')?;
        peer.send(&login(&[]))
    });
    assert!(skipped.to_string().contains("without proving"), "{skipped}");
    let wrong = refusal("", move |peer| {
        first(peer, "4096")?;
        peer.read_to(b'p')?;
        peer.send(&message(b'R', b"\0\0\0\x0cv=d3Jvbmc="))?;
        peer.send(&login(&[]))
    });
    assert!(wrong.to_string().contains("does not prove"), "{wrong}");
    let endless = refusal("", move |peer| first(peer, "4000000000"));
    assert!(endless.to_string().contains("iteration count"), "{endless}");
    let foreign = refusal("", |peer| {
        peer.read_start()?;
        peer.send(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"))?;
        peer.read_to(b'p')?;
        peer.send(&message(b'R', b"\0\0\0\x0br=foreign,s=c2FsdA==,i=4096"))
    });
    assert!(foreign.to_string().contains("nonce"), "{foreign}");
    let unbound = refusal("?channel_binding=require", |peer| {
        peer.read_start()?;
        peer.send(&message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"))
    });
    assert!(unbound.to_string().contains("channel_binding"), "{unbound}");
    let unasked = refusal("?channel_binding=require", |peer| peer.log_in(&[]));
    assert!(matches!(unasked, PgError::Refused(_)), "{unasked}");
}

#[test]
fn a_login_that_is_none_ends() {
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("silence", vec![], "closed"),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "longest"),
        ("a length below 4", vec![b'R', 0, 0, 0, 3], "length"),
        ("a length above 2 GiB", vec![b'R', 0xff, 0xff, 0xff, 0xff], "length"),
        ("a message of 1 GiB", vec![b'R', 0x40, 0, 0, 0], "longest"),
        ("a row before the login", message(b'D', &[0, 0]), "belong"),
        ("ready before the login", ready(), "belong"),
        ("an unknown tag", message(b'%', b""), "tag"),
        ("an unknown request", message(b'R', &[0, 0, 0, 99]), "authentication"),
        ("an error without an end", message(b'E', b"Cx"), "error"),
        ("a request without a number", message(b'R', b"\0\0"), "authentication"),
        ("mechanisms without an end", message(b'R', b"\0\0\0\x0aSCRAM-SHA-256"), "mechanisms"),
        ("the end of SCRAM before its start", message(b'R', b"\0\0\0\x0cv=x"), "step"),
        ("consent with more behind it", message(b'R', &[0; 5]), "length"),
        ("no UTF8", [message(b'R', &[0; 4]), ready()].concat(), "UTF8"),
        ("notices for ever", message(b'N', b"\0").repeat(5000), "end"),
        ("a wrong password", error("FATAL", "28P01", "password of canaryuser for canarydatabase"), "28P01"),
        ("an unknown database", error("FATAL", "3D000", "canarydatabase"), "3D000"),
        ("a start", error("FATAL", "57P03", "canary"), "57P03"),
    ];
    for (case, bytes, words) in cases {
        let refused = refusal("", move |peer| {
            peer.read_start()?;
            peer.send(&bytes)
        });
        assert!(refused.to_string().contains(words), "{case}: {refused}");
    }
    let fake = Fake::start(|peer| {
        peer.read_start()?;
        peer.read_to(b'X').map(drop)
    });
    let hurried = SessionOptions { connect: Duration::from_millis(300), ..options() };
    let mute = Session::connect(&parse(&fake.url("")), &hurried).expect_err("it says nothing");
    fake.end();
    without_canary(&mute);
    assert!(mute.to_string().contains("no answer in time"), "{mute}");
}

/// Logs in at a scripted server, runs a statement, and returns its failure.
fn failure(
    options: &SessionOptions,
    script: impl FnOnce(&mut Peer) -> std::io::Result<()> + Send + 'static,
) -> PgError {
    let fake = Fake::start(move |peer| {
        peer.log_in(&[])?;
        script(peer)
    });
    let mut session = Session::connect(&parse(&fake.url("")), options).expect("it lets us in");
    let failed =
        session.query("SELECT n FROM t WHERE n = ?1", params![1_i64], Limit::ONE).expect_err("it fails");
    without_canary(&failed);
    drop(session);
    fake.end();
    failed
}

/// The answers to a statement up to its row.
fn before_rows(columns: u16) -> Vec<u8> {
    let mut description = columns.to_be_bytes().to_vec();
    for _ in 0..columns {
        description.extend(b"n\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\x01");
    }
    let parameters = message(b't', b"\0\x01\0\0\0\x14");
    [message(b'1', b""), parameters, message(b'T', &description), message(b'2', b"")].concat()
}

#[test]
fn answers_out_of_order_end_the_connection() {
    let row = message(b'D', b"\0\x01\0\0\0\x01x");
    let done = message(b'C', b"SELECT 1\0");
    for (case, bytes, words) in [
        ("ready at once", ready(), "out of order"),
        ("bound before parsed", message(b'2', b""), "out of order"),
        ("a row before its description", row.clone(), "out of order"),
        ("a row of two values", [before_rows(2), row.clone()].concat(), "fit"),
        ("a row that ends early", [before_rows(1), message(b'D', b"\0\x01\0\0\0\x09x")].concat(), "fit"),
        ("two results", [before_rows(1), done.clone(), done].concat(), "out of order"),
        ("a COPY", [before_rows(1), message(b'G', b"\0\0\0")].concat(), "out of order"),
        ("a COPY to the client", [before_rows(1), message(b'H', b"\0\0\0")].concat(), "unknown tag"),
        (
            "a description that ends early",
            [message(b'1', b""), message(b'T', b"\0\x01n\0")].concat(),
            "description",
        ),
        ("a tag that is no text", [before_rows(1), message(b'C', b"\xff\0")].concat(), "fields"),
        ("an unknown state", [error("ERROR", "22012", "x"), message(b'Z', b"?")].concat(), "state"),
        ("a long message", [before_rows(1), vec![b'D', 0, 0x20, 0, 0]].concat(), "longest"),
        ("the end", before_rows(1), "closed"),
        ("a fatal error", error("FATAL", "57P01", "stopping"), "57P01"),
    ] {
        let failed = failure(&options(), move |peer| {
            peer.read_to(b'S')?;
            peer.send(&bytes)
        });
        assert!(failed.is_lost() && failed.to_string().contains(words), "{case}: {failed:?}");
    }
}

#[test]
fn rows_without_end_and_silence_end_with_the_time_out() {
    let endless = failure(&hurried(), |peer| {
        peer.read_to(b'S')?;
        peer.send(&before_rows(1))?;
        let rows = message(b'D', b"\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x07").repeat(1000);
        loop {
            peer.send(&rows)?;
        }
    });
    assert!(matches!(&endless, PgError::Lost(lost) if lost.commit == CommitState::NotSent), "{endless:?}");
    // The same description again, errors without ReadyForQuery, notices, parameters: none of them brings the end nearer.
    for again in [
        message(b't', b"\0\x01\0\0\0\x14"),
        error("ERROR", "22012", "again"),
        message(b'N', b"\0"),
        message(b'S', b"name\0value\0"),
    ] {
        let endless = failure(&hurried(), move |peer| {
            peer.read_to(b'S')?;
            peer.send(&message(b'1', b""))?;
            loop {
                peer.send(&again.repeat(1000))?;
            }
        });
        assert!(endless.to_string().contains("no answer in time"), "{endless:?}");
    }
    let mute = failure(&hurried(), |peer| peer.read_to(b'X').map(drop));
    assert!(mute.to_string().contains("no answer in time"), "{mute}");
}

#[test]
fn a_commit_counts_as_unknown_from_its_first_byte_to_its_answer() {
    let lost = |answers: Vec<Vec<u8>>| {
        let fake = Fake::start(move |peer| {
            peer.log_in(&[])?;
            for answer in answers {
                peer.read_to(b'S')?;
                peer.send(&answer)?;
            }
            Ok(())
        });
        let mut session = Session::connect(&parse(&fake.url("")), &options()).expect("it lets us in");
        session.queue("BEGIN", &[]).expect("it is queued");
        let began = session.boundary();
        session.send().and_then(|()| session.wait(began)).expect("it begins");
        session.queue_commit().expect("it is queued");
        let commit = session.boundary();
        session.queue("SELECT 1", &[]).expect("it is queued");
        let mark = session.boundary();
        let sent = session.send();
        let committed = sent.and_then(|()| session.wait(commit));
        let marked = session.wait(mark).expect_err("the connection ends");
        fake.end();
        (committed.is_ok(), marked)
    };
    let step = |tag: &str| {
        let nothing =
            [message(b'1', b""), message(b't', b"\0\0"), message(b'n', b""), message(b'2', b"")].concat();
        [nothing, message(b'C', format!("{tag}\0").as_bytes())].concat()
    };
    let begun = [step("BEGIN"), message(b'Z', b"T")].concat();
    let commit_of =
        |error: &PgError| if let PgError::Lost(lost) = error { lost.commit } else { panic!("{error:?}") };
    let (committed, marked) = lost(vec![begun.clone(), step("COMMIT")]);
    assert_eq!((committed, commit_of(&marked)), (false, CommitState::Unknown));
    let (committed, marked) = lost(vec![begun.clone(), [step("COMMIT"), ready()].concat()]);
    assert_eq!((committed, commit_of(&marked)), (true, CommitState::NotSent));
    let (committed, marked) = lost(vec![begun, message(b'1', b"")]);
    assert_eq!((committed, commit_of(&marked)), (false, CommitState::Unknown));
}

#[test]
fn the_hosts_of_a_url_are_tried_in_their_order() {
    let standby = Fake::start(|peer| {
        peer.log_in(&[("in_hot_standby", "on"), ("default_transaction_read_only", "off")])?;
        peer.read_to(b'X').map(drop)
    });
    let primary = Fake::start(|peer| {
        peer.log_in(&[("in_hot_standby", "off"), ("default_transaction_read_only", "off")])?;
        peer.read_to(b'X').map(drop)
    });
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port")
        .port();
    let hosts = format!("localhost:{closed},localhost:{},localhost:{}", standby.port, primary.port);
    let url = parse(&format!("postgres://u:p@{hosts}/d?target_session_attrs=read-write"));
    let session = Session::connect(&url, &options()).expect("the third one is fit");
    assert_eq!((session.parameter("in_hot_standby"), session.backend_pid()), (Some("off"), 7));
    drop(session);
    standby.end();
    primary.end();

    let standby = Fake::start(|peer| {
        peer.log_in(&[("in_hot_standby", "on"), ("default_transaction_read_only", "off")])
    });
    let url = parse(&format!("postgres://u:p@localhost:{closed},localhost:{}/d", standby.port));
    let options = SessionOptions { target: Target::Primary, ..options() };
    let none = Session::connect(&url, &options).expect_err("none is fit").to_string();
    assert!(none.contains("server 1 of 2: connection refused; server 2 of 2: it is a standby"), "{none}");
    standby.end();
    let old = Fake::start(|peer| peer.log_in(&[]));
    let none = Session::connect(&parse(&old.url("")), &options)
        .expect_err("the server does not say what it is")
        .to_string();
    assert!(none.contains("since version 14"), "{none}");
    old.end();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answers_are_too_odd_to_end(
        answers in proptest::collection::vec(
            ("[123CDEGHIKNRSTZcdnst]", proptest::collection::vec(any::<u8>(), 0..20)), 0..12),
        first in any::<bool>(),
        raw in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let fake = Fake::start(move |peer| {
            peer.log_in(&[])?;
            peer.read_to(b'S')?;
            if first {
                peer.send(&before_rows(1))?;
            }
            for (tag, body) in answers {
                peer.send(&message(tag.as_bytes()[0], &body))?;
            }
            peer.send(&raw)
        });
        let mut session = Session::connect(&parse(&fake.url("")), &options()).expect("it lets us in");
        let answered = session.query("SELECT n FROM t WHERE n = ?1", params![1_i64], Limit::ONE);
        prop_assert!(answered.is_err());
        drop(session);
        fake.end();
    }
}
