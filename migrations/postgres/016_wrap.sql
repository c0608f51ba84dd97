-- What 016 makes in SQLite: the servers that `colibri wrap` passes calls on to, and the lists of tools that were pinned. Types and
-- rights are as 015_base.sql explains them. No text here may hold U+0000: names and hashes have fixed forms, a program is a file's
-- name, and JSON escapes it.

-- A start of `colibri wrap`: whose calls a boot id's are, and under which policy they ran.
CREATE TABLE wrap_runs (
  run_no       bigint PRIMARY KEY,
  run_id       text COLLATE "C" NOT NULL UNIQUE,
  boot_id      text COLLATE "C" NOT NULL UNIQUE,
  name         text COLLATE "C" NOT NULL,
  program      text COLLATE "C" NOT NULL,
  command_hash text COLLATE "C" NOT NULL,
  pin          text COLLATE "C" NOT NULL CHECK (pin IN ('warn', 'refuse', 'off')),
  read_only    bigint NOT NULL CHECK (read_only BETWEEN 0 AND 1),
  allow        text COLLATE "C" NOT NULL,
  deny         text COLLATE "C" NOT NULL,
  session_id   text COLLATE "C",
  started_at   text COLLATE "C" NOT NULL,
  sequence_no  bigint NOT NULL
);

-- Lists of tools as they were seen, and which of them were accepted.
CREATE TABLE tool_pins (
  pin_no      bigint PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  event       text COLLATE "C" NOT NULL CHECK (event IN ('pinned', 'seen', 'accepted')),
  list_hash   text COLLATE "C" NOT NULL,
  tools       bigint NOT NULL CHECK (tools >= 0),
  run_id      text COLLATE "C" REFERENCES wrap_runs (run_id),
  recorded_at text COLLATE "C" NOT NULL,
  sequence_no bigint NOT NULL,
  list        text COLLATE "C",
  CHECK ((event = 'accepted') = (list IS NULL) AND (event = 'accepted') = (run_id IS NULL))
);

CREATE UNIQUE INDEX idx_tool_pins_list ON tool_pins (name, list_hash) WHERE list IS NOT NULL;
CREATE INDEX idx_tool_pins_name ON tool_pins (name, pin_no);

-- The rights: added to, and never changed.
REVOKE ALL ON wrap_runs, tool_pins FROM PUBLIC, colibri_app, colibri_read;
GRANT SELECT ON wrap_runs, tool_pins TO colibri_app, colibri_read;
GRANT INSERT ON wrap_runs, tool_pins TO colibri_app;
