# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/pipeline.sh: the whole pipeline, over the transport that the script has set up. A script sources tests/lib.sh and
# this, sets PLAN_NODE and KS_OPTIONS, calls pipeline_setup and then pipeline_scenarios, or only some of the functions.

. tests/store.sh

FIXTURES=tests/fixtures/pipeline
PLAN_NODE=local

ks_run() {
    ks run "$@" --artifacts "$TMPDIR/artifacts_remote"
}

# plan_with FILTER FILE: the fixture's plan, changed by a jq filter.
plan_with() {
    jq --arg node "$PLAN_NODE" --arg workdir "$TMPDIR/work" --arg marks "$TMPDIR/marks" \
        --arg dir "$PWD/$FIXTURES" '
        .node = $node | .workdir = $workdir | .source.dir = $dir | .env.MARKS = $marks | '"$1" \
        "$FIXTURES/plan.json" >"$2"
}

pipeline_setup() {
    mkdir -p "$TMPDIR/marks"
    plan_with . "$TMPDIR/plan.json"
}

# The newest bundle below the artifacts folder whose name ends in _TAG.
bundle_of() {
    find "$TMPDIR/artifacts_remote" -mindepth 2 -maxdepth 2 -type d -name "*_$1" | sort | tail -n 1
}

# status_of BUNDLE VARIANT CONTEXT REPETITION
status_of() {
    jq -r .exit_status "$1/$2/ctx_$3_run$4/perf.json" 2>&1
}

gone() {
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

# Whether every file in the manifest exists with its hash, and no other file does.
manifest_holds() {
    jq -r '.files[] | "\(.sha256)  \(.path)"' "$1/manifest.json" >"$TMPDIR/sums"
    (cd "$1" && sha256sum --quiet -c "$TMPDIR/sums") || return 1
    diff <(cut -c 67- "$TMPDIR/sums" | LC_ALL=C sort) \
        <(cd "$1" && find . -type f ! -name manifest.json ! -name 'report*' -printf '%P\n' | LC_ALL=C sort)
}

# Sweeps that scenarios share run once per script; RC, OUT and ERR are those of the sweep.
clean_sweep() {
    try_once clean ks_run "$TMPDIR/plan.json" --variants good --tag clean
}

mixed_sweep() {
    try_once mixed ks_run "$TMPDIR/plan.json" --tag mixed --fail-on failure \
        --variants good,fails,crashes,silent,zero,nan,cut,impostor,skips,nobuild,gated
}

slow_sweep() {
    needs clean_baseline
    plan_with '.env.FACTOR = "2"' "$TMPDIR/slow.json"
    try_once slow ks_run "$TMPDIR/slow.json" --variants good --tag slow --baseline nightly
}

clean_baseline() {
    clean_sweep
    ks baseline set nightly "$(sql "SELECT run_id FROM run WHERE tag = 'clean'")" >/dev/null 2>&1
}

a_clean_sweep() {
    local bundle
    clean_sweep
    exited "exits 0" 0
    like "its table names the variant and the kernel" "$OUT$ERR" '\bgood\b.*impl_good'
    bundle=$(bundle_of clean)
    is "all of its tests are OK" "$(for r in 16:1 16:2 32:1; do status_of "$bundle" good ${r%:*} ${r#*:}; done | sort | uniq -c | xargs)" "3 OK"
    passes "the manifest has every file with its hash" manifest_holds "$bundle"
    is "the store has the run once" "$(sql "SELECT status, count(*) FROM run WHERE tag = 'clean' GROUP BY 1")" "COMPLETE|1"
    is "the store has its measurements" \
        "$(sql "SELECT s.context_len, t.repetition, t.prefill_s, t.status FROM test t JOIN series s ON s.id = t.series_id
                JOIN run r ON r.id = t.run_id WHERE r.tag = 'clean' ORDER BY 1, 2")" \
        $'16|1|0.256|OK\n16|2|0.256|OK\n32|1|1.024|OK'
    is "the timings are those that the workload printed" "$(jq -c '.timings | [.model_load_s, .prefill_s, .attn_impl]' \
        "$bundle/good/ctx_32_run1/perf.json")" '[0.25,1.024,"impl_good"]'
    is "the journal begins with SUITE_START and ends with SUITE_END" \
        "$(jq -r .event "$bundle/events.jsonl" | sed -n '1p;$p' | xargs)" "SUITE_START SUITE_END"
    is "events are numbered without a gap" \
        "$(jq -s 'map(.seq) == [range(1; length + 1)]' "$bundle/events.jsonl")" true
    is "memory was sampled" "$(jq '.rss.peak_bytes > 0' "$bundle/good/ctx_32_run1/perf.json")" true
}

report_beside_bundle() {
    local bundle
    clean_sweep
    bundle=$(bundle_of clean)
    passes "the Markdown report is there" test -s "$bundle.md"
    like "the HTML page is whole" "$(tail -n 1 "$bundle.html")" '</html>'
    command -v gnuplot >/dev/null || return 0
    passes "a plot is there as SVG" test -s "$bundle.plots/prefill.svg"
    like "the Markdown report refers to the plot" "$(cat "$bundle.md")" "\\]\\(${bundle##*/}\\.plots/prefill\\.svg\\)"
    passes "the HTML page contains the plot" grep -q 'src="data:image/svg+xml' "$bundle.html"
}

builds_are_cached() {
    clean_sweep
    exits "a second sweep exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --tag again
    is "a second sweep takes the build of the first" \
        "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of again)/events.jsonl")" CACHED
    exits "a sweep with --fresh exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --tag fresh --fresh
    is "a sweep with --fresh builds" \
        "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of fresh)/events.jsonl")" OK
}

