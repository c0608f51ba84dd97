//! The task tools.

use super::cx::Cx;
use super::{Domains, recording};
use crate::catalogue::{
    Detail, TaskCreateError, TaskCreateInput, TaskCreateOutput, TaskGetError, TaskGetInput, TaskGetOutput,
    TaskListError, TaskListInput, TaskListOutput, TaskNextActionsError, TaskNextActionsInput,
    TaskNextActionsOutput, TaskStatus, TaskUpdateError, TaskUpdateInput, TaskUpdateOutput, TasksTools,
    ToolId,
};
use crate::domains::reputation::feed::TaskFeed;
use crate::domains::tasks::input::{ListFilter, NewTask, QueueFilter, Stamp, TaskPatch};
use crate::domains::tasks::{service, waiting};
use crate::settings::mode::is_admitted;
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
        found.ok_or_else(|| Failure::Domain(service::not_found(&input.id).into()))
    }

    fn task_update(
        &mut self,
        cx: &mut Cx,
        input: TaskUpdateInput,
    ) -> Outcome<TaskUpdateOutput, TaskUpdateError> {
        let now = cx.now();
        let id = input.id.clone();
        let patch = TaskPatch::from(input);
        let feed = match patch.status {
            Some(TaskStatus::Done) => {
                recording(cx).map(|recording| TaskFeed::new(recording, [cx.new_id(), cx.new_id()]))
            }
            _ => None,
        };
        let task = service::update_task(cx.db()?, &id, stamp(cx, &now), &patch, feed.as_ref())?;
        if !patch.is_empty() {
            cx.set_subject(&task.id);
        }
        Ok(task)
    }

    fn task_list(&mut self, cx: &mut Cx, input: TaskListInput) -> Outcome<TaskListOutput, TaskListError> {
        let (detail, filter) = (input.detail, ListFilter::from(input));
        let (tasks, brief, total_count) = match detail {
            Detail::Full => {
                let page = service::list_tasks(cx.db()?, &filter)?;
                (page.tasks, None, page.total)
            }
            Detail::Brief => {
                let page = service::list_tasks(cx.db()?, &filter)?;
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
        let (detail, filter) = (input.detail, QueueFilter::from(input));
        let db = cx.db()?;
        let (tasks, brief, total_count, blocked_count) = match detail {
            Detail::Full => {
                let queue = service::next_actions(db, &filter)?;
                (queue.tasks, None, queue.actionable, queue.blocked)
            }
            Detail::Brief => {
                let queue = service::next_actions(db, &filter)?;
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
}

fn stamp<'a>(cx: &Cx, now: &'a str) -> Stamp<'a> {
    Stamp { now, sequence_no: cx.sequence_no() }
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

impl From<TaskNextActionsInput> for QueueFilter {
    fn from(input: TaskNextActionsInput) -> Self {
        Self {
            project_id: input.project_id,
            assignee: input.assignee,
            limit: input.limit,
            blocked_limit: input.blocked_limit,
        }
    }
}
