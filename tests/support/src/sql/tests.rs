//! The handle reads and changes rows alike on either engine.

use super::{Connection, Value};
use crate::postgres::Database;

/// A caller's row; its name is a text in SQLite and bytes in PostgreSQL.
const CALLER: &str = "INSERT INTO callers (caller_no, boot_id, source, client_name, os_user, host, pid, first_seen, sequence_no) \
     VALUES (?1, 'b', 'none', ?2, 'u', 'h', ?3, '2026-01-01T00:00:00.000Z', 1)";

fn in_memory() -> Connection {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    for migration in colibri::migrations::MIGRATIONS {
        conn.execute_batch(migration.sql).unwrap();
    }
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    Connection::from(conn)
}

fn behaves(conn: &Connection) {
    assert_eq!(conn.execute(CALLER, (1, "é'?1\0", Some(7))).unwrap(), 1);
    let read = "SELECT client_name, pid, actor, caller_no > 0 FROM callers WHERE caller_no = ?1";
    let row = |row: &super::Row| {
        Ok((
            row.get::<_, String>("client_name")?,
            row.get::<_, i64>(1)?,
            row.get::<_, Option<String>>(2)?,
            row.get::<_, bool>(3)?,
        ))
    };
    assert_eq!(conn.query_row(read, [1], row).unwrap(), ("é'?1\0".to_owned(), 7, None, true));
    assert!(conn.query_row(read, [2], row).unwrap_err().to_string().contains("no row"));
    assert!(conn.execute("UPDATE callers SET pid = -7", ()).is_err(), "it is guarded");
    assert_eq!(conn.tamper("UPDATE callers SET pid = -7"), 1);
    let pid = conn.prepare("SELECT pid FROM callers").unwrap().query([]).unwrap()[0].values()[0].clone();
    assert_eq!(pid, Value::Integer(-7));
    let tables = conn.tables();
    assert!(tables.contains(&"callers".to_owned()) && !tables.iter().any(|name| name.contains("action")));
}

#[test]
fn sqlite_and_postgresql_are_read_and_changed_alike() {
    behaves(&in_memory());
    let Some(database) = Database::new() else { return };
    behaves(&Connection::server(&database));
}
