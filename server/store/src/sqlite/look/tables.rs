//! The tables of a database as they are copied: their columns, the order of their rows, and which come before which.

use std::collections::BTreeMap;

use colibri_runtime::handler::Fault;

use crate::db::Db;
use crate::sqlite::look::schema;
use crate::sqlite::open::migrate::Migration;

/// The tables whose order of rows counts and which have no number of their own. In PostgreSQL `rowid` is a column of them.
const WITH_ROWID: [&str; 6] =
    ["audit_sessions", "experience_tokens", "mcp_witnesses", "merkle_roots", "task_dependencies", "tasks"];

/// What a column holds, by its declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// INTEGER.
    Integer,
    /// REAL.
    Real,
    /// TEXT.
    Text,
    /// BLOB.
    Blob,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns; `rowid` first if it is copied.
    pub columns: Vec<(String, Kind)>,
    /// The columns that give its rows their order.
    pub key: Vec<String>,
    /// The tables that it refers to.
    parents: Vec<String>,
}

/// Returns the tables that the migrations make, each behind those that it refers to.
///
/// # Errors
/// SQLite's error.
pub fn tables(migrations: &[Migration]) -> Result<Vec<Table>, Fault> {
    let db = schema::made(migrations)?;
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name";
    let names: Vec<String> = db.query_all(sql, &[], |row| row.get(0))?;
    let mut left = names.iter().map(|name| table(&db, name)).collect::<Result<Vec<_>, _>>()?;
    let mut ordered: Vec<Table> = Vec::new();
    while !left.is_empty() {
        let known = |name: &String| ordered.iter().any(|table: &Table| table.name == *name);
        let ready = |table: &Table| table.parents.iter().all(|parent| *parent == table.name || known(parent));
        let (mut next, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(ready);
        if next.is_empty() {
            return Err(Fault::Other("the tables refer to each other in a circle".to_owned()));
        }
        ordered.append(&mut next);
        left = rest;
    }
    Ok(ordered)
}

fn table(db: &Db, name: &str) -> Result<Table, Fault> {
    let mut keys = BTreeMap::new();
    let mut columns = Vec::new();
    db.query_each(&format!("PRAGMA table_info(\"{name}\")"), &[], |row| {
        let (column, declared, place): (String, String, i64) = (row.get(1)?, row.get(2)?, row.get(5)?);
        if place > 0 {
            keys.insert(place, column.clone());
        }
        let kind = match declared.as_str() {
            "INTEGER" => Kind::Integer,
            "REAL" => Kind::Real,
            "BLOB" => Kind::Blob,
            _ => Kind::Text,
        };
        columns.push((column, kind));
        Ok(true)
    })?;
    let parents = db.query_all(&format!("PRAGMA foreign_key_list(\"{name}\")"), &[], |row| row.get(2))?;
    let mut key: Vec<String> = keys.into_values().collect();
    if WITH_ROWID.contains(&name) {
        columns.insert(0, ("rowid".to_owned(), Kind::Integer));
        key = vec!["rowid".to_owned()];
    }
    Ok(Table { name: name.to_owned(), columns, key, parents })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::migrations::MIGRATIONS;

    #[test]
    fn every_table_has_an_order_and_comes_after_those_that_it_refers_to() {
        let tables = tables(MIGRATIONS).unwrap();
        let place = |name: &str| tables.iter().position(|table| table.name == name).unwrap();
        for table in &tables {
            assert!(!table.key.is_empty(), "{}", table.name);
            for parent in table.parents.iter().filter(|parent| **parent != table.name) {
                assert!(place(parent) < place(&table.name), "{} before {parent}", table.name);
            }
        }
        assert!(
            place("audit_sessions") < place("thought_records") && place("tasks") < place("task_dependencies")
        );
    }
}
