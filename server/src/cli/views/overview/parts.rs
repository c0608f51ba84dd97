//! What the page shows of tasks, decisions, sessions and standing.

use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Failure, Fault};
use colibri_runtime::progress::Progress;

use crate::catalogue::TaskStatus;
use crate::cli::ids::short;
use crate::cli::views::Look;
use crate::cli::views::graph::{name, svg};
use crate::cli::views::sessions::{count, seal, word};
use crate::cli::who::{Shared, Who};
use crate::domains::proof::listing::{self, Listed};
use crate::domains::reputation::domain::DOMAINS;
use crate::domains::reputation::epoch::present_epoch;
use crate::domains::reputation::leaderboard::leaderboard;
use crate::domains::tasks::history::title_at;
use crate::domains::tasks::shown::columns::{StateColumn, columns};
use crate::domains::tasks::shown::graph::{Wanted, graph};
use crate::domains::tasks::shown::{Filter, Shown, list};
use crate::domains::trail::service::StoredContent;
use crate::domains::trail::shown::decisions_since;
use crate::report::overview::model::{
    Card, Column, Decision, Decisions, Dependencies, MOST_CARDS, MOST_DECISIONS, MOST_DRAWN, MOST_NODES,
    MOST_SESSIONS, Node, Session, Sessions, Standing, Tasks,
};

pub(super) fn tasks(look: &Look) -> Result<Tasks, Fault> {
    let now_ms = look.clock.now_ms();
    let counts = list(&look.db, &Filter::default(), now_ms)?.counts;
    let urgent = Filter { limit: MOST_CARDS, ..Filter::default() };
    let column = |StateColumn { status, count, tasks }: StateColumn| {
        let cards = tasks.iter().map(|shown| card(shown, look)).collect();
        Column { state: status.as_str(), count, cards }
    };
    let open = columns(&look.db, &urgent, now_ms)?.into_iter().map(column).collect();
    // Of finished tasks the page has the number alone.
    let every = columns(&look.db, &Filter { all: true, ..Filter::default() }, now_ms)?;
    let is_finished = |found: &StateColumn| matches!(found.status, TaskStatus::Done | TaskStatus::Cancelled);
    let finished = every.into_iter().filter(is_finished).map(column).collect();
    Ok(Tasks { ready: counts.ready, held: counts.held, blocked: counts.blocked, open, finished })
}

fn card(shown: &Shown, look: &Look) -> Card {
    let task = &shown.task;
    let facts = [&task.priority, &task.project_id, &task.assignee];
    Card {
        id: short(&task.id),
        title: task.title.clone(),
        group: name(shown.group),
        facts: facts.into_iter().flatten().cloned().collect(),
        obstacle: obstacle(shown, look),
    }
}

/// Says who holds a task and until when, or all that it waits for.
fn obstacle(shown: &Shown, look: &Look) -> Option<String> {
    if let Some(held) = &shown.task.held {
        let who = Who::agent(&held.by, shown.held_caller.as_ref());
        return Some(format!("held by {who} until {}", look.clock.dated(&held.until)));
    }
    let waits: Vec<String> = shown.waiting_for.iter().map(|needed| short(&needed.id)).collect();
    (!waits.is_empty()).then(|| format!("waits for {}", waits.join(", ")))
}

pub(super) fn dependencies(look: &Look) -> Result<Dependencies, Fault> {
    let wanted = Wanted { root: None, all: false, limit: MOST_DRAWN };
    let found = graph(&look.db, &wanted, look.clock.now_ms())?;
    Ok(Dependencies { drawn: found.nodes.len(), left_out: found.left_out, picture: svg::element(&found) })
}

pub(super) fn decisions(look: &Look, since: &str) -> Result<Decisions, Fault> {
    let found = decisions_since(&look.db, since, MOST_DECISIONS)?;
    let mut shown = Vec::with_capacity(found.shown.len());
    for thought in found.shown {
        let who = Who::of_call(&look.db, &thought.agent_id, thought.sequence_no)?;
        shown.push(Decision {
            at: look.clock.dated(&thought.timestamp),
            who: who.to_string(),
            task: short(&thought.task_id),
            title: title_at(&look.db, &thought.task_id, thought.sequence_no)?,
            content: match thought.content {
                StoredContent::Kept(content) => Some(content),
                StoredContent::Gone { .. } => None,
            },
        });
    }
    Ok(Decisions { total: found.total, shown, notes: Shared::since(&look.db, since)?.notes() })
}

pub(super) fn sessions(look: &Look) -> Result<Sessions, Fault> {
    let filter = listing::Filter { state: None, task_id: None, limit: MOST_SESSIONS, before: None };
    let found =
        listing::list(&look.db, &filter, look.clock.now_ms(), &Interrupt::default(), &Progress::default());
    let page = found.map_err(|failure| match failure {
        Failure::Fault(fault) => fault,
        Failure::Domain(error) => Fault::Other(error.to_string()),
    })?;
    Ok(Sessions {
        open: page.open_count,
        shown: page.sessions.iter().map(|listed| session(listed, look)).collect(),
        more: page.next_before.is_some(),
    })
}

fn session(listed: &Listed, look: &Look) -> Session {
    let session = &listed.session;
    Session {
        id: short(&session.session_id),
        state: word(listed.state),
        records: count(listed.record_count),
        started: look.clock.dated(&session.started_at),
        intent: session.intent.clone(),
        task: session.task_id.as_deref().map_or("-".to_owned(), short),
        seal: listed.head_hash.clone().unwrap_or_else(|| seal(listed)),
    }
}

pub(super) fn standing(look: &Look, epoch_seconds: u32) -> Result<Vec<Standing>, Fault> {
    let epoch = present_epoch(&look.db, epoch_seconds, look.clock.now_ms())?;
    let mut domains = Vec::new();
    for domain in DOMAINS {
        let best =
            leaderboard(&look.db, domain, epoch, MOST_NODES, &Interrupt::default(), &Progress::default());
        let best = best.map_err(|failure| match failure {
            Failure::Fault(fault) => fault,
            Failure::Domain(invalid) => Fault::Other(invalid.to_string()),
        })?;
        let nodes: Vec<Node> = best
            .into_iter()
            .map(|node| Node { banned: node.banned(epoch), score: node.score, id: node.node_id })
            .collect();
        if !nodes.is_empty() {
            domains.push(Standing { domain: domain.as_str(), nodes });
        }
    }
    Ok(domains)
}
