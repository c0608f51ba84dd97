//! A task's events, folded in their order into the task and its newest claim (tasks#history). What an event says of the past is held
//! against what the fold has.

use serde_json::{Map, Value};

use super::change;
use super::claims::Claim;
use super::event::{ClaimPart, Event};
use super::state::can_transition;
use crate::catalogue::{Task, TaskEventKind, TaskStatus};

/// What an event does not agree with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// The numbers: an event is missing, or the history does not begin here.
    Gap,
    /// What the events before left behind.
    State,
    /// The steps of the pipeline.
    Step,
}

/// A task and its newest claim after the events so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold {
    /// The task.
    pub task: Task,
    /// The number of the last event.
    pub event_no: i64,
    /// The call that the task's row names.
    pub task_call: Option<i64>,
    /// The newest claim. Its caller is that of its call, which the events do not say.
    pub claim: Option<Claim>,
    /// The holder before the newest claim, of the last event that took a task over.
    pub taken_over_from: Option<String>,
}

impl Fold {
    /// Begins before the first event of a task.
    pub fn new(task_id: &str) -> Self {
        Self { task: empty(task_id), event_no: 0, task_call: None, claim: None, taken_over_from: None }
    }

    /// Takes the next event. The fold follows it even where it does not agree, so that one edit is not found again in each event
    /// behind it.
    pub fn take(&mut self, event: &Event) -> Vec<Flaw> {
        let begins = begins(event.kind);
        let first = self.event_no == 0;
        let mut flaws = Vec::new();
        if event.event_no != self.event_no.saturating_add(1)
            || (first && !begins)
            || (!first && event.kind == TaskEventKind::Created)
        {
            flaws.push(Flaw::Gap);
        }
        self.event_no = event.event_no;
        let agrees = match event.kind {
            TaskEventKind::Created | TaskEventKind::Migrated => self.begin(event),
            TaskEventKind::Changed | TaskEventKind::Deleted => self.change(event),
            TaskEventKind::Claimed
            | TaskEventKind::Renewed
            | TaskEventKind::TakenOver
            | TaskEventKind::Released => self.claim(event),
        };
        if !agrees {
            flaws.push(Flaw::State);
        }
        if !is_step(event) {
            flaws.push(Flaw::Step);
        }
        self.task.status = event.to;
        flaws
    }

    /// Begins the task anew with a whole state.
    fn begin(&mut self, event: &Event) -> bool {
        let later = event.kind == TaskEventKind::Migrated;
        let before = self.task.updated_at.clone();
        self.task = empty(&self.task.id);
        self.task.created_at.clone_from(&event.at);
        let read = self.set(&event.changes);
        self.task.updated_at.clone_from(&event.at);
        self.task_call = event.task_call;
        read && event.from.is_none()
            && event.claim.is_none()
            && event.task_call == event.sequence_no
            && event.at >= before
            && event.changes == change::whole(&self.task, later)
    }

    fn change(&mut self, event: &Event) -> bool {
        let before = self.task.clone();
        let read = self.set(&event.changes);
        self.task.updated_at.clone_from(&event.at);
        self.task_call = event.task_call;
        if matches!(event.to, TaskStatus::Done | TaskStatus::Cancelled)
            && event.from != Some(event.to)
            && let Some(claim) = self.claim.as_mut().filter(|claim| claim.released_at.is_none())
        {
            claim.released_at = Some(event.at.clone());
            claim.sequence_no = event.sequence_no.unwrap_or_default();
        }
        read && event.from == Some(before.status)
            && event.claim.is_none()
            && event.task_call == event.sequence_no
            && event.at >= before.updated_at
            && event.changes == change::difference(&before, &self.task)
    }

