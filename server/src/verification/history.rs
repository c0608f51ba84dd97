//! The histories of tasks (tasks#history). Each task's events are folded in their order, and the fold is held against
//!
//! - the calls: each event names a successful call about its task, and rebuilds that call's reply, so every earlier state of a task is
//!   tied to the log and not only the last;
//! - the rows: the fold ends where the task's row and the row of its claim stand;
//! - the clock: the times that claims went by follow from the entries of their calls.
//!
//! The memory that this takes is that of one task. Calls without an event are found by counting, as an event names one call only.

use colibri_proof::log_row::ClosedRow;
use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::ms_of_rfc3339;

use super::run::Run;
use crate::catalogue::{TaskClaimOutput, TaskEventKind, TaskReleaseOutput, ToolId};
use crate::domains::tasks::claims::{clocks, count_claims, each_stray};
use crate::domains::tasks::event::Event;
use crate::domains::tasks::fold::{Flaw, Fold};
use crate::domains::tasks::history::{
    Standing, claim_events, count_events, each_event, each_untold_call, standing, standings,
};
use crate::domains::tasks::rules::Time;
use crate::domains::ties::Reply;
use colibri_store::ahead::Ahead;
use colibri_store::callers::caller_of;
use colibri_store::db::Db;
use colibri_store::log::verify::Calls as Looked;
use colibri_store::walk::Stop;

/// The check's name.
pub const NAME: &str = "history";

/// The tools whose successful calls about a task leave an event.
const TELLING: [ToolId; 3] = [ToolId::TaskUpdate, ToolId::TaskClaim, ToolId::TaskRelease];

/// The calls of the log that must have an event, counted while the log is read.
#[derive(Debug, Default)]
pub struct Calls {
    telling: u64,
    callers: Callers,
}

impl Calls {
    /// Takes a closed call of the log.
    ///
    /// # Errors
    /// The engine's error.
    pub fn call(&mut self, db: &Db, row: &ClosedRow<'_>) -> Result<(), Fault> {
        let tells = row.outcome == "ok"
            && row.subject.is_some()
            && TELLING.iter().any(|tool| tool.name() == row.tool)
            && self.callers.has(db, row.boot_id, row.sequence_no)?;
        self.telling += u64::from(tells);
        Ok(())
    }
}

/// Which calls have a caller. Within a process all have one from some call on, so one look-up answers for many.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    boot_id: String,
    lowest_with: Option<i64>,
    highest_without: Option<i64>,
}

impl Callers {
    /// Returns whether a call of a process has a caller.
    ///
    /// # Errors
    /// The engine's error.
    pub fn has(&mut self, db: &Db, boot_id: &str, sequence_no: i64) -> Result<bool, Fault> {
        if self.boot_id != boot_id {
            *self = Self { boot_id: boot_id.to_owned(), ..Self::default() };
        }
        if self.lowest_with.is_some_and(|lowest| lowest <= sequence_no) {
            return Ok(true);
        }
        if self.highest_without.is_some_and(|highest| highest >= sequence_no) {
            return Ok(false);
        }
        let has = caller_of(db, boot_id, sequence_no)?.is_some();
        if has {
            self.lowest_with = Some(sequence_no);
        } else {
            self.highest_without = Some(sequence_no);
        }
        Ok(has)
    }
}

/// Checks all histories and claims.
///
/// # Errors
/// The engine's error.
pub fn check(run: &mut Run<'_>, calls: Calls) -> Result<(), Stop> {
    let db = run.db;
    let events = count_events(db)?.unsigned_abs();
    run.begin(NAME, events);
    let mut walk = Walk { callers: calls.callers, ..Walk::default() };
    each_event(db, |task_id, event| {
        run.step()?;
        walk.take(run, task_id, event)
    })?;
    walk.end(run)?;
    if walk.told != calls.telling {
        walk.name_missing(run)?;
    }
    if walk.claims != count_claims(db)? {
        each_stray(db, |task_id| {
            run.found("STRAY_ROW", || {
                let subject = format!("task_claims {task_id}");
                (subject.clone(), format!("{subject} has a claim of which no event tells"))
            });
            Ok(())
        })?;
    }
    check_clock(run)?;
    run.count("events of changed tasks", events);
    Ok(())
}

/// The walk along the events.
#[derive(Default)]
struct Walk {
    /// The present task.
    fold: Option<Fold>,
    /// Where the call of its last event ended.
    last_exit_no: i64,
    /// Events whose calls must have one.
    told: u64,
    /// Claims whose rows and events belong together.
    claims: i64,
    callers: Callers,
    /// The calls and the tasks that were looked up last.
    looked: Looked,
    standings: Ahead<String, Standing>,
}

/// What the log says of an event's call.
struct Told {
    exit_no: Option<i64>,
    /// It succeeded, is about the task, and is of a tool that does such a thing.
    fits: bool,
    same_reply: bool,
    has_caller: bool,
    caller_no: Option<i64>,
}

