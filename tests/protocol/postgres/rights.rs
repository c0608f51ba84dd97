//! What a server's role may not do (M6 of many-machines), tried as that role. That it may do what the server needs is
//! shown by the servers that run as it.

use colibri_test_support::postgres::{Database, Role};
use postgres::Client;
use postgres::error::SqlState;

/// Statements about a table or a view; `{}` is its name.
const TABLES: [&str; 24] = [
    "TRUNCATE {}",
    "TRUNCATE {} CASCADE",
    "DROP TABLE {}",
    "DROP VIEW {}",
    "ALTER TABLE {} ADD COLUMN more bigint",
    "ALTER TABLE {} RENAME TO other",
    "ALTER TABLE {} SET SCHEMA public",
    "ALTER TABLE {} OWNER TO colibri_app",
    "ALTER TABLE {} OWNER TO current_user",
    "ALTER TABLE {} DISABLE TRIGGER ALL",
    "ALTER TABLE {} DISABLE TRIGGER USER",
    "ALTER TABLE {} ENABLE REPLICA TRIGGER trg_heads_step",
    "ALTER TABLE {} DISABLE RULE r",
    "ALTER TABLE {} ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE {} SET UNLOGGED",
    "CREATE TRIGGER t BEFORE INSERT ON {} EXECUTE FUNCTION trail_heads_step()",
    "CREATE RULE r AS ON INSERT TO {} DO INSTEAD NOTHING",
    "CREATE INDEX ON {} ((1))",
    "CREATE POLICY p ON {}",
    "COMMENT ON TABLE {} IS 'x'",
    "CLUSTER {}",
    "LOCK TABLE {} IN ACCESS EXCLUSIVE MODE",
    "CREATE TABLE pg_temp.child () INHERITS ({})",
    "CREATE STATISTICS s ON (1), (2) FROM {}",
];

/// Statements about everything else.
const OTHERS: [&str; 29] = [
    "SET session_replication_role = replica",
    "SET LOCAL session_replication_role = replica",
    "SET ROLE colibri_owner",
    "SET SESSION AUTHORIZATION postgres",
    "GRANT colibri_owner TO current_user",
    "ALTER ROLE current_user SUPERUSER",
    "ALTER ROLE colibri_app CREATEROLE",
    "CREATE ROLE more",
    "ALTER SYSTEM SET fsync = off",
    "SET fsync = off",
    "SET lo_compat_privileges = on",
    "CREATE TABLE colibri.more (n bigint)",
    "CREATE VIEW colibri.more AS SELECT 1",
    "CREATE SEQUENCE colibri.more",
    "CREATE TYPE colibri.more AS (n bigint)",
    "CREATE FUNCTION colibri.more() RETURNS bigint LANGUAGE sql RETURN 1",
    "CREATE OR REPLACE FUNCTION colibri.trail_heads_step() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
    "CREATE FUNCTION colibri.max(bigint) RETURNS bigint LANGUAGE sql RETURN 1",
    "ALTER FUNCTION colibri.trail_heads_step() RESET ALL",
    "DROP FUNCTION colibri.trail_heads_step() CASCADE",
    "ALTER SCHEMA colibri RENAME TO other",
    "DROP SCHEMA colibri CASCADE",
    "CREATE SCHEMA more",
    "CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION colibri.trail_heads_step()",
    "CREATE EXTENSION adminpack",
    "CREATE OR REPLACE FUNCTION colibri.next_rowid(list text) RETURNS bigint LANGUAGE sql RETURN 1",
    "COPY colibri.exits TO PROGRAM 'true'",
    "SELECT pg_read_file('PG_VERSION')",
    "REASSIGN OWNED BY colibri_owner TO current_user",
];

