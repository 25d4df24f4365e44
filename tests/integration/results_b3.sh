#!/usr/bin/env bash
# The B3.89 and B3.90 figures through the commands: from folders of the older layout to the tables, verdicts and exit codes.
. tests/lib.sh

ks() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/results.db"
}

# factor RUN REFERENCE VARIANT CONTEXT: as a table prints it.
factor() {
    ks compare "$1" --within --reference "$2" --json 2>/dev/null |
        jq -r --arg v "$3" --argjson c "$4" '.cells[] | select(.variant == $v and .context == $c) | .factor' |
        xargs printf '%.2fx\n'
}

fixtures=(tests/fixtures/b3_89_2026-02-10 tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14)
exits "the older layout is taken" 0 ks ingest --node 192.0.2.10 "${fixtures[@]}"
is "as three runs" "$(ks runs --json | jq length)" 3
exits "twice is once" 0 ks ingest --node 192.0.2.10 "${fixtures[@]}"
is "and changes nothing" "$(ks runs --json | jq length)" 3

is "v1 against the baseline" "$(factor 20260210 baseline v1 4096)" 0.11x
is "v3 against the baseline" "$(factor 20260210 baseline v3 4096)" 1.21x
is "v2 ran into its time-out" "$(ks sql "SELECT t.status FROM test t JOIN series s ON s.id = t.series_id
    WHERE s.variant = 'v2'" | tail -n 1)" TIMEOUT
is "v3 at 8192" "$(factor 20260214 baseline v3 8192)" 0.11x
is "v4 at 8192" "$(factor 20260214 baseline v4 8192)" 0.20x
is "v3 at 16384" "$(factor 20260214 baseline v3 16384)" 0.09x
is "v4 at 16384" "$(factor 20260214 baseline v4 16384)" 0.16x
is "v4 against v3 at 8192" "$(factor 20260214 v3 v4 8192)" 1.75x
is "v4 against v3 at 16384" "$(factor 20260214 v3 v4 16384)" 1.78x
is "throughput of the core run" "$(ks export 20260212 --format jsonl | jq -r '.tok_per_s | round' | xargs)" "180 72 35"
is "its scaling" "$(ks export 20260212 --format json |
    jq -r '.[0].prefill_s as $first | .[] | (.prefill_s / $first * 10 | round / 10)' | xargs)" "1 5 20.6"
text=$(ks show 20260212 2>&1)
like "show knows it too" "$text" "20\.6x"
like "with what n^2 would be" "$text" "16\.0x|16x"

exits "the baseline of one run against the other is a regression" 4 ks compare 20260212 20260214
like "from 114.265 s to 403.26 s" "$OUT" "8192 +baseline +114\.2[67] +403\.26 .*regressed"
like "from 469.749 s to 1181.64 s" "$OUT" "16384 +baseline +469\.75 +1181\.64 .*regressed"
like "what was measured once and not now is not forgotten" "$OUT" "4096 +baseline .*missing"
exits "--fail-on failure asks whether anything broke" 0 ks compare 20260212 20260214 --fail-on failure
exits "--fail-on none takes it calmly" 0 ks compare 20260212 20260214 --fail-on none
exits "all metrics beside it" 0 ks compare 20260212 20260212 --all-metrics
like "each with its own numbers" "$OUT" "8192 +baseline +model_load_s +21\\.62 s +21\\.62 s .*unchanged"
exits "as JSON" 4 ks compare 20260212 20260214 --json
is "with the evidence" "$(jq -c '.cells[] | select(.context == 8192 and .variant == "baseline") | [.verdict, .method,
    .base_n, .now_n, .threshold, .history_n]' <<<"$OUT")" '["regressed","threshold",1,1,0.05,0]'
exits "as annotations" 4 ks compare 20260212 20260214 --format github
like "errors where it counts" "$OUT" "^::error title=baseline at 8192 regressed::prefill_s 3\.53x slower \(114\.265 -> 403\.26 s\): beyond the threshold of 5 %25, but"
exits "as JUnit" 4 ks compare 20260212 20260214 --format junit
passes "which is XML" python3 -c 'import sys, xml.dom.minidom as m; d = m.parseString(sys.argv[1]).documentElement
assert d.getAttribute("failures") == "3" and d.getAttribute("tests") == "7"' "$OUT"
exits "as CSV" 4 ks compare 20260212 20260214 --format csv
is "a row a cell" "$(wc -l <<<"$OUT")" 8

# The night after, in which one context fails.
mkdir "$TMPDIR/b3_89_2026-02-13"
cp -R tests/fixtures/b3_89_2026-02-12/runs "$TMPDIR/b3_89_2026-02-13/"
printf '{"ticket": "b3_89", "context_len": 8192, "wall_time_sec": 3, "exit_status": "FAIL", "timings": null}\n' \
    >"$TMPDIR/b3_89_2026-02-13/runs/ctx_8192_0/perf.json"
