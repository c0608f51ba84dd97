-- Which task waits for which (beta §7). A row's rowid keeps the order in which dependencies were named; when
-- that was stands in the audit log, so that nothing here is outside what the call's reply commits to (R17).

CREATE TABLE task_dependencies (
  task_id       TEXT NOT NULL REFERENCES tasks (id),
  depends_on_id TEXT NOT NULL REFERENCES tasks (id),
  PRIMARY KEY (task_id, depends_on_id),
  CHECK (task_id <> depends_on_id)
) STRICT;

CREATE INDEX idx_task_deps_reverse ON task_dependencies (depends_on_id);
