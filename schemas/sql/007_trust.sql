-- 007: what a run was made for, whether it may be believed, the code that its variants ran, and metrics of the user's own.
ALTER TABLE run ADD COLUMN purpose TEXT NOT NULL DEFAULT 'sweep'
    CHECK (purpose IN ('sweep', 'confirm', 'noise', 'bisect'));
UPDATE run SET purpose = 'confirm' WHERE tag = 'confirm';
UPDATE run SET purpose = 'noise' WHERE tag = 'noise';

-- A rejected run is kept and shown, and never compared. NULL: not rejected.
ALTER TABLE run ADD COLUMN rejected_at INTEGER;
ALTER TABLE run ADD COLUMN rejected_why TEXT;

-- What the reading of an import or of a foreign folder depended on besides the files themselves (mapping, node, log).
ALTER TABLE run ADD COLUMN reading_sha256 TEXT;
ALTER TABLE run ADD COLUMN reading TEXT; -- the same as text, one "name value" per line, to say what differs

-- Code identity: a hash of the device code that the build of a variant contains ('device'), or of the files that it built
-- ('files'); NULL where no executor recorded it.
ALTER TABLE variant ADD COLUMN code_sha256 TEXT;
ALTER TABLE variant ADD COLUMN code_kind TEXT CHECK (code_kind IN ('device', 'files'));

-- The same, per kernel, where symbols tell the kernels of a build apart.
CREATE TABLE kernel_code (
    run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    variant INTEGER NOT NULL, -- variant.position
    kernel  TEXT NOT NULL,
    sha256  TEXT NOT NULL CHECK (length(sha256) = 64),
    PRIMARY KEY (run_id, variant, kernel)
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
