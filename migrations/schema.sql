-- Which table belongs to whom, and which migration makes it. Documentation: never executed.
-- A domain reaches another's tables through that domain's functions only; views are listed as tables are.

-- table: tasks
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 002_tasks
--   one row a task; rows are marked as deleted, never removed

-- table: task_dependencies
--   owner: beta, the task pipeline (server/src/domains/tasks)
--   migration: 003_task_dependencies
--   one row for each task that another waits for

-- table: actions
--   owner: alpha, the audit log (server/src/store)
--   migration: 004_actions
--   one row a call, closed by its exit, chained in the order of exits

-- table: actions_head
--   owner: alpha, the audit log (server/src/store)
--   migration: 004_actions
--   one row: where the log ends

-- table: action_events
--   owner: alpha, the audit log (server/src/store)
--   migration: 004_actions
--   a view: the enter and exit of each call as two rows

-- table: audit_sessions
--   owner: eta, the proof store (reached through server/src/domains/trail until it has a folder)
--   migration: 005_thought_records
--   one row a session that thought records can be bound to

-- table: thought_records
--   owner: zeta, the decision trail (server/src/domains/trail)
--   migration: 005_thought_records
--   one row a thought, hash-chained per task

-- table: trail_heads
--   owner: zeta, the decision trail (server/src/domains/trail)
--   migration: 005_thought_records
--   one row a task that has thoughts: the tip of its chain
