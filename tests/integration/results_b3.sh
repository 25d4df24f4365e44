#!/usr/bin/env bash
# The B3.89 and B3.90 figures through the commands: from folders of the older layout to the tables, verdicts and exit codes.
. tests/lib.sh
. tests/store.sh

# factor RUN REFERENCE VARIANT CONTEXT: as a table prints it.
factor() {
    ks compare "$1" --within --reference "$2" --json 2>/dev/null |
        jq -r --arg v "$3" --argjson c "$4" '.cells[] | select(.variant == $v and .context == $c) | .factor' |
        xargs printf '%.2fx\n'
}

ingested() {
    ks ingest --node 192.0.2.10 tests/fixtures/b3_89_2026-02-10 tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14 \
        >/dev/null 2>&1
}

ingest() {
    local db=$TMPDIR/ingest.db fixtures=(tests/fixtures/b3_89_2026-02-10 tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14)
    exits "ingest exits 0" 0 "$KERNSWEEP" ingest --node 192.0.2.10 "${fixtures[@]}" --db "$db"
    is "the store has three runs" "$("$KERNSWEEP" runs --json --db "$db" | jq length)" 3
    exits "a second ingest exits 0" 0 "$KERNSWEEP" ingest --node 192.0.2.10 "${fixtures[@]}" --db "$db"
    is "the store still has three runs" "$("$KERNSWEEP" runs --json --db "$db" | jq length)" 3
}

# bundle_of OPTION...: whether the run's folder is said to be there, and its last part
bundle_of() {
    "$KERNSWEEP" "$@" --json --db "$TMPDIR/moved.db" | jq -r '(.[0]? // .run? // .) | "\(.bundle_found) \(.bundle | sub(".*/"; ""))"'
}

moved() {
    local store=(--node 192.0.2.10 --date 2026-02-12 --ticket moved --db "$TMPDIR/moved.db")
    cp -r tests/fixtures/b3_89_2026-02-12 "$TMPDIR/here"
    exits "ingest exits 0" 0 "$KERNSWEEP" ingest "${store[@]}" "$TMPDIR/here"
    is "runs --json has the folder" "$(bundle_of runs)" "true here"
    mv "$TMPDIR/here" "$TMPDIR/there"
    is "once it is moved, runs --json says that it is gone" "$(bundle_of runs)" "false here"
    is "and so does show --json" "$(bundle_of show latest)" "false here"
    exits "ingest of the other place exits 0" 0 "$KERNSWEEP" ingest "${store[@]}" "$TMPDIR/there"
    like "which stores nothing" "$OUT" 'already stored'
    like "but tells that the place is recorded" "$ERR" "there: note: recorded as the run's folder: .*/here no longer has the run"
    is "runs --json has the new place" "$(bundle_of runs)" "true there"
    is "there is one run" "$("$KERNSWEEP" runs --json --db "$TMPDIR/moved.db" | jq length)" 1
}

# Removing a run takes the outcome of a confirmation with it, of which the other run's verdict may be.
confirmed_removed() {
    local db=$TMPDIR/removed.db
    "$KERNSWEEP" ingest --node 192.0.2.10 tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14 --db "$db" >/dev/null 2>&1
    sqlite3 "$db" "INSERT INTO confirmation SELECT n.id, b.id, 'v1', 8192, 'refuted', 'noise', 1.01 FROM run n, run b
        WHERE n.date = '2026-02-14' AND b.date = '2026-02-12'"
    exits "runs remove exits 0" 0 "$KERNSWEEP" runs remove 20260212 --db "$db"
    like "it says that the confirmation goes" "$ERR" '^removed run 20260212[^ ]* from the store, with the confirmation of 1 cell; its bundle'
    exits "of a run without one it exits 0" 0 "$KERNSWEEP" runs remove 20260214 --db "$db"
    unlike "and says nothing of the kind" "$ERR" confirmation
}

