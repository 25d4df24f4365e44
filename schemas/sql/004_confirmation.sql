-- 004: what measuring a suspect again, in turns with the base's build, said of it. Kept, so that every later comparison of the
-- two runs says the same.
CREATE TABLE confirmation (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    base_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL,
    outcome     TEXT NOT NULL CHECK (outcome IN ('confirmed', 'refuted', 'node', 'undecided')),
    reason      TEXT NOT NULL,
    PRIMARY KEY (run_id, base_id, variant, context_len)
) STRICT, WITHOUT ROWID;
