//! Words for what a server refuses. They name neither statements nor stored values, and where SQLite says the same, they are SQLite's: an agent
//! reads one text on both engines (trail#limits).

use super::error::{PgError, ServerError};

/// Returns the words for a failure.
pub fn reason(error: &PgError) -> String {
    let PgError::Server(server) = error else { return error.to_string() };
    let words = match server.code.as_str() {
        "23505" => return existing(server).unwrap_or_else(|| CONSTRAINT.to_owned()),
        // What a trigger of Colibri's says.
        "P0001" => return server.message.clone(),
        code if code.starts_with("23") => CONSTRAINT,
        "42P01" | "42703" | "3F000" => "a table or column that must exist is missing",
        "42501" => "the database user may not do this",
        "25006" => "the database takes no writes: it is a standby, or open for reading only",
        "55P03" => {
            "another process keeps a lock for longer than COLIBRI_DATABASE_LOCK_TIMEOUT_MS allows; call again"
        }
        "57014" => {
            "it takes longer than COLIBRI_DATABASE_STATEMENT_TIMEOUT_MS allows, or an operator has stopped it; call again"
        }
        "40001" => CONFLICT,
        "40P01" => "another transaction came in between; call again",
        "53100" => "the database server has no space left",
        "53200" => "the database server has no memory left",
        code => return format!("the database server refused the statement (SQLSTATE {code})"),
    };
    words.to_owned()
}

/// What a standby says to a reader that keeps it from following its primary, as an error or as the connection's last words. (PostgreSQL
/// manual, "Handling Query Conflicts".)
pub const CONFLICT: &str = "another transaction came in between, or the server is a standby that had to follow its primary; repeat it. A \
                            standby with hot_standby_feedback = on lets readers finish";

/// What SQLite says of all constraints but those on unique values.
const CONSTRAINT: &str = "constraint failed";

/// Names the columns whose value exists already, as SQLite does. For a primary key it does not, and so neither does this.
fn existing(server: &ServerError) -> Option<String> {
    let table = server.table.as_deref()?;
    if server.constraint.as_deref()? == format!("{table}_pkey") {
        return None;
    }
    // `Key (task_id, event_no)=(…) already exists.`, in the server's language.
    let (columns, _values) = server.detail.as_deref()?.split_once(")=(")?;
    let (_words, columns) = columns.split_once('(')?;
    let names: Vec<_> = columns.split(", ").map(|column| format!("{table}.{column}")).collect();
    Some(format!("UNIQUE constraint failed: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_exists_is_named_by_its_columns() {
        let said = |constraint: &str, detail: Option<&str>| {
            let server = ServerError {
                code: "23505".to_owned(),
                table: Some("events".to_owned()),
                constraint: Some(constraint.to_owned()),
                detail: detail.map(str::to_owned),
                ..ServerError::default()
            };
            reason(&PgError::Server(Box::new(server)))
        };
        let both = "UNIQUE constraint failed: events.task_id, events.event_no";
        for detail in [
            "Key (task_id, event_no)=(secret, )=() already exists.",
            "Schlüssel »(task_id, event_no)=(geheim, 1)« existiert bereits.",
        ] {
            assert_eq!(said("events_task_id_event_no_key", Some(detail)), both);
        }
        assert_eq!(said("events_pkey", Some("Key (id)=(1) already exists.")), "constraint failed");
        assert_eq!(said("events_id_key", None), "constraint failed");
    }

    #[test]
    fn no_words_repeat_a_stored_value() {
        for code in ["23502", "23514", "22P02", "42501", "57014", "55P03", "40001", "53100", "XX000", ""] {
            let server = ServerError {
                code: code.to_owned(),
                message: "canary".to_owned(),
                detail: Some("canary".to_owned()),
                ..ServerError::default()
            };
            let words = reason(&PgError::Server(Box::new(server)));
            assert!(!words.contains("canary") && !words.is_empty(), "{code}: {words}");
        }
    }
}
