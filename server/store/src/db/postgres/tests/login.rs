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
