//! Wrong beginnings: what stands when the client comes, and the first call that it makes wrongly. `shortest` is the number of
//! calls by which a client that knows everything would reach the goal from there.

use colibri_test_support::client::Server;
use serde_json::{Value, json};

use super::client::Literal;

/// What is not the client's.
pub struct World {
    /// Another agent's server on the same database.
    pub other: Server,
}

/// A wrong beginning.
pub struct Beginning {
    /// What is wrong.
    pub name: &'static str,
    /// Calls of the shortest way from after the wrong call.
    pub shortest: usize,
    /// Prepares, and makes the wrong call.
    pub wrong: fn(&mut Literal<'_>, &mut World),
}

const fn from(name: &'static str, shortest: usize, wrong: fn(&mut Literal<'_>, &mut World)) -> Beginning {
    Beginning { name, shortest, wrong }
}

/// Session, task, thought, six steps, seal.
const WHOLE: usize = 10;

fn task(me: &mut Literal<'_>) -> Value {
    me.act("task_create", json!({ "title": "Mine" }))["id"].clone()
}

fn task_in(me: &mut Literal<'_>, status: &str) -> Value {
    me.act("task_create", json!({ "title": "Mine", "status": status }))["id"].clone()
}

fn session(me: &mut Literal<'_>) -> Value {
    me.act("audit_session_start", json!({ "intent": "work" }))["session_id"].clone()
}

fn sealed_session(me: &mut Literal<'_>) -> Value {
    let session = session(me);
    me.act("thought_record", thought(&json!("earlier"), &session));
    me.act("merkle_finalize", json!({ "session_id": session }));
    session
}

fn thought(task: &Value, session: &Value) -> Value {
    json!({ "type": "plan", "task_id": task, "agent_id": "literal-1", "content": "words", "session_id": session })
}

fn claimed_by_other(me: &mut Literal<'_>, world: &mut World) -> Value {
    let id = task(me);
    world.other.data("task_claim", json!({ "agent_id": "other", "id": id }));
    id
}

