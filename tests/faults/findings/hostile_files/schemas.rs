//! B3: schemas that are made to hang, to fill the memory or to lie. The table below is the review's acceptance line: each
//! gets its verdict within ten seconds and under 100 MiB.

use rusqlite::Connection;

use super::place::Place;

/// A hostile schema, and what `verify` says of it.
struct Hostile {
    name: &'static str,
    make: fn(&Place),
    /// Each is a part of a finding (`check CODE subject`), or of the message where the schema cannot be read at all.
    says: &'static [&'static str],
}

const ENDLESS: &str = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";

const SCHEMAS: &[Hostile] = &[
    Hostile {
        name: "an endless view in place of the log of calls",
        make: |place| endless_view(place, "actions"),
        says: &["schema OBJECT_MISSING", "schema OBJECT_UNKNOWN view actions", "log UNREADABLE"],
    },
    Hostile {
        name: "an endless view in place of the end of the log",
        make: |place| endless_view(place, "actions_head"),
        says: &["schema OBJECT_UNKNOWN view actions_head", "log HEAD_MISSING"],
    },
    Hostile {
        name: "an endless view in place of the thoughts",
        make: |place| endless_view(place, "thought_records"),
        says: &["schema OBJECT_UNKNOWN view thought_records", "trail UNREADABLE"],
    },
    Hostile {
        name: "an endless view in place of the tasks",
        make: |place| endless_view(place, "tasks"),
        says: &["schema OBJECT_UNKNOWN view tasks", "ties UNREADABLE"],
    },
    Hostile {
        name: "an endless view in place of the seals",
        make: |place| endless_view(place, "tree_heads"),
        says: &["schema OBJECT_UNKNOWN view tree_heads", "seals UNREADABLE"],
    },
    Hostile {
        name: "an endless view in place of the skills",
        make: |place| endless_view(place, "skills"),
        says: &["schema OBJECT_UNKNOWN view skills", "skills UNREADABLE"],
    },
    Hostile {
        name: "an endless view in place of the ledger",
        make: |place| endless_view(place, "reputation_ledger"),
        says: &["schema OBJECT_UNKNOWN view reputation_ledger", "reputation UNREADABLE"],
    },
    Hostile {
        name: "an endless view in place of the rounds",
        make: |place| endless_view(place, "mcp_consensus_rounds"),
        says: &["schema OBJECT_UNKNOWN view mcp_consensus_rounds", "consensus UNREADABLE"],
    },
    Hostile {
        name: "a view of huge values in place of the skills",
        make: |place| view(place, "skills", "SELECT hex(zeroblob(400000000))"),
        says: &["schema OBJECT_UNKNOWN view skills"],
    },
    Hostile {
        name: "views that multiply each other in place of the tasks",
        make: |place| {
            place.sql("CREATE VIEW v0 AS SELECT 1 AS x UNION ALL SELECT 2");
            for level in 1..12 {
                let below = level - 1;
                place.sql(&format!("CREATE VIEW v{level} AS SELECT a.x FROM v{below} AS a, v{below} AS b"));
            }
            view(place, "tasks", "SELECT x FROM v11");
        },
        says: &["schema OBJECT_UNKNOWN", "ties UNREADABLE"],
    },
    Hostile {
        name: "a view that every reader of the schema meets first",
        make: |place| {
            add(
                place,
                "view",
                "sqlite_schema",
                "sqlite_schema",
                &format!("CREATE VIEW sqlite_schema AS {ENDLESS} SELECT x FROM n"),
            );
        },
        says: &["is damaged"],
    },
    Hostile {
        name: "views that are called like SQLite's own functions",
        make: |place| {
            for name in ["pragma_foreign_key_check", "pragma_page_count", "pragma_page_size", "json_each"] {
                place.sql(&format!("CREATE VIEW {name} AS {ENDLESS} SELECT x FROM n"));
            }
        },
        says: &["schema OBJECT_UNKNOWN view json_each"],
    },
    Hostile {
        name: "a computed column of 400 MB",
        make: |place| {
            edit(
                place,
                "tasks",
                "title       TEXT",
                "huge TEXT AS (hex(zeroblob(400000000))) NOT NULL, title TEXT",
            )
        },
        says: &["schema OBJECT_CHANGED table tasks", "ties UNREADABLE"],
    },
    Hostile {
        name: "a check that computes 400 MB",
        make: |place| {
            edit(place, "tasks", "CHECK (length(title) > 0)", "CHECK (length(hex(zeroblob(400000000))) > 0)")
        },
        says: &["schema OBJECT_CHANGED table tasks", "ties UNREADABLE"],
    },
    Hostile {
        name: "an index on 400 MB",
        make: |place| edit(place, "idx_tasks_status", "(status, deleted_at)", "(hex(zeroblob(400000000)))"),
        says: &["schema OBJECT_CHANGED index idx_tasks_status", "ties UNREADABLE"],
    },
    Hostile {
        name: "an index that takes in what takes long to find",
        make: |place| {
            edit(
                place,
                "idx_tasks_status",
                "(status, deleted_at)",
                "(status) WHERE length(replace(hex(zeroblob(90000000)), '0', 'ab')) > 3",
            );
        },
        says: &["schema OBJECT_CHANGED index idx_tasks_status", "ties UNREADABLE"],
    },
    Hostile {
        name: "a collation that exists nowhere",
        make: |place| {
            edit(place, "tasks", "title       TEXT NOT NULL", "title TEXT NOT NULL COLLATE elsewhere")
        },
        says: &["schema OBJECT_CHANGED table tasks", "ties UNREADABLE"],
    },
    Hostile {
        name: "an index with a collation that exists nowhere",
        make: |place| edit(place, "idx_skills_greek", "(greek_letter)", "(greek_letter COLLATE elsewhere)"),
        says: &["schema OBJECT_CHANGED index idx_skills_greek", "skills UNREADABLE"],
    },
    Hostile {
        name: "a trigger that is called like SQLite's own tables",
        make: |place| {
            add(
                place,
                "trigger",
                "sqlite_stat1",
                "tasks",
                &format!(
                    "CREATE TRIGGER sqlite_stat1 AFTER INSERT ON tasks BEGIN INSERT INTO skills {ENDLESS} SELECT x FROM n; END"
                ),
            );
        },
        says: &["schema OBJECT_UNKNOWN trigger sqlite_stat1"],
    },
    Hostile {
        name: "an endless view in place of the planner's statistics",
        make: |place| {
            add(
                place,
                "view",
                "sqlite_stat1",
                "sqlite_stat1",
                &format!("CREATE VIEW sqlite_stat1 (tbl, idx, stat) AS {ENDLESS} SELECT x, x, x FROM n"),
            )
        },
        says: &["schema OBJECT_UNKNOWN view sqlite_stat1"],
    },
    Hostile {
        name: "a table of another module in place of the tasks",
        make: |place| {
            add(place, "table", "elsewhere", "elsewhere", "CREATE VIRTUAL TABLE elsewhere USING nowhere(x)");
        },
        says: &["schema OBJECT_UNKNOWN"],
    },
    Hostile {
        name: "the same table twice",
        make: |place| {
            let sql = text(&place.foreign(), "tasks");
            add(place, "table", "tasks", "tasks", &sql);
        },
        says: &["is damaged"],
    },
    Hostile {
        name: "a row of the schema that says something else than its text",
        make: |place| add(place, "index", "harmless", "skills", "CREATE VIEW hidden AS SELECT 1"),
        says: &["is damaged"],
    },
    Hostile {
        name: "a table whose text has 5 MB",
        make: |place| place.sql(&format!("CREATE TABLE long (x DEFAULT '{}')", "x".repeat(5_000_000))),
        says: &["is damaged"],
    },
    Hostile {
        name: "a view whose text has 400 MB",
        make: |place| {
            add(place, "view", "vast", "vast", "CREATE VIEW vast AS SELECT 1");
            place.sql("UPDATE sqlite_schema SET sql = sql || ' -- ' || CAST(zeroblob(400000000) AS TEXT) WHERE name = 'vast'");
        },
        says: &["is larger than"],
    },
    Hostile {
        name: "more tables than the memory holds",
        make: |place| {
            place.sql(
                "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 200000)
                 INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)
                 SELECT 'table', 't' || x, 't' || x, 2, 'CREATE TABLE t' || x || ' (a, b, c, d, e, f, g, h)' FROM n",
            );
        },
        says: &["more steps"],
    },
];

