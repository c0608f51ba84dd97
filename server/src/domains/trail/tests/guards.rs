//! The tables guard themselves.

use colibri_runtime::handler::Fault;
use colibri_store::params;
use rusqlite::Connection;

use crate::domains::trail::tests::support::{chain, database, dump, id, seal, start, think};

/// Whether the database refuses a statement, and with what text.
fn refusal(sql: &Connection, statement: &str) -> String {
    sql.execute_batch(statement).expect_err(statement).to_string()
}

#[test]
fn what_would_rewrite_history_is_refused_and_changes_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let sql = Connection::open(file.path()).unwrap();
    sql.execute_batch("PRAGMA foreign_keys = ON; PRAGMA recursive_triggers = ON").unwrap();
    colibri_store::sqlite::open::migrate::migrate(&sql, crate::migrations::MIGRATIONS, file.path()).unwrap();
    let db = colibri_store::db::Db::new(Connection::open(file.path()).unwrap());
    start(&db, "sealed");
    chain(&db, 3, Some("sealed"));
    seal(&db, "sealed");
    let before = dump(&db);
    let append_only = "thought_records is append-only";
    let columns = [
        "seq",
        "id",
        "type",
        "task_id",
        "agent_id",
        "timestamp",
        "prev_hash",
        "hash",
        "created_at",
        "session_id",
    ];
    for column in columns {
        let statement = format!("UPDATE thought_records SET {column} = {column}");
        assert!(refusal(&sql, &statement).contains(append_only), "{column}");
    }
    let row = |id: &str, prev: &str, hash: &str, session: &str| {
        format!(
            "INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) \
             SELECT {id}, type, task_id, agent_id, content, timestamp, {prev}, {hash}, created_at, {session} \
             FROM thought_records WHERE seq = 1"
        )
    };
    let fresh = "hex(randomblob(32))";
    let tip = "(SELECT tip_hash FROM trail_heads)";
    let fork = "thought_records: prev_hash is not the tip of the chain";
    for (statement, expected) in [
        ("DELETE FROM thought_records".to_owned(), append_only),
        (format!("INSERT OR REPLACE {}", row("id", tip, "hash", "NULL")), append_only),
        (format!("INSERT OR REPLACE {}", row("id", "prev_hash", "hash", "NULL")), fork),
        (format!("INSERT {}", row("'new'", tip, fresh, "'sealed'")), "ERR_ALREADY_FINALIZED"),
        (format!("INSERT {}", row("'new'", "prev_hash", fresh, "NULL")), fork),
        (format!("INSERT {}", row("'new'", "hash", fresh, "NULL")), fork),
        (format!("INSERT {}", row("'new'", fresh, fresh, "NULL")), fork),
        (
            "UPDATE trail_heads SET chain_length = chain_length + 2".to_owned(),
            "trail_heads may only advance by one",
        ),
        ("DELETE FROM trail_heads".to_owned(), "trail_heads may not be deleted"),
        ("UPDATE merkle_roots SET record_count = 4".to_owned(), "merkle_roots is append-only"),
        ("DELETE FROM tree_heads".to_owned(), "tree_heads is append-only"),
    ] {
        let refused = refusal(&sql, &statement);
        assert!(refused.contains(expected), "{statement}: {refused}");
    }
    assert_eq!(dump(&db), before);
}

/// A value that is stored already is named by its column, and by nothing else of the statement.
#[test]
fn a_duplicate_is_told_by_its_column() {
    let db = database();
    think(&db, "T", 1, None);
    let fault = db
        .execute(
            "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) \
             SELECT id, type, 'U', agent_id, content, timestamp, prev_hash, lower(hex(zeroblob(32))), created_at \
             FROM thought_records WHERE id = ?1",
            params![id(1)],
        )
        .unwrap_err();
    assert_eq!(fault, Fault::Storage("UNIQUE constraint failed: thought_records.id".to_owned()));
}
