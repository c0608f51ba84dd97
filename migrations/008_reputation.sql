-- Standing (lambda §4): one row a node and domain, derived from the ledger of 010 and changed only with it, and the
-- events that moved it, newest last. The triggers guard against mistakes; what shows tampering is the ledger.

CREATE TABLE reputations (
  node_id             TEXT NOT NULL CHECK (node_id <> ''),
  domain              TEXT NOT NULL CHECK (
    CASE domain WHEN 'execution' THEN 1 WHEN 'commissioning' THEN 1 WHEN 'arbitration' THEN 1
    WHEN 'governance' THEN 1 WHEN 'social' THEN 1 ELSE 0 END),
  -- Basis points, as last written: readers take decay off.
  score               INTEGER NOT NULL DEFAULT 0 CHECK (score BETWEEN 0 AND 10000),
  scar_bps            INTEGER NOT NULL DEFAULT 0 CHECK (scar_bps BETWEEN 0 AND 10000),
  ban_until_epoch     INTEGER,
  last_activity_epoch INTEGER NOT NULL CHECK (last_activity_epoch >= 0),
  PRIMARY KEY (node_id, domain),
  CHECK (score <= 10000 - scar_bps)
) STRICT, WITHOUT ROWID;

-- The order of the leaderboard; it holds everything a row shows, so that a walk never touches the table.
CREATE INDEX idx_reputations_leaderboard
ON reputations (domain, score DESC, node_id, scar_bps, ban_until_epoch, last_activity_epoch);

CREATE TRIGGER trg_reputations_no_delete BEFORE DELETE ON reputations
BEGIN
  SELECT RAISE(ABORT, 'reputations may not be deleted');
END;

CREATE TRIGGER trg_reputations_keep BEFORE UPDATE ON reputations
WHEN new.node_id <> old.node_id OR new.domain <> old.domain OR new.scar_bps < old.scar_bps
  OR new.last_activity_epoch < old.last_activity_epoch
BEGIN
  SELECT RAISE(ABORT, 'reputations: scars are permanent and activity never goes back');
END;

CREATE TABLE reputation_history (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  node_id  TEXT NOT NULL CHECK (node_id <> ''),
  domain   TEXT NOT NULL CHECK (
    CASE domain WHEN 'execution' THEN 1 WHEN 'commissioning' THEN 1 WHEN 'arbitration' THEN 1
    WHEN 'governance' THEN 1 WHEN 'social' THEN 1 ELSE 0 END),
  epoch    INTEGER NOT NULL CHECK (epoch >= 0),
  delta    INTEGER NOT NULL,
  reason   TEXT NOT NULL,
  event_id TEXT NOT NULL
) STRICT;

-- Ends in the id, as every index does: read backwards, it is the order in which the history is shown.
CREATE INDEX idx_history_node ON reputation_history (node_id, domain, epoch);
-- Which epoch is the highest.
CREATE INDEX idx_history_epoch ON reputation_history (epoch);
-- What an epoch's cap on gains adds up: events that changed nothing are without end, those that did are not.
CREATE INDEX idx_history_moves ON reputation_history (node_id, domain, epoch, delta) WHERE delta <> 0;

CREATE TRIGGER trg_history_frozen BEFORE UPDATE ON reputation_history
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_history_no_delete BEFORE DELETE ON reputation_history
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;
