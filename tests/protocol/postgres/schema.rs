//! Both catalogs describe the same tables. What differs is listed here, with its reason.

use std::collections::{BTreeMap, BTreeSet};

use colibri::migrations;
use colibri::shared_schema::{CATALOG, CATALOG_QUERY, MIGRATIONS};
use colibri_test_support::postgres::{Database, Role};
use postgres::Client;
use rusqlite::Connection;

use super::engines::Engines;

/// Texts that may hold U+0000, which PostgreSQL's `text` cannot: 015_base.sql gives the reason of each.
const TEXTS_AS_BYTES: [(&str, &str); 13] = [
    ("actions", "tool"),
    ("actions", "error_message"),
    ("audit_sessions", "intent"),
    ("callers", "client_name"),
    ("callers", "client_title"),
    ("callers", "client_version"),
    ("reputation_history", "event_id"),
    ("reputation_history", "node_id"),
    ("reputation_history", "reason"),
    ("reputation_ledger", "acker_id"),
    ("reputations", "node_id"),
    ("skills", "body"),
    ("thought_records", "content"),
];

/// The tables that PostgreSQL has for itself: the version, the leases, and the two halves of the log, which `actions` shows.
const OF_POSTGRES: [&str; 4] = ["enters", "exits", "processes", "schema_version"];
/// The tables that are views over those in PostgreSQL.
const VIEWS_IN_POSTGRES: [&str; 2] = ["actions", "actions_head"];
/// The tables whose order of rows counts and which have no number of their own: SQLite's rowid is a column in PostgreSQL.
const WITH_ROWID: [&str; 6] =
    ["audit_sessions", "experience_tokens", "mcp_witnesses", "merkle_roots", "task_dependencies", "tasks"];
/// SQLite's alone: a sentence for servers from before 014.
const OF_SQLITE: &str = "this database was upgraded by a newer Colibri: restart this server";

/// A table, in the words of neither engine.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    /// Name, with type, whether it may be NULL, and its default.
    columns: BTreeMap<String, (String, bool, Option<String>)>,
    primary_key: Vec<String>,
    /// Columns, the table they refer to, and its columns.
    references: BTreeSet<(Vec<String>, String, Vec<String>)>,
    /// Columns that are unique together.
    unique: BTreeSet<Vec<String>>,
    /// Name, with columns in order (`-` is an expression), whether it is unique, and whether it leaves rows out.
    indexes: BTreeMap<String, (Vec<String>, bool, bool)>,
}

fn strings(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(|text| text.unwrap()).collect()
}

fn of_sqlite(conn: &Connection, table: &str) -> Table {
    let mut found = Table::default();
    let mut key = BTreeMap::new();
    conn.prepare(&format!(
        "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{table}')"
    ))
    .unwrap()
    .query_map([], |row| {
        let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
        let place: i64 = row.get(4)?;
        if place > 0 {
            key.insert(place, name.clone());
        }
        let null = !row.get::<_, bool>(2)? && place == 0;
        Ok(found.columns.insert(name, (kind.to_lowercase(), null, row.get(3)?)))
    })
    .unwrap()
    .for_each(|column| assert!(column.unwrap().is_none()));
    found.primary_key = key.into_values().collect();
    let sql = format!(
        "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('{table}') ORDER BY id, seq"
    );
    let mut references: BTreeMap<i64, (Vec<String>, String, Vec<String>)> = BTreeMap::new();
    let mut statement = conn.prepare(&sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let one = references.entry(row.get(0).unwrap()).or_default();
        one.0.push(row.get(2).unwrap());
        one.1 = row.get(1).unwrap();
        one.2.push(row.get(3).unwrap());
    }
    found.references = references.into_values().collect();
    let sql = format!("SELECT name, \"unique\", origin, partial FROM pragma_index_list('{table}')");
    let mut statement = conn.prepare(&sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (name, unique, origin, partial): (String, bool, String, bool) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap(), row.get(3).unwrap());
        let columns = strings(
            conn,
            &format!(
                "SELECT coalesce(name, '-') || CASE \"desc\" WHEN 1 THEN ' desc' ELSE '' END FROM pragma_index_xinfo('{name}') \
                 WHERE key = 1 ORDER BY seqno"
            ),
        );
        match origin.as_str() {
            "u" => assert!(found.unique.insert(columns)),
            "c" if name != OF_SQLITE => {
                found.indexes.insert(name, (columns, unique, partial));
            }
            _ => {}
        }
    }
    found
}

