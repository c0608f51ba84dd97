-- Who calls come from, as clients and the operator say (people#callers). The first call of a new identity is preceded by a call
-- of the operation caller_begin, whose effect is a row here. The caller of a call is the last row with the same boot_id and a
-- smaller sequence_no. Calls from before this migration have none.

CREATE TABLE callers (
  -- 1, 2, 3, … without gaps.
  caller_no      INTEGER PRIMARY KEY,
  boot_id        TEXT NOT NULL,
  source         TEXT NOT NULL CHECK (
    CASE source WHEN 'initialize' THEN 1 WHEN 'meta' THEN 1 WHEN 'none' THEN 1 WHEN 'command' THEN 1 WHEN 'many' THEN 1 ELSE 0 END),
  -- As the client says.
  client_name    TEXT,
  client_title   TEXT,
  client_version TEXT,
  protocol       TEXT,
  -- As the operator says, by COLIBRI_ACTOR.
  actor          TEXT,
  -- As the server found them.
  os_user        TEXT NOT NULL,
  host           TEXT NOT NULL,
  pid            INTEGER NOT NULL CHECK (pid > 0),
  first_seen     TEXT NOT NULL,
  -- The call of caller_begin that wrote the row.
  sequence_no    INTEGER NOT NULL
) STRICT;

CREATE INDEX idx_callers_boot ON callers (boot_id, sequence_no);

CREATE TRIGGER callers_frozen BEFORE UPDATE ON callers
BEGIN
  SELECT RAISE(FAIL, 'callers is append-only');
END;

CREATE TRIGGER callers_keep BEFORE DELETE ON callers
BEGIN
  SELECT RAISE(FAIL, 'callers is append-only');
END;

-- A server from before this migration stores no callers, so its calls are refused until it is restarted. Of an error it passes on
-- the text only if a value exists already, and that text names the index. So the trigger adds the same value twice, and the index
-- has the sentence as its name. Both rows go with the refused transaction.
CREATE UNIQUE INDEX "this database was upgraded by a newer Colibri: restart this server" ON callers (sequence_no + 0)
WHERE sequence_no < 0;

CREATE TRIGGER actions_need_caller BEFORE INSERT ON actions
WHEN NEW.tool <> 'caller_begin' AND NOT EXISTS (SELECT 1 FROM callers WHERE boot_id = NEW.boot_id)
BEGIN
  INSERT INTO callers (boot_id, source, os_user, host, pid, first_seen, sequence_no)
  VALUES ('', 'none', '', '', 1, '', -1), ('', 'none', '', '', 1, '', -1);
END;
