-- What was learned about a call beside its outcome (chain#notes): that its client had withdrawn it, that it goes on with an earlier one, how
-- a task that it began has ended. `actions` stays as it is. Each row is written by a call of the operation call_note, whose reply commits
-- to it. Later versions may add kinds, so the column has no list of them.

CREATE TABLE call_notes (
  -- 1, 2, 3, … without gaps.
  note_no     INTEGER PRIMARY KEY,
  -- The number of the call that the note is about.
  about       INTEGER NOT NULL CHECK (about > 0),
  kind        TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
  noted_at    TEXT NOT NULL,
  -- The call of call_note that wrote the row.
  sequence_no INTEGER NOT NULL,
  -- Canonical JSON of an object: what the kind says.
  body        TEXT NOT NULL
) STRICT;

CREATE INDEX idx_call_notes_about ON call_notes (about, note_no);

CREATE TRIGGER call_notes_fixed BEFORE UPDATE ON call_notes
BEGIN
  SELECT RAISE(FAIL, 'call_notes is append-only');
END;

CREATE TRIGGER call_notes_keep BEFORE DELETE ON call_notes
BEGIN
  SELECT RAISE(FAIL, 'call_notes is append-only');
END;
