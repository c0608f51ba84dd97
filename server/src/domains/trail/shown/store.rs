//! The SQL of decisions for people.

use colibri_runtime::handler::Fault;

use colibri_proof::record::ThoughtType;
use colibri_store::callers;
use colibri_store::db::Db;
use colibri_store::log::log_query::MOST_OLDER;

/// Returns the callers of the calls that recorded an agent's thoughts.
pub(super) fn callers_of(db: &Db, agent_id: &str) -> Result<Vec<i64>, Fault> {
    callers::of_agent(db, "thought_records", agent_id)
}

/// Returns each agent that recorded a thought since a time, with each of its callers.
pub(super) fn agents_since(db: &Db, since: &str, first: i64) -> Result<Vec<(String, i64)>, Fault> {
    callers::agents_since(db, "thought_records", since, first)
}

/// Hands over the ids of the decisions since a time, newest first. It walks back from the end of the trail, and stops behind
/// [`MOST_OLDER`] records in a row that are older.
pub(super) fn each_decision_since(db: &Db, since: &str, mut take: impl FnMut(&str)) -> Result<(), Fault> {
    let mut older = 0;
    db.walk("SELECT id, type, timestamp FROM thought_records ORDER BY seq DESC", &[], |row| {
        if row.get::<&str>(2)? < since {
            older += 1;
        } else {
            older = 0;
            if row.get::<&str>(1)? == ThoughtType::Decision.as_str() {
                take(row.get(0)?);
            }
        }
        Ok::<_, Fault>(older < MOST_OLDER)
    })
}
