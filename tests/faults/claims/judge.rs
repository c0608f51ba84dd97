//! Holds what the agents were told against the stored histories.

use std::collections::{HashMap, HashSet};

use colibri_runtime::kernel::ms_of_rfc3339;
use colibri_test_support::sql::Connection;
use serde_json::Value;

use super::Tally;
use super::agent::Told;

const DAY_MS: i64 = 24 * 60 * 60_000;

/// Asserts that nothing acknowledged is missing, that no claim was given twice, and that a task was taken over only once its
/// lease had ended. Counts what happened, and finds changes that came too late.
pub fn judge(conn: &Connection, told: Vec<Told>) -> Tally {
    let mut tally = Tally::default();
    let mut holders: HashMap<(String, i64), String> = HashMap::new();
    let mut acknowledged: HashSet<(String, String)> = HashSet::new();
    for agent in told {
        tally.refused += agent.refused;
        tally.kills += agent.kills;
        tally.freezes += agent.freezes;
        tally.jumps += agent.jumps;
        for claim in agent.claims {
            let other = holders.insert(claim.clone(), agent.name.clone());
            assert_eq!(other, None, "{claim:?} was given to {} too", agent.name);
        }
        acknowledged.extend(agent.changes);
    }
    let sql = "SELECT task_id, kind, changes, claim_no, agent_id, at, lease_until FROM task_events ORDER BY task_id, event_no";
    let mut statement = conn.prepare(sql).unwrap();
    // Of each task, the agent and the number of the newest claim so far.
    let mut newest: HashMap<String, (String, i64)> = HashMap::new();
    let mut leases: HashMap<String, String> = HashMap::new();
    for row in statement.query([]).unwrap() {
        let (task, kind): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        if kind == "taken_over" {
            let (at, lease): (String, &String) = (row.get(5).unwrap(), &leases[&task]);
            let left = ms_of_rfc3339(lease).unwrap() - ms_of_rfc3339(&at).unwrap();
            // A lease with more than a day to go is of a wrong clock.
            assert!(!(1..=DAY_MS).contains(&left), "{task}: two live holders, from {at} to {lease}");
        }
        if let Some(lease) = row.get(6).unwrap() {
            leases.insert(task.clone(), lease);
        }
        match kind.as_str() {
            "claimed" | "taken_over" => {
                let claim: (String, i64) = (row.get(4).unwrap(), row.get(3).unwrap());
                let given = holders.remove(&(task.clone(), claim.1));
                assert!(given.is_none_or(|given| given == claim.0), "{task}: {claim:?}");
                tally.claims += 1;
                tally.taken_over += usize::from(kind == "taken_over");
                newest.insert(task, claim);
            }
            "changed" => {
                let changes: String = row.get(2).unwrap();
                let changes: Value = serde_json::from_str(&changes).unwrap();
                let title = changes["title"][1].as_str().unwrap().to_owned();
                let (agent, number) = &newest[&task];
                if !title.starts_with(&format!("{agent} {number} ")) {
                    tally.late.push(format!("task {task}: {title}, held by {agent} under {number}"));
                }
                tally.changes += 1;
                acknowledged.remove(&(task, title));
            }
            _ => {}
        }
    }
    assert!(holders.is_empty(), "acknowledged claims are gone: {holders:?}");
    assert!(acknowledged.is_empty(), "acknowledged changes are gone: {acknowledged:?}");
    tally
}
