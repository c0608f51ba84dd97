-- Consensus rounds (theta §13.3). Signed votes are the source of truth: level, transitions and proofs follow from them and
-- are kept to be compared. The triggers guard against mistakes; what shows tampering are the signatures and the replay.
-- Rows have no created_at: nothing would commit to it. Their time is their call's. Numbers are given without gaps, and since
-- no row can be deleted, none is given twice: SQLite's own counter would be one thing more to keep.

CREATE TABLE mcp_consensus_rounds (
  round_id              INTEGER PRIMARY KEY,
  merkle_root           BLOB NOT NULL CHECK (length(merkle_root) = 32),
  rule_version_hash     BLOB NOT NULL CHECK (length(rule_version_hash) = 32),
  prev_merkle_root      BLOB NOT NULL CHECK (length(prev_merkle_root) = 32),
  leader                TEXT NOT NULL,
  n_arbiters            INTEGER NOT NULL CHECK (n_arbiters >= 1),
  dispute_window_epochs INTEGER NOT NULL DEFAULT 100 CHECK (dispute_window_epochs >= 1),
  -- The last epoch fed to the finality machine.
  epoch                 INTEGER NOT NULL CHECK (epoch >= 1),
  level                 TEXT NOT NULL CHECK (
    CASE level WHEN 'PENDING' THEN 1 WHEN 'SOFT' THEN 1 WHEN 'QUORUM' THEN 1 WHEN 'HARD' THEN 1
    WHEN 'ABSOLUTE' THEN 1 ELSE 0 END),
  -- The audit number of the call that proposed the round (ruling R17); NULL when no call did.
  sequence_no           INTEGER
) STRICT;

CREATE TABLE mcp_consensus_committee (
  round_id   INTEGER NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  position   INTEGER NOT NULL CHECK (position >= 0),
  sender_id  TEXT NOT NULL,
  public_key BLOB NOT NULL CHECK (length(public_key) = 32),
  PRIMARY KEY (round_id, position),
  UNIQUE (round_id, sender_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE mcp_consensus_votes (
  seq               INTEGER PRIMARY KEY,
  round_id          INTEGER NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  sender_id         TEXT NOT NULL,
  public_key        BLOB NOT NULL CHECK (length(public_key) = 32),
  merkle_root       BLOB NOT NULL CHECK (length(merkle_root) = 32),
  rule_version_hash BLOB NOT NULL CHECK (length(rule_version_hash) = 32),
  vote_type         TEXT NOT NULL CHECK (
    CASE vote_type WHEN 'ACCEPT' THEN 1 WHEN 'REJECT' THEN 1 WHEN 'ABSTAIN' THEN 1 ELSE 0 END),
  timestamp_logical INTEGER NOT NULL CHECK (timestamp_logical > 0),
  signature         BLOB NOT NULL CHECK (length(signature) = 64),
  origin            TEXT NOT NULL CHECK (CASE origin WHEN 'PROPOSE' THEN 1 WHEN 'VOTE' THEN 1 ELSE 0 END),
  -- The epoch in which the finality machine got it; NULL for an observer's vote, which it never gets.
  epoch             INTEGER CHECK (epoch >= 1),
  -- The audit number of the call that signed it (ruling R17); NULL when no call did.
  sequence_no       INTEGER,
  UNIQUE (sender_id, timestamp_logical)
) STRICT;

-- Who has said what explicitly, once.
CREATE UNIQUE INDEX ux_consensus_votes_explicit
ON mcp_consensus_votes (round_id, sender_id, merkle_root, rule_version_hash) WHERE origin = 'VOTE';
CREATE INDEX idx_consensus_votes_round ON mcp_consensus_votes (round_id, seq);

CREATE TABLE mcp_consensus_transitions (
  round_id   INTEGER NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  ordinal    INTEGER NOT NULL CHECK (ordinal >= 0),
  from_level TEXT NOT NULL,
  to_level   TEXT NOT NULL,
  epoch      INTEGER NOT NULL CHECK (epoch >= 1),
  evidence   BLOB NOT NULL,
  PRIMARY KEY (round_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE mcp_consensus_equivocations (
  evidence_hash  BLOB NOT NULL PRIMARY KEY CHECK (length(evidence_hash) = 32),
  round_id       INTEGER NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  sender_id      TEXT NOT NULL,
  vote_a_seq     INTEGER NOT NULL REFERENCES mcp_consensus_votes (seq),
  vote_b_seq     INTEGER NOT NULL REFERENCES mcp_consensus_votes (seq),
  -- The later of the two votes: the one that proved it.
  trigger_seq    INTEGER NOT NULL REFERENCES mcp_consensus_votes (seq),
  finality_level TEXT NOT NULL CHECK (
    CASE finality_level WHEN 'PENDING' THEN 1 WHEN 'SOFT' THEN 1 WHEN 'QUORUM' THEN 1 WHEN 'HARD' THEN 1
    WHEN 'ABSOLUTE' THEN 1 ELSE 0 END),
  slash_status   TEXT NOT NULL DEFAULT 'UNAPPLIED' CHECK (
    CASE slash_status WHEN 'UNAPPLIED' THEN 1 WHEN 'APPLIED' THEN 1 WHEN 'REFUSED' THEN 1 ELSE 0 END),
  UNIQUE (round_id, sender_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER trg_consensus_rounds_keep
BEFORE UPDATE OF round_id, merkle_root, rule_version_hash, prev_merkle_root, leader, n_arbiters, dispute_window_epochs,
  sequence_no
ON mcp_consensus_rounds
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_rounds: only epoch and level move');
END;

CREATE TRIGGER trg_consensus_rounds_no_delete BEFORE DELETE ON mcp_consensus_rounds
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_rounds may not be deleted');
END;

CREATE TRIGGER trg_consensus_committee_frozen BEFORE UPDATE ON mcp_consensus_committee
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_committee is append-only');
END;

CREATE TRIGGER trg_consensus_committee_no_delete BEFORE DELETE ON mcp_consensus_committee
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_committee is append-only');
END;

CREATE TRIGGER trg_consensus_votes_frozen BEFORE UPDATE ON mcp_consensus_votes
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_votes is append-only');
END;

CREATE TRIGGER trg_consensus_votes_no_delete BEFORE DELETE ON mcp_consensus_votes
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_votes is append-only');
END;

CREATE TRIGGER trg_consensus_transitions_frozen BEFORE UPDATE ON mcp_consensus_transitions
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_transitions is append-only');
END;

CREATE TRIGGER trg_consensus_transitions_no_delete BEFORE DELETE ON mcp_consensus_transitions
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_transitions is append-only');
END;

CREATE TRIGGER trg_consensus_equivocations_keep
BEFORE UPDATE OF evidence_hash, round_id, sender_id, vote_a_seq, vote_b_seq, trigger_seq, finality_level
ON mcp_consensus_equivocations
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_equivocations: only slash_status moves');
END;

CREATE TRIGGER trg_consensus_equivocations_no_delete BEFORE DELETE ON mcp_consensus_equivocations
BEGIN
  SELECT RAISE(ABORT, 'mcp_consensus_equivocations may not be deleted');
END;
