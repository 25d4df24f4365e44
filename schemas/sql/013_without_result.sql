-- 013: how many tests a run was to execute and has no artifact of, as after it was cancelled. Of runs stored before, it is not known.
ALTER TABLE run ADD COLUMN without_result INTEGER NOT NULL DEFAULT 0 CHECK (without_result >= 0);