/// The beginnings.
pub const BEGINNINGS: &[Beginning] = &[
    from("thought in a session that never was", WHOLE, |me, _| {
        me.begin_with("thought_record", thought(&json!("x"), &json!("my session")));
    }),
    from("thought without session", WHOLE, |me, _| {
        me.begin_with(
            "thought_record",
            json!({ "type": "plan", "task_id": "x", "agent_id": "a", "content": "w" }),
        );
    }),
    from("thought in a sealed session", 9, |me, _| {
        let (session, task) = (sealed_session(me), task(me));
        me.begin_with("thought_record", thought(&task, &session));
    }),
    from("thought of a kind that does not exist", 8, |me, _| {
        let (session, task) = (session(me), task(me));
        let mut thought = thought(&task, &session);
        thought["type"] = json!("planning");
        me.begin_with("thought_record", thought);
    }),
    from("thought without content", 8, |me, _| {
        let (session, task) = (session(me), task(me));
        let mut thought = thought(&task, &session);
        thought["content"] = json!(" ");
        me.begin_with("thought_record", thought);
    }),
    from("update of an unknown task", WHOLE, |me, _| {
        me.begin_with("task_update", json!({ "id": "nope", "status": "GATHER" }));
    }),
    from("reading an unknown task", WHOLE, |me, _| me.begin_with("task_get", json!({ "id": "nope" }))),
    from("unknown task beside a known one", 9, |me, _| {
        task(me);
        me.begin_with("task_update", json!({ "id": "nope", "status": "GATHER" }));
    }),
    from("skipped to the end", 9, |me, _| {
        let id = task(me);
        me.begin_with("task_update", json!({ "id": id, "status": "DONE" }));
    }),
    from("skipped some states", 9, |me, _| {
        let id = task(me);
        me.begin_with("task_update", json!({ "id": id, "patch": { "status": "APPLY" } }));
    }),
    from("went back", 6, |me, _| {
        let id = task_in(me, "PLAN");
        me.begin_with("task_update", json!({ "id": id, "status": "GATHER" }));
    }),
    from("changed a cancelled task", WHOLE, |me, _| {
        let id = task_in(me, "CANCELLED");
        me.begin_with("task_update", json!({ "id": id, "status": "GATHER" }));
    }),
    from("finished without a thought, in a session", 3, |me, _| {
        session(me);
        let id = task_in(me, "VERIFY");
        me.begin_with("task_update", json!({ "id": id, "status": "DONE" }));
    }),
    from("finished without a thought, without a session", 4, |me, _| {
        let id = task_in(me, "VERIFY");
        me.begin_with("task_update", json!({ "id": id, "status": "DONE" }));
    }),
    from("born finished", WHOLE - 1, |me, _| {
        session(me);
        me.begin_with("task_create", json!({ "title": "Done", "status": "DONE" }));
    }),
    from("born behind an unknown task", WHOLE, |me, _| {
        me.begin_with("task_create", json!({ "title": "Late", "depends_on": ["nope"] }));
    }),
    from("waits for itself", 9, |me, _| {
        let id = task(me);
        me.begin_with("task_update", json!({ "id": id, "depends_on": [id] }));
    }),
    from("title of the wrong type", WHOLE, |me, _| me.begin_with("task_create", json!({ "title": 7 }))),
    from("title too long", WHOLE, |me, _| me.begin_with("task_create", json!({ "title": "x".repeat(300) }))),
    from("no title", WHOLE, |me, _| me.begin_with("task_create", json!({}))),
    from("misspelt parameter", WHOLE, |me, _| {
        me.begin_with("task_create", json!({ "title": "Mine", "priorty": "high" }));
    }),
    from("misspelt parameter that is required", WHOLE, |me, _| {
        me.begin_with("task_create", json!({ "titel": "Mine" }));
    }),
    from("misspelt state", WHOLE, |me, _| {
        me.begin_with("task_create", json!({ "title": "Mine", "status": "init" }));
    }),
    from("a text for a list", WHOLE, |me, _| {
        me.begin_with("task_create", json!({ "title": "Mine", "depends_on": "x" }));
    }),
    from("three mistakes at once", WHOLE, |me, _| {
        let arguments = json!({ "title": "A", "priorty": "high", "status": "init", "depends_on": "x" });
        me.begin_with("task_create", arguments);
    }),
    from("arguments in a list", WHOLE, |me, _| me.begin_with("task_create", json!(["Mine"]))),
    from("misspelt tool", WHOLE, |me, _| me.begin_with("task_creat", json!({ "title": "Mine" }))),
    from("half a page", WHOLE, |me, _| me.begin_with("task_list", json!({ "limit": 1.5 }))),
    from("update without id", 9, |me, _| {
        task(me);
        me.begin_with("task_update", json!({ "status": "GATHER" }));
    }),
    from("seal of a session that never was", WHOLE, |me, _| {
        me.begin_with("merkle_finalize", json!({ "session_id": "nope" }));
    }),
    from("seal of an empty session", 9, |me, _| {
        let session = session(me);
        me.begin_with("merkle_finalize", json!({ "session_id": session }));
    }),
    from("sealed twice", WHOLE, |me, _| {
        let session = sealed_session(me);
        me.begin_with("merkle_finalize", json!({ "session_id": session }));
    }),
    from("a session id that is taken and open", 9, |me, world| {
        world.other.data("audit_session_start", json!({ "intent": "other", "session_id": "taken" }));
        me.begin_with("audit_session_start", json!({ "intent": "mine", "session_id": "taken" }));
    }),
    from("a session id that is taken and sealed", WHOLE, |me, _| {
        let session = sealed_session(me);
        me.begin_with("audit_session_start", json!({ "intent": "mine", "session_id": session }));
    }),
    from("proof of a session that is not sealed", 9, |me, _| {
        let session = session(me);
        me.begin_with("merkle_root", json!({ "session_id": session }));
    }),
    from("a held task, another is free", 9, |me, world| {
        world.other.data("task_create", json!({ "title": "Free" }));
        let id = claimed_by_other(me, world);
        me.begin_with("task_update", json!({ "id": id, "status": "GATHER" }));
    }),
    from("a held task, no other is there", WHOLE, |me, world| {
        let id = claimed_by_other(me, world);
        me.begin_with("task_update", json!({ "id": id, "status": "GATHER" }));
    }),
    from("a stale claim, and somebody holds the task", WHOLE, |me, world| {
        let claim = me.act("task_create", json!({ "title": "Mine" }))["id"].clone();
        let mine = me.act("task_claim", json!({ "agent_id": "literal-1", "id": claim }));
        me.act("task_release", json!({ "id": claim, "claim": mine["claim"] }));
        world.other.data("task_claim", json!({ "agent_id": "other", "id": claim }));
        me.begin_with("task_update", json!({ "id": claim, "status": "GATHER", "claim": mine["claim"] }));
    }),
    from("a stale claim, and the task is free again", 9, |me, world| {
        let id = task(me);
        let mine = me.act("task_claim", json!({ "agent_id": "literal-1", "id": id }));
        me.act("task_release", json!({ "id": id, "claim": mine["claim"] }));
        let other = world.other.data("task_claim", json!({ "agent_id": "other", "id": id }));
        world.other.data("task_release", json!({ "id": id, "claim": other["claim"] }));
        me.begin_with("task_update", json!({ "id": id, "status": "GATHER", "claim": mine["claim"] }));
    }),
    from("a claim of a finished task", WHOLE, |me, world| {
        let id =
            world.other.data("task_create", json!({ "title": "Over", "status": "CANCELLED" }))["id"].clone();
        me.begin_with("task_claim", json!({ "agent_id": "literal-1", "id": id }));
    }),
    from("a claim of a blocked task", WHOLE, |me, world| {
        let first = world.other.data("task_create", json!({ "title": "First" }))["id"].clone();
        let second = json!({ "title": "Second", "depends_on": [first] });
        let id = world.other.data("task_create", second)["id"].clone();
        me.begin_with("task_claim", json!({ "agent_id": "literal-1", "id": id }));
    }),
    from("lost context: session and task are there", 5, |me, world| {
        world.other.data("audit_session_start", json!({ "intent": "earlier" }));
        world.other.data("task_create", json!({ "title": "Earlier", "status": "PLAN" }));
        me.lose_context();
        me.begin_with("thought_record", thought(&json!("x"), &json!("I forgot")));
    }),
    from("lost context: nothing is there", WHOLE, |me, _| {
        me.lose_context();
        me.begin_with("merkle_finalize", json!({}));
    }),
];
