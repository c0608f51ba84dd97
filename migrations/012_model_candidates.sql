-- The router's candidates (delta §9.2), the operator's to change: read once at the start, and only when
-- COLIBRI_ROUTER_CANDIDATES says `db`. Costs are blended list prices in basis points of a dollar per 1,000 tokens.

CREATE TABLE IF NOT EXISTS mcp_model_candidates (
  model_id               TEXT NOT NULL PRIMARY KEY,
  provider               TEXT NOT NULL,
  context_window_tokens  INTEGER NOT NULL,
  latency_tier           TEXT NOT NULL CHECK (
    CASE latency_tier WHEN 'fast' THEN 1 WHEN 'balanced' THEN 1 WHEN 'slow' THEN 1 ELSE 0 END),
  cost_bps_per_kilotoken INTEGER NOT NULL CHECK (cost_bps_per_kilotoken >= 0),
  -- A bit for each of the eight domains of delta §8.2.
  domain_fit_profile     INTEGER NOT NULL CHECK (domain_fit_profile BETWEEN 0 AND 255),
  enabled                INTEGER NOT NULL DEFAULT 0 CHECK (enabled BETWEEN 0 AND 1)
) STRICT;

INSERT OR IGNORE INTO mcp_model_candidates VALUES
  ('claude-sonnet-3-5', 'anthropic', 200000, 'balanced', 60, 59, 1),
  ('claude-haiku-3-5', 'anthropic', 200000, 'fast', 16, 200, 0),
  ('gpt-4o', 'openai', 128000, 'balanced', 44, 103, 0),
  ('gpt-4o-mini', 'openai', 128000, 'fast', 3, 192, 0),
  ('gemini-1-5-pro', 'google', 1000000, 'slow', 22, 46, 0),
  ('llama-3-3-70b', 'meta', 131072, 'fast', 9, 73, 0),
  ('mixtral-8x22b', 'mistral', 65536, 'balanced', 30, 72, 0),
  ('kimi-k2', 'moonshot', 262144, 'slow', 11, 161, 0);
