-- 002: the noise floor of a cell as an A/A sweep (`kernsweep noise`) measured it; the newest one counts.
CREATE TABLE noise (
    series_id   INTEGER NOT NULL REFERENCES series (id),
    metric      TEXT NOT NULL,
    spread      REAL NOT NULL CHECK (spread >= 0), -- relative standard deviation between runs of the same build
    runs        INTEGER NOT NULL CHECK (runs >= 2),
    measured_at INTEGER NOT NULL,
    PRIMARY KEY (series_id, metric)
) STRICT, WITHOUT ROWID;