    fn claim(&mut self, event: &Event) -> bool {
        let Some(part) = &event.claim else { return false };
        let fits = event.from == Some(self.task.status)
            && event.to == self.task.status
            && event.task_call == self.task_call
            && (event.kind == TaskEventKind::Released || !is_finished(event.to))
            && follows(event, part, self.claim.as_ref());
        if event.kind == TaskEventKind::TakenOver {
            self.taken_over_from = self.claim.as_ref().map(|claim| claim.agent_id.clone());
        }
        let sequence_no = event.sequence_no.unwrap_or_default();
        let released = event.kind == TaskEventKind::Released;
        match self.claim.as_mut().filter(|claim| claim.no == part.no) {
            Some(claim) => {
                claim.lease_until.clone_from(&part.lease_until);
                claim.released_at = released.then(|| event.at.clone());
                claim.sequence_no = sequence_no;
            }
            None => {
                self.claim = Some(Claim {
                    no: part.no,
                    agent_id: part.agent_id.clone(),
                    caller_no: 0,
                    claimed_at: event.at.clone(),
                    lease_until: part.lease_until.clone(),
                    released_at: released.then(|| event.at.clone()),
                    sequence_no,
                });
            }
        }
        fits
    }

    /// Sets the fields that the changes name; returns whether all could be read.
    fn set(&mut self, changes: &str) -> bool {
        let Ok(changes) = serde_json::from_str::<Map<String, Value>>(changes) else { return false };
        changes.into_iter().all(|(name, change)| {
            let Value::Array(mut pair) = change else { return false };
            let new = pair.pop().unwrap_or_default();
            pair.len() == 1 && self.set_field(&name, new)
        })
    }

    fn set_field(&mut self, name: &str, value: Value) -> bool {
        let field = match name {
            "title" => return required(&mut self.task.title, value),
            "created_at" => return required(&mut self.task.created_at, value),
            "depends_on" => {
                let list: Option<Option<Vec<String>>> = serde_json::from_value(value).ok();
                return list.map(|list| self.task.depends_on = list).is_some();
            }
            "assignee" => &mut self.task.assignee,
            "deleted_at" => &mut self.task.deleted_at,
            "description" => &mut self.task.description,
            "priority" => &mut self.task.priority,
            "project_id" => &mut self.task.project_id,
            _ => return false,
        };
        *field = match value {
            Value::Null => None,
            Value::String(text) => Some(text),
            _ => return false,
        };
        true
    }
}

fn required(field: &mut String, value: Value) -> bool {
    let Value::String(text) = value else { return false };
    *field = text;
    true
}

fn begins(kind: TaskEventKind) -> bool {
    matches!(kind, TaskEventKind::Created | TaskEventKind::Migrated)
}

const fn is_finished(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Done | TaskStatus::Cancelled)
}

/// Returns whether the pipeline has the event's step. A later beginning may skip steps, because its past cannot be known.
fn is_step(event: &Event) -> bool {
    match event.from {
        None => event.kind != TaskEventKind::Created || event.to != TaskStatus::Done,
        Some(from) => from == event.to || can_transition(from, event.to),
    }
}

/// Returns whether an event of a claim may follow the newest claim.
fn follows(event: &Event, part: &ClaimPart, newest: Option<&Claim>) -> bool {
    let held = newest.filter(|claim| claim.released_at.is_none());
    let next = newest.map_or(1, |claim| claim.no.saturating_add(1));
    let same = |claim: &Claim| claim.no == part.no && claim.agent_id == part.agent_id;
    match event.kind {
        TaskEventKind::Claimed => part.no == next && held.is_none() && event.changes == change::NOTHING,
        TaskEventKind::TakenOver => held.is_some_and(|claim| {
            part.no == next && event.changes == change::held_by(&claim.agent_id, &part.agent_id)
        }),
        TaskEventKind::Renewed => held.is_some_and(same) && event.changes == change::NOTHING,
        TaskEventKind::Released => {
            held.is_some_and(|claim| same(claim) && claim.lease_until == part.lease_until)
                && event.changes == change::NOTHING
        }
        _ => false,
    }
}

fn empty(task_id: &str) -> Task {
    Task {
        task_id: task_id.to_owned(),
        id: task_id.to_owned(),
        project_id: None,
        title: String::new(),
        description: None,
        status: TaskStatus::Init,
        priority: None,
        assignee: None,
        created_at: String::new(),
        updated_at: String::new(),
        deleted_at: None,
        depends_on: None,
        held: None,
    }
}
