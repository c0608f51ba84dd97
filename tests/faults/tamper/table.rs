//! Tables as an attacker sees them: columns, keys and rows, and the SQL that puts other rows in their place.

use colibri_test_support::dice::Dice;
use rusqlite::Connection;
use rusqlite::types::Value;

/// A table and its rows, as they were before any tampering.
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// In the order of the key; the rowid comes first if it is not a column.
    pub rows: Vec<Row>,
    has_rowid: bool,
}

/// A column.
pub struct Column {
    pub name: String,
    pub integer: bool,
    pub nullable: bool,
    /// Alone or with others, it must not occur twice.
    pub unique: bool,
}

/// A row.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    rowid: Option<i64>,
    pub values: Vec<Value>,
}

/// Tables of settings: no tool writes them, the operator may, and nothing vouches for them.
const OPERATORS: [&str; 1] = ["mcp_model_candidates"];

/// All tables that hold something, SQLite's own counter of rows among them.
pub fn all(conn: &Connection) -> Vec<Table> {
    let names = texts(conn, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let tables = names.into_iter().map(|name| Table::read(conn, name));
    tables.filter(|table| !table.rows.is_empty() && !OPERATORS.contains(&table.name.as_str())).collect()
}

fn texts(conn: &Connection, sql: &str) -> Vec<String> {
    conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

impl Table {
    fn read(conn: &Connection, name: String) -> Self {
        let unique = texts(
            conn,
            &format!(
                "SELECT DISTINCT i.name FROM pragma_index_list('{name}') AS l, pragma_index_info(l.name) AS i \
                 WHERE l.\"unique\" AND i.name IS NOT NULL"
            ),
        );
        let sql = format!("SELECT name, type, \"notnull\", pk FROM pragma_table_info('{name}') ORDER BY cid");
        let columns: Vec<Column> = conn
            .prepare(&sql)
            .unwrap()
            .query_map([], |row| {
                let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
                let (not_null, key): (bool, i64) = (row.get(2)?, row.get(3)?);
                Ok(Column {
                    integer: kind == "INTEGER" || name == "seq",
                    nullable: !not_null && key == 0,
                    unique: key > 0 || unique.contains(&name),
                    name,
                })
            })
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let has_rowid = conn.prepare(&format!("SELECT rowid FROM {name}")).is_ok();
        let (first, order) = if has_rowid { ("rowid", "rowid") } else { ("NULL", "1") };
        let order = if has_rowid {
            order.to_owned()
        } else {
            columns.iter().filter(|c| c.unique).map(|c| c.name.clone()).collect::<Vec<_>>().join(", ")
        };
        let mut statement = conn.prepare(&format!("SELECT {first}, * FROM {name} ORDER BY {order}")).unwrap();
        let count = columns.len();
        let rows = statement
            .query_map([], |row| {
                let values = (1..=count).map(|at| row.get(at)).collect::<Result<_, _>>()?;
                Ok(Row { rowid: row.get(0)?, values })
            })
            .unwrap()
            .map(Result::unwrap)
            .collect();
        Self { name, columns, rows, has_rowid }
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column.name == name).unwrap()
    }

    /// A row; more often than by chance one of the few that are protected in another way than their neighbours:
    /// running calls, and records whose content was moved.
    pub fn some_row(&self, dice: &Dice) -> &Row {
        let special = |row: &&Row| {
            let is = |column: &str, texts: &[&str]| {
                let at = self.columns.iter().position(|one| one.name == column);
                at.is_some_and(|at| {
                    texts.iter().any(|text| row.values[at] == Value::Text((*text).to_owned()))
                })
            };
            is("outcome", &["running"]) || is("zone", &["warm", "cold"])
        };
        let special: Vec<&Row> = self.rows.iter().filter(special).collect();
        if special.is_empty() || dice.place(4) == 0 {
            dice.pick(&self.rows)
        } else {
            special[dice.place(special.len())]
        }
    }

    /// Takes a row out.
    pub fn delete(&self, row: &Row) -> String {
        let place = match row.rowid {
            Some(rowid) => format!("rowid = {rowid}"),
            None => self
                .columns
                .iter()
                .zip(&row.values)
                .map(|(column, value)| format!("{} IS {}", column.name, literal(value)))
                .collect::<Vec<_>>()
                .join(" AND "),
        };
        format!("DELETE FROM {} WHERE {place}", self.name)
    }

    /// Puts a row in; under a rowid that SQLite chooses unless `keep` wants the row's own.
    pub fn insert(&self, row: &Row, keep: bool) -> String {
        let mut columns: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut values: Vec<String> = row.values.iter().map(literal).collect();
        // Where a column is the rowid, it says so itself.
        let aliased = self.columns.iter().zip(&row.values).any(|(column, value)| {
            column.integer
                && column.unique
                && matches!(value, Value::Integer(_))
                && self.is_alias(&column.name)
        });
        if let (true, true, false, Some(rowid)) = (keep, self.has_rowid, aliased, row.rowid) {
            columns.push("rowid");
            values.push(rowid.to_string());
        }
        format!("INSERT INTO {} ({}) VALUES ({})", self.name, columns.join(", "), values.join(", "))
    }

    /// Whether a column is another name of the rowid.
    fn is_alias(&self, column: &str) -> bool {
        matches!(
            (self.name.as_str(), column),
            ("actions", "sequence_no")
                | ("actions_head", "id")
                | ("callers", "caller_no")
                | ("wrap_runs", "run_no")
                | ("tool_pins", "pin_no")
                | ("call_notes", "note_no")
                | ("claim_clock", "id")
                | ("mcp_consensus_rounds", "round_id")
                | ("mcp_consensus_votes", "seq")
                | ("reputation_clock", "id")
                | ("reputation_history", "id")
                | ("reputation_ledger", "history_id")
                | ("thought_records", "seq")
                | ("tree_heads", "head_index")
        )
    }

    /// Puts another row in a row's place.
    pub fn replace(&self, before: &Row, after: &Row) -> Vec<String> {
        vec![self.delete(before), self.insert(after, true)]
    }
}

/// A value in SQL.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        // Through bytes, so that a zero among the characters stays.
        Value::Text(text) => format!("CAST({} AS TEXT)", blob(text.as_bytes())),
        Value::Blob(bytes) => blob(bytes),
    }
}

fn blob(bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("x'{hex}'")
}
