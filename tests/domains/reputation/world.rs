//! A running server, and a connection of the test's own to put standings in its file or to write events there.

use std::sync::Arc;

use colibri::domains::reputation::domain::Domain;
use colibri::domains::reputation::event::{Acker, Gain, Penalty, Source, Step};
use colibri::domains::reputation::ledger::Entry;
use colibri::domains::reputation::penalty::Band;
use colibri::domains::reputation::writer::{self, Gained, Recording, Refusal};
use colibri_runtime::handler::Failure;
use colibri_store::db::Db;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::engine;
use colibri_test_support::sql::{Connection, ToSql};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How the events of these tests are recorded.
pub const RECORDING: Recording =
    Recording { now_ms: 1_795_305_600_000, sequence_no: None, epoch_seconds: 86_400 };

/// The tables of reputation, in the order in which [`World::rows`] shows them.
pub const TABLES: [&str; 6] = [
    "reputations",
    "reputation_history",
    "reputation_ledger",
    "reputation_clock",
    "experience_tokens",
    "mcp_witnesses",
];

/// The real server in a fresh folder.
pub fn launch() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

pub struct World {
    pub server: Server,
    pub sql: Connection,
    db: Db,
    events: usize,
}

impl World {
    pub fn new() -> Self {
        Self::around(launch().start())
    }

    /// Around a server that was started by the test.
    pub fn around(mut server: Server) -> Self {
        server.data("task_list", json!({}));
        let sql = server.sql();
        sql.check_foreign_keys();
        let db = engine::db(&server.database());
        Self { server, sql, db, events: 0 }
    }

    /// The same in another folder's mode, when this server is gone.
    pub fn folder(self) -> Arc<TempDir> {
        let Self { server, sql, db, .. } = self;
        drop((sql, db));
        let folder = server.shared_folder();
        assert_eq!(server.finish().code(), 0);
        folder
    }

    /// The database as the library takes it.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Puts a standing without scar or ban.
    pub fn put(&self, node_id: &str, domain: &str, score: i64, last: i64) {
        self.put_row(node_id, domain, (score, 0), None, last);
    }

    /// Puts a standing.
    pub fn put_row(&self, node: &str, domain: &str, (score, scar): (i64, i64), ban: Option<i64>, last: i64) {
        self.sql
            .execute(
                "INSERT INTO reputations VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                (node, domain, score, scar, ban, last),
            )
            .unwrap();
    }

    /// Puts an event into the history, and nowhere else.
    pub fn remember(&self, node_id: &str, domain: &str, epoch: i64, delta: i64) {
        let sql = "INSERT INTO reputation_history (node_id, domain, epoch, delta, reason, event_id) \
                   VALUES (?1, ?2, ?3, ?4, 'put', ?5)";
        self.sql.execute(sql, (node_id, domain, epoch, delta, format!("e-{epoch}"))).unwrap();
    }

    /// A fresh event's id.
    pub fn event(&mut self) -> String {
        self.events += 1;
        format!("event-{}", self.events)
    }

