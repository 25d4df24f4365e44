# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/pipeline.sh: the whole pipeline once, for whatever transport the script has set up. A script sources
# tests/lib.sh and this, sets PLAN_NODE and KS_OPTIONS, calls pipeline_setup and then the checks it wants.

FIXTURES=tests/fixtures/pipeline
PLAN_NODE=local
KS_OPTIONS=()

# ks COMMAND...: the command, with this script's store and node; ks_run also with its artifacts.
ks() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/results.db" "${KS_OPTIONS[@]}"
}

ks_run() {
    ks run "$@" --artifacts "$TMPDIR/artifacts_remote"
}

sql() {
    sqlite3 -batch -noheader "$TMPDIR/results.db" "$1"
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

# Every file that the manifest names is there with its hash, and nothing else is.
manifest_holds() {
    jq -r '.files[] | "\(.sha256)  \(.path)"' "$1/manifest.json" >"$TMPDIR/sums"
    (cd "$1" && sha256sum --quiet -c "$TMPDIR/sums") || return 1
    diff <(cut -c 67- "$TMPDIR/sums" | LC_ALL=C sort) \
        <(cd "$1" && find . -type f ! -name manifest.json ! -name 'report*' -printf '%P\n' | LC_ALL=C sort)
}

check_clean_run() {
    local bundle
    exits "a clean sweep exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --tag clean
    like "its end names the table's cells" "$OUT$ERR" "good.*impl_good|impl_good"
    bundle=$(bundle_of clean)
    is "all of its tests are OK" "$(for r in 16:1 16:2 32:1; do status_of "$bundle" good ${r%:*} ${r#*:}; done | sort | uniq -c | xargs)" "3 OK"
    passes "the manifest is right and complete" manifest_holds "$bundle"
    is "the store has the run" "$(sql "SELECT status, count(*) FROM run GROUP BY 1")" "COMPLETE|1"
    is "and its measurements" \
        "$(sql "SELECT s.context_len, t.repetition, t.prefill_s, t.status FROM test t JOIN series s ON s.id = t.series_id ORDER BY 1, 2")" \
        $'16|1|0.256|OK\n16|2|0.256|OK\n32|1|1.024|OK'
    is "the timings are the workload's" "$(jq -c '.timings | [.model_load_s, .prefill_s, .attn_impl]' \
        "$bundle/good/ctx_32_run1/perf.json")" '[0.25,1.024,"impl_good"]'
    is "the journal begins and ends as it must" \
        "$(jq -r .event "$bundle/events.jsonl" | sed -n '1p;$p' | xargs)" "SUITE_START SUITE_END"
    is "its events are numbered without a gap" \
        "$(jq -s 'map(.seq) == [range(1; length + 1)]' "$bundle/events.jsonl")" true
    passes "a report lies beside the bundle" test -s "$bundle.md"
    like "and its page, whole" "$(tail -n 1 "$bundle.html")" '</html>'
    if command -v gnuplot >/dev/null; then
        passes "with plots beside it" test -s "$bundle.plots/prefill.svg"
        like "that the report shows" "$(cat "$bundle.md")" "\\]\\(${bundle##*/}\\.plots/prefill\\.svg\\)"
        passes "and the page holds" grep -q 'src="data:image/svg+xml' "$bundle.html"
    fi
    is "memory was sampled" "$(jq '.rss.peak_bytes > 0' "$bundle/good/ctx_32_run1/perf.json")" true
}

check_second_run_builds_nothing() {
    local bundle
    exits "a second sweep exits 0 too" 0 ks_run "$TMPDIR/plan.json" --variants good --tag again
    bundle=$(bundle_of again)
    is "and takes the build of the first" \
        "$(jq -r 'select(.event == "BUILD_END") | .status' "$bundle/events.jsonl")" CACHED
    exits "with --fresh" 0 ks_run "$TMPDIR/plan.json" --variants good --tag fresh --fresh
    is "it is built anew" \
        "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of fresh)/events.jsonl")" OK
}

