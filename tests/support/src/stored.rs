//! Everything a database holds, so that a test can show that nothing has changed.

#![allow(clippy::unwrap_used)]

use crate::sql::Connection;

/// All rows but the audit log's, table by table and value by value.
pub fn stored(sql: &Connection) -> Vec<String> {
    let mut stored = Vec::new();
    for table in sql.tables() {
        let rows = sql.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap().query([]).unwrap();
        let mut rows: Vec<String> = rows.iter().map(|row| format!("{table}: {:?}", row.values())).collect();
        // An engine may return them in any order.
        rows.sort();
        stored.append(&mut rows);
    }
    stored
}
