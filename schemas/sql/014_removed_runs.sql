-- 014: the row of a run that was removed is never given to another: searches (bisect.body) and causes (base_id) name runs by it.
-- A run that is stored again gets its own back.
CREATE TABLE removed_run (
    run_id TEXT PRIMARY KEY,
    id     INTEGER NOT NULL UNIQUE -- what run.id was
) STRICT, WITHOUT ROWID;
