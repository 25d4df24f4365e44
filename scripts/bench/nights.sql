-- Multiplies the first runs of a store, which bench/bundles wrote and `kernsweep ingest` stored, to NIGHTS nights, and gives
-- every night what an executor would have recorded beside the times: its GPU, clocks, power, commits, code, environments,
-- gates and numbers of the workload's own. For scripts/bench/nights, which sets the parameter:
--
--   .parameter set :nights 1800
--
-- One transaction, no journal: a store that is half made is made again. The same parameters give the same rows.
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -400000;
BEGIN;

CREATE TEMP TABLE made AS SELECT (SELECT max(id) FROM run) AS runs, (SELECT count(*) FROM test WHERE run_id = 1) AS tests;
CREATE TEMP TABLE night (id INTEGER PRIMARY KEY, model INTEGER, environment INTEGER, code INTEGER);
WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < :nights)
INSERT INTO night SELECT id, 1 + (id - 1) % (SELECT runs FROM made), 2 + id / 90, id / 12 FROM n;

-- Deterministic noise in [-1, 1): of two numbers, by multiplication. Environments of 160 facts, of which one changes each quarter.
INSERT INTO environment SELECT DISTINCT environment, printf('%064x', environment) FROM night;
INSERT INTO fact SELECT e.id, f.key, f.value FROM environment e JOIN fact f ON f.environment_id = 1 WHERE e.id > 1;
WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 155)
INSERT INTO fact SELECT e.id, printf('packages.p%03d', i), printf('1.%d', CASE i WHEN 7 THEN e.id ELSE i END)
    FROM environment e, k WHERE e.id > 1;

INSERT INTO run (id, run_id, ticket, tag, date, node, mode, origin, status, content_sha256, started_at, ended_at, ordered_at,
                 wall_s, environment_id, plan_document_id, bundle, ingested_at, purpose)
SELECT n.id, printf('bench-%06d', n.id - 1), r.ticket, r.tag, date('2020-01-01', (n.id - 1) || ' days'), r.node, r.mode, r.origin,
       r.status, printf('%064x', n.id), first.started_at + (n.id - 1) * 86400000, first.ended_at + (n.id - 1) * 86400000,
       first.ordered_at + (n.id - 1) * 86400000, r.wall_s, n.environment, r.plan_document_id,
       printf('/var/lib/kernsweep/bench-%06d', n.id - 1), r.ingested_at, r.purpose
FROM night n JOIN run r ON r.id = n.model JOIN run first ON first.id = 1 WHERE n.id > (SELECT runs FROM made);
UPDATE run SET environment_id = (SELECT environment FROM night WHERE night.id = run.id);

INSERT INTO variant (run_id, position, name, attn_impl, status, build_wall_s, build_cached, scratch_bytes, vgprs)
SELECT n.id, v.position, v.name, v.attn_impl, v.status, v.build_wall_s, v.build_cached, v.scratch_bytes, v.vgprs
FROM night n JOIN variant v ON v.run_id = n.model WHERE n.id > (SELECT runs FROM made);
UPDATE variant SET code_sha256 = (SELECT printf('%064x', 1000 * position + code) FROM night WHERE night.id = variant.run_id),
    code_kind = 'device';
WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 5)
INSERT INTO kernel_code (run_id, variant, kernel, sha256, facts)
SELECT v.run_id, v.position, printf('flash_kernel_%d', i), v.code_sha256, '{"vgprs":128,"sgprs":96,"lds_bytes":32768,"scratch_bytes":0}'
FROM variant v, k;
INSERT INTO gate (run_id, variant, position, name, status, wall_s)
SELECT run_id, position, g, printf('gate%d', g), 'OK', 1.5 FROM variant, (SELECT 0 AS g UNION SELECT 1 UNION SELECT 2);
INSERT INTO file (run_id, path, size, sha256, document_id)
SELECT n.id, f.path, f.size, f.sha256, f.document_id FROM night n JOIN file f ON f.run_id = n.model WHERE n.id > (SELECT runs FROM made);

INSERT INTO git_commit (commit_id, parents, subject, author, authored_at)
SELECT printf('%040x', 3 * n.id + i), printf('%040x', 3 * n.id + i - 1), 'attention: tune the tile of a kernel', 'An Author',
       n.id * 86400000 FROM night n, (SELECT 0 AS i UNION SELECT 1 UNION SELECT 2);
INSERT INTO run_revision (run_id, commit_id, branch, subject, authored_at, dirty)
SELECT id, printf('%040x', 3 * id + 2), 'main', 'attention: tune the tile of a kernel', id * 86400000, 0 FROM night;

INSERT INTO test (id, run_id, series_id, repetition, test_index, warmup, status, prefill_s, wall_s, model_load_s, tokenize_s, decode_s,
                  vram_before, vram_peak, vram_after, vram_max_gap_ms, rss_peak, cpu_user_s, cpu_system_s, timeout_s, started_at,
                  prompt_tokens, exit_code, signal, samples)
SELECT (n.id - 1) * made.tests + (t.id - 1) % made.tests + 1, n.id, t.series_id, t.repetition, t.test_index, t.warmup, t.status,
       t.prefill_s * (1 + 0.005 * (((n.id * 7919 + t.id * 104729) % 2003) / 1001.5 - 1)), t.wall_s, t.model_load_s, t.tokenize_s,
       t.decode_s, t.vram_before, t.vram_peak, t.vram_after, t.vram_max_gap_ms, t.rss_peak, t.cpu_user_s, t.cpu_system_s,
       t.timeout_s, t.started_at + (n.id - n.model) * 86400000, t.prompt_tokens, t.exit_code, t.signal, t.samples
FROM made, night n JOIN test t ON t.run_id = n.model WHERE n.id > made.runs ORDER BY n.id, t.id;
UPDATE test SET gpu = '0000:c1:00.0', gpu_mode = 'SPX/NPS1', host = 'node', sclk_mhz = 2100 - id % 7, sclk_p5_mhz = 2000,
    mclk_mhz = 1300, mclk_p5_mhz = 1300, power_w = 640 + id % 11, temp_c = 71, throttled_s = 0, joules = 640 * wall_s,
    joules_from = 'power', neighbours = 0, activity_window = 'timed';
INSERT INTO telemetry (test_id, samples, packed)
SELECT (n.id - 1) * made.tests + (t.id - 1) % made.tests + 1, l.samples, l.packed
FROM made, night n JOIN test t ON t.run_id = n.model JOIN telemetry l ON l.test_id = t.id WHERE n.id > made.runs ORDER BY n.id, t.id;

INSERT INTO quantity (name) VALUES ('tokens_per_s'), ('cache_hits'), ('kernel_launches');
INSERT INTO extra (test_id, quantity_id, value) SELECT t.id, q.id, t.id % 1000 + q.id FROM test t, quantity q;
-- On the last night one variant is slower, so that a judge and a report have something to say.
UPDATE test SET prefill_s = prefill_s * 1.06 WHERE run_id = :nights AND series_id IN (SELECT id FROM series WHERE variant = 'v4');
COMMIT;
