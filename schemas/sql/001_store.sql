-- 001: the store. Applied once, inside a transaction, when PRAGMA user_version is 0.
-- Times are milliseconds since the epoch (UTC) where they are dates, seconds where they are durations; NULL is
-- "not measured", never 0. Status lists are tested against common/contract/proto.c.

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

-- Plans as they were run, and resources of builds, by content.
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
    node             TEXT NOT NULL, -- what its figures are compared under: a machine, or a class of equal ones
    mode             TEXT NOT NULL CHECK (mode IN ('perf', 'debug')),
    purpose          TEXT NOT NULL DEFAULT 'sweep' CHECK (purpose IN ('sweep', 'confirm', 'noise', 'bisect', 'ab', 'search')),
    origin           TEXT NOT NULL CHECK (origin IN ('bundle', 'b3_89', 'import')),
    status           TEXT NOT NULL CHECK (status IN ('COMPLETE', 'PARTIAL', 'BLOCKED', 'CANCELLED')),
    sweep            TEXT, -- shared by what one command started on several nodes at once; NULL: a run of its own
    content_sha256   TEXT NOT NULL CHECK (length(content_sha256) = 64),
    plan_sha256      TEXT CHECK (length(plan_sha256) = 64),
    source_sha256    TEXT CHECK (length(source_sha256) = 64),
    -- What the reading of an import or of a foreign folder depended on besides the files (mapping, node, log): its hash, and
    -- the same as text, one "name value" per line, to say what differs.
    reading_sha256   TEXT,
    reading          TEXT,
    started_at       INTEGER,
    ended_at         INTEGER,
    ordered_at       INTEGER NOT NULL, -- started_at, or the date's midnight: what "newest" means
    wall_s           REAL,
    without_result   INTEGER NOT NULL DEFAULT 0 CHECK (without_result >= 0), -- tests that were to run and have no artifact
    environment_id   INTEGER REFERENCES environment (id),
    plan_document_id INTEGER REFERENCES document (id),
    bundle           TEXT,
    ingested_at      INTEGER NOT NULL,
    rejected_at      INTEGER, -- a rejected run is kept and shown, and never compared; NULL: not rejected
    rejected_why     TEXT
) STRICT;
CREATE INDEX run_by_plan ON run (node, ticket, mode, ordered_at);
CREATE INDEX run_by_time ON run (ordered_at);

-- The row of a run that was removed is never given to another: searches (bisect.body) and causes (base_id) name runs by it.
-- A run that is stored again gets its own back.
CREATE TABLE removed_run (
    run_id TEXT PRIMARY KEY,
    id     INTEGER NOT NULL UNIQUE -- what run.id was
) STRICT, WITHOUT ROWID;

-- The commit that the sources of a run were taken from. No row: it is not known.
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