check_statuses() {
    local bundle pair
    exits "a sweep with failing tests exits 1" 1 ks_run "$TMPDIR/plan.json" --tag mixed --fail-on failure \
        --variants good,fails,crashes,silent,zero,nan,cut,impostor,skips,nobuild,gated
    bundle=$(bundle_of mixed)
    is "the run is complete all the same" "$(jq -r .status "$bundle/summary.json")" COMPLETE
    for pair in good:OK fails:FAIL crashes:CRASH silent:INVALID zero:INVALID nan:INVALID cut:INVALID \
        impostor:INVALID skips:SKIPPED; do
        is "a workload that ${pair%:*} is ${pair#*:}" "$(status_of "$bundle" "${pair%:*}" 16 1)" "${pair#*:}"
    done
    is "so says the store" \
        "$(sql "SELECT t.status FROM test t JOIN series s ON s.id = t.series_id JOIN run r ON r.id = t.run_id
                WHERE r.tag = 'mixed' AND s.variant = 'zero' AND s.context_len = 32")" INVALID
    is "an unbelievable time is not stored as one" \
        "$(sql "SELECT count(*) FROM test WHERE status <> 'OK' AND prefill_s IS NOT NULL AND prefill_s <= 0")" 0
    like "the reason of a cut prompt names both numbers" \
        "$(jq -r .reason "$bundle/cut/ctx_16_run1/perf.json")" '8.*16'
    passes "a failed test has evidence beside it" test -s "$bundle/fails/ctx_16_run1/diag.txt"
    like "what it printed is in its log" "$(cat "$bundle/fails/ctx_16_run1/run.log")" hipErrorInvalidValue
    like "the compiler's words are shown" "$ERR" "kernel.hip:12: error: no such thing"
    is "the variant is BUILD_FAILED" \
        "$(jq -r '.variants[] | select(.name == "nobuild") | .status' "$bundle/summary.json")" BUILD_FAILED
    is "the refused one GATE_FAILED" \
        "$(jq -r '.variants[] | select(.name == "gated") | .status' "$bundle/summary.json")" GATE_FAILED
    is "the store knows both" \
        "$(sql "SELECT name, v.status FROM variant v JOIN run r ON r.id = v.run_id
                WHERE r.tag = 'mixed' AND name IN ('nobuild', 'gated') ORDER BY 1")" \
        $'gated|GATE_FAILED\nnobuild|BUILD_FAILED'
    is "neither was timed" "$(find "$bundle/nobuild" "$bundle/gated" -name perf.json -exec jq -r .exit_status {} + |
        sort -u)" SKIPPED
}

check_timeout() {
    local bundle pid alive=
    rm -f "$TMPDIR/marks/pids"
    exits "a sweep with an overrun exits 1" 1 ks_run "$TMPDIR/plan.json" --tag late --variants overruns,good --contexts 7
    bundle=$(bundle_of late)
    is "it is a TIMEOUT" "$(status_of "$bundle" overruns 7 1)" TIMEOUT
    is "and the sweep went on" "$(status_of "$bundle" good 7 1)" OK
    while IFS= read -r pid; do gone "$pid" || alive="$alive $pid"; done <"$TMPDIR/marks/pids"
    is "three processes were started" "$(wc -l <"$TMPDIR/marks/pids")" 3
    is "nothing of it lives, deaf to TERM or in a session of its own" "$alive" ""
}

check_secrets() {
    # shellcheck disable=SC2016 # the workload's shell expands it
    plan_with '.env.API_TOKEN = "hunter2hunter2" | .secrets = ["API_TOKEN"] | .variants |= map(
        select(.name == "leaks") |= (.build = [["sh", "-c", "echo built with $API_TOKEN; env"]] |
        .gates = [{kind: "command", run: ["sh", "-c", "echo $API_TOKEN; env"]}]))' "$TMPDIR/secret.json"
    exits "a workload may print its secret" 0 ks_run "$TMPDIR/secret.json" --variants leaks --contexts 16 --tag secret
    like "what it printed is there, without it" "$(cat "$(bundle_of secret)/leaks/ctx_16_run1/run.log")" '^token=\*\*\*$'
    like "so is what its build printed" "$(cat "$(bundle_of secret)/leaks/build.log")" 'built with \*\*\*$'
    is "no artifact, log, record or report holds it, here or there, nor the store or the terminal" \
        "$(grep -rl hunter2hunter2 "$TMPDIR" | grep -v '/secret\.json$')" ""
}

check_compare() {
    local first
    first=$(sql "SELECT run_id FROM run WHERE tag = 'clean'")
    exits "a stored run becomes a baseline" 0 ks baseline set nightly "$first"
    plan_with '.env.FACTOR = "1.02"' "$TMPDIR/same.json"
    exits "2 % under a threshold of 5 % is no regression" 0 \
        ks_run "$TMPDIR/same.json" --variants good --tag same --baseline nightly
    plan_with '.env.FACTOR = "2"' "$TMPDIR/slow.json"
    exits "twice as slow is a regression: exit 4" 4 \
        ks_run "$TMPDIR/slow.json" --variants good --tag slow --baseline nightly
    like "and says so" "$OUT$ERR" '[Rr]egress'
    exits "unless asked not to" 0 ks_run "$TMPDIR/slow.json" --variants good --tag slow2 --baseline nightly \
        --fail-on none
    exits "compare says the same of the stored runs" 4 ks compare "$(bundle_of slow)" --baseline nightly --json
    is "in JSON" "$(jq -r '[.cells[].verdict] | unique | join(" ")' <<<"$OUT")" regressed
    exits "a baseline that does not exist is the user's mistake" 2 ks compare "$first" --baseline nosuch
    one_line "said in one line" "$ERR"
}