impl Walk {
    fn take(&mut self, run: &mut Run<'_>, task_id: &str, event: Option<Event>) -> Result<(), Stop> {
        if self.fold.as_ref().is_none_or(|fold| fold.task.id != task_id) {
            self.end(run)?;
            self.fold = Some(Fold::new(task_id));
            self.last_exit_no = 0;
        }
        let Some(mut fold) = self.fold.take() else { return Ok(()) };
        match event {
            Some(event) => {
                for flaw in fold.take(&event) {
                    tell(run, task_id, &event, flaw);
                }
                self.check_call(run, &mut fold, &event)?;
            }
            None => {
                fold.event_no += 1;
                run.found("EVENT_STATE", || {
                    let subject = format!("task_events {task_id} {}", fold.event_no);
                    (subject.clone(), format!("{subject} has a value that no event can have"))
                });
            }
        }
        self.fold = Some(fold);
        Ok(())
    }

    /// Compares an event with the call that it names.
    fn check_call(&mut self, run: &mut Run<'_>, fold: &mut Fold, event: &Event) -> Result<(), Stop> {
        let begins = matches!(event.kind, TaskEventKind::Created | TaskEventKind::Migrated);
        let told = match event.sequence_no {
            Some(sequence_no) => self.look_up(run.db, fold, event, sequence_no)?,
            None => None,
        };
        let in_order = |told: &Told| told.exit_no.is_some_and(|exit_no| exit_no > self.last_exit_no);
        // An older server leaves a state behind and not a beginning, and nothing else is told of it.
        let of_its_time = |told: &Told| told.has_caller == (event.kind != TaskEventKind::Migrated);
        let Some(told) = told.filter(|told| told.fits && in_order(told) && of_its_time(told)) else {
            run.found("EVENT_CALL", || {
                let subject = subject(&fold.task.id, event);
                let call = event.sequence_no.map_or("none".to_owned(), |call| call.to_string());
                (subject.clone(), format!("{subject} names call {call}, which did not cause it then"))
            });
            return Ok(());
        };
        self.last_exit_no = told.exit_no.unwrap_or_default();
        self.told += u64::from(!begins);
        if let (TaskEventKind::Claimed | TaskEventKind::TakenOver, Some(claim), Some(caller_no)) =
            (event.kind, fold.claim.as_mut(), told.caller_no)
        {
            claim.caller_no = caller_no;
        }
        if !told.same_reply {
            run.found("EVENT_REPLY", || {
                let subject = subject(&fold.task.id, event);
                let call = event.sequence_no.unwrap_or_default();
                (
                    subject.clone(),
                    format!("the state after {subject} does not match the reply of call {call}"),
                )
            });
        }
        Ok(())
    }

    fn look_up(
        &mut self,
        db: &Db,
        fold: &Fold,
        event: &Event,
        sequence_no: i64,
    ) -> Result<Option<Told>, Fault> {
        let reply = reply(fold, event);
        let tools = tools_of(event.kind);
        let callers = &mut self.callers;
        self.looked.with(db, sequence_no, |call| {
            let has_caller = callers.has(db, call.boot_id, sequence_no)?;
            let caller_no = match event.kind {
                TaskEventKind::Claimed | TaskEventKind::TakenOver => {
                    caller_of(db, call.boot_id, sequence_no)?
                }
                _ => None,
            };
            Ok(Told {
                exit_no: call.exit_no,
                fits: call.outcome == "ok"
                    && call.subject == Some(fold.task.id.as_str())
                    && tools.iter().any(|tool| tool.name() == call.tool),
                same_reply: matches!(&reply, Reply::Hash(hash) if call.result_hash == Some(hash.as_str())),
                has_caller,
                caller_no,
            })
        })?
        .transpose()
    }

    /// Compares the fold with the rows of its task and of the task's claim.
    fn end(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        let Some(fold) = self.fold.take() else { return Ok(()) };
        let id = &fold.task.id;
        // The events do not lead to a row that cannot be read.
        let row = self.standing(run.db, id).unwrap_or_default();
        let Some(row) = row else {
            run.found("STRAY_ROW", || {
                let subject = format!("task_events {id}");
                (subject.clone(), format!("{subject} belongs to no task that can be read"))
            });
            return Ok(());
        };
        if fold.event_no == 1 {
            run.found("STRAY_ROW", || {
                let subject = format!("task_events {id}");
                (subject.clone(), format!("{subject} has one event, and the first is stored with a second"))
            });
        }
        let same_call = row.call == fold.task_call;
        if same_call && row.task != fold.task || !same_call && !self.is_old(run.db, row.call)? {
            run.found("TASK_STATE", || {
                let subject = format!("tasks {id}");
                (subject.clone(), format!("{subject} is not as its last event left it"))
            });
        }
        if row.claim != fold.claim {
            run.found("CLAIM_STATE", || {
                let subject = format!("task_claims {id}");
                (subject.clone(), format!("{subject} is not as the last event of a claim left it"))
            });
        }
        self.claims += i64::from(row.claim.is_some() && fold.claim.is_some());
        Ok(())
    }

