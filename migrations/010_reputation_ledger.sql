-- Why a standing is what it is (lambda §4.3, §8): one entry for each row of the history with everything that went into it,
-- hash-chained in their order, and the length of an epoch, fixed by the first entry.

CREATE TABLE reputation_ledger (
  history_id        INTEGER PRIMARY KEY REFERENCES reputation_history (id),
  -- Canonical JSON of event, node, domain, kind and band: what may be recorded once.
  dedupe_key        TEXT NOT NULL UNIQUE,
  kind              TEXT NOT NULL CHECK (CASE kind WHEN 'gain' THEN 1 WHEN 'penalty' THEN 1 ELSE 0 END),
  source            TEXT NOT NULL CHECK (
    CASE source WHEN 'task' THEN 1 WHEN 'session' THEN 1 WHEN 'equivocation' THEN 1 WHEN 'import' THEN 1 ELSE 0 END),
  band              TEXT CHECK (
    band IS NULL OR CASE band WHEN 'minor' THEN 1 WHEN 'moderate' THEN 1 WHEN 'severe' THEN 1
    WHEN 'critical' THEN 1 WHEN 'fraud' THEN 1 ELSE 0 END),
  nominal_delta     INTEGER NOT NULL,
  acker_id          TEXT,
  weight_bps        INTEGER NOT NULL CHECK (weight_bps BETWEEN 0 AND 10000),
  idle_epochs       INTEGER NOT NULL CHECK (idle_epochs BETWEEN 0 AND 10000),
  score_before      INTEGER NOT NULL,
  score_settled     INTEGER NOT NULL,
  score_after       INTEGER NOT NULL,
  scar_before       INTEGER NOT NULL,
  scar_after        INTEGER NOT NULL,
  ban_after         INTEGER,
  rule_version_hash TEXT NOT NULL CHECK (length(rule_version_hash) = 64),
  -- Unique, so that the ledger cannot fork.
  prev_hash         TEXT NOT NULL UNIQUE CHECK (length(prev_hash) = 64),
  entry_hash        TEXT NOT NULL CHECK (length(entry_hash) = 64),
  -- Milliseconds since the Unix epoch; informational, not hashed.
  recorded_at       INTEGER NOT NULL,
  -- The audit number of the call that wrote the entry (ruling R17); not hashed.
  sequence_no       INTEGER,
  CHECK ((kind = 'penalty') = (band IS NOT NULL))
) STRICT;

CREATE TABLE reputation_clock (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  epoch_seconds INTEGER NOT NULL CHECK (epoch_seconds BETWEEN 1 AND 31536000),
  -- Milliseconds since the Unix epoch.
  set_at        INTEGER NOT NULL
) STRICT;

CREATE TRIGGER trg_ledger_frozen BEFORE UPDATE ON reputation_ledger
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_ledger_no_delete BEFORE DELETE ON reputation_ledger
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_clock_frozen BEFORE UPDATE ON reputation_clock
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_clock_no_delete BEFORE DELETE ON reputation_clock
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;
