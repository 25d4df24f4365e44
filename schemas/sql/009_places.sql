-- 009: where a test ran on its machine, what ran beside it, sweeps of several nodes, and the axes of a variant.

-- The GPU's own id (UUID, unique id, else its PCI address); several are joined by '+', sorted. NULL: unknown.
ALTER TABLE test ADD COLUMN gpu TEXT;
ALTER TABLE test ADD COLUMN gpu_mode TEXT; -- partition and memory mode, "SPX/NPS1"; NULL: none known
ALTER TABLE test ADD COLUMN beside INTEGER; -- most tests of the same run that were in flight on other GPUs meanwhile; NULL: unknown
CREATE INDEX test_by_gpu ON test (gpu, series_id) WHERE gpu IS NOT NULL;
-- A history reads a series night by night and GPU by GPU, the prefill from this index alone.
DROP INDEX test_measured;
CREATE INDEX test_measured ON test (series_id, run_id, gpu, gpu_mode, prefill_s) WHERE status = 'OK' AND warmup = 0;

-- What one command started on several nodes at once; NULL: a run of its own.
ALTER TABLE run ADD COLUMN sweep TEXT;

-- The values of the plan's axes, a JSON object; NULL without axes. The name is the plan's, with what distinguishes the point.
ALTER TABLE variant ADD COLUMN axes TEXT;

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