failing_sweep() {
    local bundle pair
    mixed_sweep
    exited "exits 1" 1
    bundle=$(bundle_of mixed)
    is "the run is COMPLETE" "$(jq -r .status "$bundle/summary.json")" COMPLETE
    for pair in good:OK fails:FAIL crashes:CRASH silent:INVALID zero:INVALID nan:INVALID cut:INVALID \
        impostor:INVALID skips:SKIPPED; do
        is "the test of the workload \"${pair%:*}\" is ${pair#*:}" "$(status_of "$bundle" "${pair%:*}" 16 1)" "${pair#*:}"
    done
    is "the store has the status of a test" \
        "$(sql "SELECT t.status FROM test t JOIN series s ON s.id = t.series_id JOIN run r ON r.id = t.run_id
                WHERE r.tag = 'mixed' AND s.variant = 'zero' AND s.context_len = 32")" INVALID
    is "the store has no time of 0 or less" \
        "$(sql "SELECT count(*) FROM test WHERE status <> 'OK' AND prefill_s IS NOT NULL AND prefill_s <= 0")" 0
    like "the reason of a cut prompt has both numbers of tokens" \
        "$(jq -r .reason "$bundle/cut/ctx_16_run1/perf.json")" '8.*16'
    passes "a failed test has a diag.txt" test -s "$bundle/fails/ctx_16_run1/diag.txt"
    like "run.log has what the failed test printed" "$(cat "$bundle/fails/ctx_16_run1/run.log")" hipErrorInvalidValue
}

failing_builds() {
    local bundle
    mixed_sweep
    bundle=$(bundle_of mixed)
    like "the terminal shows what the compiler printed" "$ERR" "kernel.hip:12: error: no such thing"
    is "the variant that does not build is BUILD_FAILED" \
        "$(jq -r '.variants[] | select(.name == "nobuild") | .status' "$bundle/summary.json")" BUILD_FAILED
    is "the variant whose gate fails is GATE_FAILED" \
        "$(jq -r '.variants[] | select(.name == "gated") | .status' "$bundle/summary.json")" GATE_FAILED
    is "the store has the status of both variants" \
        "$(sql "SELECT name, v.status FROM variant v JOIN run r ON r.id = v.run_id
                WHERE r.tag = 'mixed' AND name IN ('nobuild', 'gated') ORDER BY 1")" \
        $'gated|GATE_FAILED\nnobuild|BUILD_FAILED'
    is "no test of either variant is run" "$(find "$bundle/nobuild" "$bundle/gated" -name perf.json -exec jq -r .exit_status {} + |
        sort -u)" SKIPPED
}

