-- 001: the store as first released. Applied once, inside a transaction, when PRAGMA user_version is 0.
-- Times are milliseconds since the epoch (UTC) where they are dates, seconds where they are durations; NULL is
-- "not measured", never 0. Status lists are tested against common/proto.c.

-- What was true of a node and of a job's environment; shared by all runs in which the same was true.
CREATE TABLE environment (
    id     INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64)
) STRICT;

CREATE TABLE fact (
    environment_id INTEGER NOT NULL REFERENCES environment (id) ON DELETE CASCADE,
    key            TEXT NOT NULL,
    value          TEXT NOT NULL,
    PRIMARY KEY (environment_id, key)
) STRICT, WITHOUT ROWID;

-- Plans as they were run, by content.
CREATE TABLE document (
    id     INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
    body   TEXT NOT NULL
) STRICT;

CREATE TABLE run (
    id               INTEGER PRIMARY KEY,
    run_id           TEXT NOT NULL UNIQUE,
    ticket           TEXT NOT NULL,
    tag              TEXT NOT NULL DEFAULT '',
    date             TEXT NOT NULL CHECK (date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    node             TEXT NOT NULL,
    mode             TEXT NOT NULL CHECK (mode IN ('perf', 'debug')),
    origin           TEXT NOT NULL CHECK (origin IN ('bundle', 'b3_89', 'import')),
    status           TEXT NOT NULL CHECK (status IN ('COMPLETE', 'PARTIAL', 'BLOCKED', 'CANCELLED')),
    content_sha256   TEXT NOT NULL CHECK (length(content_sha256) = 64),
    plan_sha256      TEXT CHECK (length(plan_sha256) = 64),
    source_sha256    TEXT CHECK (length(source_sha256) = 64),
    started_at       INTEGER,
    ended_at         INTEGER,
    ordered_at       INTEGER NOT NULL, -- started_at, or the date's midnight: what "newest" means
    wall_s           REAL,
    environment_id   INTEGER REFERENCES environment (id),
    plan_document_id INTEGER REFERENCES document (id),
    bundle           TEXT,
    ingested_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX run_by_plan ON run (node, ticket, mode, ordered_at);
CREATE INDEX run_by_time ON run (ordered_at);

CREATE TABLE variant (
    run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    attn_impl     TEXT NOT NULL DEFAULT '',
    status        TEXT NOT NULL CHECK (status IN
                      ('OK', 'FAIL', 'TIMEOUT', 'HANG', 'OOM', 'CRASH', 'INVALID', 'SKIPPED', 'CANCELLED',
                       'INTERRUPTED', 'BUILD_FAILED', 'GATE_FAILED')),
    reason        TEXT,
    build_wall_s  REAL,
    build_cached  INTEGER NOT NULL DEFAULT 0 CHECK (build_cached IN (0, 1)),
    scratch_bytes INTEGER,
    vgprs         INTEGER,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- A cell over all its nights.
CREATE TABLE series (
    id          INTEGER PRIMARY KEY,
    node        TEXT NOT NULL,
    ticket      TEXT NOT NULL,
    mode        TEXT NOT NULL,
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL CHECK (context_len >= 0),
    UNIQUE (node, ticket, mode, variant, context_len)
) STRICT;

CREATE TABLE test (
    id              INTEGER PRIMARY KEY,
    run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    series_id       INTEGER NOT NULL REFERENCES series (id),
    repetition      INTEGER NOT NULL CHECK (repetition >= 0),
    test_index      INTEGER,
    warmup          INTEGER NOT NULL CHECK (warmup IN (0, 1)),
    status          TEXT NOT NULL CHECK (status IN
                        ('OK', 'FAIL', 'TIMEOUT', 'HANG', 'OOM', 'CRASH', 'INVALID', 'SKIPPED', 'CANCELLED',
                         'INTERRUPTED', 'BUILD_FAILED', 'GATE_FAILED')),
    prefill_s       REAL CHECK (prefill_s > 0),
    wall_s          REAL CHECK (wall_s >= 0),
    model_load_s    REAL,
    tokenize_s      REAL,
    decode_s        REAL,
    kernel_ms       REAL,
    tflops          REAL,
    vram_before     INTEGER,
    vram_peak       INTEGER,
    vram_after      INTEGER,
    vram_max_gap_ms REAL,
    rss_peak        INTEGER,
    cpu_user_s      REAL,
    cpu_system_s    REAL,
    timeout_s       REAL,
    started_at      INTEGER,
    prompt_tokens   INTEGER,
    exit_code       INTEGER,
    signal          INTEGER,
    samples         INTEGER,
    attn_impl       TEXT, -- NULL: the variant's
    reason          TEXT,
    UNIQUE (run_id, series_id, repetition)
) STRICT;
-- What the history of a cell reads, and nothing else: one pass, no look-up in the table.
CREATE INDEX test_measured ON test (series_id, run_id, prefill_s) WHERE status = 'OK' AND warmup = 0;

-- Numbers of a workload that have no column of their own.
CREATE TABLE quantity (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE extra (
    test_id     INTEGER NOT NULL REFERENCES test (id) ON DELETE CASCADE,
    quantity_id INTEGER NOT NULL REFERENCES quantity (id),
    value       REAL NOT NULL,
    PRIMARY KEY (test_id, quantity_id)
) STRICT, WITHOUT ROWID;

-- Samples of a test, packed by results/samples_pack.c.
CREATE TABLE telemetry (
    test_id INTEGER PRIMARY KEY REFERENCES test (id) ON DELETE CASCADE,
    samples INTEGER NOT NULL CHECK (samples > 0),
    packed  BLOB NOT NULL
) STRICT;

CREATE TABLE baseline (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    node       TEXT NOT NULL,
    ticket     TEXT NOT NULL,
    mode       TEXT NOT NULL,
    set_at     INTEGER NOT NULL,
    removed_at INTEGER, -- kept, so that a plan that still names it can be told when it went
    UNIQUE (name, node, ticket, mode)
) STRICT;

CREATE TABLE baseline_run (
    baseline_id INTEGER NOT NULL REFERENCES baseline (id) ON DELETE CASCADE,
    run_id      INTEGER NOT NULL REFERENCES run (id),
    set_at      INTEGER NOT NULL,
    PRIMARY KEY (baseline_id, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_run_by_run ON baseline_run (run_id);