factors() {
    needs ingested
    is "v1 against the baseline at 4096 is 0.11x" "$(factor 20260210 baseline v1 4096)" 0.11x
    is "v3 against the baseline at 4096 is 1.21x" "$(factor 20260210 baseline v3 4096)" 1.21x
    is "v3 against the baseline at 8192 is 0.11x" "$(factor 20260214 baseline v3 8192)" 0.11x
    is "v4 against the baseline at 8192 is 0.20x" "$(factor 20260214 baseline v4 8192)" 0.20x
    is "v3 against the baseline at 16384 is 0.09x" "$(factor 20260214 baseline v3 16384)" 0.09x
    is "v4 against the baseline at 16384 is 0.16x" "$(factor 20260214 baseline v4 16384)" 0.16x
    is "v4 against v3 at 8192 is 1.75x" "$(factor 20260214 v3 v4 8192)" 1.75x
    is "v4 against v3 at 16384 is 1.78x" "$(factor 20260214 v3 v4 16384)" 1.78x
    is "v2 is a TIMEOUT" "$(ks sql "SELECT t.status FROM test t JOIN series s ON s.id = t.series_id
        WHERE s.variant = 'v2'" | tail -n 1)" TIMEOUT
}

scaling() {
    local text
    needs ingested
    is "export has the throughput of each context" "$(ks export 20260212 --format jsonl | jq -r '.tok_per_s | round' | xargs)" "180 72 35"
    is "export has times that grow by 1, 5 and 20.6" "$(ks export 20260212 --format json |
        jq -r '.[0].prefill_s as $first | .[] | (.prefill_s / $first * 10 | round / 10)' | xargs)" "1 5 20.6"
    text=$(ks show 20260212 2>&1)
    like "show has the factor beside the factor expected of n^2" "$text" "^baseline +16384 +469\.75 +35 +20\.6x +16\.0x "
    like "show has the exponent of the fit" "$text" "^baseline: t ~ n\^2\.18$"
}

# A run of one night against one of another.
other_night() {
    needs ingested
    exits "exits 4" 4 ks compare 20260212 20260214
    like "8192 regressed from 114.265 s to 403.26 s" "$OUT" "8192 +baseline +114\\.27 +403\\.26 .*regressed"
    like "16384 regressed from 469.749 s to 1181.64 s" "$OUT" "16384 +baseline +469\\.75 +1181\\.64 .*regressed"
    like "4096, measured in the first only, is missing" "$OUT" "4096 +baseline .*missing"
    exits "exits 0 with --fail-on failure" 0 ks compare 20260212 20260214 --fail-on failure
    exits "exits 0 with --fail-on none" 0 ks compare 20260212 20260214 --fail-on none
}

all_metrics() {
    needs ingested
    exits "exits 0" 0 ks compare 20260212 20260212 --all-metrics
    like "has a row for another metric with its own numbers" "$OUT" "8192 +baseline +model_load_s +21\\.62 s +21\\.62 s .*unchanged"
}

# comparison OPTION...: of the two nights, in a format; it exits 4 in each.
comparison() {
    needs ingested
    exits "exits 4" 4 ks compare 20260212 20260214 "$@"
}

as_json() {
    comparison --json
    is "has the evidence of a verdict" "$(jq -c '.cells[] | select(.context == 8192 and .variant == "baseline") | [.verdict, .method,
        .base_n, .now_n, .threshold, .history_n]' <<<"$OUT")" '["regressed","threshold",1,1,0.05,0]'
}

as_annotations() {
    comparison --format github
    like "has an error for a regressed cell" "$OUT" "^::error title=baseline at 8192 regressed::prefill_s 3\.53x slower \(114\.265 -> 403\.26 s\): n = 1 and 1, too few for statistics; threshold 5 %25"
}

as_junit() {
    comparison --format junit
    passes "is XML with three failures of seven tests" python3 -c 'import sys, xml.dom.minidom as m; d = m.parseString(sys.argv[1]).documentElement
assert d.getAttribute("failures") == "3" and d.getAttribute("tests") == "7"' "$OUT"
}

as_csv() {
    comparison --format csv
    is "has a row for each cell below the heading" "$(wc -l <<<"$OUT")" 8
}

broken() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/broken.db"
}

# A store with the night after, in which one context fails.
broken_night() {
    needs ingested
    mkdir "$TMPDIR/b3_89_2026-02-13"
    cp -R tests/fixtures/b3_89_2026-02-12/runs "$TMPDIR/b3_89_2026-02-13/"
    printf '{"ticket": "b3_89", "context_len": 8192, "wall_time_sec": 3, "exit_status": "FAIL", "timings": null}\n' \
        >"$TMPDIR/b3_89_2026-02-13/runs/ctx_8192_0/perf.json"
    ks db backup "$TMPDIR/broken.db" 2>/dev/null
    ingest_broken
    [ "$RC" = 0 ]
}

