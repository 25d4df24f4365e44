-- 003: what a report shows of a run beside its numbers: the gates its variants met, and the files of the bundle
-- that belong to the run or to a variant (those of single tests are named by the bundle's manifest).
CREATE TABLE gate (
    run_id   INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant  INTEGER NOT NULL, -- variant.position
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,
    status   TEXT NOT NULL CHECK (status IN ('OK', 'GATE_FAILED')),
    reason   TEXT,
    wall_s   REAL,
    PRIMARY KEY (run_id, variant, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE file (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    path        TEXT NOT NULL,
    size        INTEGER NOT NULL CHECK (size >= 0),
    sha256      TEXT NOT NULL CHECK (length(sha256) = 64),
    document_id INTEGER REFERENCES document (id), -- the contents of a resources.json
    PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;
