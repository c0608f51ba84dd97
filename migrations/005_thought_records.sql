-- The decision trail: one hash chain a task, records bound to audit sessions (zeta §11.1 to §11.3).
-- The triggers guard against mistakes; whoever may write the file may drop them. What shows tampering
-- is the chain itself.

CREATE TABLE audit_sessions (
  session_id  TEXT NOT NULL PRIMARY KEY,
  -- Not length(): that ends at a U+0000, which an intent may begin with.
  intent      TEXT NOT NULL CHECK (intent <> ''),
  -- Descriptive only: no reference, and records of other tasks may cite the session.
  task_id     TEXT,
  started_at  TEXT NOT NULL,
  -- The audit number of the call that wrote the row (ruling R17); NULL when no call did.
  sequence_no INTEGER
) STRICT;

CREATE TRIGGER trg_audit_sessions_frozen BEFORE UPDATE ON audit_sessions
BEGIN
  SELECT RAISE(ABORT, 'audit_sessions is append-only');
END;

CREATE TRIGGER trg_audit_sessions_no_delete BEFORE DELETE ON audit_sessions
BEGIN
  SELECT RAISE(ABORT, 'audit_sessions is append-only');
END;

CREATE TABLE thought_records (
  -- Insertion order, which VACUUM keeps. No AUTOINCREMENT: rows are not deleted, so the highest number is that of
  -- the last row, and a counter would be one more page that every record writes.
  seq                INTEGER PRIMARY KEY,
  id                 TEXT NOT NULL UNIQUE,
  type               TEXT NOT NULL CHECK (
    CASE type WHEN 'plan' THEN 1 WHEN 'analysis' THEN 1 WHEN 'decision' THEN 1 WHEN 'reflection' THEN 1 ELSE 0 END),
  -- Opaque: a trail may be kept for work that is no row of tasks.
  task_id            TEXT NOT NULL CHECK (length(task_id) > 0),
  agent_id           TEXT NOT NULL CHECK (length(agent_id) > 0),
  content            TEXT,
  timestamp          TEXT NOT NULL,
  prev_hash          TEXT NOT NULL CHECK (length(prev_hash) = 64),
  -- Not UNIQUE: it covers the id, which is, and nothing looks a record up by its hash.
  hash               TEXT NOT NULL CHECK (length(hash) = 64),
  created_at         TEXT NOT NULL,
  session_id         TEXT REFERENCES audit_sessions (session_id),
  zone               TEXT CHECK (
    zone IS NULL OR CASE zone WHEN 'hot' THEN 1 WHEN 'warm' THEN 1 WHEN 'cold' THEN 1 ELSE 0 END),
  content_compressed TEXT,
  content_hash       TEXT CHECK (length(content_hash) = 64),
  -- The audit number of the call that wrote the row (ruling R17); NULL when no call did.
  sequence_no        INTEGER,
  -- What of the content is kept in which retention zone (zeta §9); no zone means hot.
  CHECK (
    CASE coalesce(zone, 'hot')
      WHEN 'hot' THEN content IS NOT NULL AND content_compressed IS NULL
      WHEN 'warm' THEN content IS NULL AND content_compressed IS NOT NULL AND content_hash IS NOT NULL
      ELSE content IS NULL AND content_compressed IS NULL AND content_hash IS NOT NULL
    END
  )
) STRICT;

CREATE INDEX idx_trail_task ON thought_records (task_id, seq);
-- Partial, so that a record outside any session does not write it.
CREATE INDEX idx_trail_session ON thought_records (session_id, seq) WHERE session_id IS NOT NULL;

-- A record follows the end of its chain: the tip, or the last row where there is no tip, which a sound store does
-- not have. So two records of one task never share a predecessor. An index on (task_id, prev_hash) would promise
-- less and cost a page in random order with every record.
CREATE TRIGGER trg_thought_no_fork BEFORE INSERT ON thought_records
WHEN new.prev_hash IS NOT coalesce(
  (SELECT tip_hash FROM trail_heads WHERE task_id = new.task_id),
  (SELECT hash FROM thought_records WHERE task_id = new.task_id ORDER BY seq DESC LIMIT 1),
  '0000000000000000000000000000000000000000000000000000000000000000'
)
BEGIN
  SELECT RAISE(ABORT, 'thought_records: prev_hash is not the tip of the chain');
END;

CREATE TRIGGER trg_thought_no_delete BEFORE DELETE ON thought_records
BEGIN
  SELECT RAISE(ABORT, 'thought_records is append-only');
END;

CREATE TRIGGER trg_thought_frozen
BEFORE UPDATE OF seq, id, type, task_id, agent_id, timestamp, prev_hash, hash, created_at, session_id, sequence_no
ON thought_records
BEGIN
  SELECT RAISE(ABORT, 'thought_records is append-only');
END;

CREATE TRIGGER trg_thought_zone_forward
BEFORE UPDATE OF content, content_compressed, content_hash, zone ON thought_records
WHEN NOT (
  CASE coalesce(new.zone, 'hot') WHEN 'hot' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END
    > CASE coalesce(old.zone, 'hot') WHEN 'hot' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END
  AND new.content IS NULL
  AND new.content_hash IS NOT NULL
  AND (old.content_hash IS NULL OR new.content_hash = old.content_hash)
)
BEGIN
  SELECT RAISE(ABORT, 'thought_records content may only move forward between retention zones');
END;

-- The tip of each chain, so that an append reads one row and removed tail records are noticed.
CREATE TABLE trail_heads (
  task_id      TEXT NOT NULL PRIMARY KEY,
  chain_length INTEGER NOT NULL CHECK (chain_length > 0),
  tip_id       TEXT NOT NULL,
  tip_hash     TEXT NOT NULL CHECK (length(tip_hash) = 64)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER trg_heads_step BEFORE UPDATE ON trail_heads
WHEN new.task_id <> old.task_id OR new.chain_length <> old.chain_length + 1
BEGIN
  SELECT RAISE(ABORT, 'trail_heads may only advance by one');
END;

CREATE TRIGGER trg_heads_no_delete BEFORE DELETE ON trail_heads
BEGIN
  SELECT RAISE(ABORT, 'trail_heads may not be deleted');
END;