CREATE TABLE variant (
    run_id        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    attn_impl     TEXT NOT NULL DEFAULT '',
    -- Which of the plan's variants this one is, at which point ("b4h1"), and the values of the axes there, a JSON object. NULL
    -- without shapes and axes. The run's own variants are set against each other point by point.
    kernel        TEXT,
    shape         TEXT,
    axes          TEXT,
    status        TEXT NOT NULL CHECK (status IN
                      ('OK', 'FAIL', 'TIMEOUT', 'HANG', 'OOM', 'CRASH', 'INVALID', 'SKIPPED', 'CANCELLED',
                       'INTERRUPTED', 'BUILD_FAILED', 'GATE_FAILED')),
    reason        TEXT,
    build_wall_s  REAL,
    build_cached  INTEGER NOT NULL DEFAULT 0 CHECK (build_cached IN (0, 1)),
    scratch_bytes INTEGER,
    vgprs         INTEGER,
    -- Code identity: a hash of the device code that the build contains ('device'), or of the files that it made ('files').
    code_sha256   TEXT,
    code_kind     TEXT CHECK (code_kind IN ('device', 'files')),
    -- Of its container, as the plan names it, and the digest that its engine knew it by on the node; 'several': its tests ran
    -- on nodes with different images of that name.
    image         TEXT,
    image_digest  TEXT,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- Code identity, resources and instructions per kernel, where symbols tell the kernels of a build apart.
CREATE TABLE kernel_code (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant INTEGER NOT NULL, -- variant.position
    kernel  TEXT NOT NULL,
    sha256  TEXT NOT NULL CHECK (length(sha256) = 64),
    facts   TEXT, -- as common/contract/kernel_facts.h encodes them: a JSON object
    PRIMARY KEY (run_id, variant, kernel)
) STRICT, WITHOUT ROWID;

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

-- The gates that a variant met.
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

-- The files of the bundle that belong to the run or to a variant; those of single tests are named by the bundle's manifest.
CREATE TABLE file (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    path        TEXT NOT NULL,
    size        INTEGER NOT NULL CHECK (size >= 0),
    sha256      TEXT NOT NULL CHECK (length(sha256) = 64),
    document_id INTEGER REFERENCES document (id), -- the contents of a resources.json
    PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

-- Metrics that a plan or a mapping defines. Their values are in table `extra`, under the same name.
CREATE TABLE run_metric (
    run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,
    unit       TEXT NOT NULL DEFAULT '',
    better     TEXT NOT NULL DEFAULT 'less' CHECK (better IN ('less', 'more')),
    least      REAL NOT NULL DEFAULT 0 CHECK (least >= 0),
    is_primary INTEGER NOT NULL DEFAULT 0 CHECK (is_primary IN (0, 1)),
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- Cells that a run was asked to measure and has no test of: what its comparisons call missing.
CREATE TABLE unmeasured (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL,
    PRIMARY KEY (run_id, variant, context_len)
) STRICT, WITHOUT ROWID;

-- The cells of a run that measures what changed: what decided what their tests measured, as a hash; NULL: unknown. A row with
-- left_out is of a cell that was not measured: nothing had changed, or the budget did not suffice. measured_on: when it last was.
CREATE TABLE fingerprint (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL,
    sha256      TEXT CHECK (length(sha256) = 64),
    left_out    TEXT CHECK (left_out = 'unchanged' OR left_out = 'budget'),
    measured_on TEXT CHECK (measured_on GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    PRIMARY KEY (run_id, variant, context_len)
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

-- The words that a test may have are compared one by one: of a list of more than two, SQLite makes a temporary table for every
-- row that is stored, which takes a fifth of an ingest.
CREATE TABLE test (
    id              INTEGER PRIMARY KEY,
    run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    series_id       INTEGER NOT NULL REFERENCES series (id),
    repetition      INTEGER NOT NULL CHECK (repetition >= 0),
    test_index      INTEGER,
    warmup          INTEGER NOT NULL CHECK (warmup IN (0, 1)),
    status          TEXT NOT NULL CHECK (status = 'OK' OR status = 'FAIL' OR status = 'TIMEOUT' OR status = 'HANG' OR
                        status = 'OOM' OR status = 'CRASH' OR status = 'INVALID' OR status = 'SKIPPED' OR
                        status = 'CANCELLED' OR status = 'INTERRUPTED' OR status = 'BUILD_FAILED' OR status = 'GATE_FAILED'),
    reason          TEXT,
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
    -- Where it ran: the machine; the GPU's own id (UUID, unique id, else its PCI address), several joined by '+', sorted; its
    -- partition and memory mode ("SPX/NPS1"); what held it together; the most tests of the run in flight on other GPUs meanwhile.
    host            TEXT,
    gpu             TEXT,
    gpu_mode        TEXT,
    contained       TEXT CHECK (contained = 'cgroup' OR contained = 'scope' OR contained = 'group' OR contained = 'container'),
    beside          INTEGER,
    compiled        INTEGER, -- files that it added to its build's caches of compiled kernels
    -- What the card did over the part of the test that activity_window names.
    activity_window TEXT CHECK (activity_window = 'timed' OR activity_window = 'busy' OR activity_window = 'test'),
    sclk_mhz        REAL,    -- mean
    sclk_p5_mhz     REAL,    -- 5th percentile
    mclk_mhz        REAL,
    mclk_p5_mhz     REAL,
    power_w         REAL,    -- mean
    temp_c          REAL,    -- hottest
    throttled_s     REAL,    -- how long any reason to throttle held; 0: none, NULL: not available
    throttle        TEXT,    -- the reasons, separated by spaces
    joules          REAL,
    joules_from     TEXT CHECK (joules_from IN ('accumulator', 'power')),
    neighbours      INTEGER, -- most processes of others seen on the GPU
    UNIQUE (run_id, series_id, repetition)
) STRICT;
-- What the history of a cell reads, night by night and GPU by GPU, the prefill from this index alone.
CREATE INDEX test_measured ON test (series_id, run_id, gpu, gpu_mode, prefill_s) WHERE status = 'OK' AND warmup = 0;
-- Whether a run's tests ran on several GPUs: the first and the last, without reading its tests.
CREATE INDEX test_by_place ON test (run_id, gpu) WHERE gpu IS NOT NULL;
-- How many tests of a run were not OK: almost none, so that this is almost empty.
CREATE INDEX test_not_ok ON test (run_id, status) WHERE status <> 'OK';

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

-- Samples of a test, packed by results/store/samples_pack.c.
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

-- Findings that somebody accepted: what the cell had in this run is expected from then on. variant '': what all cells have in
-- common. The run is named, since its row is made anew when its bundle is ingested again.
CREATE TABLE acceptance (
    run_id      TEXT NOT NULL,
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL,
    metric      TEXT NOT NULL,
    who         TEXT NOT NULL,
    reason      TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, variant, context_len, metric)
) STRICT, WITHOUT ROWID;

-- What a person wrote about a run or, where run_id is '', about a ticket as such. The run is named, as in acceptance.
CREATE TABLE note (
    ticket   TEXT NOT NULL,
    run_id   TEXT NOT NULL,
    section  TEXT NOT NULL CHECK (section IN ('findings', 'hypotheses', 'rejected', 'decision', 'next', 'remarks')),
    lang     TEXT NOT NULL CHECK (lang IN ('en', 'es')),
    who      TEXT NOT NULL,
    noted_at INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (ticket, run_id, section, lang)
) STRICT, WITHOUT ROWID;

-- The noise floor of a cell as an A/A sweep (`kernsweep noise`) measured it; the newest one counts.
CREATE TABLE noise (
    series_id   INTEGER NOT NULL REFERENCES series (id),
    metric      TEXT NOT NULL,
    spread      REAL NOT NULL CHECK (spread >= 0), -- relative standard deviation between runs of the same build
    runs        INTEGER NOT NULL CHECK (runs >= 2),
    measured_at INTEGER NOT NULL,
    PRIMARY KEY (series_id, metric)
) STRICT, WITHOUT ROWID;

-- How much slower a cell is with all GPUs of its node at work than alone (`kernsweep noise --gpus`).
CREATE TABLE together (
    series_id   INTEGER NOT NULL REFERENCES series (id),
    metric      TEXT NOT NULL,
    ratio       REAL NOT NULL CHECK (ratio > 0), -- together / alone
    low         REAL,                            -- its interval; NULL with too few tests
    high        REAL,
    gpus        INTEGER NOT NULL CHECK (gpus >= 2), -- at work at once
    measured_at INTEGER NOT NULL,
    PRIMARY KEY (series_id, metric)
) STRICT, WITHOUT ROWID;

-- What measuring a suspect again, in alternation with the base's build, said of it. Kept, so that every later comparison of the two
-- runs says the same.
CREATE TABLE confirmation (
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    base_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant     TEXT NOT NULL,
    context_len INTEGER NOT NULL,
    outcome     TEXT NOT NULL CHECK (outcome IN ('confirmed', 'refuted', 'node', 'undecided')),
    reason      TEXT NOT NULL,
    ratio       REAL, -- now / base, as measured alternately
    PRIMARY KEY (run_id, base_id, variant, context_len)
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
    outcome    TEXT CHECK (outcome IN ('found', 'range', 'not_reproducible', 'undecided', 'stopped')),
    body       TEXT NOT NULL -- a JSON object: cells, steps with their runs and verdicts, skipped commits, the answer
) STRICT;
