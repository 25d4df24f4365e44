-- 010: what keeps commands fast when a store holds years.

-- Whether a run's tests ran on several GPUs: the first and the last, without reading its tests.
CREATE INDEX test_by_place ON test (run_id, gpu) WHERE gpu IS NOT NULL;
-- How many tests of a run were not OK: almost none, so that this is almost empty.
CREATE INDEX test_not_ok ON test (run_id, status) WHERE status <> 'OK';
-- Read by nothing: the GPUs of a series are in test_measured.
DROP INDEX test_by_gpu;
