//! TLS: which servers are refused, by what name, and what a server of PostgreSQL gets to see.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::Duration;

use colibri_test_support::postgres::{Cluster, Role, Stop};

use super::super::{DatabaseUrl, Limit, PgCell, PgError, Session, SessionOptions, TlsPolicy};
use super::fake::{Fake, Peer, certificate};
use super::parse;

fn connect(url: &str) -> Result<Session, PgError> {
    let options = SessionOptions { connect: Duration::from_secs(15), ..SessionOptions::default() };
    Session::connect(&parse(url), &options)
}

fn of_mode(mode: &str) -> String {
    format!("?sslmode={mode}&sslrootcert={}", certificate("authority.pem"))
}

/// Connects to a scripted server with a certificate.
fn meet(name: &'static str, parameters: &str) -> Result<Session, PgError> {
    let fake = Fake::start(move |peer: &mut Peer| {
        peer.accept_tls(name)?;
        peer.log_in(&[])?;
        peer.read_to(b'X').map(drop)
    });
    let met = connect(&fake.url(parameters));
    let said = format!("{met:?}");
    assert!(!said.contains("canary"), "{said}");
    if met.is_err() {
        fake.end();
    }
    met
}

#[test]
fn a_certificate_is_refused_by_what_is_wrong_with_it() {
    let stranger = format!("?sslmode=verify-full&sslrootcert={}", certificate("stranger.pem"));
    for (name, parameters, words) in [
        ("server", stranger.as_str(), "authority that signed the server's certificate is not trusted"),
        ("server", "?sslmode=verify-full", "authority that signed the server's certificate is not trusted"),
        ("server", "?sslmode=verify-ca", "authority that signed the server's certificate is not trusted"),
        ("elsewhere", &of_mode("verify-full"), "is for db.example, not for the URL's host"),
        ("expired", &of_mode("verify-full"), "has expired"),
        ("expired", &of_mode("verify-ca"), "has expired"),
    ] {
        let refused = meet(name, parameters).expect_err(words);
        assert!(
            matches!(&refused, PgError::Refused(text) if text.contains(words)),
            "{name} {parameters}: {refused:?}"
        );
    }
    for (name, mode) in
        [("server", "verify-full"), ("elsewhere", "verify-ca"), ("server", "require"), ("expired", "prefer")]
    {
        meet(name, &of_mode(mode)).expect(mode);
    }
}

#[test]
fn a_server_without_tls_is_refused_unless_the_mode_says_otherwise() {
    for (answer, mode, words) in [
        (&b"N"[..], "verify-full", "offers no TLS"),
        (b"N", "require", "offers no TLS"),
        (b"E\0\0\0\x10Scanary\0\0", "verify-full", "something else"),
        // What came before TLS would be read as if it had been encrypted.
        (b"SR\0\0\0\x08\0\0\0\0", "verify-full", "between its answer and TLS"),
    ] {
        let fake = Fake::start(move |peer| {
            peer.read_start()?;
            peer.send(answer)?;
            peer.read_start().map(drop)
        });
        let refused = connect(&fake.url(&of_mode(mode))).expect_err(words);
        assert!(
            refused.to_string().contains(words) && !refused.to_string().contains("canary"),
            "{mode}: {refused:?}"
        );
        fake.end();
    }
    let fake = Fake::start(|peer| {
        peer.read_start()?;
        peer.send(b"N")?;
        peer.log_in(&[])
    });
    connect(&fake.url("?sslmode=prefer")).expect("it goes on without TLS");
    fake.end();
}

#[test]
fn a_file_of_authorities_that_cannot_be_used_is_an_error_before_anything_is_sent() {
    for (file, words) in [
        ("/nowhere/ca.pem".to_owned(), "cannot be read"),
        (certificate("server.key"), "holds no certificate"),
    ] {
        let error = connect(&format!("postgres://u@localhost:1/d?sslmode=verify-full&sslrootcert={file}"));
        let error = error.expect_err(words).to_string();
        assert!(error.contains("sslrootcert") || error.contains("connection refused"), "{error}");
    }
}

const RULES: &str = "local all all trust\nhost all test_app all password\nhost all test_read all md5\nhostssl all all all scram-sha-256\n";

/// Stops a server, and starts it again with TLS, a certificate and the rules of who may connect.
fn restart(cluster: &mut Cluster, name: &str) {
    cluster.stop(Stop::Fast);
    let owner = std::fs::metadata(cluster.data()).expect("a folder").uid();
    for file in [format!("{name}.pem"), "server.key".to_owned()] {
        let copy = cluster.data().join(&file);
        std::fs::copy(certificate(&file), &copy).expect("a copy");
        std::fs::set_permissions(&copy, Permissions::from_mode(0o600)).expect("it is ours");
        chown(&copy, Some(owner), None).expect("it is ours");
    }
    std::fs::write(cluster.data().join("pg_hba.conf"), RULES).expect("the data is ours");
    cluster.configure(&format!("ssl = on\nssl_cert_file = '{name}.pem'\nssl_key_file = 'server.key'"));
    cluster.start();
}

#[test]
fn postgresql_gets_scram_that_is_bound_to_its_certificate_and_nothing_else() {
    let Some(mut cluster) = Cluster::private("") else { return };
    for (name, mode) in [("server", "verify-full"), ("elsewhere", "verify-ca")] {
        restart(&mut cluster, name);
        binds_scram(&cluster, mode);
    }
    let sql =
        format!("SET password_encryption = 'md5'; ALTER ROLE test_read PASSWORD '{}'", cluster.password());
    cluster.client(Role::Superuser, "postgres").batch_execute(&sql).expect("the superuser sets it");
    for (role, name) in [(Role::App, "cleartext"), (Role::Read, "MD5")] {
        for parameters in [String::new(), of_mode("verify-ca")] {
            let url = format!("{}{parameters}", cluster.url(role, "postgres"));
            let refused = connect(&url).expect_err(name);
            assert!(matches!(&refused, PgError::Refused(text) if text.contains(name)), "{refused:?}");
            assert!(!format!("{refused:?}").contains(cluster.password()), "{refused:?}");
        }
    }
}