    /// Records a gain in execution through the writer.
    pub fn try_gain(
        &mut self,
        node_id: &str,
        (nominal_delta, acker): (i64, Acker<'_>),
        epoch: i64,
    ) -> Result<Gained, Failure<Refusal>> {
        let event_id = self.event();
        let gain = gain(&event_id, node_id, (nominal_delta, acker), epoch);
        let gained = writer::record_gain(&self.db, &RECORDING, &gain);
        engine::settle(&self.db);
        gained
    }

    /// The same, which is recorded.
    pub fn gain(&mut self, node_id: &str, worth: (i64, Acker<'_>), epoch: i64) -> Step {
        match self.try_gain(node_id, worth, epoch) {
            Ok(Gained::Recorded(step)) => step,
            other => panic!("{node_id} at {epoch}: {other:?}"),
        }
    }

    /// Records a penalty in execution through the writer.
    pub fn penalise(&mut self, node_id: &str, band: Band, epoch: i64) -> Step {
        let event_id = self.event();
        self.penalise_for(&event_id, (node_id, Domain::Execution), band, epoch).unwrap()
    }

    /// The same for a given event and domain.
    pub fn penalise_for(
        &self,
        event_id: &str,
        (node_id, domain): (&str, Domain),
        band: Band,
        epoch: i64,
    ) -> Result<Step, Failure<Refusal>> {
        let penalty = Penalty {
            event_id,
            node_id,
            domain,
            band,
            scar: false,
            epoch,
            reason: "offence",
            source: Source::Import,
        };
        let step = writer::record_penalty(&self.db, &RECORDING, &penalty);
        engine::settle(&self.db);
        step
    }

    /// A node's row in a domain, as the tool reads it at an epoch.
    pub fn row(&mut self, node_id: &str, domain: &str, epoch: i64) -> Value {
        let arguments = json!({ "node_id": node_id, "domain": domain, "current_epoch": epoch });
        self.server.data("reputation_get", arguments)["row"].clone()
    }

    /// A node's score in execution, as the tool reads it at an epoch.
    pub fn score(&mut self, node_id: &str, epoch: i64) -> i64 {
        let row = self.row(node_id, "execution", epoch);
        row["score"].as_i64().unwrap_or_else(|| panic!("{node_id} at {epoch}: {row}"))
    }

    /// The events of a node in execution, newest first.
    pub fn events_of(&mut self, node_id: &str) -> Vec<Value> {
        let arguments = json!({ "node_id": node_id, "domain": "execution", "limit": 500 });
        self.server.data("reputation_history", arguments)["events"].as_array().unwrap().clone()
    }

    /// Opens a session of that id.
    pub fn start(&mut self, session_id: &str) {
        self.server.data("audit_session_start", json!({ "intent": "test", "session_id": session_id }));
    }

    /// Records a thought.
    pub fn think(&mut self, session_id: &str, task_id: &str, agent_id: &str, kind: &str) {
        let thought = json!({
            "type": kind, "task_id": task_id, "agent_id": agent_id, "content": "x", "session_id": session_id,
        });
        self.server.data("thought_record", thought);
    }

    /// Creates a task that needs nothing but its last step; its id.
    pub fn task(&mut self, assignee: Option<&str>) -> String {
        let task = self.server.data("task_create", json!({ "title": "t", "assignee": assignee }));
        self.server.walk(&task["id"], "VERIFY");
        task["id"].as_str().unwrap().to_owned()
    }

    /// Takes the last step.
    pub fn finish(&mut self, task_id: &str) -> Value {
        self.server.data("task_update", json!({ "id": task_id, "status": "DONE" }))
    }

    /// A finished task on which these agents have thought, in this order, in a session of its own; its id.
    pub fn finished(&mut self, assignee: Option<&str>, thoughts: &[(&str, &str)]) -> String {
        let task_id = self.task(assignee);
        self.start(&format!("of-{task_id}"));
        for (agent_id, kind) in thoughts {
            self.think(&format!("of-{task_id}"), &task_id, agent_id, kind);
        }
        self.finish(&task_id);
        task_id
    }

    /// The issues of a call that must not fit the schema.
    pub fn invalid(&mut self, tool: &str, arguments: Value) -> Vec<Value> {
        let envelope = self.server.call(tool, arguments.clone());
        assert_eq!(envelope["error"]["code"], "INVALID_PARAMS", "{tool} {arguments}: {envelope}");
        envelope["error"]["details"]["issues"].as_array().unwrap().clone()
    }

    pub fn number(&self, sql: &str, params: &[&dyn ToSql]) -> i64 {
        self.sql.query_row(sql, params, |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub fn text(&self, sql: &str, params: &[&dyn ToSql]) -> String {
        self.sql.query_row(sql, params, |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// How many rows each table of reputation has.
    pub fn counts(&self) -> [i64; 6] {
        TABLES.map(|table| self.number(&format!("SELECT count(*) FROM {table}"), &[]))
    }

    /// Every row of the tables of reputation, value by value.
    pub fn rows(&self) -> Vec<String> {
        let mut rows = colibri_test_support::stored::stored(&self.sql);
        rows.retain(|row| TABLES.iter().any(|table| row.starts_with(&format!("{table}:"))));
        rows
    }

    /// The ledger, recomputed entry by entry: each names the one before and has the hash of its own columns; each
    /// standing is what its last entry left.
    pub fn assert_ledger_is_sound(&self) {
        assert_ledger_is_sound(&self.sql);
    }
}

/// See [`World::assert_ledger_is_sound`].
pub fn assert_ledger_is_sound(sql: &Connection) {
    let mut before = "0".repeat(64);
    for (entry, key, hash) in entries(sql) {
        assert_eq!(entry.prev_hash, before, "entry {}", entry.history_id);
        assert_eq!(entry.hash().as_str(), hash, "entry {}", entry.history_id);
        assert_eq!(entry.dedupe_key(), key, "entry {}", entry.history_id);
        before = hash;
    }
    let differing = "SELECT count(*) FROM reputations AS standing WHERE NOT EXISTS (\
        SELECT 1 FROM reputation_ledger JOIN reputation_history ON id = history_id \
        WHERE history_id = (SELECT max(id) FROM reputation_history AS last \
            WHERE last.node_id = standing.node_id AND last.domain = standing.domain) \
        AND score_after = standing.score AND scar_after = standing.scar_bps \
        AND ban_after IS NOT DISTINCT FROM standing.ban_until_epoch \
        AND epoch = standing.last_activity_epoch)";
    let differing: i64 = sql.query_row(differing, [], |row| row.get(0)).unwrap();
    assert_eq!(differing, 0, "each standing is what its last entry left");
}

/// The entries with their stored keys and hashes, in order.
pub fn entries(sql: &Connection) -> Vec<(Entry, String, String)> {
    let mut statement = sql
        .prepare(
            "SELECT history_id, event_id, node_id, domain, epoch, delta, reason, kind, source, band, nominal_delta, \
             acker_id, weight_bps, idle_epochs, score_before, score_settled, score_after, scar_before, scar_after, \
             ban_after, rule_version_hash, prev_hash, dedupe_key, entry_hash \
             FROM reputation_ledger JOIN reputation_history ON id = history_id ORDER BY history_id",
        )
        .unwrap();
    let rows = statement.query_map([], |row| {
        let text = |column: usize| row.get::<_, String>(column);
        let band = row.get::<_, Option<String>>(9)?;
        let entry = Entry {
            history_id: row.get(0)?,
            event_id: text(1)?,
            node_id: text(2)?,
            domain: Domain::parse(&text(3)?).unwrap(),
            epoch: row.get(4)?,
            delta: row.get(5)?,
            reason: text(6)?,
            kind: colibri::domains::reputation::event::Kind::parse(&text(7)?).unwrap(),
            source: Source::parse(&text(8)?).unwrap(),
            band: band.map(|band| Band::parse(&band).unwrap()),
            nominal_delta: row.get(10)?,
            acker_id: row.get(11)?,
            weight_bps: row.get(12)?,
            idle_epochs: row.get(13)?,
            score_before: row.get(14)?,
            score_settled: row.get(15)?,
            score_after: row.get(16)?,
            scar_before: row.get(17)?,
            scar_after: row.get(18)?,
            ban_after: row.get(19)?,
            rule_version_hash: text(20)?,
            prev_hash: text(21)?,
        };
        Ok((entry, text(22)?, text(23)?))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// A gain in execution.
pub fn gain<'a>(
    event_id: &'a str,
    node_id: &'a str,
    (nominal_delta, acker): (i64, Acker<'a>),
    epoch: i64,
) -> Gain<'a> {
    Gain {
        event_id,
        node_id,
        domain: Domain::Execution,
        nominal_delta,
        acker,
        epoch,
        reason: "test",
        source: Source::Import,
    }
}

/// The ids of rows, in their order.
pub fn nodes(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["node_id"].as_str().unwrap()).collect()
}
