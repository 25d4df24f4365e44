-- 006: of a kernel plan, which of the plan's variants this one is, and at which shape ("b4h1"): the run's own variants are
-- set against each other shape by shape.
ALTER TABLE variant ADD COLUMN kernel TEXT;
ALTER TABLE variant ADD COLUMN shape TEXT;
