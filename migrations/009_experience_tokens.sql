-- Experience tokens (lambda §6): evidence of work, never transferred, changed or removed. A promotion is a new row.

CREATE TABLE experience_tokens (
  id            TEXT NOT NULL PRIMARY KEY CHECK (id LIKE 'tok\_%' ESCAPE '\'),
  node_id       TEXT NOT NULL CHECK (node_id <> ''),
  level         TEXT NOT NULL CHECK (
    CASE level WHEN 'L0' THEN 1 WHEN 'L1' THEN 1 WHEN 'L1.5' THEN 1 WHEN 'L2a' THEN 1 WHEN 'L2b' THEN 1 ELSE 0 END),
  domain        TEXT NOT NULL CHECK (
    CASE domain WHEN 'execution' THEN 1 WHEN 'commissioning' THEN 1 WHEN 'arbitration' THEN 1
    WHEN 'governance' THEN 1 WHEN 'social' THEN 1 ELSE 0 END),
  scenario      TEXT,
  counterparty  TEXT,
  action        TEXT NOT NULL,
  outcome_class TEXT NOT NULL,
  outcome_delta INTEGER NOT NULL,
  -- A JSON array of witness ids.
  witnesses     TEXT NOT NULL DEFAULT '[]',
  -- Seconds since the Unix epoch, as the caller gives them.
  created_at    INTEGER NOT NULL,
  promoted_from TEXT REFERENCES experience_tokens (id),
  feature_hash  TEXT CHECK (length(feature_hash) = 64)
) STRICT;

CREATE INDEX idx_tokens_node ON experience_tokens (node_id, domain, level);
CREATE INDEX idx_tokens_feature ON experience_tokens (feature_hash);
CREATE INDEX idx_tokens_promoted ON experience_tokens (promoted_from);

CREATE TABLE mcp_witnesses (
  witness_id     TEXT NOT NULL PRIMARY KEY CHECK (witness_id LIKE 'wit\_%' ESCAPE '\'),
  agent_id       TEXT NOT NULL CHECK (agent_id <> ''),
  token_id       TEXT NOT NULL REFERENCES experience_tokens (id),
  domain         TEXT NOT NULL CHECK (
    CASE domain WHEN 'execution' THEN 1 WHEN 'commissioning' THEN 1 WHEN 'arbitration' THEN 1
    WHEN 'governance' THEN 1 WHEN 'social' THEN 1 ELSE 0 END),
  reputation_bps INTEGER NOT NULL CHECK (reputation_bps >= 200),
  -- Percent: how much the witness may count at most.
  weight_cap     INTEGER NOT NULL CHECK (weight_cap BETWEEN 0 AND 30),
  created_at     INTEGER NOT NULL
) STRICT;

CREATE TRIGGER trg_tokens_frozen BEFORE UPDATE ON experience_tokens
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_tokens_no_delete BEFORE DELETE ON experience_tokens
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_witnesses_frozen BEFORE UPDATE ON mcp_witnesses
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;

CREATE TRIGGER trg_witnesses_no_delete BEFORE DELETE ON mcp_witnesses
BEGIN
  SELECT RAISE(ABORT, 'append-only table');
END;