#[test]
fn an_authority_whose_signatures_bind_nothing_is_trusted_and_named_where_binding_is_asked_for() {
    let Some(mut cluster) = Cluster::private("") else { return };
    restart(&mut cluster, "edwards");
    let url = cluster.url(Role::Superuser, "postgres");
    let url = format!("{url}?sslmode=verify-full&sslrootcert={}", certificate("edwards-authority.pem"));
    for binding in ["", "&channel_binding=prefer"] {
        connect(&format!("{url}{binding}")).expect("it is trusted");
    }
    let refused = connect(&format!("{url}&channel_binding=require")).expect_err("nothing binds");
    let named = matches!(&refused, PgError::Refused(text) if text.contains("such as Ed25519") && text.contains("channel_binding=prefer"));
    assert!(named, "{refused:?}");
}

#[test]
fn one_certificate_that_cannot_be_read_does_not_spoil_a_file_of_authorities() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, spoilt) = (folder.path().join("bundle.pem"), folder.path().join("spoilt.pem"));
    let odd = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    let authority = std::fs::read_to_string(certificate("authority.pem")).expect("a certificate");
    std::fs::write(&file, format!("# comment\n{odd}{authority}{odd}")).expect("a file");
    std::fs::write(&spoilt, odd).expect("a file");
    meet("server", &format!("?sslmode=verify-full&sslrootcert={}", file.display()))
        .expect("the other one is read");
    let refused = meet("server", &format!("?sslmode=verify-full&sslrootcert={}", spoilt.display()));
    let refused = refused.expect_err("none is read").to_string();
    assert!(refused.contains("holds no certificate that can be read"), "{refused}");
}

#[test]
fn the_authorities_of_this_system_are_used_where_the_url_asks_for_them() {
    let refused =
        meet("server", "?sslmode=verify-full&sslrootcert=system").expect_err("it is not theirs").to_string();
    // Of a system without any, the message says so.
    let known = refused.contains("authority that signed the server's certificate is not trusted");
    assert!(known || refused.contains("ca-certificates"), "{refused}");
}

#[test]
fn a_client_proves_itself_by_its_certificate() {
    let Some(mut cluster) = Cluster::private("") else { return };
    let owner = std::fs::metadata(cluster.data()).expect("a folder").uid();
    let authority = cluster.data().join("clients.pem");
    std::fs::copy(certificate("clients-authority.pem"), &authority).expect("a copy");
    chown(&authority, Some(owner), None).expect("it is ours");
    cluster.configure("ssl_ca_file = 'clients.pem'");
    restart(&mut cluster, "server");
    cluster.admit("local all all trust\nhostssl all test_app all cert\nhostssl all all all scram-sha-256\n");
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("client.key");
    std::fs::copy(certificate("client.key"), &key).expect("a copy");
    let rights = |mode| std::fs::set_permissions(&key, Permissions::from_mode(mode)).expect("it is ours");
    rights(0o600);
    let url = format!("postgres://test_app@localhost:{}/postgres{}", cluster.port(), of_mode("verify-full"));
    let with = format!("{url}&sslcert={}&sslkey={}", certificate("client.pem"), key.display());
    let began = std::time::Instant::now();
    while let Err(error) = connect(&with) {
        assert!(began.elapsed() < Duration::from_secs(20), "{error}");
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = connect(&url).expect_err("it shows no certificate").to_string();
    assert!(refused.contains("client certificate (sslcert= and sslkey=)"), "{refused}");
    for (change, words) in [
        (
            format!("{url}&sslcert={}&sslkey={}", certificate("server.pem"), key.display()),
            "does not belong to the certificate",
        ),
        (
            format!("{url}&sslcert=/nowhere/client.pem&sslkey={}", key.display()),
            "sslcert names cannot be read",
        ),
    ] {
        let refused = connect(&change).expect_err(words).to_string();
        assert!(refused.contains(words), "{refused}");
    }
    rights(0o644);
    let refused = connect(&with).expect_err("others may read the key").to_string();
    assert!(refused.contains("sslkey names can be read by other users; run chmod 600"), "{refused}");
}

fn binds_scram(cluster: &Cluster, mode: &str) {
    let url = cluster.url(Role::Superuser, "postgres");
    let bound = format!("{url}{}&channel_binding=require", of_mode(mode));
    let mut session = connect(&bound).expect("SCRAM is bound");
    let rows = session.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[], Limit::ONE);
    assert_eq!(rows.expect("a row").row(0).expect("a row").cell(0), Ok(PgCell::Integer(1)));
    // Some MiB through TLS, in both directions at once.
    let text = "x".repeat(1 << 20);
    for _ in 0..8 {
        session.queue("SELECT ?1::text", crate::params![text]).expect("it is queued");
    }
    session.query("SELECT 1", &[], Limit::ONE).expect("no deadlock");
    let plain = connect(&url).expect_err("the rules want TLS").to_string();
    assert!(plain.contains("28000"), "{plain}");
    let insecure = DatabaseUrl::parse(&format!("{url}?sslmode=require"), TlsPolicy::Insecure).expect("a URL");
    Session::connect(&insecure, &SessionOptions::default()).expect("nothing is checked");
}
