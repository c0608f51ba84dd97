-- The whole schema of Colibri's database at version 15, for PostgreSQL 15 to 18: what 001 to 015 make in SQLite. A test reads both
-- catalogs and compares tables, columns, keys and indexes; another tries the same rows on both.
--
-- Types. INTEGER is bigint, BLOB is bytea, and TEXT is text COLLATE "C", so that both engines compare and order bytes. PostgreSQL's
-- text cannot hold U+0000. So a text that may hold it is bytea, with the text's UTF-8:
--   enters.tool                    a call may name any tool; the name is stored as it came
--   exits.error_message            may quote an argument
--   audit_sessions.intent          any text but an empty one
--   thought_records.content        any text
--   skills.body                    a file's text below its front matter, which is not checked
--   callers.client_name, client_title, client_version           what a client says of itself
--   reputations.node_id, reputation_history.node_id, event_id, reason, reputation_ledger.acker_id
--                                  what an operator imports; `reputation_import` takes any text
-- The rest is free of it: `no_nul` (tasks), patterns without control characters (agents, sessions, trails, arbiters), words of a list,
-- ids, hashes and times that the server makes, JSON and base64 (which escape it), and names from the operating system.
--
-- All numbers (the log, seq, history, rounds, votes, callers) are the highest one plus one, taken under the lock that serializes
-- effects, never from a sequence: to `colibri verify` a gap is a finding, and a sequence of a copied database may repeat numbers after
-- a crash. `rowid` only orders rows. It gets its number in the same way, as SQLite's does, and a copy keeps it.
--
-- What SQLite's triggers refuse, missing privileges refuse here (at the end), but for the five that compare rows.
-- The runner makes colibri_owner the current role, sets search_path to colibri, and adds the version's row, in one transaction.

-- One row a migration; the highest is the schema's version, which SQLite keeps in user_version.
CREATE TABLE schema_version (
  version    bigint PRIMARY KEY CHECK (version > 0),
  applied_at timestamptz NOT NULL DEFAULT now()
);

-- The processes that write to this database, by the lease of each. The times are the server's own, so clients' clocks do not count.
CREATE TABLE processes (
  boot_id     text COLLATE "C" PRIMARY KEY,
  host        text COLLATE "C" NOT NULL,
  pid         bigint NOT NULL CHECK (pid > 0),
  lease_until timestamptz NOT NULL
);

-- The log of calls, in two tables that are only ever added to. An updated row would leave a dead one behind each time, which every
-- transaction that is still open keeps from being reused.
CREATE TABLE enters (
  sequence_no    bigint PRIMARY KEY,
  correlation_id text COLLATE "C" NOT NULL,
  boot_id        text COLLATE "C" NOT NULL,
  request_id     text COLLATE "C",
  tool           bytea NOT NULL,
  mode           text COLLATE "C" NOT NULL CHECK (mode IN ('FULL', 'READONLY', 'TEST', 'MINIMAL')),
  args_hash      text COLLATE "C" NOT NULL,
  trace_context  text COLLATE "C",
  entered_at     text COLLATE "C" NOT NULL,
  enter_ms       bigint NOT NULL CHECK (enter_ms >= 0)
);

-- No foreign key to `enters`: it would lock, and so rewrite, the row of each call that ends. An exit without an enter leaves a gap in
-- the exits that the view shows, which is a finding.
CREATE TABLE exits (
  sequence_no   bigint PRIMARY KEY,
  outcome       text COLLATE "C" NOT NULL CHECK (outcome IN ('ok', 'domain_error', 'error', 'invalid', 'denied', 'aborted')),
  error_code    text COLLATE "C",
  error_message bytea,
  result_hash   text COLLATE "C",
  duration_ms   bigint CHECK (duration_ms >= 0),
  exited_at     text COLLATE "C" NOT NULL,
  exit_no       bigint NOT NULL UNIQUE CHECK (exit_no > 0),
  prev_hash     text COLLATE "C" NOT NULL,
  row_hash      text COLLATE "C" NOT NULL,
  subject       text COLLATE "C" CHECK (subject IS NULL OR outcome = 'ok'),
  CHECK (CASE outcome
    WHEN 'ok' THEN error_code IS NULL AND result_hash IS NOT NULL AND duration_ms IS NOT NULL
    WHEN 'aborted' THEN error_code IS NOT NULL AND result_hash IS NULL AND duration_ms IS NULL
    ELSE error_code IS NOT NULL AND result_hash IS NOT NULL AND duration_ms IS NOT NULL
  END)
);

CREATE VIEW actions AS
SELECT e.sequence_no, e.correlation_id, e.boot_id, e.request_id, e.tool, e.mode, e.args_hash, e.trace_context, e.entered_at,
       e.enter_ms, coalesce(x.outcome, 'running') AS outcome, x.error_code, x.error_message, x.result_hash, x.duration_ms,
       x.exited_at, x.exit_no, x.prev_hash, x.row_hash, x.subject
  FROM enters AS e LEFT JOIN exits AS x ON x.sequence_no = e.sequence_no;

