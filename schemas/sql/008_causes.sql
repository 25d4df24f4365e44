-- 008: what explains a change: the commit of the sources, what the card did while a test ran, the resources and instructions
-- of each kernel, counters of a profiler, and the causes that were found.

-- The commit that the sources of a run were taken from. No row: not in a git work tree, or recorded by an older version.
CREATE TABLE run_revision (
    run_id      INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    commit_id   TEXT NOT NULL CHECK (length(commit_id) IN (40, 64)),
    branch      TEXT NOT NULL DEFAULT '', -- '' for a detached head
    subject     TEXT NOT NULL DEFAULT '',
    authored_at INTEGER,
    dirty       INTEGER NOT NULL CHECK (dirty IN (0, 1)),
    dirty_files TEXT NOT NULL DEFAULT '' -- one path per line, the first few
) STRICT;

-- Commits that were known to some run, each with its parents, so that the commits between two nights can be named offline.
CREATE TABLE git_commit (
    commit_id   TEXT PRIMARY KEY CHECK (length(commit_id) IN (40, 64)),
    parents     TEXT NOT NULL DEFAULT '', -- ids, separated by spaces
    subject     TEXT NOT NULL DEFAULT '',
    author      TEXT NOT NULL DEFAULT '',
    authored_at INTEGER
) STRICT, WITHOUT ROWID;

-- What the card did over the timed part of a test.
ALTER TABLE test ADD COLUMN sclk_mhz REAL;        -- mean
ALTER TABLE test ADD COLUMN sclk_p5_mhz REAL;     -- 5th percentile
ALTER TABLE test ADD COLUMN mclk_mhz REAL;
ALTER TABLE test ADD COLUMN mclk_p5_mhz REAL;
ALTER TABLE test ADD COLUMN power_w REAL;         -- mean
ALTER TABLE test ADD COLUMN temp_c REAL;          -- hottest
ALTER TABLE test ADD COLUMN throttled_s REAL;     -- how long any reason to throttle held; 0: none, NULL: not available
ALTER TABLE test ADD COLUMN throttle TEXT;        -- the reasons, separated by spaces
ALTER TABLE test ADD COLUMN joules REAL;
ALTER TABLE test ADD COLUMN joules_from TEXT CHECK (joules_from IN ('accumulator', 'power'));
ALTER TABLE test ADD COLUMN neighbours INTEGER;   -- most processes of others seen on the GPU
ALTER TABLE test ADD COLUMN activity_window TEXT CHECK (activity_window IN ('timed', 'busy', 'test')); -- what all of these are of

-- Resources and instructions of a kernel, as common/contract/kernel_facts.h encodes them: a JSON object.
ALTER TABLE kernel_code ADD COLUMN facts TEXT;

-- What a profiler counted in one untimed test, per kernel.
CREATE TABLE counter (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant     INTEGER NOT NULL, -- variant.position
    context_len INTEGER NOT NULL,
    kernel      TEXT NOT NULL,
    name        TEXT NOT NULL,
    unit        TEXT NOT NULL DEFAULT '',
    value       REAL NOT NULL,
    PRIMARY KEY (run_id, variant, context_len, kernel, name)
) STRICT, WITHOUT ROWID;

-- What explains the changes that a comparison found. variant '': what all cells have in common.
CREATE TABLE cause (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    base_id     INTEGER NOT NULL, -- the run that it was compared with; 0: the nights before
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL,
    position    INTEGER NOT NULL, -- the strongest first
    kind        TEXT NOT NULL CHECK (kind IN
                    ('code', 'toolchain', 'environment', 'clock', 'node', 'neighbours', 'method', 'unexplained')),
    certainty   TEXT NOT NULL CHECK (certainty IN ('coincides', 'established')),
    share       REAL,          -- of the change, as far as it can be computed
    evidence    TEXT NOT NULL, -- a JSON object
    PRIMARY KEY (run_id, base_id, variant, context_len, position)
) STRICT, WITHOUT ROWID;

-- A search for the commit that made something slower: its request, each commit that was tried, and its answer.
CREATE TABLE bisect (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    ticket     TEXT NOT NULL,
    node       TEXT NOT NULL,
    good       TEXT NOT NULL,
    bad        TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    outcome    TEXT CHECK (outcome IN ('found', 'range', 'not_reproducible', 'stopped')),
    body       TEXT NOT NULL -- a JSON object: cells, steps with their runs and verdicts, skipped commits, the answer
) STRICT;
