#!/usr/bin/env bash
# A report's page in headless Chromium: errors, sorting, filtering, width, accessibility, and that the text of a
# hostile run does nothing. Needs chromium, node, and two packages from npm.
# unsanitized: a browser for the most part; unit/test_report_hostile and integration/report_examples write pages
. tests/lib.sh

chromium=$(command -v chromium || command -v chromium-browser) || skip_all "no chromium (scripts/install-deps browser)"
command -v node >/dev/null || skip_all "no node (scripts/install-deps browser)"
command -v npm >/dev/null || skip_all "no npm (scripts/install-deps browser)"

# The packages are kept between runs; the lock file says which.
modules=$BUILD/browser
mkdir -p "$modules"
if ! cmp -s tests/browser/package-lock.json "$modules/package-lock.json" || [ ! -d "$modules/node_modules" ]; then
    cp tests/browser/package.json tests/browser/package-lock.json "$modules/"
    if ! (cd "$modules" && timeout 120 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1); then
        rm -f "$modules/package-lock.json"
        skip_all "npm cannot install playwright-core and axe-core: $(tail -n 1 "$modules/npm.log" 2>/dev/null)"
    fi
fi
cp tests/browser/page.mjs "$modules/"

export KERNSWEEP_DB=$TMPDIR/results.db
{
    "$KERNSWEEP" ingest tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14 &&
        "$KERNSWEEP" report 20260214 --against 20260212 --lang en,es --format html -o "$TMPDIR/report.html" &&
        "$KERNSWEEP" ingest --ticket both tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14 --db "$TMPDIR/ticket.db" &&
        "$KERNSWEEP" report both --kind ticket --db "$TMPDIR/ticket.db" --format html -o "$TMPDIR/ticket.html"
} >"$TMPDIR/log" 2>&1 || {
    ok "the report is written" 1 "$(cat "$TMPDIR/log")"
    done_testing
    exit
}

mkdir "$TMPDIR/model"
{
    tar -C "$TMPDIR/model" -xzf tests/fixtures/llama2-7b_h100/bundle.tar.gz &&
        "$KERNSWEEP" ingest "$TMPDIR"/model/*/llama2-7b_h100 --db "$TMPDIR/model.db" &&
        "$KERNSWEEP" report latest --db "$TMPDIR/model.db" --format html -o "$TMPDIR/model.html"
} >"$TMPDIR/log" 2>&1 || {
    ok "the report with memory is written" 1 "$(cat "$TMPDIR/log")"
    done_testing
    exit
}

# What no tool of ours would store: every text of the run is an attempt.
evil=$'<script>window.pwned=1</script>|`*_[x](javascript:alert(2))\e[31m\u202e<img src=x onerror="window.pwned=1;alert(3)"><svg onload=alert(4)>'
sqlite3 "$KERNSWEEP_DB" >"$TMPDIR/log" 2>&1 <<SQL
UPDATE run SET node = '$evil', tag = '$evil', bundle = '/artifacts_remote/$evil' WHERE run_id LIKE '20260214%';
UPDATE variant SET name = name || '$evil', attn_impl = '$evil', reason = '$evil'
 WHERE run_id = (SELECT id FROM run WHERE run_id LIKE '20260214%');
UPDATE series SET variant = variant || '$evil';
UPDATE test SET status = 'CRASH', reason = '$evil', attn_impl = '$evil' WHERE id % 3 = 0;
INSERT INTO environment (sha256) VALUES (hex(zeroblob(32)));
INSERT INTO fact VALUES (last_insert_rowid(), 'env.$evil', '$evil'), (last_insert_rowid(), 'driver', '$evil');
UPDATE run SET environment_id = (SELECT max(id) FROM environment) WHERE run_id LIKE '20260214%';
SQL
"$KERNSWEEP" report 20260214 --lang en,es --format html -o "$TMPDIR/hostile.html" >>"$TMPDIR/log" 2>&1 || {
    ok "the hostile report is written" 1 "$(cat "$TMPDIR/log")"
    done_testing
    exit
}

# The index of nightly runs: one that ran here, and one whose node was not there.
plan=$TMPDIR/night.json
cat >"$plan" <<JSON
{"schema": "kernsweep.plan/1", "ticket": "night", "node": "local", "workdir": "$TMPDIR/work",
 "variants": [{"name": "a", "run": ["sh", "-c",
   "sleep 0.6; echo 'Prompt tokens: 16'; echo '[PERF_TIMING] {\\"prefill_s\\": 0.5, \\"attn_impl\\": \\"x\\"}'"]}],
 "contexts": [16], "timeouts": {"default": 20}, "baseline": "main", "connect": {"timeout_s": 2, "patience_s": 1}}
JSON
for node in local 127.0.0.1:1; do
    "$KERNSWEEP" nightly "$plan" --node "$node" --db "$TMPDIR/nights.db" --artifacts "$TMPDIR/artifacts" \
        --reports "$TMPDIR/nights" >>"$TMPDIR/log" 2>&1
done
# A page with many cells: the board of a plan that never ran here, and a night of another plan, which writes the page.
mkdir -p "$TMPDIR/board/cells"
jq -n '{schema: "kernsweep.board/1", ticket: "attention", node: "mi300x", mode: "perf", night: "2026-11-21T02:30:00Z",
    metric: "prefill_s", unit: "s", more_is_better: false,
    nights: [range(60) | {date: "2026-10-\(. % 28 + 10)", run_id: "r\(.)", commit: "a1b2c3d"}],
    cells: [range(40) | . as $i | {variant: "flash_attention_v\(. / 4 | floor)_b8h16", context: (4096 * (1 + . % 4)),
        at: [range(60)], values: [range(60) | 0.5 + $i / 100 + (if $i == 5 and . > 50 then 0.06 else 0 end)],
        changes: (if $i == 5 then [{at: 51, ratio: 1.11, device: false}] else [] end), odd: [9], ratio: 1.002, note: "",
        verdict: (if $i == 5 then "regressed" elif $i == 8 then "noisy" else "unchanged" end)}
        + (if $i == 5 then {since: "2026-11-12", note: ", confirmed: code", ratio: 1.11} else {} end)]}' \
    >"$TMPDIR/board/cells/attention-0.json"
"$KERNSWEEP" nightly "$plan" --db "$TMPDIR/nights.db" --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/board" \
    >>"$TMPDIR/log" 2>&1

[ -f "$TMPDIR/nights/index.html" ] || {
    ok "the index of nightly runs is written" 1 "$(cat "$TMPDIR/log")"
    done_testing
    exit
}

[ -f "$TMPDIR/board/index.html" ] || {
    ok "the index of many cells is written" 1 "$(cat "$TMPDIR/log")"
    done_testing
    exit
}

# The pages are written under sanitizers, too; the browser, which has none, looks at those of the other build.
case $BUILD in
*/sanitize)
    ok "the pages are written" 0
    done_testing
    exit
    ;;
esac
node "$modules/page.mjs" "$chromium" "$TMPDIR/report.html" "$TMPDIR/hostile.html" "$TMPDIR/model.html" \
    "$TMPDIR/nights/index.html" "$TMPDIR/board/index.html" "$TMPDIR/ticket.html"