    /// Returns the row of a task and that of its claim.
    fn standing(&mut self, db: &Db, id: &str) -> Result<Option<Standing>, Fault> {
        if !db.asks_over_a_wire() {
            return standing(db, id);
        }
        let id = id.to_owned();
        self.standings.get(&id, |page| standings(db, &id, page)).map(Option::<&Standing>::cloned)
    }

    /// Returns whether the call is of a server that told of nothing.
    fn is_old(&mut self, db: &Db, call: Option<i64>) -> Result<bool, Fault> {
        let Some(sequence_no) = call else { return Ok(false) };
        let callers = &mut self.callers;
        let has_caller =
            self.looked.with(db, sequence_no, |call| callers.has(db, call.boot_id, sequence_no))?;
        Ok(!has_caller.transpose()?.unwrap_or(true))
    }

    /// Reports the calls that have no event.
    fn name_missing(&mut self, run: &mut Run<'_>) -> Result<(), Stop> {
        let db = run.db;
        for tool in TELLING {
            each_untold_call(db, tool.name(), |number, task_id| -> Result<(), Stop> {
                if !self.is_old(db, Some(number))? {
                    run.found("EVENT_MISSING", || {
                        let subject = format!("actions {number}");
                        (subject, format!("no event of task {task_id} tells of call {number}"))
                    });
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn subject(task_id: &str, event: &Event) -> String {
    format!("task_events {task_id} {}", event.event_no)
}

fn tell(run: &mut Run<'_>, task_id: &str, event: &Event, flaw: Flaw) {
    let (code, what) = match flaw {
        Flaw::Gap => ("EVENT_GAP", "is not the next of its history"),
        Flaw::State => ("EVENT_STATE", "does not agree with what the events before it left"),
        Flaw::Step => ("EVENT_STEP", "takes a step that the pipeline does not have"),
    };
    run.found(code, || {
        let subject = subject(task_id, event);
        (subject.clone(), format!("{subject} {what}"))
    });
}

/// Returns the tools that can cause such an event.
const fn tools_of(kind: TaskEventKind) -> &'static [ToolId] {
    match kind {
        TaskEventKind::Created => &[ToolId::TaskCreate],
        TaskEventKind::Migrated => &[ToolId::TaskCreate, ToolId::TaskUpdate],
        TaskEventKind::Changed => &[ToolId::TaskUpdate],
        // No tool deletes a task.
        TaskEventKind::Deleted => &[],
        TaskEventKind::Claimed | TaskEventKind::Renewed | TaskEventKind::TakenOver => &[ToolId::TaskClaim],
        TaskEventKind::Released => &[ToolId::TaskRelease],
    }
}

/// Rebuilds the reply of an event's call from the fold after it.
fn reply(fold: &Fold, event: &Event) -> Reply {
    let task = &fold.task;
    let Some(part) = &event.claim else { return Reply::of(task) };
    if event.kind == TaskEventKind::Released {
        return Reply::of(&TaskReleaseOutput {
            task_id: task.id.clone(),
            claim: part.no,
            agent_id: part.agent_id.clone(),
            released_at: event.at.clone(),
        });
    }
    Reply::of(&TaskClaimOutput {
        task: Some(task.clone()),
        claim: Some(part.no),
        agent_id: Some(part.agent_id.clone()),
        until: Some(part.lease_until.clone()),
        renewed: event.kind == TaskEventKind::Renewed,
        taken_over_from: fold.taken_over_from.clone().filter(|_| event.kind == TaskEventKind::TakenOver),
        retry_at: None,
    })
}

/// Follows the clock of claims through the calls, in the order in which they took effect.
fn check_clock(run: &mut Run<'_>) -> Result<(), Stop> {
    let db = run.db;
    let mut latest: Option<String> = None;
    claim_events(db, |call, entered_at, at| {
        let time = ms_of_rfc3339(entered_at).map(|ms| Time::of_call(ms, latest.as_deref()).text());
        if time.as_deref() != Some(at) {
            run.found("EVENT_STATE", || {
                let subject = format!("task_events of call {call}");
                (subject.clone(), format!("{subject} has a time that its call did not go by"))
            });
        }
        latest = Some(at.to_owned());
        Ok(())
    })?;
    // A single row, under its own key.
    if clocks(db)? != latest.map(|latest| (1, latest)).into_iter().collect::<Vec<_>>() {
        run.found("CLAIM_STATE", || {
            let message = "claim_clock is not the time of the last claim or release".to_owned();
            ("claim_clock".to_owned(), message)
        });
    }
    Ok(())
}