overrun() {
    local bundle pid alive=
    rm -f "$TMPDIR/marks/pids"
    exits "the sweep exits 1" 1 ks_run "$TMPDIR/plan.json" --tag late --variants overruns,good --contexts 7
    bundle=$(bundle_of late)
    is "the test is TIMEOUT" "$(status_of "$bundle" overruns 7 1)" TIMEOUT
    is "the next test runs" "$(status_of "$bundle" good 7 1)" OK
    while IFS= read -r pid; do gone "$pid" || alive="$alive $pid"; done <"$TMPDIR/marks/pids"
    is "it started three processes" "$(wc -l <"$TMPDIR/marks/pids")" 3
    is "none of the three lives, neither the one that ignores TERM nor the one in a session of its own" "$alive" ""
}

secrets() {
    # shellcheck disable=SC2016 # the workload's shell expands it
    plan_with '.env.API_TOKEN = "hunter2hunter2" | .secrets = ["API_TOKEN"] | .variants |= map(
        select(.name == "leaks") |= (.build = [["sh", "-c", "echo built with $API_TOKEN; env"]] |
        .gates = [{kind: "command", run: ["sh", "-c", "echo $API_TOKEN; env"]}]))' "$TMPDIR/secret.json"
    exits "the sweep exits 0" 0 ks_run "$TMPDIR/secret.json" --variants leaks --contexts 16 --tag secret
    like "run.log has the line with the secret blotted out" "$(cat "$(bundle_of secret)/leaks/ctx_16_run1/run.log")" '^token=\*\*\*$'
    like "build.log has the line with the secret blotted out" "$(cat "$(bundle_of secret)/leaks/build.log")" 'built with \*\*\*$'
    is "no file on the node or here has the secret, nor the terminal" \
        "$(grep -rl hunter2hunter2 "$TMPDIR" | grep -v '/secret\.json$')" ""
}

baseline_set() {
    clean_sweep
    exits "baseline set exits 0" 0 ks baseline set nightly "$(sql "SELECT run_id FROM run WHERE tag = 'clean'")"
    plan_with '.env.FACTOR = "1.02"' "$TMPDIR/same.json"
    exits "a sweep that is 2 % slower, under a threshold of 5 %, exits 0" 0 \
        ks_run "$TMPDIR/same.json" --variants good --tag same --baseline nightly
    exits "compare with an unknown baseline exits 2" 2 ks compare "$(bundle_of clean)" --baseline nosuch
    one_line "compare with an unknown baseline prints one line" "$ERR"
}

twice_as_slow() {
    slow_sweep
    exited "exits 4" 4
    like "its table says regressed" "$OUT" '\bregressed\b'
    exits "exits 0 with --fail-on none" 0 ks_run "$TMPDIR/slow.json" --variants good --tag slow2 --baseline nightly \
        --fail-on none
    exits "compare of the stored runs exits 4, too" 4 ks compare "$(bundle_of slow)" --baseline nightly --json
    is "compare --json has the verdict" "$(jq -r '[.cells[].verdict] | unique | join(" ")' <<<"$OUT")" regressed
}

report_written() {
    local text
    mixed_sweep
    passes "report --output exits 0" ks report "$(bundle_of mixed)" --output "$TMPDIR/report.md"
    text=$(cat "$TMPDIR/report.md")
    like "it has the table's heading" "$text" \
        '^\| *Context *\| *Variant *\| *Kernel name *\| *Prefill \(s\) *\| *vs good *\| *Status *\|'
    like "it has a row for a cell" "$text" '^\| *16 .*good.*impl_good.*1\.00x.*Reference'
    like "it names the machine that ran the tests" "$text" '^- \*\*Machines \(tests\):\*\* .*\([0-9]+\)$'
    like "it has a row for a test that failed" "$text" '^\| *16 .*crashes.*CRASH'
}

report_against() {
    slow_sweep
    passes "report --against exits 0" \
        ks report "$(bundle_of slow)" --against "$(bundle_of clean)" --output "$TMPDIR/against.md"
    like "it says which cell regressed" "$(cat "$TMPDIR/against.md")" 'good.*regressed'
}

