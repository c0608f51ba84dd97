-- Servers that `colibri wrap` passes calls on to (wrap#rows). Their calls are rows of `actions` like any other; these two tables say
-- which process's calls they are, and which lists of tools were pinned. Lists of words are CASE, for the reason given in 002;
-- triggers raise FAIL, for the one in 004.

-- A start of `colibri wrap`: whose calls a boot id's are, and under which policy they ran.
CREATE TABLE wrap_runs (
  -- 1, 2, 3, … without gaps.
  run_no       INTEGER PRIMARY KEY,
  run_id       TEXT NOT NULL UNIQUE,
  boot_id      TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  -- The command's file name, and the hash of the canonical JSON of [COMMAND, ARGS…]: arguments may hold secrets.
  program      TEXT NOT NULL,
  command_hash TEXT NOT NULL,
  pin          TEXT NOT NULL CHECK (CASE pin WHEN 'warn' THEN 1 WHEN 'refuse' THEN 1 WHEN 'off' THEN 1 ELSE 0 END),
  read_only    INTEGER NOT NULL CHECK (read_only BETWEEN 0 AND 1),
  -- Canonical JSON: lists of patterns.
  allow        TEXT NOT NULL,
  deny         TEXT NOT NULL,
  -- COLIBRI_WRAP_SESSION, not looked up.
  session_id   TEXT,
  started_at   TEXT NOT NULL,
  -- The call of wrap_begin that wrote the row.
  sequence_no  INTEGER NOT NULL
) STRICT;

CREATE TRIGGER wrap_runs_fixed BEFORE UPDATE ON wrap_runs
BEGIN
  SELECT RAISE(FAIL, 'wrap_runs is append-only');
END;

CREATE TRIGGER wrap_runs_keep BEFORE DELETE ON wrap_runs
BEGIN
  SELECT RAISE(FAIL, 'wrap_runs is append-only');
END;

-- Lists of tools as they were seen, and which of them were accepted.
CREATE TABLE tool_pins (
  -- 1, 2, 3, … without gaps.
  pin_no      INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  event       TEXT NOT NULL CHECK (CASE event WHEN 'pinned' THEN 1 WHEN 'seen' THEN 1 WHEN 'accepted' THEN 1 ELSE 0 END),
  list_hash   TEXT NOT NULL,
  tools       INTEGER NOT NULL CHECK (tools >= 0),
  run_id      TEXT REFERENCES wrap_runs (run_id),
  recorded_at TEXT NOT NULL,
  -- The call of pins_note or pins_accept that wrote the row.
  sequence_no INTEGER NOT NULL,
  -- Canonical JSON {"instructions":…,"tools":[…]}, the tools as listed. Last, because it is long.
  list        TEXT,
  CHECK ((event = 'accepted') = (list IS NULL) AND (event = 'accepted') = (run_id IS NULL))
) STRICT;

CREATE UNIQUE INDEX idx_tool_pins_list ON tool_pins (name, list_hash) WHERE list IS NOT NULL;
CREATE INDEX idx_tool_pins_name ON tool_pins (name, pin_no);

CREATE TRIGGER tool_pins_fixed BEFORE UPDATE ON tool_pins
BEGIN
  SELECT RAISE(FAIL, 'tool_pins is append-only');
END;

CREATE TRIGGER tool_pins_keep BEFORE DELETE ON tool_pins
BEGIN
  SELECT RAISE(FAIL, 'tool_pins is append-only');
END;
