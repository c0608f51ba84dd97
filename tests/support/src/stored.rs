//! Everything a database holds, so that a test can show that nothing has changed.

#![allow(clippy::unwrap_used)]

use rusqlite::Connection;

/// All rows but the audit log's, table by table and value by value.
pub fn stored(sql: &Connection) -> Vec<String> {
    let tables: Vec<String> = sql
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'actions%' ORDER BY name",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut stored = Vec::new();
    for table in tables {
        let mut statement = sql.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<_> = (0..columns).map(|column| row.get_ref(column).unwrap()).collect();
            stored.push(format!("{table}: {values:?}"));
        }
    }
    stored
}