ingest_broken() {
    try_once broken broken ingest --node 192.0.2.10 "$TMPDIR/b3_89_2026-02-13"
}

broken_ingested() {
    needs broken_night
    ingest_broken
    exited "exits 0" 0
}

breaks() {
    needs broken_night
    exits "exits 1 with --fail-on failure" 1 broken compare 20260212 20260213 --fail-on failure
    like "has the cell as broken" "$OUT" "8192 +baseline +114\\.27 .*broken"
    exits "exits 4 with --fail-on regression" 4 broken compare 20260212 20260213 --fail-on regression
    exits "exits 4 without --fail-on" 4 broken compare 20260212 20260213
    exits "exits 0 with --fail-on none" 0 broken compare 20260212 20260213 --fail-on none
}

fixed() {
    needs broken_night
    exits "exits 0 with --fail-on failure" 0 broken compare 20260213 20260212 --fail-on failure
    like "has the cell as fixed" "$OUT" "8192 +baseline .*fixed"
}

baseline() {
    needs ingested
    exits "baseline set exits 0" 0 ks baseline set gold 20260212
    like "baseline set prints plan, node and run" "$ERR" "^baseline gold of plan b3_89 on 192\\.0\\.2\\.10 is 20260212-b3_89-"
    exits "compare of another plan's run with it exits 2" 2 ks compare 20260214 --baseline gold
    like "compare of another plan's run with it names both plans" "$ERR" "plan b3_89.*plan b3_90"
    exits "compare with a baseline that does not exist exits 2" 2 ks compare 20260214 --baseline silver
    like "compare with a baseline that does not exist names it" "$ERR" 'no baseline "silver"'
}

# refused COMMAND...: exit 2 and one line
refused() {
    needs ingested
    exits "exits 2" 2 ks "$@"
    one_line "prints one line" "$ERR"
}

by_node() {
    needs ingested
    ks db backup "$TMPDIR/hosts.db" 2>/dev/null
    sqlite3 "$TMPDIR/hosts.db" "UPDATE test SET host = 'n0';
        INSERT INTO test (run_id, series_id, repetition, warmup, status, prefill_s, host)
        SELECT run_id, series_id, repetition + 1, 0, status, 1.2 * prefill_s, 'n1' FROM test"
    exits "exits 0" 0 "$KERNSWEEP" compare 20260214 --by node --db "$TMPDIR/hosts.db"
    like "has the slower node as slow" "$OUT" "^n1 +6 +6 +6 +\\+9\\.1 % .* slow"
    exits "exits 0 with --json" 0 "$KERNSWEEP" compare 20260214 --by node --json --db "$TMPDIR/hosts.db"
    is "has the same verdicts as JSON" "$(jq -c '[.nodes[].verdict]' <<<"$OUT")" '["fast","slow"]'
}

ambiguous() {
    needs ingested
    exits "exits 2" 2 ks show 2026
    like "lists the runs that begin so" "$ERR" "ambiguous run id: .*b3_90.*b3_89"
}

cell_history() {
    needs ingested
    exits "exits 0" 0 ks history --variant baseline --context 8192 --ticket b3_89 --json
    is "has the medians of both nights" "$(jq -c '[.points[].median]' <<<"$OUT")" '[114.265,114.265]'
    exits "exits 2 without --ticket, since two plans have that cell" 2 ks history --variant baseline --context 8192
}

nights() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/nights.db"
}

