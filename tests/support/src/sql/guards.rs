//! The guards of the database: switched off by a test that tampers, or added to by one that has the database refuse rows.

use rusqlite::config::DbConfig;

use super::{Connection, Engine};

/// What the database is to refuse.
#[derive(Debug, Clone, Copy)]
pub enum Refused<'a> {
    /// Every row of a table.
    Inserts(&'a str),
    /// The rows by which calls of a tool are entered in the log.
    Enters(&'a str),
    /// The rows, or the changes of rows, by which the log says how calls of a tool ended.
    Exits(&'a str),
    /// The commit of every transaction that adds to a table.
    Commits(&'a str),
}

impl Refused<'_> {
    fn in_sqlite(self) -> String {
        let refuse = |at: String, how: &str| {
            format!("CREATE TRIGGER refuse BEFORE {at} BEGIN SELECT RAISE({how}, 'refused by test'); END")
        };
        match self {
            Self::Inserts(table) => refuse(format!("INSERT ON {table}"), "ABORT"),
            // What the statement has changed so far stays, if the server does not see to it.
            Self::Enters(tool) => refuse(format!("INSERT ON actions WHEN NEW.tool = '{tool}'"), "FAIL"),
            Self::Exits(tool) => refuse(format!("UPDATE ON actions WHEN OLD.tool = '{tool}'"), "ABORT"),
            Self::Commits(table) => format!(
                "CREATE TABLE refusing (x INTEGER PRIMARY KEY);
                 CREATE TABLE debts (owes INTEGER REFERENCES refusing (x) DEFERRABLE INITIALLY DEFERRED);
                 CREATE TRIGGER refuse AFTER INSERT ON {table} BEGIN INSERT INTO debts VALUES (7); END"
            ),
        }
    }

    fn in_postgres(self) -> String {
        let always = || "true".to_owned();
        let (table, condition) = match self {
            Self::Inserts("actions") | Self::Commits("actions") => ("enters", always()),
            Self::Inserts(table) | Self::Commits(table) => (table, always()),
            Self::Enters(tool) => ("enters", format!("new.tool = '{tool}'")),
            Self::Exits(tool) => {
                let calls = format!("SELECT sequence_no FROM colibri.enters WHERE tool = '{tool}'");
                ("exits", format!("new.sequence_no IN ({calls})"))
            }
        };
        let trigger = match self {
            Self::Commits(_) => {
                format!("CONSTRAINT TRIGGER refuse AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED")
            }
            _ => format!("TRIGGER refuse BEFORE INSERT ON {table}"),
        };
        format!(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
             BEGIN IF {condition} THEN RAISE EXCEPTION 'refused by test' USING ERRCODE = '23514'; END IF;
                   RETURN new; END $$;
             CREATE {trigger} FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    }
}

impl Connection {
    /// Has the database refuse that, in every connection, until [`Self::allow`].
    pub fn refuse(&self, what: Refused<'_>) {
        let sql = match &self.engine {
            Engine::Sqlite(_) => what.in_sqlite(),
            Engine::Postgres(_) => what.in_postgres(),
        };
        self.execute_batch(&sql).expect("nothing is refused yet");
    }

    /// Takes back what [`Self::refuse`] has refused.
    pub fn allow(&self) {
        let sql = match &self.engine {
            Engine::Sqlite(_) => {
                "DROP TRIGGER refuse; DROP TABLE IF EXISTS debts; DROP TABLE IF EXISTS refusing"
            }
            Engine::Postgres(_) => "DROP FUNCTION refuse() CASCADE",
        };
        self.execute_batch(sql).expect("it is refused");
    }

    /// Takes away everything by which the database guards its rows: triggers, foreign keys, checks. It is what an attacker
    /// has who may write to it.
    pub fn disarm(&self) {
        match &self.engine {
            Engine::Sqlite(conn) => {
                let sql = "SELECT coalesce(group_concat('DROP TRIGGER \"' || name || '\"', ';'), '') \
                           FROM sqlite_schema WHERE type = 'trigger'";
                let drops: String = conn.query_row(sql, [], |row| row.get(0)).expect("the triggers");
                conn.execute_batch(&drops).expect("triggers can be dropped");
                let off = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
                conn.execute_batch(off).expect("checks can be switched off");
            }
            Engine::Postgres(session) => session.disarm(),
        }
    }

    /// Switches guards off for this connection alone: triggers and foreign keys.
    pub fn ignore_guards(&self) {
        match &self.engine {
            Engine::Sqlite(conn) => {
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).expect("a setting");
                conn.pragma_update(None, "foreign_keys", false).expect("a pragma");
            }
            Engine::Postgres(session) => session.ignore_guards(),
        }
    }

    /// Changes rows behind the guards, checks among them, and leaves the guards as they are; returns how many rows the last
    /// statement changed.
    pub fn tamper(&self, sql: &str) -> usize {
        match &self.engine {
            Engine::Sqlite(conn) => {
                let keys: bool =
                    conn.pragma_query_value(None, "foreign_keys", |row| row.get(0)).expect("a pragma");
                self.ignore_guards();
                conn.pragma_update(None, "ignore_check_constraints", true).expect("a pragma");
                conn.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                let changed = conn.changes();
                conn.pragma_update(None, "ignore_check_constraints", false).expect("a pragma");
                conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true).expect("a setting");
                conn.pragma_update(None, "foreign_keys", keys).expect("a pragma");
                usize::try_from(changed).expect("not so many")
            }
            Engine::Postgres(session) => session.tamper(sql),
        }
    }
}