fn of_postgres(client: &mut Client, table: &str) -> Table {
    let mut found = Table::default();
    let sql = "SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), l.collname::text, NOT a.attnotnull, \
               pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute AS a \
               LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
               LEFT JOIN pg_collation AS l ON l.oid = a.attcollation \
               WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped";
    for row in client.query(sql, &[&table]).unwrap() {
        let (name, kind, collation): (String, String, Option<String>) = (row.get(0), row.get(1), row.get(2));
        assert_eq!(kind == "text", collation.as_deref() == Some("C"), "{table}.{name}: {kind} {collation:?}");
        found.columns.insert(name, (kind, row.get(3), row.get(4)));
    }
    let sql = "SELECT contype::text, (SELECT array_agg(attname::text ORDER BY n) FROM unnest(conkey) WITH ORDINALITY AS k (num, n) \
               JOIN pg_attribute ON attrelid = conrelid AND attnum = num), \
               confrelid::regclass::text, (SELECT array_agg(attname::text ORDER BY n) \
               FROM unnest(confkey) WITH ORDINALITY AS k (num, n) JOIN pg_attribute ON attrelid = confrelid AND attnum = num) \
               FROM pg_constraint WHERE conrelid = $1::text::regclass AND contype IN ('p', 'u', 'f')";
    for row in client.query(sql, &[&table]).unwrap() {
        let (kind, columns): (String, Vec<String>) = (row.get(0), row.get(1));
        match kind.as_str() {
            "p" => found.primary_key = columns,
            "u" => assert!(found.unique.insert(columns)),
            _ => assert!(found.references.insert((columns, row.get(2), row.get(3)))),
        }
    }
    let sql = "SELECT x.relname::text, i.indisunique, i.indpred IS NOT NULL, (SELECT array_agg( \
               CASE WHEN i.indkey[n] = 0 THEN '-' ELSE pg_get_indexdef(i.indexrelid, n + 1, false) END \
               || CASE WHEN i.indoption[n] & 1 = 1 THEN ' desc' ELSE '' END ORDER BY n) FROM generate_series(0, i.indnatts - 1) AS n) \
               FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid WHERE i.indrelid = $1::text::regclass \
               AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = i.indexrelid AND conrelid = i.indrelid)";
    for row in client.query(sql, &[&table]).unwrap() {
        let columns: Vec<String> = row.get(3);
        found.indexes.insert(row.get(0), (columns, row.get(1), row.get(2)));
    }
    found
}

/// Writes SQLite's table in PostgreSQL's words.
fn in_the_words_of_postgres(name: &str, mut table: Table) -> Table {
    for (column, (kind, _, default)) in &mut table.columns {
        let as_bytes = TEXTS_AS_BYTES.contains(&(name, column.as_str()));
        *kind = match kind.as_str() {
            "integer" => "bigint",
            "blob" => "bytea",
            "text" if as_bytes => "bytea",
            text => text,
        }
        .to_owned();
        *default = default.take().map(|text| if text.starts_with('\'') { text + "::text" } else { text });
    }
    table
}

/// Takes away what PostgreSQL's table has for SQLite's rowid.
fn without_rowid(name: &str, mut table: Table) -> Table {
    if WITH_ROWID.contains(&name) {
        let number = format!("next_rowid('{name}'::text)");
        assert_eq!(table.columns.remove("rowid"), Some(("bigint".to_owned(), false, Some(number))));
        assert!(table.unique.remove(&vec!["rowid".to_owned()]), "{name}");
    }
    if name == "reputation_history" {
        let id = table.columns.get_mut("id").and_then(|column| column.2.take());
        assert_eq!(id.as_deref(), Some("next_history_id()"), "SQLite numbers them by itself");
    }
    for (columns, ..) in table.indexes.values_mut() {
        // Every index of SQLite ends in the rowid; here it stands where an order needs it.
        if ["rowid", "id"].contains(&columns.last().map_or("", String::as_str)) {
            columns.pop();
        }
    }
    table
}

