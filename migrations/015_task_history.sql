-- What happened to each task, and who holds it (tasks#history, tasks#claims).

-- One row an event, written inside the call's savepoint before the row of `tasks` changes. A task has no event before its
-- first change or claim: until then its row and its call are its history, and a b-tree more would cost every task_create.
-- Lists of words are CASE, for the reason given in 002; triggers raise FAIL, for the one in 004.
CREATE TABLE task_events (
  task_id     TEXT NOT NULL,
  -- 1, 2, 3, … within the task.
  event_no    INTEGER NOT NULL CHECK (event_no > 0),
  -- The call that the event tells of, and `tasks.sequence_no` as the event leaves it.
  sequence_no INTEGER,
  task_call   INTEGER,
  kind        TEXT NOT NULL CHECK (
    CASE kind
    WHEN 'created' THEN 1 WHEN 'migrated' THEN 1 WHEN 'changed' THEN 1 WHEN 'deleted' THEN 1
    WHEN 'claimed' THEN 1 WHEN 'renewed' THEN 1 WHEN 'taken_over' THEN 1 WHEN 'released' THEN 1
    ELSE 0 END
  ),
  -- Equal where the state did not move; NULL where a history begins.
  from_status TEXT,
  to_status   TEXT NOT NULL,
  -- `tasks.updated_at` from then on; of claims, the time that they go by.
  at          TEXT NOT NULL,
  -- Canonical JSON: each changed field with its old and its new value.
  changes     TEXT NOT NULL,
  -- Of claims: the number, the holder and the end of the lease.
  claim_no    INTEGER,
  agent_id    TEXT,
  lease_until TEXT,
  PRIMARY KEY (task_id, event_no)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER task_events_frozen BEFORE UPDATE ON task_events
BEGIN
  SELECT RAISE(FAIL, 'task_events is append-only');
END;

CREATE TRIGGER task_events_keep BEFORE DELETE ON task_events
BEGIN
  SELECT RAISE(FAIL, 'task_events is append-only');
END;

-- The newest claim of each task that was ever claimed.
CREATE TABLE task_claims (
  task_id     TEXT NOT NULL PRIMARY KEY,
  -- Counts the task's claims; tells a holder from the one before.
  claim_no    INTEGER NOT NULL CHECK (claim_no > 0),
  agent_id    TEXT NOT NULL CHECK (agent_id <> ''),
  caller_no   INTEGER NOT NULL,
  claimed_at  TEXT NOT NULL,
  lease_until TEXT NOT NULL,
  released_at TEXT,
  -- The call that last wrote the row.
  sequence_no INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER task_claims_rise BEFORE UPDATE ON task_claims
WHEN NEW.claim_no < OLD.claim_no OR NEW.task_id <> OLD.task_id
BEGIN
  SELECT RAISE(FAIL, 'the numbers of claims never go down');
END;

CREATE TRIGGER task_claims_keep BEFORE DELETE ON task_claims
BEGIN
  SELECT RAISE(FAIL, 'task_claims keeps its rows');
END;

-- The latest time by which a claim was judged, so that a clock set back revives none. No row before the first claim.
CREATE TABLE claim_clock (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  latest TEXT NOT NULL
) STRICT;

-- Every event, also the one that a task's row and call stand for (tasks#history).
CREATE VIEW task_event_list AS
WITH untold AS (
  SELECT t.*, coalesce(e.event_no, 0) + 1 AS event_no,
         e.event_no IS NULL AND EXISTS (
           SELECT 1 FROM actions AS a JOIN callers AS c ON c.boot_id = a.boot_id AND c.sequence_no < a.sequence_no
            WHERE a.sequence_no = t.sequence_no AND a.tool = 'task_create') AS is_creation
    FROM tasks AS t LEFT JOIN task_events AS e
      ON e.task_id = t.id AND e.event_no = (SELECT max(event_no) FROM task_events WHERE task_id = t.id)
   WHERE e.event_no IS NULL OR e.task_call IS NOT t.sequence_no
)
SELECT task_id, event_no, sequence_no, kind, from_status, to_status, at, changes, claim_no, agent_id, lease_until, 1 AS stored
  FROM task_events
UNION ALL
SELECT id, event_no, sequence_no, CASE WHEN is_creation THEN 'created' ELSE 'migrated' END, NULL, status, updated_at,
       -- A patch leaves out what is null, and json_object keeps the order: the same text as a stored event has.
       json_patch('{}', json_object(
         'assignee', CASE WHEN assignee IS NOT NULL THEN json_array(NULL, assignee) END,
         'created_at', CASE WHEN NOT is_creation THEN json_array(NULL, created_at) END,
         'deleted_at', CASE WHEN deleted_at IS NOT NULL THEN json_array(NULL, deleted_at) END,
         'depends_on', json((SELECT CASE WHEN count(*) > 0 THEN json_array(NULL, json_group_array(depends_on_id)) END
                             FROM (SELECT depends_on_id FROM task_dependencies WHERE task_id = id ORDER BY rowid))),
         'description', CASE WHEN description IS NOT NULL THEN json_array(NULL, description) END,
         'priority', CASE WHEN priority IS NOT NULL THEN json_array(NULL, priority) END,
         'project_id', CASE WHEN project_id IS NOT NULL THEN json_array(NULL, project_id) END,
         'title', json_array(NULL, title))),
       NULL, NULL, NULL, 0
  FROM untold;
