//! Finds rows by a part of their id, as people type it.

use colibri_runtime::handler::Fault;

use crate::db::Db;
use crate::params;

/// The most ids that are returned: who typed so few characters gets this many to choose from.
pub const MOST_FOUND: usize = 10;

/// Returns the ids of a table's rows that a fragment fits best, oldest first: the id itself, otherwise those that end with it, begin
/// with it, or have it anywhere. Letters fit in either case. At most one more than [`MOST_FOUND`].
///
/// # Errors
/// [`Fault::Storage`].
pub fn ids_like(db: &Db, table: &str, column: &str, fragment: &str) -> Result<Vec<String>, Fault> {
    let exact = format!("SELECT {column} FROM {table} WHERE {column} = ?1");
    if let Some(id) = db.query_opt(&exact, params![fragment], |row| row.get(0))? {
        return Ok(vec![id]);
    }
    let sql = format!(
        "SELECT {column}, CASE WHEN lower({column}) LIKE ?1 ESCAPE '!' THEN 0 WHEN lower({column}) LIKE ?2 ESCAPE '!' THEN 1 ELSE 2 END \
         AS place FROM {table} WHERE lower({column}) LIKE ?3 ESCAPE '!' ORDER BY place, rowid LIMIT {}",
        MOST_FOUND + 1
    );
    let text = escaped(&fragment.to_ascii_lowercase());
    let (ending, beginning, part) = (format!("%{text}"), format!("{text}%"), format!("%{text}%"));
    let found: Vec<(String, i64)> =
        db.query_all(&sql, params![ending, beginning, part], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let best = found.first().map(|(_, place)| *place);
    Ok(found.into_iter().filter(|(_, place)| Some(*place) == best).map(|(id, _)| id).collect())
}

/// Returns a text in which LIKE finds no pattern.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '!' | '%' | '_') {
            out.push('!');
        }
        out.push(character);
    }
    out
}