-- Where the log ends, as its rows say.
CREATE VIEW actions_head AS
SELECT 1::bigint AS id,
       coalesce((SELECT max(sequence_no) FROM enters), 0) AS last_sequence_no,
       coalesce((SELECT max(exit_no) FROM exits), 0) AS last_exit_no,
       coalesce((SELECT row_hash FROM exits ORDER BY exit_no DESC LIMIT 1),
                '0000000000000000000000000000000000000000000000000000000000000000') AS last_row_hash;

CREATE VIEW action_events AS
SELECT sequence_no, 'enter' COLLATE "C" AS event, correlation_id, tool, entered_at AS at,
       'running' COLLATE "C" AS outcome, NULL::text COLLATE "C" AS result_hash, NULL::bigint AS duration_ms
  FROM enters
UNION ALL
SELECT e.sequence_no, 'exit', e.correlation_id, e.tool, x.exited_at, x.outcome, x.result_hash, x.duration_ms
  FROM enters AS e JOIN exits AS x ON x.sequence_no = e.sequence_no;

-- The number that the next row of a table gets. Every name in it is a full one, so it needs no search path of its own, which would
-- take longer than the rest.
CREATE FUNCTION next_rowid(list text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  CASE list
    WHEN 'tasks' THEN RETURN (SELECT coalesce(pg_catalog.max(rowid), 0) OPERATOR(pg_catalog.+) 1 FROM colibri.tasks);
    WHEN 'audit_sessions' THEN RETURN (SELECT coalesce(pg_catalog.max(rowid), 0) OPERATOR(pg_catalog.+) 1 FROM colibri.audit_sessions);
    WHEN 'experience_tokens' THEN RETURN (SELECT coalesce(pg_catalog.max(rowid), 0) OPERATOR(pg_catalog.+) 1 FROM colibri.experience_tokens);
    WHEN 'mcp_witnesses' THEN RETURN (SELECT coalesce(pg_catalog.max(rowid), 0) OPERATOR(pg_catalog.+) 1 FROM colibri.mcp_witnesses);
    WHEN 'merkle_roots' THEN RETURN (SELECT coalesce(pg_catalog.max(rowid), 0) OPERATOR(pg_catalog.+) 1 FROM colibri.merkle_roots);
    WHEN 'task_dependencies' THEN RETURN (SELECT coalesce(pg_catalog.max(rowid), 0) OPERATOR(pg_catalog.+) 1 FROM colibri.task_dependencies);
  END CASE;
END
$$;

-- Tasks. The order of creation is `rowid`; indexes end in it where pages do.
CREATE TABLE tasks (
  rowid       bigint NOT NULL UNIQUE DEFAULT next_rowid('tasks'),
  id          text COLLATE "C" PRIMARY KEY CHECK (length(id) = 36),
  project_id  text COLLATE "C",
  status      text COLLATE "C" NOT NULL DEFAULT 'INIT'
              CHECK (status IN ('INIT', 'GATHER', 'ANALYZE', 'PLAN', 'APPLY', 'VERIFY', 'DONE', 'CANCELLED')),
  priority    text COLLATE "C",
  assignee    text COLLATE "C",
  created_at  text COLLATE "C" NOT NULL,
  updated_at  text COLLATE "C" NOT NULL,
  deleted_at  text COLLATE "C",
  sequence_no bigint,
  title       text COLLATE "C" NOT NULL CHECK (length(title) > 0),
  description text COLLATE "C"
);

CREATE INDEX idx_tasks_project_status ON tasks (project_id, status, deleted_at, rowid);
CREATE INDEX idx_tasks_status ON tasks (status, deleted_at, rowid);
CREATE INDEX idx_tasks_queue ON tasks (
  (CASE lower(priority)
    WHEN 'critical' THEN 0 WHEN 'urgent' THEN 0 WHEN 'urgent_important' THEN 0 WHEN 'p0' THEN 0
    WHEN 'high' THEN 1 WHEN 'important' THEN 1 WHEN 'not_urgent_important' THEN 1 WHEN 'p1' THEN 1
    WHEN 'low' THEN 3 WHEN 'not_urgent_not_important' THEN 3 WHEN 'p3' THEN 3
    ELSE 2
  END), rowid
) WHERE deleted_at IS NULL AND status NOT IN ('DONE', 'CANCELLED');

CREATE TABLE task_dependencies (
  rowid         bigint NOT NULL UNIQUE DEFAULT next_rowid('task_dependencies'),
  task_id       text COLLATE "C" NOT NULL REFERENCES tasks (id),
  depends_on_id text COLLATE "C" NOT NULL REFERENCES tasks (id),
  PRIMARY KEY (task_id, depends_on_id),
  CHECK (task_id <> depends_on_id)
);

CREATE INDEX idx_task_deps_reverse ON task_dependencies (depends_on_id);

-- The decision trail.
CREATE TABLE audit_sessions (
  rowid       bigint NOT NULL UNIQUE DEFAULT next_rowid('audit_sessions'),
  session_id  text COLLATE "C" PRIMARY KEY,
  intent      bytea NOT NULL CHECK (intent <> ''),
  task_id     text COLLATE "C",
  started_at  text COLLATE "C" NOT NULL,
  sequence_no bigint
);

CREATE TABLE thought_records (
  -- The trigger below numbers a row that has no number yet.
  seq                bigint PRIMARY KEY,
  id                 text COLLATE "C" NOT NULL UNIQUE,
  type               text COLLATE "C" NOT NULL CHECK (type IN ('plan', 'analysis', 'decision', 'reflection')),
  task_id            text COLLATE "C" NOT NULL CHECK (length(task_id) > 0),
  agent_id           text COLLATE "C" NOT NULL CHECK (length(agent_id) > 0),
  content            bytea,
  timestamp          text COLLATE "C" NOT NULL,
  prev_hash          text COLLATE "C" NOT NULL CHECK (length(prev_hash) = 64),
  hash               text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  created_at         text COLLATE "C" NOT NULL,
  session_id         text COLLATE "C" REFERENCES audit_sessions (session_id),
  zone               text COLLATE "C" CHECK (zone IN ('hot', 'warm', 'cold')),
  content_compressed text COLLATE "C",
  content_hash       text COLLATE "C" CHECK (length(content_hash) = 64),
  sequence_no        bigint,
  CHECK (
    CASE coalesce(zone, 'hot')
      WHEN 'hot' THEN content IS NOT NULL AND content_compressed IS NULL
      WHEN 'warm' THEN content IS NULL AND content_compressed IS NOT NULL AND content_hash IS NOT NULL
      ELSE content IS NULL AND content_compressed IS NULL AND content_hash IS NOT NULL
    END
  )
);

CREATE INDEX idx_trail_task ON thought_records (task_id, seq);
CREATE INDEX idx_trail_session ON thought_records (session_id, seq) WHERE session_id IS NOT NULL;

CREATE TABLE trail_heads (
  task_id      text COLLATE "C" PRIMARY KEY,
  chain_length bigint NOT NULL CHECK (chain_length > 0),
  tip_id       text COLLATE "C" NOT NULL,
  tip_hash     text COLLATE "C" NOT NULL CHECK (length(tip_hash) = 64)
);

-- Seals.
CREATE TABLE merkle_roots (
  rowid        bigint NOT NULL UNIQUE DEFAULT next_rowid('merkle_roots'),
  session_id   text COLLATE "C" PRIMARY KEY REFERENCES audit_sessions (session_id),
  root         text COLLATE "C" NOT NULL CHECK (length(root) = 64),
  record_count bigint NOT NULL CHECK (record_count > 0),
  finalized_at text COLLATE "C" NOT NULL,
  sequence_no  bigint
);

CREATE TABLE merkle_leaves (
  session_id text COLLATE "C" NOT NULL REFERENCES merkle_roots (session_id),
  leaf_index bigint NOT NULL CHECK (leaf_index >= 0),
  record_id  text COLLATE "C" NOT NULL,
  hash       text COLLATE "C" NOT NULL CHECK (length(hash) = 64),
  leaf_hash  text COLLATE "C" NOT NULL CHECK (length(leaf_hash) = 64),
  PRIMARY KEY (session_id, leaf_index),
  UNIQUE (session_id, record_id)
);

CREATE TABLE tree_heads (
  head_index      bigint PRIMARY KEY CHECK (head_index >= 0),
  session_id      text COLLATE "C" NOT NULL UNIQUE REFERENCES merkle_roots (session_id),
  tree_size       bigint NOT NULL CHECK (tree_size > 0),
  root_hash       text COLLATE "C" NOT NULL CHECK (length(root_hash) = 64),
  legacy_root     text COLLATE "C" NOT NULL CHECK (length(legacy_root) = 64),
  session_hash    text COLLATE "C" NOT NULL CHECK (length(session_hash) = 64),
  chain_tips_hash text COLLATE "C" NOT NULL CHECK (length(chain_tips_hash) = 64),
  log_exit_no     bigint NOT NULL CHECK (log_exit_no >= 0),
  log_row_hash    text COLLATE "C" NOT NULL CHECK (length(log_row_hash) = 64),
  prev_head_hash  text COLLATE "C" NOT NULL UNIQUE CHECK (length(prev_head_hash) = 64),
  finalized_at    text COLLATE "C" NOT NULL,
  head_hash       text COLLATE "C" NOT NULL UNIQUE CHECK (length(head_hash) = 64),
  signature       text COLLATE "C" CHECK (length(signature) = 128),
  key_id          text COLLATE "C" CHECK (length(key_id) = 32),
  public_key      text COLLATE "C" CHECK (length(public_key) = 64),
  CHECK ((signature IS NULL) = (key_id IS NULL) AND (key_id IS NULL) = (public_key IS NULL))
);

CREATE TABLE tree_head_tips (
  head_index   bigint NOT NULL REFERENCES tree_heads (head_index),
  task_id      text COLLATE "C" NOT NULL,
  chain_length bigint NOT NULL CHECK (chain_length > 0),
  tip_hash     text COLLATE "C" NOT NULL CHECK (length(tip_hash) = 64),
  PRIMARY KEY (head_index, task_id)
);

CREATE INDEX idx_tips_task ON tree_head_tips (task_id, chain_length);

-- The skill registry.
CREATE TABLE skill_roots (
  root        text COLLATE "C" PRIMARY KEY,
  loaded_at   text COLLATE "C" NOT NULL,
  skill_count bigint NOT NULL CHECK (skill_count >= 0),
  digest      text COLLATE "C" NOT NULL CHECK (length(digest) = 64)
);

CREATE TABLE skills (
  root             text COLLATE "C" NOT NULL,
  name             text COLLATE "C" NOT NULL,
  description      text COLLATE "C" NOT NULL,
  version          text COLLATE "C",
  entrypoint       text COLLATE "C",
  capabilities     text COLLATE "C" NOT NULL DEFAULT '[]',
  greek_letter     text COLLATE "C",
  body             bytea NOT NULL,
  source_path      text COLLATE "C" NOT NULL,
  frontmatter_json text COLLATE "C" NOT NULL,
  loaded_at        text COLLATE "C" NOT NULL,
  PRIMARY KEY (root, name)
);

CREATE INDEX idx_skills_greek ON skills (greek_letter);

-- Reputation.
CREATE TABLE reputations (
  node_id             bytea NOT NULL CHECK (node_id <> ''),
  domain              text COLLATE "C" NOT NULL CHECK (domain IN ('execution', 'commissioning', 'arbitration', 'governance', 'social')),
  score               bigint NOT NULL DEFAULT 0 CHECK (score BETWEEN 0 AND 10000),
  scar_bps            bigint NOT NULL DEFAULT 0 CHECK (scar_bps BETWEEN 0 AND 10000),
  ban_until_epoch     bigint,
  last_activity_epoch bigint NOT NULL CHECK (last_activity_epoch >= 0),
  PRIMARY KEY (node_id, domain),
  CHECK (score <= 10000 - scar_bps)
);

CREATE INDEX idx_reputations_leaderboard
ON reputations (domain, score DESC, node_id, scar_bps, ban_until_epoch, last_activity_epoch);

-- The number that the next event gets.
CREATE FUNCTION next_history_id() RETURNS bigint LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN (SELECT coalesce(max(id), 0) + 1 FROM colibri.reputation_history);
END
$$;

CREATE TABLE reputation_history (
  id       bigint PRIMARY KEY DEFAULT next_history_id(),
  node_id  bytea NOT NULL CHECK (node_id <> ''),
  domain   text COLLATE "C" NOT NULL CHECK (domain IN ('execution', 'commissioning', 'arbitration', 'governance', 'social')),
  epoch    bigint NOT NULL CHECK (epoch >= 0),
  delta    bigint NOT NULL,
  reason   bytea NOT NULL,
  event_id bytea NOT NULL
);

CREATE INDEX idx_history_node ON reputation_history (node_id, domain, epoch, id);
CREATE INDEX idx_history_epoch ON reputation_history (epoch);
CREATE INDEX idx_history_moves ON reputation_history (node_id, domain, epoch, delta) WHERE delta <> 0;

CREATE TABLE experience_tokens (
  rowid         bigint NOT NULL UNIQUE DEFAULT next_rowid('experience_tokens'),
  -- As SQLite's LIKE, which takes either case.
  id            text COLLATE "C" PRIMARY KEY CHECK (id ILIKE 'tok\_%'),
  node_id       text COLLATE "C" NOT NULL CHECK (node_id <> ''),
  level         text COLLATE "C" NOT NULL CHECK (level IN ('L0', 'L1', 'L1.5', 'L2a', 'L2b')),
  domain        text COLLATE "C" NOT NULL CHECK (domain IN ('execution', 'commissioning', 'arbitration', 'governance', 'social')),
  scenario      text COLLATE "C",
  counterparty  text COLLATE "C",
  action        text COLLATE "C" NOT NULL,
  outcome_class text COLLATE "C" NOT NULL,
  outcome_delta bigint NOT NULL,
  witnesses     text COLLATE "C" NOT NULL DEFAULT '[]',
  created_at    bigint NOT NULL,
  promoted_from text COLLATE "C" REFERENCES experience_tokens (id),
  feature_hash  text COLLATE "C" CHECK (length(feature_hash) = 64)
);

CREATE INDEX idx_tokens_node ON experience_tokens (node_id, domain, level);
CREATE INDEX idx_tokens_feature ON experience_tokens (feature_hash);
CREATE INDEX idx_tokens_promoted ON experience_tokens (promoted_from);

CREATE TABLE mcp_witnesses (
  rowid          bigint NOT NULL UNIQUE DEFAULT next_rowid('mcp_witnesses'),
  witness_id     text COLLATE "C" PRIMARY KEY CHECK (witness_id ILIKE 'wit\_%'),
  agent_id       text COLLATE "C" NOT NULL CHECK (agent_id <> ''),
  token_id       text COLLATE "C" NOT NULL REFERENCES experience_tokens (id),
  domain         text COLLATE "C" NOT NULL CHECK (domain IN ('execution', 'commissioning', 'arbitration', 'governance', 'social')),
  reputation_bps bigint NOT NULL CHECK (reputation_bps >= 200),
  weight_cap     bigint NOT NULL CHECK (weight_cap BETWEEN 0 AND 30),
  created_at     bigint NOT NULL
);

CREATE TABLE reputation_ledger (
  history_id        bigint PRIMARY KEY REFERENCES reputation_history (id),
  dedupe_key        text COLLATE "C" NOT NULL UNIQUE,
  kind              text COLLATE "C" NOT NULL CHECK (kind IN ('gain', 'penalty')),
  source            text COLLATE "C" NOT NULL CHECK (source IN ('task', 'session', 'equivocation', 'import')),
  band              text COLLATE "C" CHECK (band IN ('minor', 'moderate', 'severe', 'critical', 'fraud')),
  nominal_delta     bigint NOT NULL,
  acker_id          bytea,
  weight_bps        bigint NOT NULL CHECK (weight_bps BETWEEN 0 AND 10000),
  idle_epochs       bigint NOT NULL CHECK (idle_epochs BETWEEN 0 AND 10000),
  score_before      bigint NOT NULL,
  score_settled     bigint NOT NULL,
  score_after       bigint NOT NULL,
  scar_before       bigint NOT NULL,
  scar_after        bigint NOT NULL,
  ban_after         bigint,
  rule_version_hash text COLLATE "C" NOT NULL CHECK (length(rule_version_hash) = 64),
  prev_hash         text COLLATE "C" NOT NULL UNIQUE CHECK (length(prev_hash) = 64),
  entry_hash        text COLLATE "C" NOT NULL CHECK (length(entry_hash) = 64),
  recorded_at       bigint NOT NULL,
  sequence_no       bigint,
  CHECK ((kind = 'penalty') = (band IS NOT NULL))
);

CREATE TABLE reputation_clock (
  id            bigint PRIMARY KEY CHECK (id = 1),
  epoch_seconds bigint NOT NULL CHECK (epoch_seconds BETWEEN 1 AND 31536000),
  set_at        bigint NOT NULL
);

-- Consensus.
CREATE TABLE mcp_consensus_rounds (
  round_id              bigint PRIMARY KEY,
  merkle_root           bytea NOT NULL CHECK (length(merkle_root) = 32),
  rule_version_hash     bytea NOT NULL CHECK (length(rule_version_hash) = 32),
  prev_merkle_root      bytea NOT NULL CHECK (length(prev_merkle_root) = 32),
  leader                text COLLATE "C" NOT NULL,
  n_arbiters            bigint NOT NULL CHECK (n_arbiters >= 1),
  dispute_window_epochs bigint NOT NULL DEFAULT 100 CHECK (dispute_window_epochs >= 1),
  epoch                 bigint NOT NULL CHECK (epoch >= 1),
  level                 text COLLATE "C" NOT NULL CHECK (level IN ('PENDING', 'SOFT', 'QUORUM', 'HARD', 'ABSOLUTE')),
  sequence_no           bigint
);

CREATE TABLE mcp_consensus_committee (
  round_id   bigint NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  position   bigint NOT NULL CHECK (position >= 0),
  sender_id  text COLLATE "C" NOT NULL,
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  PRIMARY KEY (round_id, position),
  UNIQUE (round_id, sender_id)
);

CREATE TABLE mcp_consensus_votes (
  seq               bigint PRIMARY KEY,
  round_id          bigint NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  sender_id         text COLLATE "C" NOT NULL,
  public_key        bytea NOT NULL CHECK (length(public_key) = 32),
  merkle_root       bytea NOT NULL CHECK (length(merkle_root) = 32),
  rule_version_hash bytea NOT NULL CHECK (length(rule_version_hash) = 32),
  vote_type         text COLLATE "C" NOT NULL CHECK (vote_type IN ('ACCEPT', 'REJECT', 'ABSTAIN')),
  timestamp_logical bigint NOT NULL CHECK (timestamp_logical > 0),
  signature         bytea NOT NULL CHECK (length(signature) = 64),
  origin            text COLLATE "C" NOT NULL CHECK (origin IN ('PROPOSE', 'VOTE')),
  epoch             bigint CHECK (epoch >= 1),
  sequence_no       bigint,
  UNIQUE (sender_id, timestamp_logical)
);

CREATE UNIQUE INDEX ux_consensus_votes_explicit
ON mcp_consensus_votes (round_id, sender_id, merkle_root, rule_version_hash) WHERE origin = 'VOTE';
CREATE INDEX idx_consensus_votes_round ON mcp_consensus_votes (round_id, seq);

CREATE TABLE mcp_consensus_transitions (
  round_id   bigint NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  ordinal    bigint NOT NULL CHECK (ordinal >= 0),
  from_level text COLLATE "C" NOT NULL,
  to_level   text COLLATE "C" NOT NULL,
  epoch      bigint NOT NULL CHECK (epoch >= 1),
  evidence   bytea NOT NULL,
  PRIMARY KEY (round_id, ordinal)
);

CREATE TABLE mcp_consensus_equivocations (
  evidence_hash  bytea PRIMARY KEY CHECK (length(evidence_hash) = 32),
  round_id       bigint NOT NULL REFERENCES mcp_consensus_rounds (round_id),
  sender_id      text COLLATE "C" NOT NULL,
  vote_a_seq     bigint NOT NULL REFERENCES mcp_consensus_votes (seq),
  vote_b_seq     bigint NOT NULL REFERENCES mcp_consensus_votes (seq),
  trigger_seq    bigint NOT NULL REFERENCES mcp_consensus_votes (seq),
  finality_level text COLLATE "C" NOT NULL CHECK (finality_level IN ('PENDING', 'SOFT', 'QUORUM', 'HARD', 'ABSOLUTE')),
  slash_status   text COLLATE "C" NOT NULL DEFAULT 'UNAPPLIED' CHECK (slash_status IN ('UNAPPLIED', 'APPLIED', 'REFUSED')),
  UNIQUE (round_id, sender_id)
);

-- The router's candidates, the operator's to change.
CREATE TABLE mcp_model_candidates (
  model_id               text COLLATE "C" PRIMARY KEY,
  provider               text COLLATE "C" NOT NULL,
  context_window_tokens  bigint NOT NULL,
  latency_tier           text COLLATE "C" NOT NULL CHECK (latency_tier IN ('fast', 'balanced', 'slow')),
  cost_bps_per_kilotoken bigint NOT NULL CHECK (cost_bps_per_kilotoken >= 0),
  domain_fit_profile     bigint NOT NULL CHECK (domain_fit_profile BETWEEN 0 AND 255),
  enabled                bigint NOT NULL DEFAULT 0 CHECK (enabled BETWEEN 0 AND 1)
);

INSERT INTO mcp_model_candidates VALUES
  ('claude-sonnet-3-5', 'anthropic', 200000, 'balanced', 60, 59, 1),
  ('claude-haiku-3-5', 'anthropic', 200000, 'fast', 16, 200, 0),
  ('gpt-4o', 'openai', 128000, 'balanced', 44, 103, 0),
  ('gpt-4o-mini', 'openai', 128000, 'fast', 3, 192, 0),
  ('gemini-1-5-pro', 'google', 1000000, 'slow', 22, 46, 0),
  ('llama-3-3-70b', 'meta', 131072, 'fast', 9, 73, 0),
  ('mixtral-8x22b', 'mistral', 65536, 'balanced', 30, 72, 0),
  ('kimi-k2', 'moonshot', 262144, 'slow', 11, 161, 0);

-- Who calls come from.
CREATE TABLE callers (
  caller_no      bigint PRIMARY KEY,
  boot_id        text COLLATE "C" NOT NULL,
  source         text COLLATE "C" NOT NULL CHECK (source IN ('initialize', 'meta', 'none', 'command', 'many')),
  client_name    bytea,
  client_title   bytea,
  client_version bytea,
  protocol       text COLLATE "C",
  actor          text COLLATE "C",
  os_user        text COLLATE "C" NOT NULL,
  host           text COLLATE "C" NOT NULL,
  pid            bigint NOT NULL CHECK (pid > 0),
  first_seen     text COLLATE "C" NOT NULL,
  sequence_no    bigint NOT NULL
);

CREATE INDEX idx_callers_boot ON callers (boot_id, sequence_no);

-- What happened to each task, and who holds it.
CREATE TABLE task_events (
  task_id     text COLLATE "C" NOT NULL,
  event_no    bigint NOT NULL CHECK (event_no > 0),
  sequence_no bigint,
  task_call   bigint,
  kind        text COLLATE "C" NOT NULL CHECK (
    kind IN ('created', 'migrated', 'changed', 'deleted', 'claimed', 'renewed', 'taken_over', 'released')),
  from_status text COLLATE "C",
  to_status   text COLLATE "C" NOT NULL,
  at          text COLLATE "C" NOT NULL,
  changes     text COLLATE "C" NOT NULL,
  claim_no    bigint,
  agent_id    text COLLATE "C",
  lease_until text COLLATE "C",
  PRIMARY KEY (task_id, event_no)
);

CREATE TABLE task_claims (
  task_id     text COLLATE "C" PRIMARY KEY,
  claim_no    bigint NOT NULL CHECK (claim_no > 0),
  agent_id    text COLLATE "C" NOT NULL CHECK (agent_id <> ''),
  caller_no   bigint NOT NULL,
  claimed_at  text COLLATE "C" NOT NULL,
  lease_until text COLLATE "C" NOT NULL,
  released_at text COLLATE "C",
  sequence_no bigint NOT NULL
);

CREATE TABLE claim_clock (
  id     bigint PRIMARY KEY CHECK (id = 1),
  latest text COLLATE "C" NOT NULL
);

-- Every event, also the one that a task's row and call stand for. The JSON is written piece by piece, because it must be the same
-- text as SQLite's, which has no spaces; PostgreSQL escapes a string in the same way.
CREATE VIEW task_event_list AS
WITH untold AS (
  SELECT t.*, coalesce(e.event_no, 0) + 1 AS event_no,
         e.event_no IS NULL AND EXISTS (
           SELECT 1 FROM enters AS a JOIN callers AS c ON c.boot_id = a.boot_id AND c.sequence_no < a.sequence_no
            WHERE a.sequence_no = t.sequence_no AND a.tool = 'task_create') AS is_creation
    FROM tasks AS t LEFT JOIN task_events AS e
      ON e.task_id = t.id AND e.event_no = (SELECT max(event_no) FROM task_events WHERE task_id = t.id)
   WHERE e.event_no IS NULL OR e.task_call IS DISTINCT FROM t.sequence_no
)
SELECT task_id, event_no, sequence_no, kind, from_status, to_status, at, changes, claim_no, agent_id, lease_until, 1::bigint AS stored
  FROM task_events
UNION ALL
SELECT id, event_no, sequence_no, CASE WHEN is_creation THEN 'created' ELSE 'migrated' END, NULL, status, updated_at,
       '{' || concat_ws(',',
         '"assignee":[null,' || to_json(assignee)::text || ']',
         CASE WHEN NOT is_creation THEN '"created_at":[null,' || to_json(created_at)::text || ']' END,
         '"deleted_at":[null,' || to_json(deleted_at)::text || ']',
         (SELECT '"depends_on":[null,[' || string_agg(to_json(d.depends_on_id)::text, ',' ORDER BY d.rowid) || ']]'
            FROM task_dependencies AS d WHERE d.task_id = untold.id),
         '"description":[null,' || to_json(description)::text || ']',
         '"priority":[null,' || to_json(priority)::text || ']',
         '"project_id":[null,' || to_json(project_id)::text || ']',
         '"title":[null,' || to_json(title)::text || ']') || '}',
       NULL, NULL, NULL, 0
  FROM untold;

-- SQLite's json_each for a JSON array of texts, so that one statement serves both engines. PostgreSQL's own takes json; a parameter
-- without a type is taken for a text.
CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
  SELECT json_array_elements_text(list::json);
END;

-- The triggers that compare rows. They run with the rights and in the session of the server that writes, so each names its tables
-- with the schema and has a search_path of its own: no temporary table or function of a session stands in for one of these.

-- Numbers a record, and refuses it unless it follows the end of its chain and its session is open. The end is the tip, or the last row
-- where there is no tip, which a sound store does not have. A session stays closed while any row of its seal is left.
CREATE FUNCTION thought_records_follow() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF new.seq IS NULL THEN
    new.seq := (SELECT coalesce(max(seq), 0) + 1 FROM colibri.thought_records);
  END IF;
  IF new.session_id IS NOT NULL AND (
    EXISTS (SELECT 1 FROM colibri.merkle_roots WHERE session_id = new.session_id)
    OR EXISTS (SELECT 1 FROM colibri.tree_heads WHERE session_id = new.session_id)
    OR EXISTS (SELECT 1 FROM colibri.merkle_leaves WHERE session_id = new.session_id)
  ) THEN
    RAISE EXCEPTION 'ERR_ALREADY_FINALIZED';
  END IF;
  IF new.prev_hash IS DISTINCT FROM coalesce(
    (SELECT tip_hash FROM colibri.trail_heads WHERE task_id = new.task_id),
    (SELECT hash FROM colibri.thought_records WHERE task_id = new.task_id ORDER BY seq DESC LIMIT 1),
    '0000000000000000000000000000000000000000000000000000000000000000'
  ) THEN
    RAISE EXCEPTION 'thought_records: prev_hash is not the tip of the chain';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER trg_thought_follow BEFORE INSERT ON thought_records
FOR EACH ROW EXECUTE FUNCTION thought_records_follow();

CREATE FUNCTION thought_records_zone_forward() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT (
    CASE coalesce(new.zone, 'hot') WHEN 'hot' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END
      > CASE coalesce(old.zone, 'hot') WHEN 'hot' THEN 0 WHEN 'warm' THEN 1 ELSE 2 END
    AND new.content IS NULL
    AND new.content_hash IS NOT NULL
    AND (old.content_hash IS NULL OR new.content_hash = old.content_hash)
  ) THEN
    RAISE EXCEPTION 'thought_records content may only move forward between retention zones';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER trg_thought_zone_forward BEFORE UPDATE OF content, content_compressed, content_hash, zone ON thought_records
FOR EACH ROW EXECUTE FUNCTION thought_records_zone_forward();

CREATE FUNCTION trail_heads_step() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF new.task_id <> old.task_id OR new.chain_length <> old.chain_length + 1 THEN
    RAISE EXCEPTION 'trail_heads may only advance by one';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER trg_heads_step BEFORE UPDATE ON trail_heads
FOR EACH ROW EXECUTE FUNCTION trail_heads_step();

CREATE FUNCTION reputations_keep() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF new.node_id <> old.node_id OR new.domain <> old.domain OR new.scar_bps < old.scar_bps
    OR new.last_activity_epoch < old.last_activity_epoch THEN
    RAISE EXCEPTION 'reputations: scars are permanent and activity never goes back';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER trg_reputations_keep BEFORE UPDATE ON reputations
FOR EACH ROW EXECUTE FUNCTION reputations_keep();

CREATE FUNCTION task_claims_rise() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF new.claim_no < old.claim_no OR new.task_id <> old.task_id THEN
    RAISE EXCEPTION 'the numbers of claims never go down';
  END IF;
  RETURN new;
END
$$;

CREATE TRIGGER task_claims_rise BEFORE UPDATE ON task_claims
FOR EACH ROW EXECUTE FUNCTION task_claims_rise();

-- The rights. Only the owner may delete, truncate or change what is not named here, and the owner's role serves no calls.
REVOKE ALL ON ALL TABLES IN SCHEMA colibri FROM PUBLIC, colibri_app, colibri_read;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA colibri FROM PUBLIC, colibri_app, colibri_read;
GRANT SELECT ON ALL TABLES IN SCHEMA colibri TO colibri_app, colibri_read;
GRANT EXECUTE ON FUNCTION json_each(text) TO colibri_app, colibri_read;
GRANT EXECUTE ON FUNCTION next_history_id(), next_rowid(text) TO colibri_app;

-- Added to, and never changed.
GRANT INSERT ON
  enters, exits, callers, audit_sessions, merkle_roots, merkle_leaves, tree_heads, tree_head_tips, reputation_history,
  reputation_ledger, reputation_clock, experience_tokens, mcp_consensus_committee, mcp_consensus_votes, mcp_consensus_transitions,
  mcp_consensus_equivocations, task_events
TO colibri_app;

-- Added to, with columns that move: retention's, in thought_records, and those that say how things stand.
GRANT INSERT, UPDATE (zone, content, content_compressed, content_hash) ON thought_records TO colibri_app;
GRANT INSERT, UPDATE (chain_length, tip_id, tip_hash) ON trail_heads TO colibri_app;
GRANT INSERT, UPDATE (title, status, project_id, description, priority, assignee, updated_at, sequence_no) ON tasks TO colibri_app;
GRANT INSERT, UPDATE (claim_no, agent_id, caller_no, claimed_at, lease_until, released_at, sequence_no) ON task_claims TO colibri_app;
GRANT INSERT, UPDATE (latest) ON claim_clock TO colibri_app;
GRANT INSERT, UPDATE (score, scar_bps, ban_until_epoch, last_activity_epoch) ON reputations TO colibri_app;
GRANT INSERT, UPDATE (epoch, level) ON mcp_consensus_rounds TO colibri_app;
GRANT INSERT, UPDATE (lease_until), DELETE ON processes TO colibri_app;

-- What a call takes away again: a task's dependencies, and the index of the skills' files.
GRANT INSERT, DELETE ON task_dependencies TO colibri_app;
GRANT INSERT, DELETE, UPDATE (
  description, version, entrypoint, capabilities, greek_letter, body, source_path, frontmatter_json, loaded_at
) ON skills TO colibri_app;
GRANT INSERT, DELETE, UPDATE (loaded_at, skill_count, digest) ON skill_roots TO colibri_app;
