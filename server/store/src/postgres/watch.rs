//! A running server notices that someone has changed the schema under it (postgres#start). A rule, a trigger or a policy takes effect at
//! once, and an open connection does not see that it is there. So a process asks now and then, with a mark, for a short digest of the
//! catalog, and compares the whole schema before it acknowledges calls where the digest is another one.

use std::time::{Duration, Instant};

use crate::db::postgres::{Limit, PgError, Session};
use crate::postgres::flight::{only, text};
use crate::postgres::probe;
use crate::postgres::schema::{self, SharedSchema};

/// The longest time between two questions of a process that acknowledges calls.
const EVERY: Duration = Duration::from_secs(5);

/// Which transactions have written the catalog's rows about tables, columns, triggers, rules, policies and functions.
const DIGEST: &str = "SELECT md5(concat_ws(',', \
    (SELECT string_agg(concat_ws(' ', c.oid, c.xmin), ',' ORDER BY c.oid) FROM pg_catalog.pg_class AS c \
      WHERE c.relnamespace = 'colibri'::regnamespace), \
    (SELECT string_agg(concat_ws(' ', a.attrelid, a.attnum, a.xmin), ',' ORDER BY a.attrelid, a.attnum) FROM pg_catalog.pg_attribute AS a \
       JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid \
      WHERE c.relnamespace = 'colibri'::regnamespace AND c.relkind = 'r' AND a.attnum > 0), \
    (SELECT string_agg(concat_ws(' ', t.oid, t.xmin), ',' ORDER BY t.oid) FROM pg_catalog.pg_trigger AS t), \
    (SELECT string_agg(concat_ws(' ', r.oid, r.xmin), ',' ORDER BY r.oid) FROM pg_catalog.pg_rewrite AS r WHERE r.oid >= 16384), \
    (SELECT string_agg(concat_ws(' ', y.oid, y.xmin), ',' ORDER BY y.oid) FROM pg_catalog.pg_policy AS y), \
    (SELECT string_agg(concat_ws(' ', f.oid, f.xmin), ',' ORDER BY f.oid) FROM pg_catalog.pg_proc AS f WHERE f.oid >= 16384)))";

/// What a process has last seen of the catalog.
#[derive(Debug)]
pub(super) struct Watch {
    schema: SharedSchema,
    digest: String,
    /// Another digest, whose schema is still to be compared.
    changed: Option<String>,
    next: Instant,
}

impl Watch {
    /// Begins with the schema that a start has just compared.
    pub(super) fn begin(session: &mut Session, schema: SharedSchema) -> Result<Self, PgError> {
        let rows = session.query(DIGEST, &[], Limit::ONE)?;
        let digest = text(&only(&rows)?, 0).unwrap_or_default().to_owned();
        Ok(Self { schema, digest, changed: None, next: Instant::now() + EVERY })
    }

    /// Returns the question for the digest, if it is time. It travels with a mark, and costs no round trip.
    pub(super) fn due(&self) -> Option<&'static str> {
        (Instant::now() >= self.next).then_some(DIGEST)
    }

    /// Takes the answer, if there was a question.
    pub(super) fn came(&mut self, digest: Option<String>) {
        if let Some(digest) = digest {
            self.next = Instant::now() + EVERY;
            self.changed = (digest != self.digest).then_some(digest);
        }
    }

    /// Compares the schema, if another digest has come. Returns why it is refused now.
    pub(super) fn refusal(&mut self, session: &mut Session) -> Result<Option<String>, PgError> {
        let Some(digest) = self.changed.clone() else { return Ok(None) };
        let refusal = probe::altered(&schema::differences(session, &self.schema)?);
        self.changed = None;
        self.digest = digest;
        Ok(refusal)
    }
}
