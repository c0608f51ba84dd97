//! The registry's SQL (skills#registry): an index of the files, by root. Each start replaces the rows of its own
//! root.

use colibri_runtime::handler::Fault;
use sha2::{Digest, Sha256};

use super::discovery::FoundSkill;
use super::filter::{Matcher, SkillFilter};
use crate::catalogue::SkillListOutputSkillsItem;
use colibri_canonical::HexDigest;
use colibri_canonical::object::text;
use colibri_store::db::{Db, Row, RowError};
use colibri_store::params;

/// The prefix of the digest's input, which separates it from every other digest.
const DIGEST_DOMAIN: &[u8] = b"colibri-skills-v1\n";

/// A row of `skill_roots`: the result of a root's last load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedIndex {
    /// The time of the load.
    pub loaded_at: String,
    /// The number of rows.
    pub skill_count: i64,
    /// Their [`registry_digest`] at that time, as stored.
    pub digest: String,
}

/// The root of rows written by a release without roots.
const NO_ROOT: &str = "";

/// Replaces the stored rows of a root with `skills`, and records the result. Returns how many rows of its other
/// skills it deleted. Deletes rows without a root and keeps those of other roots. Runs inside the caller's
/// transaction.
pub(super) fn replace_all(
    db: &Db,
    root: &str,
    skills: &[FoundSkill],
    loaded_at: &str,
) -> Result<usize, Fault> {
    forget(db, NO_ROOT)?;
    for skill in skills {
        upsert(db, root, skill, loaded_at)?;
    }
    let names: Vec<&str> = skills.iter().map(|skill| skill.parsed.frontmatter.name.as_str()).collect();
    let pruned = db.changed(
        "DELETE FROM skills WHERE root = ?1 AND name NOT IN (SELECT value FROM json_each(?2))",
        params![root, to_json(&names)?],
    )?;
    let (digest, count) = (registry_digest(db, root)?, count_of(db, root)?);
    db.execute(
        "INSERT INTO skill_roots (root, loaded_at, skill_count, digest) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (root) DO UPDATE SET loaded_at = ?2, skill_count = ?3, digest = ?4",
        params![root, loaded_at, count, digest.as_str()],
    )?;
    Ok(pruned)
}

/// Deletes the rows of a root whose directory cannot be read, and rows without a root. Returns how many rows of the
/// root it deleted. Leaves no trace of a root without stored rows, because a one-shot call in any folder has such a
/// root.
pub(super) fn without_directory(db: &Db, root: &str, loaded_at: &str) -> Result<usize, Fault> {
    if recorded_index(db, root)?.is_some() {
        return replace_all(db, root, &[], loaded_at);
    }
    forget(db, NO_ROOT)?;
    Ok(0)
}

fn forget(db: &Db, root: &str) -> Result<(), Fault> {
    db.execute("DELETE FROM skills WHERE root = ?1", params![root])?;
    db.execute("DELETE FROM skill_roots WHERE root = ?1", params![root])?;
    Ok(())
}

fn upsert(db: &Db, root: &str, skill: &FoundSkill, loaded_at: &str) -> Result<(), Fault> {
    let front = &skill.parsed.frontmatter;
    db.execute(
        "INSERT INTO skills (root, name, description, version, entrypoint, capabilities, greek_letter, body, \
         source_path, frontmatter_json, loaded_at) VALUES (?11, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
         ON CONFLICT (root, name) DO UPDATE SET description = ?2, version = ?3, entrypoint = ?4, capabilities = ?5, \
         greek_letter = ?6, body = ?7, source_path = ?8, frontmatter_json = ?9, loaded_at = ?10",
        params![
            front.name,
            front.description,
            front.version,
            front.entrypoint,
            to_json(&front.capabilities)?,
            front.greek_letter,
            skill.parsed.body,
            skill.source_path,
            front.json(),
            loaded_at,
            root,
        ],
    )?;
    Ok(())
}

fn to_json(texts: &[impl serde::Serialize]) -> Result<String, Fault> {
    serde_json::to_string(texts).map_err(|error| Fault::Other(error.to_string()))
}

/// Selects the rows that a server shows: those of its root or, until a start has indexed it, those without a root.
const SHOWN: &str = "root = (SELECT coalesce(max(root), '') FROM skill_roots WHERE root = ?1)";

