-- 005: the machine that ran a test. A run's node is what its figures are compared under (a machine, or a class of equal
-- ones behind a scheduler); its tests may have run on several.
ALTER TABLE test ADD COLUMN host TEXT;
