-- Seals of audit sessions (zeta §11.2, §11.3): the root of a session, its frozen leaves, and the chain of tree heads.
-- The triggers guard against mistakes; whoever may write the file may drop them.

CREATE TABLE merkle_roots (
  session_id   TEXT NOT NULL PRIMARY KEY REFERENCES audit_sessions (session_id),
  -- The original's tree (zeta §7.1).
  root         TEXT NOT NULL CHECK (length(root) = 64),
  record_count INTEGER NOT NULL CHECK (record_count > 0),
  finalized_at TEXT NOT NULL,
  -- The audit number of the call that sealed (ruling R17); NULL when no call did.
  sequence_no  INTEGER
) STRICT;

-- The records as they stood when the session was sealed, in insertion order.
CREATE TABLE merkle_leaves (
  session_id TEXT NOT NULL REFERENCES merkle_roots (session_id),
  leaf_index INTEGER NOT NULL CHECK (leaf_index >= 0),
  record_id  TEXT NOT NULL,
  hash       TEXT NOT NULL CHECK (length(hash) = 64),
  leaf_hash  TEXT NOT NULL CHECK (length(leaf_hash) = 64),
  PRIMARY KEY (session_id, leaf_index),
  UNIQUE (session_id, record_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tree_heads (
  head_index      INTEGER PRIMARY KEY CHECK (head_index >= 0),
  session_id      TEXT NOT NULL UNIQUE REFERENCES merkle_roots (session_id),
  tree_size       INTEGER NOT NULL CHECK (tree_size > 0),
  root_hash       TEXT NOT NULL CHECK (length(root_hash) = 64),
  legacy_root     TEXT NOT NULL CHECK (length(legacy_root) = 64),
  session_hash    TEXT NOT NULL CHECK (length(session_hash) = 64),
  chain_tips_hash TEXT NOT NULL CHECK (length(chain_tips_hash) = 64),
  -- Where the audit log ended when the session was sealed (alpha §5.3).
  log_exit_no     INTEGER NOT NULL CHECK (log_exit_no >= 0),
  log_row_hash    TEXT NOT NULL CHECK (length(log_row_hash) = 64),
  -- Unique, so that the list of heads cannot fork.
  prev_head_hash  TEXT NOT NULL UNIQUE CHECK (length(prev_head_hash) = 64),
  finalized_at    TEXT NOT NULL,
  head_hash       TEXT NOT NULL UNIQUE CHECK (length(head_hash) = 64),
  signature       TEXT CHECK (length(signature) = 128),
  key_id          TEXT CHECK (length(key_id) = 32),
  public_key      TEXT CHECK (length(public_key) = 64),
  CHECK ((signature IS NULL) = (key_id IS NULL) AND (key_id IS NULL) = (public_key IS NULL))
) STRICT;

-- How long the chain of each task with a record in the session was when it was sealed.
CREATE TABLE tree_head_tips (
  head_index   INTEGER NOT NULL REFERENCES tree_heads (head_index),
  task_id      TEXT NOT NULL,
  chain_length INTEGER NOT NULL CHECK (chain_length > 0),
  tip_hash     TEXT NOT NULL CHECK (length(tip_hash) = 64),
  PRIMARY KEY (head_index, task_id)
) STRICT, WITHOUT ROWID;

-- A walk along one chain meets its tips in the chain's order.
CREATE INDEX idx_tips_task ON tree_head_tips (task_id, chain_length);

-- Whatever is left of a seal keeps its session closed: who takes away the root alone does not open it again.
CREATE TRIGGER trg_thought_session_open BEFORE INSERT ON thought_records
WHEN new.session_id IS NOT NULL AND (
  EXISTS (SELECT 1 FROM merkle_roots WHERE session_id = new.session_id)
  OR EXISTS (SELECT 1 FROM tree_heads WHERE session_id = new.session_id)
  OR EXISTS (SELECT 1 FROM merkle_leaves WHERE session_id = new.session_id)
)
BEGIN
  SELECT RAISE(ABORT, 'ERR_ALREADY_FINALIZED');
END;

CREATE TRIGGER trg_merkle_roots_frozen BEFORE UPDATE ON merkle_roots
BEGIN
  SELECT RAISE(ABORT, 'merkle_roots is append-only');
END;

CREATE TRIGGER trg_merkle_roots_no_delete BEFORE DELETE ON merkle_roots
BEGIN
  SELECT RAISE(ABORT, 'merkle_roots is append-only');
END;

CREATE TRIGGER trg_merkle_leaves_frozen BEFORE UPDATE ON merkle_leaves
BEGIN
  SELECT RAISE(ABORT, 'merkle_leaves is append-only');
END;

CREATE TRIGGER trg_merkle_leaves_no_delete BEFORE DELETE ON merkle_leaves
BEGIN
  SELECT RAISE(ABORT, 'merkle_leaves is append-only');
END;

CREATE TRIGGER trg_tree_heads_frozen BEFORE UPDATE ON tree_heads
BEGIN
  SELECT RAISE(ABORT, 'tree_heads is append-only');
END;

CREATE TRIGGER trg_tree_heads_no_delete BEFORE DELETE ON tree_heads
BEGIN
  SELECT RAISE(ABORT, 'tree_heads is append-only');
END;

CREATE TRIGGER trg_tree_head_tips_frozen BEFORE UPDATE ON tree_head_tips
BEGIN
  SELECT RAISE(ABORT, 'tree_head_tips is append-only');
END;

CREATE TRIGGER trg_tree_head_tips_no_delete BEFORE DELETE ON tree_head_tips
BEGIN
  SELECT RAISE(ABORT, 'tree_head_tips is append-only');
END;