/// Which columns a server may change; no other may be.
const MAY_UPDATE: [(&str, &[&str]); 10] = [
    ("claim_clock", &["latest"]),
    ("mcp_consensus_rounds", &["epoch", "level"]),
    ("processes", &["lease_until"]),
    ("reputations", &["ban_until_epoch", "last_activity_epoch", "scar_bps", "score"]),
    ("skill_roots", &["digest", "loaded_at", "skill_count"]),
    (
        "skills",
        &[
            "body",
            "capabilities",
            "description",
            "entrypoint",
            "frontmatter_json",
            "greek_letter",
            "loaded_at",
            "source_path",
            "version",
        ],
    ),
    (
        "task_claims",
        &["agent_id", "caller_no", "claim_no", "claimed_at", "lease_until", "released_at", "sequence_no"],
    ),
    (
        "tasks",
        &[
            "assignee",
            "description",
            "priority",
            "project_id",
            "sequence_no",
            "status",
            "title",
            "updated_at",
        ],
    ),
    ("thought_records", &["content", "content_compressed", "content_hash", "zone"]),
    ("trail_heads", &["chain_length", "tip_hash", "tip_id"]),
];
const MAY_DELETE: [&str; 4] = ["processes", "skill_roots", "skills", "task_dependencies"];
/// The server's tables that it only reads: the schema's version, and what the operator fills.
const MAY_NOT_INSERT: [&str; 3] = ["mcp_model_candidates", "mcp_witnesses", "schema_version"];

fn connect(database: &Database, role: Role) -> Client {
    let mut client = database.client(role);
    client.batch_execute("SET search_path = colibri").unwrap();
    client
}

