-- Tasks (beta §3). Rows are never deleted: deleted_at marks those that are gone.
-- The implicit rowid is the order of creation, in which lists come out, so the table keeps it. A clock may go
-- back, and a page already read must not shift.
-- Lists of words are CASE, not IN: for IN with more than two constants SQLite builds a temporary b-tree, at
-- every insert, and that costs more than the insert.

CREATE TABLE tasks (
  id          TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 36),
  project_id  TEXT,
  status      TEXT NOT NULL DEFAULT 'INIT' CHECK (
    CASE status
    WHEN 'INIT' THEN 1 WHEN 'GATHER' THEN 1 WHEN 'ANALYZE' THEN 1 WHEN 'PLAN' THEN 1
    WHEN 'APPLY' THEN 1 WHEN 'VERIFY' THEN 1 WHEN 'DONE' THEN 1 WHEN 'CANCELLED' THEN 1
    ELSE 0 END
  ),
  priority    TEXT,
  assignee    TEXT,
  created_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  deleted_at  TEXT,
  -- The audit number of the call that last changed the row (ruling R17); NULL when no call did.
  sequence_no INTEGER,
  -- The long texts come last: a walk over the rows reads what stands before them and leaves their pages alone.
  title       TEXT NOT NULL CHECK (length(title) > 0),
  description TEXT
) STRICT;

-- Each index holds what a page leaves out and ends, as every index does, in the rowid: skipping the live tasks of
-- a state and counting tasks never touches the table. Each b-tree more costs every call that writes a task about
-- as much as the row itself.
CREATE INDEX idx_tasks_project_status ON tasks (project_id, status, deleted_at);
CREATE INDEX idx_tasks_status ON tasks (status, deleted_at);

-- The queue of next actions in its own order (beta §4.5), oldest first within a rank: finished and deleted tasks
-- leave it, so its size is that of the open work. A query uses it only if it states the same condition and the
-- same expression; a test holds both to this text.
CREATE INDEX idx_tasks_queue ON tasks (
  (CASE lower(priority)
    WHEN 'critical' THEN 0 WHEN 'urgent' THEN 0 WHEN 'urgent_important' THEN 0 WHEN 'p0' THEN 0
    WHEN 'high' THEN 1 WHEN 'important' THEN 1 WHEN 'not_urgent_important' THEN 1 WHEN 'p1' THEN 1
    WHEN 'low' THEN 3 WHEN 'not_urgent_not_important' THEN 3 WHEN 'p3' THEN 3
    ELSE 2
  END)
) WHERE deleted_at IS NULL AND status NOT IN ('DONE', 'CANCELLED');
