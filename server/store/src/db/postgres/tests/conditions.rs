//! What a session rests on, and who may set it otherwise: a role, a database, both, all roles, the server, or something inside of
//! the session; before the session begins and while it runs.

use std::time::{Duration, Instant};

use colibri_test_support::postgres::{Cluster, Role};

use super::super::{Limit, PgCell, PgError, Session, SessionOptions};
use super::parse;

/// How long a server may take to read its settings again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who sets a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Role,
    Database,
    RoleInDatabase,
    AllRoles,
    Server,
    Session,
}

const LEVELS: [Level; 6] =
    [Level::Role, Level::Database, Level::RoleInDatabase, Level::AllRoles, Level::Server, Level::Session];

/// Who may set a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The session: what it sets holds.
    Session,
    /// A superuser, for a role or for the server.
    Superuser,
    /// The server's configuration.
    Server,
}

/// A parameter, another value than Colibri's, and who may set it.
const PARAMETERS: [(&str, &str, Reach); 20] = [
    ("client_min_messages", "error", Reach::Session),
    ("bytea_output", "escape", Reach::Session),
    ("quote_all_identifiers", "on", Reach::Session),
    ("standard_conforming_strings", "off", Reach::Session),
    ("datestyle", "German", Reach::Session),
    ("extra_float_digits", "-2", Reach::Session),
    ("idle_session_timeout", "1h", Reach::Session),
    ("statement_timeout", "2h", Reach::Session),
    ("lock_timeout", "2h", Reach::Session),
    ("search_path", "public", Reach::Session),
    ("synchronous_commit", "off", Reach::Session),
    ("default_transaction_isolation", "serializable", Reach::Session),
    ("default_transaction_read_only", "on", Reach::Session),
    ("idle_in_transaction_session_timeout", "3h", Reach::Session),
    ("timezone", "Asia/Tokyo", Reach::Session),
    ("row_security", "on", Reach::Session),
    ("session_replication_role", "replica", Reach::Superuser),
    ("zero_damaged_pages", "on", Reach::Superuser),
    ("fsync", "off", Reach::Server),
    ("full_page_writes", "off", Reach::Server),
];

/// The session of a server.
fn options() -> SessionOptions {
    let more = [
        ("search_path", "colibri, pg_temp"),
        ("synchronous_commit", "on"),
        ("default_transaction_isolation", "read committed"),
        ("default_transaction_read_only", "off"),
        ("idle_in_transaction_session_timeout", "5000"),
        ("timezone", "UTC"),
        ("row_security", "off"),
    ];
    let settings = more.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    SessionOptions { settings, ..SessionOptions::default() }
}