# Twelve nights of another tool's; from the seventh on they are slower.
imported_history() {
    local n
    cat >"$TMPDIR/map.json" <<'MAP'
{"schema": "kernsweep.map/1", "input": "csv", "rows": "/*", "run": {"ticket": {"const": "mine"}},
 "test": {"variant": "/kernel", "context": "/n", "prefill_s": {"at": "/time", "unit": "s"}}}
MAP
    for ((n = 1; n <= 12; n++)); do
        printf 'kernel,n,time\nv4,4096,%d.%02d\n' $((n < 7 ? 2 : 3)) $((n % 5)) >"$TMPDIR/night.csv"
        nights import --map "$TMPDIR/map.json" --date "$(printf '2026-01-%02d' "$n")" --node mi300x "$TMPDIR/night.csv" >/dev/null
    done
    exits "history exits 0" 0 nights history --variant v4 --context 4096
    like "history has a row for a night" "$OUT" "^2026-01-05 +2\\.00000 +[-+0-9.]+ % +1 "
    like "history has the change, its date and its run" "$OUT" \
        "changed on 2026-01-07: 2\\.0182[0-9]* -> 3\\.01[0-9]* s \\(\\+49\\.6 %, 95 % interval \\+[0-9.]+ to \\+[0-9.]+ %, p [0-9.e-]+\\)"
    like "history names the runs between which it began" "$OUT" "^    between run 20260106-mine-[0-9a-f]{6}$"
    like "and the later of them below" "$OUT" "^    and run     20260107-mine-[0-9a-f]{6}$"
    is "history draws twelve nights" "$(sed -n '3s/ .*//p' <<<"$OUT" | wc -m)" 13
    like "history says the unit of the medians" "$OUT" "^Date +Median \\(s\\) "
    printf 'kernel,n,time\nv4,4096,5.00\n' >"$TMPDIR/night.csv"
    nights import --map "$TMPDIR/map.json" --date 2026-01-13 --node mi300x "$TMPDIR/night.csv" >/dev/null
    exits "history with an odd newest night exits 0" 0 nights history --variant v4 --context 4096
    like "history leaves open what an odd newest night is" "$OUT" "^2026-01-13 .*  \\(the newest night: no later one shows whether it lasts\\)\$"
}

accepted_nights() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/accepted.db"
}

# accepted_night DAY HUNDREDTHS: prints the run
accepted_night() {
    printf 'kernel,n,time\nv4,4096,2.%03d\n' "$2" >"$TMPDIR/night.csv"
    accepted_nights import --map "$TMPDIR/map.json" --date "2026-01-$1" --node mi300x "$TMPDIR/night.csv" >/dev/null
    accepted_nights runs --json | jq -r '.[0].run_id'
}

