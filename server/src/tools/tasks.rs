//! The task tools.

use super::cx::Cx;
use super::{Domains, recording};
use crate::catalogue::{
    Detail, TaskClaimError, TaskClaimInput, TaskClaimOutput, TaskCreateError, TaskCreateInput,
    TaskCreateOutput, TaskGetError, TaskGetInput, TaskGetOutput, TaskHistoryError, TaskHistoryInput,
    TaskHistoryOutput, TaskListError, TaskListInput, TaskListOutput, TaskNextActionsError,
    TaskNextActionsInput, TaskNextActionsOutput, TaskReleaseError, TaskReleaseInput, TaskReleaseOutput,
    TaskStatus, TaskUpdateError, TaskUpdateInput, TaskUpdateOutput, TasksTools, ToolId,
};
use crate::domains::reputation::feed::TaskFeed;
use crate::domains::tasks::input::{ClaimWish, ListFilter, NewTask, QueueFilter, Stamp, TaskPatch};
use crate::domains::tasks::{claims, history, service, waiting};
use crate::settings::mode::is_admitted;
use colibri_runtime::chain::log::Level;
use colibri_runtime::handler::{Failure, Outcome};

impl TasksTools<Cx> for Domains {
    fn task_create(
        &mut self,
        cx: &mut Cx,
        input: TaskCreateInput,
    ) -> Outcome<TaskCreateOutput, TaskCreateError> {
        let id = cx.new_id();
        let now = cx.now();
        let task = service::create_task(cx.db()?, id, stamp(cx, &now), input.into())?;
        cx.set_subject(&task.id);
        Ok(task)
    }

    fn task_get(&mut self, cx: &mut Cx, input: TaskGetInput) -> Outcome<TaskGetOutput, TaskGetError> {
        let found = service::get_task(cx.db()?, &input.id)?;
        let mut task = found.ok_or_else(|| Failure::Domain(service::not_found(&input.id).into()))?;
        claims::show_holders(cx.db()?, std::slice::from_mut(&mut task), cx.called_ms())?;
        Ok(task)
    }

    fn task_update(
        &mut self,
        cx: &mut Cx,
        input: TaskUpdateInput,
    ) -> Outcome<TaskUpdateOutput, TaskUpdateError> {
        let now = cx.now();
        let (id, claim) = (input.id.clone(), input.claim);
        let patch = TaskPatch::from(input);
        let feed = match patch.status {
            Some(TaskStatus::Done) => {
                recording(cx).map(|recording| TaskFeed::new(recording, [cx.new_id(), cx.new_id()]))
            }
            _ => None,
        };
        let task = service::update_task(cx.db()?, &id, stamp(cx, &now), (&patch, claim), feed.as_ref())?;
        if !patch.is_empty() {
            cx.set_subject(&task.id);
        }
        Ok(task)
    }

    fn task_list(&mut self, cx: &mut Cx, input: TaskListInput) -> Outcome<TaskListOutput, TaskListError> {
        let (detail, filter) = (input.detail, ListFilter::from(input));
        let (db, now) = (cx.db()?, cx.called_ms());
        let (tasks, brief, total_count) = match detail {
            Detail::Full => {
                let mut page = service::list_tasks(db, &filter)?;
                claims::show_holders(db, &mut page.tasks, now)?;
                (page.tasks, None, page.total)
            }
            Detail::Brief => {
                let mut page = service::list_tasks(db, &filter)?;
                claims::show_holders(db, &mut page.tasks, now)?;
                (Vec::new(), Some(page.tasks), page.total)
            }
        };
        let shown = brief.as_ref().map_or(tasks.len(), Vec::len) as i64;
        let has_more = filter.offset + shown < total_count;
        let (limit, offset) = (filter.limit, filter.offset);
        Ok(TaskListOutput { tasks, total_count, limit, offset, has_more, brief })
    }