#[test]
fn finding_b3_each_hostile_schema_gets_its_verdict_within_bounds() {
    assert!(SCHEMAS.len() >= 20);
    let mut wrong = Vec::new();
    for Hostile { name, make, says } in SCHEMAS {
        let place = Place::new();
        make(&place);
        let before = std::fs::read(&place.database).unwrap();
        let verified = place.run(&["verify", "--json"]);
        let found =
            if verified.out.is_empty() { verified.err.clone() } else { verified.findings().join("\n") };
        wrong.extend(verified.out_of_bounds().map(|text| format!("{name}: verify {text}")));
        if verified.code != 1 || says.iter().any(|part| !found.contains(part)) {
            wrong.push(format!("{name}: verify ended with {}: {found}", verified.code));
        }
        // The copy may be made or not, but no command calls it sound.
        let copied = place.run(&["backup", "copy.db"]);
        wrong.extend(copied.out_of_bounds().map(|text| format!("{name}: backup {text}")));
        if copied.code != 1 || copied.out.contains("sound:") {
            wrong.push(format!("{name}: backup ended with {}: {}", copied.code, copied.text()));
        }
        let examined = place.run(&["doctor"]);
        wrong.extend(examined.out_of_bounds().map(|text| format!("{name}: doctor {text}")));
        if examined.code != 1 {
            wrong.push(format!("{name}: doctor ended with {}: {}", examined.code, examined.text()));
        }
        for command in [&["log"][..], &["reputation", "verify"], &["reputation", "export"]] {
            let run = place.run(command);
            wrong.extend(run.out_of_bounds().map(|text| format!("{name}: {command:?} {text}")));
        }
        assert!(std::fs::read(&place.database).unwrap() == before, "{name}: the file was changed");
    }
    assert!(wrong.is_empty(), "{} verdicts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn finding_b3_what_a_changed_table_does_not_touch_is_still_read() {
    let place = Place::new();
    endless_view(&place, "skills");
    let run = place.run(&["verify"]);
    for sound in ["log", "trail", "seals", "consensus", "ties", "reputation"] {
        assert!(run.out.contains(&format!("ok      {sound}")), "{sound}: {}", run.text());
    }
    assert_eq!(place.run(&["log"]).code, 0);
    let refused = Place::new();
    endless_view(&refused, "actions");
    let run = refused.run(&["log"]);
    assert_eq!(run.code, 1, "{}", run.text());
    assert!(run.err.contains("`colibri verify`"), "{}", run.err);
}

/// The text of an object.
fn text(conn: &Connection, name: &str) -> String {
    conn.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0)).unwrap()
}