"$KERNSWEEP" db backup "$TMPDIR/broken.db" --db "$TMPDIR/results.db" 2>/dev/null
broken() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/broken.db"
}
exits "a night in which a cell breaks is stored" 0 broken ingest --node 192.0.2.10 "$TMPDIR/b3_89_2026-02-13"
exits "to --fail-on failure that is exit code 1" 1 broken compare 20260212 20260213 --fail-on failure
like "and broken in the table" "$OUT" "8192 +baseline +114\\.2[67] .*broken"
exits "to --fail-on regression it is one" 4 broken compare 20260212 20260213
exits "to --fail-on none it is neither" 0 broken compare 20260212 20260213 --fail-on none
exits "the other way round it is fixed, which nothing fails on" 0 broken compare 20260213 20260212 --fail-on failure
like "and said" "$OUT" "8192 +baseline .*fixed"

exits "a run becomes a baseline" 0 ks baseline set gold 20260212
like "which says of which plan, node and run" "$ERR" "^baseline gold of plan b3_89 on 192\\.0\\.2\\.10 is 20260212-b3_89-"
exits "of its plan: another plan's run is refused" 2 ks compare 20260214 --baseline gold
like "with the reason" "$ERR" "plan b3_89.*plan b3_90"
exits "one that is gone" 2 ks compare 20260214 --baseline silver
like "is named" "$ERR" 'no baseline "silver"'
exits "a single run needs nights to be judged by" 2 ks compare 20260214
one_line "which is said in one line" "$ERR"

exits "nodes are compared when tests say where they ran" 2 ks compare 20260214 --by node
one_line "else that is said in one line" "$ERR"
ks db backup "$TMPDIR/hosts.db" 2>/dev/null
sqlite3 "$TMPDIR/hosts.db" "UPDATE test SET host = 'n0';
    INSERT INTO test (run_id, series_id, repetition, warmup, status, prefill_s, host)
    SELECT run_id, series_id, repetition + 1, 0, status, 1.2 * prefill_s, 'n1' FROM test"
exits "then as a table" 0 "$KERNSWEEP" compare 20260214 --by node --db "$TMPDIR/hosts.db"
like "in which the slow one stands out" "$OUT" "^n1 +6 +6 +6 +\\+9\\.1 % .* slow"
exits "and as JSON" 0 "$KERNSWEEP" compare 20260214 --by node --json --db "$TMPDIR/hosts.db"
is "with the same verdicts" "$(jq -c '[.nodes[].verdict]' <<<"$OUT")" '["fast","slow"]'

exits "two runs begin with the same year" 2 ks show 2026
like "and are listed" "$ERR" "ambiguous run id: .*b3_90.*b3_89"
exits "history needs to know which plan" 2 ks history --variant baseline --context 8192
exits "and then shows the nights" 0 ks history --variant baseline --context 8192 --ticket b3_89 --json
is "of that cell" "$(jq -c '[.points[].median]' <<<"$OUT")" '[114.265,114.265]'

# Twelve nights of another tool's; from the seventh on they are slower.
nights() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/nights.db"
}
cat >"$TMPDIR/map.json" <<'MAP'
{"schema": "kernsweep.map/1", "input": "csv", "rows": "/*", "run": {"ticket": {"const": "mine"}},
 "test": {"variant": "/kernel", "context": "/n", "prefill_s": {"at": "/time", "unit": "s"}}}
MAP
for ((n = 1; n <= 12; n++)); do
    printf 'kernel,n,time\nv4,4096,%d.%02d\n' $((n < 7 ? 2 : 3)) $((n % 5)) >"$TMPDIR/night.csv"
    nights import --map "$TMPDIR/map.json" --date "$(printf '2026-01-%02d' "$n")" --node mi300x "$TMPDIR/night.csv" >/dev/null
done
exits "a series is a table" 0 nights history --variant v4 --context 4096
like "of every night" "$OUT" "^2026-01-05 +2\\.00000 +1  -  "
like "with what changed, when, and since which run" "$OUT" \
    "changed on 2026-01-07: 2\\.01833 -> 3\\.02 s \\(\\+49\\.6 %, p [0-9.e-]+\\), since run 20260107-mine-[0-9a-f]{6}"
is "twelve of them in the line" "$(sed -n '3s/ .*//p' <<<"$OUT" | wc -m)" 13

exits "the store is sound" 0 ks db check
like "and says what is in it" "$OUT" "3 runs, 15 tests"
exits "a copy is a store" 0 ks db backup "$TMPDIR/copy.db"
is "with the same tests" "$("$KERNSWEEP" export --db "$TMPDIR/copy.db" | sha256sum)" "$(ks export | sha256sum)"
exits "vacuum leaves it alone" 0 ks db vacuum
is "every test of it" "$(ks export | wc -l)" 16
ks export --format sql | sqlite3 "$TMPDIR/restored.db"
is "a dump restores it" "$("$KERNSWEEP" export --db "$TMPDIR/restored.db" | sha256sum)" "$(ks export | sha256sum)"
exits "SQL can ask" 0 ks sql "SELECT count(*) AS n FROM test" --json
is "and is answered" "$(jq -c . <<<"$OUT")" '[{"n":15}]'
exits "but not order" 2 ks sql "DELETE FROM run"
exits "path says where it is" 0 ks db path
is "there" "$OUT" "$TMPDIR/results.db"
exits "a store that is not there is not made by asking" 2 "$KERNSWEEP" db check --db "$TMPDIR/none.db"
passes "really not" test ! -e "$TMPDIR/none.db"
done_testing
