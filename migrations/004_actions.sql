-- Every call that reached stage 3 of the chain: one row, written at enter and closed once at exit
-- (alpha §5.3, design R16). Arguments and results are not stored, only their hashes. Lists of words are CASE,
-- not IN, for the reason given in 002.
-- No CHECK calls a function, and the server's statements are OR FAIL: SQLite takes a function for something that may abort
-- a statement half-way, and where a trigger may write as well it then copies each page before changing it. How long an id
-- or a hash has to be is for `colibri verify` to say, which knows more of them than their length.
CREATE TABLE actions (
  sequence_no    INTEGER PRIMARY KEY,
  correlation_id TEXT NOT NULL,
  boot_id        TEXT NOT NULL,
  request_id     TEXT,
  tool           TEXT NOT NULL,
  mode           TEXT NOT NULL CHECK (
    CASE mode WHEN 'FULL' THEN 1 WHEN 'READONLY' THEN 1 WHEN 'TEST' THEN 1 WHEN 'MINIMAL' THEN 1 ELSE 0 END),
  args_hash      TEXT NOT NULL,
  trace_context  TEXT,
  entered_at     TEXT NOT NULL,
  enter_ms       INTEGER NOT NULL CHECK (enter_ms >= 0),
  outcome        TEXT NOT NULL DEFAULT 'running'
                 CHECK (CASE outcome WHEN 'running' THEN 1 WHEN 'ok' THEN 1 WHEN 'domain_error' THEN 1
                   WHEN 'error' THEN 1 WHEN 'invalid' THEN 1 WHEN 'denied' THEN 1 WHEN 'aborted' THEN 1 ELSE 0 END),
  error_code     TEXT,
  error_message  TEXT,
  result_hash    TEXT,
  duration_ms    INTEGER CHECK (duration_ms >= 0),
  exited_at      TEXT,
  -- Closed rows in the order they were closed, without gaps; each commits to the one before.
  exit_no        INTEGER CHECK (exit_no > 0),
  prev_hash      TEXT,
  row_hash       TEXT,
  -- The id of the row that the call created or changed, so that rows and calls can be held against each other
  -- (design R17); set by calls that succeeded alone.
  subject        TEXT CHECK (subject IS NULL OR outcome = 'ok'),
  -- Which columns an outcome fills. One CHECK that leaves at the first word that fits: each call is judged twice.
  CHECK (CASE outcome
    WHEN 'running' THEN error_code IS NULL AND error_message IS NULL AND result_hash IS NULL AND duration_ms IS NULL
      AND exited_at IS NULL AND exit_no IS NULL AND prev_hash IS NULL AND row_hash IS NULL
    WHEN 'ok' THEN error_code IS NULL AND result_hash IS NOT NULL AND duration_ms IS NOT NULL
      AND exited_at IS NOT NULL AND exit_no IS NOT NULL AND prev_hash IS NOT NULL AND row_hash IS NOT NULL
    WHEN 'aborted' THEN error_code IS NOT NULL AND result_hash IS NULL AND duration_ms IS NULL
      AND exited_at IS NOT NULL AND exit_no IS NOT NULL AND prev_hash IS NOT NULL AND row_hash IS NOT NULL
    ELSE error_code IS NOT NULL AND result_hash IS NOT NULL AND duration_ms IS NOT NULL
      AND exited_at IS NOT NULL AND exit_no IS NOT NULL AND prev_hash IS NOT NULL AND row_hash IS NOT NULL
  END)
) STRICT;

-- Unique among closed rows; partial, so that entering a call does not write it.
CREATE UNIQUE INDEX idx_actions_exit ON actions (exit_no) WHERE exit_no IS NOT NULL;

-- FAIL, not ABORT, for the reason above. The chain writes one row a statement, and rolls its savepoint back.
CREATE TRIGGER actions_start_running BEFORE INSERT ON actions
WHEN NEW.outcome IS NOT 'running'
BEGIN
  SELECT RAISE(FAIL, 'actions rows start as running');
END;

-- The two name all columns between them. An exit names none of the enter's, so that the first costs it nothing.
CREATE TRIGGER actions_enter_kept BEFORE UPDATE OF
  sequence_no, correlation_id, boot_id, request_id, tool, mode, args_hash, trace_context, entered_at, enter_ms
ON actions
BEGIN
  SELECT CASE OLD.outcome
    WHEN 'running' THEN RAISE(FAIL, 'actions enter fields are immutable')
    ELSE RAISE(FAIL, 'actions row already closed')
  END;
END;

CREATE TRIGGER actions_close_once BEFORE UPDATE OF
  outcome, error_code, error_message, result_hash, duration_ms, exited_at, exit_no, prev_hash, row_hash, subject
ON actions WHEN OLD.outcome <> 'running' OR NEW.outcome = 'running'
BEGIN
  SELECT RAISE(FAIL, 'actions row already closed');
END;

CREATE TRIGGER actions_keep BEFORE DELETE ON actions
BEGIN
  SELECT RAISE(FAIL, 'actions is append-only');
END;

-- Where the log ends, so that a cut tail is seen. Written in the transactions that move it.
CREATE TABLE actions_head (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  last_sequence_no INTEGER NOT NULL CHECK (last_sequence_no >= 0),
  last_exit_no     INTEGER NOT NULL CHECK (last_exit_no >= 0),
  last_row_hash    TEXT NOT NULL CHECK (length(last_row_hash) = 64)
) STRICT;

INSERT INTO actions_head VALUES
  (1, 0, 0, '0000000000000000000000000000000000000000000000000000000000000000');

CREATE VIEW action_events AS
SELECT sequence_no, 'enter' AS event, correlation_id, tool, entered_at AS at,
       'running' AS outcome, NULL AS result_hash, NULL AS duration_ms
  FROM actions
UNION ALL
SELECT sequence_no, 'exit', correlation_id, tool, exited_at, outcome, result_hash, duration_ms
  FROM actions WHERE outcome <> 'running';
