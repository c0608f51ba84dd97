//! Logins at a server of PostgreSQL.

use colibri_test_support::postgres::{Cluster, Role};

use super::super::{Limit, PgCell, PgError, Session, SessionOptions};
use super::parse;

#[test]
fn settings_hold_from_the_first_statement_on() {
    let Some(cluster) = Cluster::shared() else { return };
    for url in [cluster.url(Role::App, "postgres"), cluster.socket_url(Role::App, "postgres")] {
        let mut session = Session::connect(&parse(&url), &SessionOptions::default()).expect("it lets us in");
        let shown = |session: &mut Session, name: &str| {
            let rows =
                session.query("SELECT current_setting(?1)", crate::params![name], Limit::ONE).expect("a row");
            match rows.row(0).expect("a row").cell(0) {
                Ok(PgCell::Text(text)) => String::from_utf8_lossy(text).into_owned(),
                other => panic!("{other:?}"),
            }
        };
        for (name, value) in [
            ("application_name", "colibri"),
            ("statement_timeout", "30s"),
            ("lock_timeout", "5s"),
            ("search_path", "colibri, pg_temp"),
            ("client_encoding", "UTF8"),
        ] {
            assert_eq!(shown(&mut session, name), value, "{name}");
        }
        let pid = session.query("SELECT pg_backend_pid()", &[], Limit::ONE).expect("a row");
        assert_eq!(pid.row(0).expect("a row").cell(0), Ok(PgCell::Integer(session.backend_pid().into())));
    }
}

#[test]
fn a_refused_login_says_why_without_a_part_of_the_url() {
    let Some(cluster) = Cluster::shared() else { return };
    let port = cluster.port();
    for (url, code) in [
        (format!("postgres://canaryuser:canarypassword@127.0.0.1:{port}/postgres"), "28P01"),
        (format!("postgres://test_app:canarypassword@127.0.0.1:{port}/postgres"), "28P01"),
        (cluster.url(Role::App, "canarydatabase"), "3D000"),
        (format!("postgres://canaryuser@127.0.0.1:{port}/postgres"), "URL has none"),
    ] {
        let refused = Session::connect(&parse(&url), &SessionOptions::default()).expect_err(code);
        let said = format!("{refused} {refused:?}");
        assert!(matches!(refused, PgError::Refused(_)) && said.contains(code), "{said}");
        assert!(!said.contains("canary") && !said.contains(cluster.password()), "{said}");
    }
}

#[test]
fn a_password_with_other_letters_is_prepared_as_the_server_does() {
    let Some(cluster) = Cluster::shared() else { return };
    let role = format!("prepared_{}", std::process::id());
    let mut superuser = cluster.client(Role::Superuser, "postgres");
    superuser.batch_execute(&format!("CREATE ROLE {role} LOGIN PASSWORD 'I\u{ad}X\u{aa}'")).expect("a role");
    let log_in = |password: &str| {
        let url = format!("postgres://{role}:{password}@127.0.0.1:{}/postgres", cluster.port());
        Session::connect(&parse(&url), &SessionOptions::default()).map(drop)
    };
    let known = ["I%C2%ADX%C2%AA", "IXa", "%E2%85%A8a"].map(log_in);
    let unknown = log_in("IX").expect_err("it is another one").to_string();
    superuser.batch_execute(&format!("DROP ROLE {role}")).expect("it is ours");
    assert_eq!(known, [Ok(()), Ok(()), Ok(())]);
    assert!(unknown.contains("28P01"), "{unknown}");
}