/// Puts a row into the schema that no statement would make.
fn add(place: &Place, kind: &str, name: &str, table: &str, sql: &str) {
    let rootpage = i64::from(kind == "table" && !sql.contains("VIRTUAL")) * 2;
    let conn = place.foreign();
    let row = "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5)";
    conn.execute(row, rusqlite::params![kind, name, table, rootpage, sql]).unwrap();
}

/// Changes the text of an object behind SQLite's back.
fn edit(place: &Place, name: &str, from: &str, to: &str) {
    let conn = place.foreign();
    let old = text(&conn, name);
    assert!(old.contains(from), "{old}");
    let change = "UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1";
    conn.execute(change, [name, &old.replacen(from, to, 1)]).unwrap();
}

/// Puts a view into the place of a table: its first column is what `select` gives, the others repeat it.
fn view(place: &Place, table: &str, select: &str) {
    let conn = place.foreign();
    let columns: Vec<String> = conn
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let values = vec!["v"; columns.len()].join(", ");
    let sql = format!(
        "CREATE VIEW {table} ({}) AS WITH source (v) AS ({select}) SELECT {values} FROM source",
        columns.join(", ")
    );
    conn.execute("DELETE FROM sqlite_schema WHERE tbl_name = ?1", [table]).unwrap();
    drop(conn);
    add(place, "view", table, table, &sql);
}

fn endless_view(place: &Place, table: &str) {
    view(place, table, &format!("{ENDLESS} SELECT x FROM n"));
}
