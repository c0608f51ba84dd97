-- The skill registry (epsilon §9.2): an index of SKILL.md files, written by each start. The files are the truth.

CREATE TABLE skills (
  name             TEXT NOT NULL PRIMARY KEY,
  description      TEXT NOT NULL,
  version          TEXT,
  entrypoint       TEXT,
  -- A JSON array in the file's order.
  capabilities     TEXT NOT NULL DEFAULT '[]',
  greek_letter     TEXT,
  body             TEXT NOT NULL,
  source_path      TEXT NOT NULL,
  frontmatter_json TEXT NOT NULL,
  loaded_at        TEXT NOT NULL
) STRICT;

CREATE INDEX idx_skills_greek ON skills (greek_letter);

-- One row: what the last load wrote, so that rows changed since are noticed.
CREATE TABLE skill_index (
  id          INTEGER PRIMARY KEY CHECK (id = 1),
  loaded_at   TEXT NOT NULL,
  skill_count INTEGER NOT NULL CHECK (skill_count >= 0),
  digest      TEXT NOT NULL CHECK (length(digest) = 64)
) STRICT;