fn columns(client: &mut Client, relation: &str) -> BTreeMap<String, String> {
    of_postgres(client, relation).columns.into_iter().map(|(name, (kind, ..))| (name, kind)).collect()
}

#[test]
fn both_engines_have_the_same_tables_columns_keys_and_indexes() {
    let Some(mut engines) = Engines::new() else { return };
    let listed = |kind: &str| {
        format!("SELECT name FROM sqlite_schema WHERE type = '{kind}' AND substr(name, 1, 7) <> 'sqlite_'")
    };
    let tables: BTreeSet<String> = strings(&engines.sqlite, &listed("table")).into_iter().collect();
    let views: BTreeSet<String> = strings(&engines.sqlite, &listed("view")).into_iter().collect();
    let mut relations = |kind: &str| -> BTreeSet<String> {
        let sql = "SELECT relname::text FROM pg_class WHERE relnamespace = 'colibri'::regnamespace AND relkind::text = $1";
        engines.postgres.query(sql, &[&kind]).unwrap().iter().map(|row| row.get(0)).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    assert_eq!(&relations("r") | &set(&VIEWS_IN_POSTGRES), &tables | &set(&OF_POSTGRES));
    assert_eq!(relations("v"), &views | &set(&VIEWS_IN_POSTGRES));
    for name in &tables - &set(&VIEWS_IN_POSTGRES) {
        let sqlite = in_the_words_of_postgres(&name, of_sqlite(&engines.sqlite, &name));
        assert_eq!(without_rowid(&name, of_postgres(&mut engines.postgres, &name)), sqlite, "{name}");
    }
    for name in VIEWS_IN_POSTGRES {
        let sqlite = in_the_words_of_postgres(name, of_sqlite(&engines.sqlite, name)).columns;
        let sqlite: BTreeMap<String, String> =
            sqlite.into_iter().map(|(column, (kind, ..))| (column, kind)).collect();
        assert_eq!(columns(&mut engines.postgres, name), sqlite, "{name}");
    }
    for name in views {
        let sqlite =
            strings(&engines.sqlite, &format!("SELECT name FROM pragma_table_info('{name}') ORDER BY name"));
        assert_eq!(columns(&mut engines.postgres, &name).into_keys().collect::<Vec<_>>(), sqlite, "{name}");
    }
}

#[test]
fn the_two_halves_of_the_log_are_the_columns_of_actions() {
    let Some(mut engines) = Engines::new() else { return };
    let whole = columns(&mut engines.postgres, "actions");
    let (mut enters, exits) =
        (columns(&mut engines.postgres, "enters"), columns(&mut engines.postgres, "exits"));
    let both: Vec<&String> = enters.keys().filter(|column| exits.contains_key(*column)).collect();
    assert_eq!(both, ["sequence_no"]);
    enters.extend(exits);
    assert_eq!(enters, whole);
    let table = of_postgres(&mut engines.postgres, "exits");
    assert_eq!(
        (table.primary_key, table.unique),
        (vec!["sequence_no".to_owned()], [vec!["exit_no".to_owned()]].into())
    );
    let optional = |table: &str, engines: &mut Engines| -> BTreeSet<String> {
        let columns = of_postgres(&mut engines.postgres, table).columns;
        columns.into_iter().filter(|(_, (_, null, _))| *null).map(|(name, _)| name).collect()
    };
    let entered = optional("enters", &mut engines);
    let sqlite = of_sqlite(&engines.sqlite, "actions").columns;
    let of_sqlite: BTreeSet<String> =
        sqlite.into_iter().filter(|(_, (_, null, _))| *null).map(|(name, _)| name).collect();
    assert!(entered.is_subset(&of_sqlite), "{entered:?}");
    // What every exit fills, SQLite leaves empty until then.
    let always = ["exited_at", "exit_no", "prev_hash", "row_hash"].map(str::to_owned).into();
    assert_eq!(&(&of_sqlite - &entered) - &optional("exits", &mut engines), always);
}

#[test]
fn the_newest_migrations_are_of_one_version() {
    let newest = |file: Option<&str>| file.map(|file| file[..3].to_owned());
    let sqlite = newest(migrations::MIGRATIONS.last().map(|migration| migration.file));
    assert_eq!(newest(MIGRATIONS.last().map(|migration| migration.file)), sqlite);
}

fn catalog(client: &mut Client) -> Vec<String> {
    let rows = client.query(CATALOG_QUERY, &[]).unwrap();
    rows.iter().map(|row| format!("{} {}", row.get::<_, String>(0), row.get::<_, String>(1))).collect()
}

#[test]
fn the_catalog_is_the_listed_one_and_tells_every_change() {
    let Some(database) = Database::new() else { return };
    let mut client = database.client(Role::Superuser);
    client.batch_execute("SET search_path = colibri").unwrap();
    let sound = catalog(&mut client);
    if std::env::var_os("COLIBRI_WRITE_FROZEN").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../migrations/postgres/017_catalog.txt");
        std::fs::write(file, sound.join("\n") + "\n").unwrap();
    } else {
        assert_eq!(sound, CATALOG.lines().collect::<Vec<_>>(), "COLIBRI_WRITE_FROZEN=1 writes the list");
    }
    for (change, object) in [
        (
            "ALTER TABLE exits DISABLE TRIGGER ALL; ALTER TABLE trail_heads DISABLE TRIGGER trg_heads_step",
            "table trail_heads",
        ),
        ("DROP TRIGGER trg_thought_follow ON thought_records", "table thought_records"),
        ("ALTER TABLE merkle_roots DISABLE TRIGGER ALL", "table merkle_roots"),
        ("GRANT UPDATE ON exits TO colibri_app", "table exits"),
        ("GRANT UPDATE (row_hash) ON exits TO colibri_read", "table exits"),
        ("GRANT DELETE ON enters TO PUBLIC", "table enters"),
        ("GRANT CREATE ON SCHEMA colibri TO colibri_app", "schema colibri"),
        ("ALTER TABLE enters OWNER TO colibri_app", "table enters"),
        ("ALTER TABLE tasks ALTER COLUMN title DROP NOT NULL", "table tasks"),
        ("ALTER TABLE tasks ADD COLUMN more text", "table tasks"),
        ("ALTER TABLE exits DROP CONSTRAINT exits_check", "table exits"),
        ("ALTER TABLE exits DROP CONSTRAINT exits_exit_no_key", "table exits"),
        ("DROP INDEX idx_tasks_queue", "table tasks"),
        ("ALTER TABLE callers ALTER COLUMN host TYPE text COLLATE \"POSIX\"", "table callers"),
        ("ALTER TABLE enters ENABLE ROW LEVEL SECURITY", "table enters"),
        ("CREATE RULE r AS ON INSERT TO exits DO INSTEAD NOTHING", "table exits"),
        (
            "CREATE OR REPLACE FUNCTION trail_heads_step() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
            "function trail_heads_step()",
        ),
        ("GRANT EXECUTE ON FUNCTION trail_heads_step() TO PUBLIC", "function trail_heads_step()"),
        ("CREATE FUNCTION max(bigint) RETURNS bigint LANGUAGE sql RETURN 1", "function max(bigint)"),
        ("CREATE TABLE more (n bigint)", "table more"),
        ("CREATE SEQUENCE more", "sequence more"),
    ] {
        let mut transaction = client.transaction().unwrap();
        transaction.batch_execute(change).unwrap();
        let rows = transaction.query(CATALOG_QUERY, &[]).unwrap();
        let changed: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}", row.get::<_, String>(0), row.get::<_, String>(1)))
            .collect();
        transaction.rollback().unwrap();
        let differs = changed
            .iter()
            .find(|line| !sound.contains(line))
            .unwrap_or_else(|| panic!("{change}: unnoticed"));
        assert!(differs.starts_with(object), "{change}: {differs}");
    }
}