fn names(client: &mut Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

const RELATIONS: &str = "SELECT relname::text FROM pg_class WHERE relnamespace = 'colibri'::regnamespace AND relkind IN ('r', 'v') \
                         ORDER BY relname";

/// Panics unless the role is refused, and not because the statement is wrong.
fn refused(client: &mut Client, sql: &str) {
    // What happens to be taken is undone, but this one runs in no transaction.
    let result = match sql.starts_with("ALTER SYSTEM") {
        true => client.batch_execute(sql),
        false => client.transaction().unwrap().batch_execute(sql),
    };
    let error = result.expect_err(sql);
    let code = error.code().unwrap_or_else(|| panic!("{sql}: {error}"));
    // Some are refused to all roles: of a view, or while the server runs.
    let reasons = [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::WRONG_OBJECT_TYPE,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        SqlState::CANT_CHANGE_RUNTIME_PARAM,
    ];
    assert!(reasons.contains(code), "{sql}: {error:?}");
}

#[test]
fn neither_a_server_nor_an_auditor_can_change_the_schema_or_empty_a_table() {
    let Some(database) = Database::new() else { return };
    for role in [Role::App, Role::Read] {
        let mut client = connect(&database, role);
        for relation in names(&mut client, RELATIONS) {
            // A table that rows are taken from may be locked by who takes them.
            let lockable = role == Role::App && MAY_DELETE.contains(&relation.as_str());
            for form in TABLES.iter().filter(|form| !(lockable && form.starts_with("LOCK"))) {
                refused(&mut client, &form.replace("{}", &relation));
            }
        }
        for sql in OTHERS {
            refused(&mut client, sql);
        }
    }
}

#[test]
fn a_server_changes_the_listed_columns_alone_and_an_auditor_none() {
    let Some(database) = Database::new() else { return };
    let (mut app, mut read) = (connect(&database, Role::App), connect(&database, Role::Read));
    for relation in names(&mut app, RELATIONS) {
        let columns = names(
            &mut app,
            &format!(
                "SELECT attname::text FROM pg_attribute WHERE attrelid = '{relation}'::regclass AND attnum > 0 AND NOT attisdropped"
            ),
        );
        let may =
            MAY_UPDATE.iter().find(|(table, _)| *table == relation).map_or(&[][..], |(_, columns)| columns);
        for column in &columns {
            let sql = format!("UPDATE {relation} SET {column} = {column} WHERE false");
            if may.contains(&column.as_str()) {
                app.batch_execute(&sql).unwrap();
            } else {
                refused(&mut app, &sql);
            }
            refused(&mut read, &sql);
        }
        let sql = format!("DELETE FROM {relation} WHERE false");
        if MAY_DELETE.contains(&relation.as_str()) {
            app.batch_execute(&sql).unwrap();
        } else {
            refused(&mut app, &sql);
        }
        refused(&mut read, &sql);
        let is_view = names(
            &mut app,
            &format!(
                "SELECT relname::text FROM pg_class WHERE oid = '{relation}'::regclass AND relkind = 'v'"
            ),
        );
        let sql = format!("INSERT INTO {relation} SELECT * FROM {relation} WHERE false");
        if MAY_NOT_INSERT.contains(&relation.as_str()) || !is_view.is_empty() {
            refused(&mut app, &sql);
        } else {
            app.batch_execute(&sql).unwrap();
        }
        refused(&mut read, &sql);
        for client in [&mut app, &mut read] {
            client.batch_execute(&format!("SELECT * FROM {relation}")).unwrap();
        }
    }
}

#[test]
fn tables_functions_and_operators_of_a_session_do_not_stand_in_for_those_of_the_triggers() {
    let Some(database) = Database::new() else { return };
    let mut owner = database.client(Role::Superuser);
    // The worst database: everybody may create in `public`.
    owner.batch_execute("GRANT CREATE ON SCHEMA public TO PUBLIC").unwrap();
    let mut app = connect(&database, Role::App);
    let zeros = "0".repeat(64);
    let record = |id: &str, prev: &str| {
        let hash = id.repeat(64);
        format!(
            "INSERT INTO colibri.thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) \
             VALUES ('{id}', 'plan', 'T', 'a', 'x', 't', '{prev}', '{hash}', 't')"
        )
    };
    app.batch_execute(&record("1", &zeros)).unwrap();
    let head = "INSERT INTO colibri.trail_heads VALUES ('T', 1, '1', repeat('1', 64))";
    app.batch_execute(head).unwrap();
    app.batch_execute(&format!(
        "CREATE TEMP TABLE trail_heads AS SELECT 'T'::text AS task_id, '{zeros}'::text AS tip_hash; \
         CREATE TEMP TABLE thought_records AS SELECT 0::bigint AS seq, 'T'::text AS task_id, '{zeros}'::text AS hash WHERE false; \
         CREATE FUNCTION public.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'; \
         CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.same); \
         CREATE OPERATOR public.<> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq); \
         CREATE FUNCTION public.max(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 41::bigint'; \
         SET search_path = public, pg_temp, pg_catalog, colibri"
    ))
    .unwrap();
    app.batch_execute(&record("2", &zeros)).expect_err("a fork");
    app.batch_execute("UPDATE colibri.trail_heads SET chain_length = 7").expect_err("a jump");
    app.batch_execute(&record("2", &"1".repeat(64))).unwrap();
    app.batch_execute("SET search_path = colibri").unwrap();
    let seq: i64 =
        app.query_one("SELECT seq FROM colibri.thought_records WHERE id = '2'", &[]).unwrap().get(0);
    assert_eq!(seq, 2, "the next number without a gap");
}

#[test]
fn setup_runs_again_and_takes_back_rights_on_the_schema() {
    let Some(database) = Database::new() else { return };
    let mut owner = database.client(Role::Superuser);
    owner.batch_execute("GRANT ALL ON SCHEMA colibri TO PUBLIC, colibri_app").unwrap();
    owner.batch_execute(colibri::shared_schema::SETUP).unwrap();
    let sql = "SELECT has_schema_privilege('colibri_app', 'colibri', 'USAGE') \
               AND NOT has_schema_privilege('colibri_app', 'colibri', 'CREATE')";
    assert!(owner.query_one(sql, &[]).unwrap().get::<_, bool>(0));
    let sql = "SELECT rolcanlogin OR rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls \
               FROM pg_roles WHERE rolname IN ('colibri_owner', 'colibri_app', 'colibri_read')";
    assert!(owner.query(sql, &[]).unwrap().iter().all(|row| !row.get::<_, bool>(0)));
}
