-- 011: what held a test together, and the image of its container.

-- As perf.json says. NULL: it did not run, or its bundle is older.
ALTER TABLE test ADD COLUMN contained TEXT CHECK (contained IN ('cgroup', 'scope', 'group', 'container'));

-- The image of a variant's container, as the plan names it, and the digest that its engine knew it by on the node; 'several': its
-- tests ran on nodes with different images of that name. NULL: it has no container, or its bundle is older.
ALTER TABLE variant ADD COLUMN image TEXT;
ALTER TABLE variant ADD COLUMN image_digest TEXT;
