-- Which task waits for which (beta §7). A row's rowid keeps the order in which dependencies were named.

CREATE TABLE task_dependencies (
  task_id       TEXT NOT NULL REFERENCES tasks (id),
  depends_on_id TEXT NOT NULL REFERENCES tasks (id),
  created_at    TEXT NOT NULL,
  PRIMARY KEY (task_id, depends_on_id),
  CHECK (task_id <> depends_on_id)
) STRICT;

CREATE INDEX idx_task_deps_reverse ON task_dependencies (depends_on_id);
