-- The skill registry by root (epsilon §9.2): servers that share a database may have skills of their own, and no start
-- touches those of another directory. Rows from before have the root '', until the next start removes them.

CREATE TABLE skill_roots (
  -- The directory's true absolute path.
  root        TEXT NOT NULL PRIMARY KEY,
  -- What the last load of this root wrote, so that rows changed since are noticed.
  loaded_at   TEXT NOT NULL,
  skill_count INTEGER NOT NULL CHECK (skill_count >= 0),
  digest      TEXT NOT NULL CHECK (length(digest) = 64)
) STRICT;

INSERT INTO skill_roots (root, loaded_at, skill_count, digest) SELECT '', loaded_at, skill_count, digest FROM skill_index;
DROP TABLE skill_index;

DROP INDEX idx_skills_greek;
ALTER TABLE skills RENAME TO skills_of_one_root;

CREATE TABLE skills (
  root             TEXT NOT NULL,
  name             TEXT NOT NULL,
  description      TEXT NOT NULL,
  version          TEXT,
  entrypoint       TEXT,
  -- A JSON array in the file's order.
  capabilities     TEXT NOT NULL DEFAULT '[]',
  greek_letter     TEXT,
  body             TEXT NOT NULL,
  source_path      TEXT NOT NULL,
  frontmatter_json TEXT NOT NULL,
  loaded_at        TEXT NOT NULL,
  PRIMARY KEY (root, name)
) STRICT;

INSERT INTO skills (root, name, description, version, entrypoint, capabilities, greek_letter, body, source_path, frontmatter_json, loaded_at)
  SELECT '', name, description, version, entrypoint, capabilities, greek_letter, body, source_path, frontmatter_json, loaded_at
  FROM skills_of_one_root;
DROP TABLE skills_of_one_root;

CREATE INDEX idx_skills_greek ON skills (greek_letter);