ingested_again() {
    local before
    clean_sweep
    before=$(sql "SELECT count(*) FROM run")
    exits "ingest exits 0" 0 ks ingest "$(bundle_of clean)"
    is "the store has no further run" "$(sql "SELECT count(*) FROM run")" "$before"
}

forged() {
    clean_sweep
    cp -r "$(bundle_of clean)" "$TMPDIR/forged"
    sed -i 's/0\.256/0.001/' "$TMPDIR/forged/good/ctx_16_run1/perf.json"
    exits "ingest exits 2" 2 "$KERNSWEEP" ingest "$TMPDIR/forged" --db "$TMPDIR/other.db"
    like "the error names the file" "$ERR" 'perf\.json'
    one_line "the error is one line" "$ERR"
}

# start_waiting TAG: a sweep that waits in its first test; RUN_PID and its stderr in $TMPDIR/TAG.err.
start_waiting() {
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    # Calls the command directly, so that the signal reaches it and not a shell in front of it.
    "$KERNSWEEP" run "$TMPDIR/plan.json" --variants waits --contexts 32 --tag "$1" --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" "${KS_OPTIONS[@]}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
    RUN_PID=$!
    until_true 60 started_or_gone
    [ -e "$TMPDIR/marks/started" ]
}

started_or_gone() {
    [ -e "$TMPDIR/marks/started" ] || gone "$RUN_PID"
}

# run_of TAG: the id of the run that the background sweep has started
run_of() {
    grep -o 'run [^ ]* started' "$TMPDIR/$1.err" | cut -d ' ' -f 2
}

interrupted() {
    local rc=0 run
    start_waiting stopped
    ok "the sweep comes to its test" $?
    kill -INT "$RUN_PID"
    wait "$RUN_PID" || rc=$?
    is "the sweep exits 130" "$rc" 130
    like "the sweep prints how to attach" "$(cat "$TMPDIR/stopped.err")" 'kernsweep attach '
    like "the sweep prints how to cancel" "$(cat "$TMPDIR/stopped.err")" 'kernsweep cancel '
    run=$(grep -o 'kernsweep attach [^ `]*' "$TMPDIR/stopped.err" | head -n 1 | cut -d ' ' -f 3)
    exits "status of the run exits 0" 0 ks status "$run" --json
    is "status shows the run as running" "$(jq -r '.[0].state' <<<"$OUT")" running
    : >"$TMPDIR/marks/go"
    exits "attach exits 0 at the run's end" 0 ks attach "$run"
    is "attach puts the bundle where run would have put it" "$(status_of "$(bundle_of stopped)" waits 32 1)" OK
}

cancelled() {
    start_waiting cancelled
    exits "cancel exits 0" 0 ks cancel "$(run_of cancelled)"
    wait "$RUN_PID"
    is "the summary says CANCELLED" "$(jq -r .status "$(bundle_of cancelled)/summary.json")" CANCELLED
    is "the store says CANCELLED" "$(sql "SELECT status FROM run WHERE tag = 'cancelled'")" CANCELLED
}

detached() {
    local run
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    exits "run --detach exits 0 while the test waits" 0 ks_run "$TMPDIR/plan.json" --variants waits --contexts 32 --tag away --detach
    run=$OUT
    : >"$TMPDIR/marks/go"
    exits "attach exits 0" 0 ks attach "$run"
    is "attach brings the bundle with its test" "$(status_of "$(bundle_of away)" waits 32 1)" OK
}

# Runs the scenarios that every transport must pass.
pipeline_scenarios() {
    scenario "a clean sweep" a_clean_sweep
    scenario "the report that a sweep leaves beside its bundle" report_beside_bundle
    scenario "the builds of a second sweep" builds_are_cached
    scenario "a sweep with tests that fail" failing_sweep
    scenario "a sweep with variants that cannot be tested" failing_builds
    scenario "a test that outlasts its time-out and ignores TERM" overrun
    scenario "a run as a baseline" baseline_set
    scenario "a sweep that is twice as slow as its baseline" twice_as_slow
    scenario "a sweep interrupted by SIGINT" interrupted
    scenario "a sweep that is cancelled" cancelled
    scenario "a detached sweep" detached
}
