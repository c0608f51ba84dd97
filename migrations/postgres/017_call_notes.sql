-- What 017 makes in SQLite: what was learned about calls beside their outcomes. Types and rights are as 015_base.sql explains them. No text
-- here may hold U+0000: kinds have fixed forms, and JSON escapes it.

CREATE TABLE call_notes (
  note_no     bigint PRIMARY KEY,
  about       bigint NOT NULL CHECK (about > 0),
  kind        text COLLATE "C" NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  noted_at    text COLLATE "C" NOT NULL,
  sequence_no bigint NOT NULL,
  body        text COLLATE "C" NOT NULL
);

CREATE INDEX idx_call_notes_about ON call_notes (about, note_no);

-- The rights: added to, and never changed.
REVOKE ALL ON call_notes FROM PUBLIC, colibri_app, colibri_read;
GRANT SELECT ON call_notes TO colibri_app, colibri_read;
GRANT INSERT ON call_notes TO colibri_app;