fn shown(session: &mut Session, name: &str) -> String {
    let rows = session.query("SELECT current_setting(?1)", crate::params![name], Limit::ONE).unwrap();
    match rows.row(0).unwrap().cell(0) {
        Ok(PgCell::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        other => panic!("{other:?}"),
    }
}

/// Has a level set a parameter, or undo it.
fn set(cluster: &Cluster, level: Level, name: &str, value: Option<&str>) {
    let mut admin = cluster.client(Role::Superuser, "postgres");
    let role = Role::App.name();
    let what = match value {
        Some(value) => format!("SET {name} = '{value}'"),
        None => format!("RESET {name}"),
    };
    // Two statements in one text would be one transaction, in which ALTER SYSTEM may not be.
    let sql = match level {
        Level::Role => format!("ALTER ROLE {role} {what}"),
        Level::Database => format!("ALTER DATABASE board {what}"),
        Level::RoleInDatabase => format!("ALTER ROLE {role} IN DATABASE board {what}"),
        Level::AllRoles => format!("ALTER ROLE ALL {what}"),
        Level::Server => format!("ALTER SYSTEM {what}"),
        Level::Session => return,
    };
    // What is set for all roles is for this one, too.
    admin.batch_execute("SET default_transaction_read_only = off").unwrap();
    admin.batch_execute(&sql).unwrap();
    if level != Level::Server {
        return;
    }
    let mut loaded =
        || -> String { admin.query_one("SELECT pg_conf_load_time()::text", &[]).unwrap().get(0) };
    let before = loaded();
    cluster.reload();
    let began = Instant::now();
    while loaded() == before {
        assert!(began.elapsed() < PATIENCE, "the server does not read its settings");
        std::thread::sleep(Duration::from_millis(2));
    }
    // Its processes have their signals by now, and take them in while they wait.
    std::thread::sleep(Duration::from_millis(20));
}

fn mark(session: &mut Session) -> Result<(), PgError> {
    session.queue("SELECT pg_logical_emit_message(true, 'colibri', '')", &[])?;
    let mark = session.boundary();
    let held = session.ask_what_holds(true, None);
    session.wait(mark)?;
    held.map(drop)
}

fn is_named(outcome: &Result<(), PgError>, name: &str) -> bool {
    matches!(outcome, Err(PgError::Refused(text)) if text.contains(&format!("{name} = ")))
}

#[test]
fn a_parameter_that_a_promise_rests_on_holds_or_is_refused_by_name() {
    let Some(cluster) = Cluster::private("") else { return };
    cluster.set_up("board");
    let url = parse(&cluster.url(Role::App, "board"));
    let mut plain = Session::establish(&url, &options()).unwrap();
    let wanted: Vec<String> = PARAMETERS.map(|(name, ..)| shown(&mut plain, name)).to_vec();
    drop(plain);
    for level in LEVELS {
        for ((name, other, reach), wanted) in PARAMETERS.into_iter().zip(&wanted) {
            let can = match reach {
                Reach::Session => true,
                // A session cannot be given it from inside by its own role.
                Reach::Superuser => level != Level::Session,
                Reach::Server => level == Level::Server,
            };
            if !can {
                continue;
            }
            let case = format!("{name} = {other}, {level:?}");
            let mut before = Session::establish(&url, &options()).unwrap();
            assert_eq!(mark(&mut before), Ok(()), "{case}");
            set(&cluster, level, name, Some(other));
            if level == Level::Session {
                before.simple(&format!("SET {name} = '{other}'")).unwrap();
                let outcome = mark(&mut before);
                assert!(is_named(&outcome, name), "{case}: {outcome:?}");
                continue;
            }
            // While it runs.
            let outcome = mark(&mut before);
            match reach {
                Reach::Session => assert_eq!(outcome, Ok(()), "{case}"),
                Reach::Superuser | Reach::Server if level == Level::Server => {
                    assert!(is_named(&outcome, name), "{case}: {outcome:?}");
                }
                // It is for sessions to come.
                Reach::Superuser | Reach::Server => assert_eq!(outcome, Ok(()), "{case}"),
            }
            if outcome.is_ok() {
                assert_eq!(&shown(&mut before, name), wanted, "{case}");
            }
            // Before it begins. The settings of the whole server are for the mark to tell.
            let began = Session::establish(&url, &options()).and_then(|mut session| {
                mark(&mut session)?;
                Ok(shown(&mut session, name))
            });
            match reach {
                Reach::Session => assert_eq!(began.as_ref(), Ok(wanted), "{case}"),
                Reach::Superuser | Reach::Server => {
                    let outcome = began.map(drop);
                    assert!(is_named(&outcome, name), "{case}: {outcome:?}");
                }
            }
            set(&cluster, level, name, None);
        }
    }
}

#[test]
fn what_differs_is_named_with_what_has_set_it() {
    let Some(cluster) = Cluster::private("") else { return };
    cluster.set_up("board");
    let url = parse(&cluster.url(Role::App, "board"));
    for (level, cause) in [
        (Level::Role, "ALTER ROLE … RESET session_replication_role"),
        (Level::Database, "ALTER DATABASE … RESET session_replication_role"),
        (Level::RoleInDatabase, "ALTER ROLE … IN DATABASE … RESET session_replication_role"),
        (Level::AllRoles, "ALTER ROLE ALL RESET session_replication_role"),
        (Level::Server, "set session_replication_role = origin in the server's configuration"),
    ] {
        set(&cluster, level, "session_replication_role", Some("replica"));
        let refused = Session::establish(&url, &options()).expect_err(cause).to_string();
        assert!(refused.contains(cause) && refused.contains("the triggers"), "{level:?}: {refused}");
        set(&cluster, level, "session_replication_role", None);
    }
    let mut session = Session::establish(&url, &options()).unwrap();
    session.simple("SET search_path = public").unwrap();
    let refused = mark(&mut session).expect_err("it differs").to_string();
    assert!(refused.contains("inside of this session"), "{refused}");
    // It is the session's again, and so the next mark holds.
    session.simple("SET search_path = colibri, pg_temp").unwrap();
    assert_eq!(mark(&mut session), Ok(()));
}