# Twelve nights, and then three that are 8 % slower.
acceptance() {
    local n run next
    cat >"$TMPDIR/map.json" <<'MAP'
{"schema": "kernsweep.map/1", "input": "csv", "rows": "/*", "run": {"ticket": {"const": "mine"}},
 "test": {"variant": "/kernel", "context": "/n", "prefill_s": {"at": "/time", "unit": "s"}}}
MAP
    for n in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15; do
        run=$(accepted_night "$n" $((10#$n * 7 % 5 + (10#$n > 12 ? 160 : 0))))
    done
    exits "three slower nights are a finding" 4 accepted_nights compare "$run"
    exits "accepting what there is none of exits 2" 2 accepted_nights accept "$run" --variant v5 --reason no
    like "it says so" "$ERR" "run $run has no such open finding"
    exits "accepting without a reason exits 2" 2 accepted_nights accept "$run"
    exits "accepting exits 0" 0 accepted_nights accept "$run" --by ada --reason 'exact <sums>'
    like "it names the cell, its size and its first night" "$ERR" '^accepted: v4 4096 \+7\.9 %, since 2026-01-13$'
    exits "the list exits 0" 0 accepted_nights accept --json
    is "it has who and why" "$(jq -c '.[] | [.variant, .context, .metric, .by, .reason]' <<<"$OUT")" \
        '["v4",4096,"prefill_s","ada","exact <sums>"]'
    exits "then that run has no finding" 0 accepted_nights compare "$run"
    like "it says who accepted it" "$OUT" 'accepted .*open since 2026-01-13; accepted by ada on [0-9-]+: exact <sums>'
    exits "a JUnit report has no failure" 0 accepted_nights compare "$run" --format junit
    like "none at all" "$OUT" ' failures="0">'
    like "but who accepted it, and why" "$OUT" '<system-out>accepted: .*accepted by ada on [0-9-]+: exact &lt;sums&gt;'
    next=$(accepted_night 16 161)
    exits "a night at that level is none either" 0 accepted_nights compare "$next"
    like "it is told once more" "$OUT" 'unchanged .*the level of the newest 3 nights.*accepted by ada'
    exits "its report exits 0" 0 accepted_nights report "$next" --lang es
    like "in Spanish, too" "$OUT" 'v4.*: aceptada por ada el [0-9-]+: exact'
    exits "taking it back exits 0" 0 accepted_nights accept "$run" --undo
    exits "then the finding is open again" 4 accepted_nights compare "$next"
    exits "taking back what is none exits 2" 2 accepted_nights accept "$run" --undo
    accepted_nights accept "$next" --reason 'again' >/dev/null 2>&1
    next=$(accepted_night 17 161)
    exits "accepted later, it is as well" 0 accepted_nights compare "$next"
    next=$(accepted_night 18 162)
    exits "the night after exits 0" 0 accepted_nights compare "$next"
    unlike "and tells nothing of it any more" "$OUT" 'accepted'
    next=$(accepted_night 19 330)
    exits "what comes on top is a suspect" 4 accepted_nights compare "$next" --fail-on suspected
}

foreign() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/foreign.db"
}

# 4 of 6 tests have a perf.json; of the others the log has a crash and a test without an end.
failing_folder() {
    local dir=$TMPDIR/failing/2026-02-14/b3_89 i
    [ -e "$dir" ] && return
    for i in 0 1 2 3; do
        mkdir -p "$dir/v3/ctx_4096_run$i"
        printf '{"ticket": "b3_89", "exit_status": "OK", "mode": "perf", "wall_time_sec": .%d, "timings": {"prefill_s": .0%d5}}\n' $((i + 1)) $((3 - i)) \
            >"$dir/v3/ctx_4096_run$i/perf.json"
    done
    cat >"$dir/b3_89_remote.log" <<'LOG'
{"event":"SUITE_START","ts":"2026-02-14T03:15:00Z","mode":"perf","total_tests":6,"variants":"v3","contexts":4096,"repeat_map":"4096:6"}
{"event":"TEST_START","ts":"2026-02-14T03:16:00Z","variant":"v3","ctx":4096,"run_idx":4,"timeout_s":10800}
{"event":"TEST_END","ts":"2026-02-14T03:16:10Z","variant":"v3","ctx":4096,"run_idx":4,"exit_code":139,"exit_status":"FAIL","wall_s":".51","prefill_s":"NA"}
{"event":"TEST_START","ts":"2026-02-14T03:17:00Z","variant":"v3","ctx":4096,"run_idx":5,"timeout_s":10800}
LOG
}

failing_log() {
    failing_folder
    exits "ingest exits 0" 0 foreign ingest --node 192.0.2.10 "$TMPDIR/failing/2026-02-14/b3_89"
    like "ingest says that tests did not end" "$ERR" "1 of the tests that the log counts have no result: stored as PARTIAL"
    like "ingest says that the summary of that executor discards the first repetition" "$ERR" "note: .*--warmup 1"
    is "the run is PARTIAL, with 4 OK of 6" "$(foreign sql "SELECT r.status || ' ' || sum(t.status = 'OK') || ' of ' || count(*) FROM test t
        JOIN run r ON r.id = t.run_id" | tail -n 1)" "PARTIAL 4 of 6"
    is "the crash has its exit code and signal" "$(foreign sql "SELECT status || ' ' || exit_code || ' ' || signal FROM test WHERE repetition = 4" |
        tail -n 1)" "CRASH 139 11"
}

another_reading() {
    failing_folder
    foreign ingest --node 192.0.2.10 "$TMPDIR/failing/2026-02-14/b3_89" >/dev/null 2>&1
    foreign baseline set gold 20260214 >/dev/null 2>&1
    exits "ingest with another option exits 2" 2 foreign ingest --node 192.0.2.10 --warmup 1 "$TMPDIR/failing/2026-02-14/b3_89"
    one_line "the refusal is one line" "$ERR"
    like "the refusal says what differs, and what to do" "$ERR" "read in another way \\(warmup 0 -> 1\\): --replace"
    exits "ingest --replace exits 0" 0 foreign ingest --node 192.0.2.10 --warmup 1 --replace "$TMPDIR/failing/2026-02-14/b3_89"
    like "ingest --replace says so" "$OUT" "replaced the one stored before, 6 tests"
    is "the first repetition is a warm-up" "$(foreign sql 'SELECT group_concat(repetition) FROM test WHERE warmup' | tail -n 1)" 0
    like "the baseline still has the run" "$(foreign baseline list)" "gold .*20260214-b3_89-"
}

# The command that a message names, as it is named.
other_shapes() {
    mkdir -p "$TMPDIR/other/2026-02-14/results"
    printf '{"k": "v3", "ms": 1.5}\n' >"$TMPDIR/other/2026-02-14/results/a.json"
    printf '{"k": "v3", "ms": NaN}\n' >"$TMPDIR/other/2026-02-14/results/b.json"
    printf '{"schema": "kernsweep.map/1", "input": "json", "rows": "", "run": {"ticket": {"const": "mine"}}, "test": {"variant": "/k", "kernel_ms": "/ms"}}\n' \
        >"$TMPDIR/one_map.json"
    exits "ingest of a folder without a perf.json exits 2" 2 foreign ingest "$TMPDIR/other/2026-02-14/results"
    one_line "ingest prints one line" "$ERR"
    like "the line names the command" "$ERR" "kernsweep import --map MAP --one-run FILE"
    exits "import --one-run exits 0" 0 foreign import --map "$TMPDIR/one_map.json" --date 2026-02-14 --one-run "$TMPDIR"/other/2026-02-14/results/*.json
    like "import --one-run stores one run" "$OUT" "^20260214-mine-[0-9a-f]{6}  stored, 2 tests$"
    like "import warns of NaN" "$ERR" "kernel_ms is not finite: stored as INVALID"
}

check() {
    needs ingested
    exits "exits 0" 0 ks db check
    like "counts runs and tests" "$OUT" "3 runs, 15 tests"
}

copies() {
    needs ingested
    exits "db backup exits 0" 0 ks db backup "$TMPDIR/copy.db"
    is "the copy of db backup exports the same" "$("$KERNSWEEP" export --db "$TMPDIR/copy.db" | sha256sum)" "$(ks export | sha256sum)"
    ks export --format sql | sqlite3 "$TMPDIR/restored.db"
    is "the dump of export --format sql restores the same" "$("$KERNSWEEP" export --db "$TMPDIR/restored.db" | sha256sum)" "$(ks export | sha256sum)"
    exits "db vacuum exits 0" 0 ks db vacuum
    is "db vacuum leaves every test" "$(ks export | wc -l)" 16
    like "db vacuum says how much is unused" "$ERR" "unused"
    unlike "db vacuum shows no progress without a terminal" "$ERR" "%"
    is "db vacuum --quiet prints nothing" "$(ks db vacuum --quiet 2>&1)" ""
    is "db vacuum shows its progress on a terminal" \
        "$(TERM=xterm script -qec "'$KERNSWEEP' db vacuum --db '$TMPDIR/restored.db'" /dev/null </dev/null | grep -c "releasing unused space: .* %")" 1
}

queries() {
    needs ingested
    exits "a SELECT exits 0" 0 ks sql "SELECT count(*) AS n FROM test" --json
    is "a SELECT prints its rows" "$(jq -c . <<<"$OUT")" '[{"n":15}]'
    exits "a DELETE exits 2" 2 ks sql "DELETE FROM run"
}

path() {
    exits "exits 0" 0 ks db path
    is "prints the store's path" "$OUT" "$TMPDIR/results.db"
}

no_store() {
    exits "db check exits 2" 2 "$KERNSWEEP" db check --db "$TMPDIR/none.db"
    passes "db check does not make one" test ! -e "$TMPDIR/none.db"
}

scenario "folders of the older layout" ingest
scenario "a folder that is moved after it was stored" moved
scenario "runs remove of a confirmed run" confirmed_removed
scenario "the published figures" factors
scenario "the scaling of the core run" scaling
scenario "compare of two nights" other_night
scenario "compare --all-metrics" all_metrics
scenario "compare --json" as_json
scenario "compare --format github" as_annotations
scenario "compare --format junit" as_junit
scenario "compare --format csv" as_csv
scenario "ingest of a night in which a cell fails" broken_ingested
scenario "compare with a night in which a cell fails" breaks
scenario "compare with a night in which a cell works again" fixed
scenario "a run as a baseline" baseline
scenario "compare of a single run without history" refused compare 20260214
scenario "compare --by node of tests without a node" refused compare 20260214 --by node
scenario "compare --by node" by_node
scenario "show of a name that several runs begin with" ambiguous
scenario "history of a cell" cell_history
scenario "history of twelve imported nights" imported_history
scenario "accepting a finding" acceptance
scenario "ingest of a folder whose log has failures" failing_log
scenario "ingest of a folder that is read in another way" another_reading
scenario "ingest and import of a folder of another shape" other_shapes
scenario "db check" check
scenario "copies of a store" copies
scenario "sql" queries
scenario "db path" path
scenario "a store that does not exist" no_store
done_testing