    fn task_next_actions(
        &mut self,
        cx: &mut Cx,
        input: TaskNextActionsInput,
    ) -> Outcome<TaskNextActionsOutput, TaskNextActionsError> {
        let (db, now) = (cx.db()?, cx.called_ms());
        let TaskNextActionsInput { project_id, assignee, limit, blocked_limit, detail, unclaimed } = input;
        let unclaimed = if unclaimed { Some(claims::now(db, now)?.live_between()) } else { None };
        let filter = QueueFilter { project_id, assignee, limit, blocked_limit, unclaimed };
        let (tasks, brief, total_count, blocked_count) = match detail {
            Detail::Full => {
                let mut queue = service::next_actions(db, &filter)?;
                claims::show_holders(db, &mut queue.tasks, now)?;
                (queue.tasks, None, queue.actionable, queue.blocked)
            }
            Detail::Brief => {
                let mut queue = service::next_actions(db, &filter)?;
                claims::show_holders(db, &mut queue.tasks, now)?;
                (Vec::new(), Some(queue.tasks), queue.actionable, queue.blocked)
            }
        };
        let blocked = if blocked_count > 0 && filter.blocked_limit > 0 {
            let (config, update) = (&cx.parts.config, ToolId::TaskUpdate.spec());
            let may_update = is_admitted(config.mode, update).is_ok() && config.tools.holds(update);
            Some(waiting::blocked(db, &filter, may_update)?)
        } else {
            None
        };
        Ok(TaskNextActionsOutput { tasks, total_count, blocked_count, blocked, brief })
    }

    fn task_history(
        &mut self,
        cx: &mut Cx,
        input: TaskHistoryInput,
    ) -> Outcome<TaskHistoryOutput, TaskHistoryError> {
        let found = history::history(cx.db()?, &input.id, input.limit, input.before)?;
        found.ok_or_else(|| Failure::Domain(service::not_found(&input.id).into()))
    }

    fn task_claim(&mut self, cx: &mut Cx, input: TaskClaimInput) -> Outcome<TaskClaimOutput, TaskClaimError> {
        let now = cx.now();
        let caller_no = cx.caller_no()?.unwrap_or_default();
        let judged = claims::claim_task(cx.db()?, stamp(cx, &now), caller_no, &input.into())?;
        warn_of_clock(cx, judged.set_back.as_deref());
        if let Some(task) = &judged.reply.task {
            cx.set_subject(&task.id);
        }
        Ok(judged.reply)
    }

    fn task_release(
        &mut self,
        cx: &mut Cx,
        input: TaskReleaseInput,
    ) -> Outcome<TaskReleaseOutput, TaskReleaseError> {
        let now = cx.now();
        let judged = claims::release_task(cx.db()?, stamp(cx, &now), &input.id, input.claim)?;
        warn_of_clock(cx, judged.set_back.as_deref());
        if judged.written {
            cx.set_subject(&judged.reply.task_id);
        }
        Ok(judged.reply)
    }
}

/// Tells the operator once that a wrong clock had written the time that claims go by.
fn warn_of_clock(cx: &Cx, set_back: Option<&str>) {
    if let Some(latest) = set_back {
        let line = format!(
            "[tasks] claims went by {latest}, more than a day ahead of this machine's clock: they go by this one now"
        );
        cx.parts.log.write(Level::Warn, &line);
    }
}

fn stamp<'a>(cx: &Cx, now: &'a str) -> Stamp<'a> {
    Stamp { now, entered_ms: cx.called_ms(), sequence_no: cx.sequence_no() }
}

impl From<TaskCreateInput> for NewTask {
    /// `project` is an alias; stage 2 has checked that it agrees with `project_id` if both are given.
    fn from(input: TaskCreateInput) -> Self {
        Self {
            title: input.title,
            status: input.status,
            project_id: input.project_id.or(input.project).flatten(),
            description: input.description.flatten(),
            priority: input.priority.flatten(),
            assignee: input.assignee.flatten(),
            depends_on: input.depends_on.unwrap_or_default(),
        }
    }
}

impl From<TaskUpdateInput> for TaskPatch {
    /// Takes the fields of `patch`, or those next to `id`; stage 2 has refused a mixture.
    fn from(input: TaskUpdateInput) -> Self {
        match input.patch {
            Some(patch) => Self {
                title: patch.title,
                status: patch.status,
                project_id: patch.project_id,
                description: patch.description,
                priority: patch.priority,
                assignee: patch.assignee,
                depends_on: patch.depends_on,
            },
            None => Self {
                title: input.title,
                status: input.status,
                project_id: input.project_id,
                description: input.description,
                priority: input.priority,
                assignee: input.assignee,
                depends_on: input.depends_on,
            },
        }
    }
}

impl From<TaskListInput> for ListFilter {
    fn from(input: TaskListInput) -> Self {
        Self {
            status: input.status,
            project_id: input.project_id,
            limit: input.limit,
            offset: input.offset,
            include_deleted: input.include_deleted,
        }
    }
}

impl From<TaskClaimInput> for ClaimWish {
    fn from(input: TaskClaimInput) -> Self {
        let TaskClaimInput { agent_id, id, project_id, lease_seconds, claim } = input;
        Self { agent_id, id, project_id, lease_seconds, claim }
    }
}