/// Lists the matching skills that a server of this root shows, by name bytewise ascending. Omits body and raw front
/// matter, which may be a megabyte each.
///
/// # Errors
/// [`Fault::Storage`].
pub fn list_skills(
    db: &Db,
    root: &str,
    filter: &SkillFilter,
) -> Result<Vec<SkillListOutputSkillsItem>, Fault> {
    let matcher = Matcher::of(filter);
    let mut skills = Vec::new();
    db.query_each(
        &format!(
            "SELECT name, description, version, entrypoint, capabilities, greek_letter, source_path, loaded_at \
             FROM skills WHERE {SHOWN} ORDER BY name"
        ),
        params![root],
        |row| {
            let skill = read_listed(row)?;
            if matcher.matches(&skill.name, &skill.description, &skill.capabilities) {
                skills.push(skill);
            }
            Ok(true)
        },
    )?;
    Ok(skills)
}

/// Reads the columns of a listing, in its order.
fn read_listed(row: &Row<'_>) -> Result<SkillListOutputSkillsItem, RowError> {
    let capabilities: String = row.get(4)?;
    Ok(SkillListOutputSkillsItem {
        name: row.get(0)?,
        description: row.get(1)?,
        version: row.get(2)?,
        entrypoint: row.get(3)?,
        capabilities: serde_json::from_str(&capabilities).map_err(|_| RowError)?,
        greek_letter: row.get(5)?,
        source_path: row.get(6)?,
        loaded_at: row.get(7)?,
    })
}

/// Counts the skills that a server of this root shows; 0 if the table does not exist.
///
/// # Errors
/// [`Fault::Storage`]: the database does not answer.
pub fn count_skills(db: &Db, root: &str) -> Result<i64, Fault> {
    if !db.has_table("skill_roots")? {
        return Ok(0);
    }
    db.query_one(&format!("SELECT count(*) FROM skills WHERE {SHOWN}"), params![root], |row| row.get(0))
}

/// Counts the stored skills of a root.
///
/// # Errors
/// [`Fault::Storage`].
pub fn count_of(db: &Db, root: &str) -> Result<i64, Fault> {
    db.query_one("SELECT count(*) FROM skills WHERE root = ?1", params![root], |row| row.get(0))
}

/// Lists the roots with stored rows, bytewise ascending.
///
/// # Errors
/// [`Fault::Storage`].
pub fn roots(db: &Db) -> Result<Vec<String>, Fault> {
    db.query_all("SELECT root FROM skill_roots UNION SELECT root FROM skills ORDER BY root", &[], |row| {
        row.get(0)
    })
}

/// Returns the load time of each skill of a root, by name.
///
/// # Errors
/// [`Fault::Storage`].
pub fn load_times(db: &Db, root: &str) -> Result<Vec<(String, String)>, Fault> {
    db.query_all("SELECT name, loaded_at FROM skills WHERE root = ?1 ORDER BY name", params![root], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Returns the record of a root's last load; `None` before the first one.
///
/// # Errors
/// [`Fault::Storage`].
pub fn recorded_index(db: &Db, root: &str) -> Result<Option<RecordedIndex>, Fault> {
    db.query_opt(
        "SELECT loaded_at, skill_count, digest FROM skill_roots WHERE root = ?1",
        params![root],
        |row| Ok(RecordedIndex { loaded_at: row.get(0)?, skill_count: row.get(1)?, digest: row.get(2)? }),
    )
}

/// Computes the digest of a root's stored rows: SHA-256 over `colibri-skills-v1`, a line feed, and the canonical JSON
/// (RFC 8785) of the array of its rows by name. Each row is an object of its ten columns other than the root, as
/// stored. Holds one row at a time.
///
/// # Errors
/// [`Fault::Storage`], also for a value that is not text.
pub fn registry_digest(db: &Db, root: &str) -> Result<HexDigest, Fault> {
    // In the order of the canonical object's keys.
    const KEYS: [&[u8]; 10] = [
        b"{\"body\":",
        b",\"capabilities\":",
        b",\"description\":",
        b",\"entrypoint\":",
        b",\"frontmatter_json\":",
        b",\"greek_letter\":",
        b",\"loaded_at\":",
        b",\"name\":",
        b",\"source_path\":",
        b",\"version\":",
    ];
    let mut hash = Sha256::new();
    hash.update(DIGEST_DOMAIN);
    let (mut object, mut before) = (Vec::new(), b'[');
    db.query_each(
        "SELECT body, capabilities, description, entrypoint, frontmatter_json, greek_letter, loaded_at, name, \
         source_path, version FROM skills WHERE root = ?1 ORDER BY name",
        params![root],
        |row| {
            object.clear();
            object.push(before);
            for (at, key) in KEYS.iter().enumerate() {
                text(&mut object, key, row.get(at)?);
            }
            object.push(b'}');
            hash.update(&object);
            before = b',';
            Ok(true)
        },
    )?;
    hash.update(if before == b'[' { &b"[]"[..] } else { b"]" });
    Ok(HexDigest::from_sha256(hash))
}
