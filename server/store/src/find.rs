//! Finds rows by a part of their id, as people type it.

use colibri_runtime::handler::Fault;

use crate::db::Db;
use crate::params;

/// The most ids that are returned: who typed so few characters gets this many to choose from.
pub const MOST_FOUND: usize = 10;

/// The most ids that an unknown one is compared with.
const MOST_COMPARED: usize = 1_000;

/// Where ids are.
#[derive(Debug, Clone, Copy)]
pub struct IdColumn {
    /// The table, or a query in its place.
    pub table: &'static str,
    /// Its column with the ids, which several rows may share.
    pub id: &'static str,
    /// The column that has the order in which its rows were made.
    pub order: &'static str,
}

/// Returns the ids that a fragment fits best, oldest first: the id itself, otherwise those that end with it, begin
/// with it, or have it anywhere. Letters fit in either case. At most one more than [`MOST_FOUND`].
///
/// # Errors
/// [`Fault::Storage`].
pub fn ids_like(db: &Db, place: &IdColumn, fragment: &str) -> Result<Vec<String>, Fault> {
    let IdColumn { table, id, order } = place;
    if has_id(db, place, fragment)? {
        return Ok(vec![fragment.to_owned()]);
    }
    let sql = format!(
        "SELECT {id}, CASE WHEN lower({id}) LIKE ?1 ESCAPE '!' THEN 0 WHEN lower({id}) LIKE ?2 ESCAPE '!' THEN 1 ELSE 2 END \
         AS place FROM {table} WHERE lower({id}) LIKE ?3 ESCAPE '!' GROUP BY {id} ORDER BY place, min({order}) LIMIT {}",
        MOST_FOUND + 1
    );
    let text = escaped(&fragment.to_ascii_lowercase());
    let (ending, beginning, part) = (format!("%{text}"), format!("{text}%"), format!("%{text}%"));
    let found: Vec<(String, i64)> =
        db.query_all(&sql, params![ending, beginning, part], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let best = found.first().map(|(_, place)| *place);
    Ok(found.into_iter().filter(|(_, place)| Some(*place) == best).map(|(id, _)| id).collect())
}

/// Returns whether there is exactly this id.
///
/// # Errors
/// [`Fault::Storage`].
pub fn has_id(db: &Db, IdColumn { table, id, .. }: &IdColumn, whole: &str) -> Result<bool, Fault> {
    let sql = format!("SELECT {id} FROM {table} WHERE {id} = ?1 LIMIT 1");
    Ok(db.query_opt(&sql, params![whole], |row| row.get::<String>(0))?.is_some())
}

/// Returns the longer ids that have a text at their end or anywhere, in either case, oldest first. At most one more than
/// [`MOST_FOUND`].
///
/// # Errors
/// [`Fault::Storage`].
pub fn longer_ids(db: &Db, place: &IdColumn, part: &str, at_end: bool) -> Result<Vec<String>, Fault> {
    let IdColumn { table, id, order } = place;
    let sql = format!(
        "SELECT {id} FROM {table} WHERE lower({id}) LIKE ?1 ESCAPE '!' AND length({id}) > ?2 GROUP BY {id} \
         ORDER BY min({order}) LIMIT {}",
        MOST_FOUND + 1
    );
    let behind = if at_end { "" } else { "%" };
    let pattern = format!("%{}{behind}", escaped(&part.to_ascii_lowercase()));
    let length = i64::try_from(part.chars().count()).unwrap_or(i64::MAX);
    db.query_all(&sql, params![pattern, length], |row| row.get(0))
}

/// Returns the newest ids, for a look at which one a misspelt one may mean. At most a thousand.
///
/// # Errors
/// [`Fault::Storage`].
pub fn newest_ids(db: &Db, place: &IdColumn) -> Result<Vec<String>, Fault> {
    let IdColumn { table, id, order } = place;
    let sql = format!(
        "SELECT {id} FROM {table} WHERE {id} IS NOT NULL ORDER BY {order} DESC LIMIT {MOST_COMPARED}"
    );
    db.query_all(&sql, params![], |row| row.get(0))
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