check_report() {
    passes "a report of a sweep is written" ks report "$(bundle_of mixed)" --output "$TMPDIR/report.md"
    like "it has the table" "$(cat "$TMPDIR/report.md")" \
        '^\| *Context *\| *Variant *\| *Kernel name *\| *Prefill \(s\) *\| *vs Baseline *\| *Status *\|'
    like "and the cells" "$(cat "$TMPDIR/report.md")" '^\| *16 .*good.*impl_good.*1\.00x.*Reference'
    like "and the machine that ran it" "$(cat "$TMPDIR/report.md")" '^- \*\*Machines \(tests\):\*\* .*\([0-9]+\)$'
    like "and names what failed" "$(cat "$TMPDIR/report.md")" '^\| *16 .*crashes.*CRASH'
    passes "a report against another run is written" \
        ks report "$(bundle_of slow)" --against "$(bundle_of clean)" --output "$TMPDIR/against.md"
    like "it says what regressed" "$(cat "$TMPDIR/against.md")" 'good.*regressed'
}

check_ingest_again() {
    local before
    before=$(sql "SELECT count(*) FROM run")
    exits "ingesting a bundle again is fine" 0 ks ingest "$(bundle_of clean)"
    is "and stores nothing twice" "$(sql "SELECT count(*) FROM run")" "$before"
    cp -r "$(bundle_of clean)" "$TMPDIR/forged"
    sed -i 's/0\.256/0.001/' "$TMPDIR/forged/good/ctx_16_run1/perf.json"
    exits "a bundle whose file was changed is refused" 2 \
        "$KERNSWEEP" ingest "$TMPDIR/forged" --db "$TMPDIR/other.db"
    like "and the file is named" "$ERR" 'perf\.json'
    one_line "in one line" "$ERR"
}

# start_waiting TAG: a sweep that waits in its first test; RUN_PID and its stderr in $TMPDIR/TAG.err.
start_waiting() {
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    # Not through ks: the signal must reach the command, not a shell in front of it.
    "$KERNSWEEP" run "$TMPDIR/plan.json" --variants waits --contexts 32 --tag "$1" --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" "${KS_OPTIONS[@]}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
    RUN_PID=$!
    until_true 60 started_or_gone
    [ -e "$TMPDIR/marks/started" ]
}

started_or_gone() {
    [ -e "$TMPDIR/marks/started" ] || gone "$RUN_PID"
}

check_interrupt() {
    local rc=0 run
    start_waiting stopped
    ok "the sweep waits in a test" $?
    kill -INT "$RUN_PID"
    wait "$RUN_PID" || rc=$?
    is "Ctrl-C exits 130" "$rc" 130
    like "and says how to attach" "$(cat "$TMPDIR/stopped.err")" 'kernsweep attach '
    like "and how to cancel" "$(cat "$TMPDIR/stopped.err")" 'kernsweep cancel '
    run=$(grep -o 'kernsweep attach [^ `]*' "$TMPDIR/stopped.err" | head -n 1 | cut -d ' ' -f 3)
    exits "the run goes on on the node" 0 ks status "$run" --json
    is "as status says" "$(jq -r '.[0].state' <<<"$OUT")" running
    : >"$TMPDIR/marks/go"
    exits "attach follows it to its end" 0 ks attach "$run"
    is "and the bundle is where run would have put it" "$(status_of "$(bundle_of stopped)" waits 32 1)" OK
}

check_cancel() {
    local run bundle
    start_waiting cancelled
    run=$(ks status --json | jq -r '.[] | select(.state == "running") | .run_id' | tail -n 1)
    exits "cancel stops a run" 0 ks cancel "$run"
    wait "$RUN_PID"
    bundle=$(bundle_of cancelled)
    is "it is closed as CANCELLED" "$(jq -r .status "$bundle/summary.json")" CANCELLED
    is "and stored as that" "$(sql "SELECT status FROM run WHERE tag = 'cancelled'")" CANCELLED
}

check_detach() {
    local run
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    exits "--detach returns while the run goes on" 0 ks_run "$TMPDIR/plan.json" --variants waits --contexts 32 --tag away --detach
    run=$OUT
    : >"$TMPDIR/marks/go"
    exits "attach brings it home" 0 ks attach "$run"
    is "whole" "$(status_of "$(bundle_of away)" waits 32 1)" OK
}
