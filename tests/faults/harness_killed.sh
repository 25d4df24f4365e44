#!/usr/bin/env bash
# The harness is killed by SIGKILL in each phase of a run, and at random system calls: attach ends the run, with the bundle of
# one that nothing disturbed. A phase is known by what the node, the disk or the store shows.
. tests/lib.sh
. tests/pipeline.sh
. tests/line.sh
. tests/pipeline_faults.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
trap 'line_end; node_stop' EXIT
PLAN_NODE=loopback
BIN=$TMPDIR/bin

# Three variants: one is built and done, one is held in its build and its test, one has much to bring home.
held_plan() {
    jq -n --arg marks "$TMPDIR/marks" '
        def good: .variants[] | select(.name == "good");
        input | .variants = [good,
            (good | .name = "held" | .run[0:2] = ["{src}/workload", "waits"] | .build = [["sh", "-c",
                "touch $0/building; until [ -e $0/build ]; do sleep 0.05; done", $marks]]),
            (.variants[] | select(.name == "bulky"))] | .contexts = [32]' "$1" >"$2"
}

# A plot takes as long as it is held; without the real one a run has no plots.
mkdir -p "$BIN"
cat >"$BIN/gnuplot" <<END
#!/bin/sh
touch '$TMPDIR/marks/plotting'
until [ -e '$TMPDIR/marks/plot' ]; do sleep 0.05; done
PATH=\${PATH#*:}
exec gnuplot "\$@"
END
chmod +x "$BIN/gnuplot"

# held HOLD...: what stays, of building, testing and plotting; the rest is let go.
held() {
    local hold
    rm -f "$TMPDIR"/marks/*
    : >"$TMPDIR/marks/build"
    : >"$TMPDIR/marks/go"
    : >"$TMPDIR/marks/plot"
    for hold in "$@"; do rm "$TMPDIR/marks/$hold"; done
}

# sweep TAG: in the background; RUN_PID.
sweep() {
    PATH=$BIN:$PATH "$KERNSWEEP" run "$TMPDIR/held.json" --fresh --tag "$1" --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" "${KS_OPTIONS[@]}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
    RUN_PID=$!
}

record_of() {
    grep -l "\"bundle\": \".*_$1\"" "$TMPDIR"/runs/*.json 2>/dev/null
}

record_says() {
    [ "$(jq -r .state "$(record_of "$1")")" = "$2" ]
}

# What a run is, but for its times: its tests with their ends, and its files.
shape_of() {
    jq -r '.tests[] | [.variant, .context_len, .repetition, .exit_status] | @tsv' "$1/summary.json"
    jq -r 'select(.event == "TEST_END") | ["ended", .variant, .ctx, .run_idx, .exit_status] | @tsv' "$1/events.jsonl"
    find "$1" -type f -printf '%P\n' | LC_ALL=C sort
}

stored_tests() {
    sql "SELECT count(*) || ' ' || count(DISTINCT t.series_id) FROM test t JOIN run r ON r.id = t.run_id WHERE r.tag = '$1'"
}

# The sweep that nothing disturbs; UNDISTURBED is its shape.
undisturbed_sweep() {
    local rc=0
    BACKEND=libssh2
    over_line
    held
    sweep undisturbed
    wait "$RUN_PID" || rc=$?
    UNDISTURBED=$(shape_of "$(bundle_of undisturbed)")
    return "$rc"
}

undisturbed() {
    needs undisturbed_sweep
    passes "the bundle is there" test -s "$(bundle_of undisturbed)/manifest.json"
    is "its tests are stored" "$(stored_tests undisturbed)" "3 3"
}

# as_undisturbed TAG: the run is there, as if nothing had happened.
as_undisturbed() {
    local bundle
    bundle=$(bundle_of "$1")
    is "the bundle has the tests and files of an undisturbed one, each once" "$(shape_of "$bundle")" "$UNDISTURBED"
    passes "the manifest has every file with its hash" manifest_holds "$bundle"
    is "its tests are stored once" "$(stored_tests "$1")" "3 3"
    passes "the report is there" test -s "$bundle.md" -a -s "$bundle.html"
    is "no partial or temporary file is left" "$(find "$TMPDIR/artifacts_remote" -name '*.partial*' -o -name '*.tmp.*')" ""
}

# killed_when TAG WHEN...: the harness is killed once WHEN holds; what is held is let go, and attach does the rest.
killed_when() {
    local tag=$1 run rc=0
    shift
    sweep "$tag"
    until_true 120 "$@"
    ok "the sweep gets there" $? "$(cat "$TMPDIR/$tag.err")"
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null || rc=$?
    is "the sweep dies of SIGKILL" "$rc" 137
    [ -z "${STORE_LOCK:-}" ] || unlock_store
    held
    run=$(jq -r .run_id "$(record_of "$tag")")
    exits "attach exits 0" 0 ks attach "$run"
    as_undisturbed "$tag"
}

# elsewhere TAG: another machine knows the node and the run's id.
elsewhere() {
    local bundle
    exits "attach on another machine exits 0" 0 "$KERNSWEEP" attach "$(jq -r .run_id "$(record_of "$1")")" --node loopback \
        --workdir "$TMPDIR/work" --db "$TMPDIR/other/results.db" --artifacts "$TMPDIR/other/$1" "${KS_OPTIONS[@]}"
    bundle=$(find "$TMPDIR/other/$1" -name manifest.json -printf '%h\n')
    passes "the other machine gets the same bundle" diff -r "$bundle" "$(bundle_of "$1")"
}

lock_store() {
    coproc STORE { sqlite3 -batch "$TMPDIR/results.db"; }
    STORE_LOCK=$STORE_PID
    printf 'BEGIN EXCLUSIVE;\nSELECT 1;\n' >&"${STORE[1]}"
    read -r _ <&"${STORE[0]}"
}

unlock_store() {
    printf 'ROLLBACK;\n.quit\n' >&"${STORE[1]}"
    wait "$STORE_LOCK"
    STORE_LOCK=
}

# killed_in PHASE BACKEND
killed_in() {
    local tag=$2-$1
    needs undisturbed_sweep
    BACKEND=$2
    case $1 in
    push)
        # The sources are new each time: what the node has is not pushed.
        head -c 16000000 /dev/urandom >"$TMPDIR/large/big"
        over_line --rate 6000000
        held
        killed_when "$tag" pushing
        passes "no half of the sources is left on the node" until_true 20 nothing_staged
        return
        ;;
    build)
        over_line
        held build
        killed_when "$tag" test -e "$TMPDIR/marks/building"
        ;;
    test)
        over_line
        held go
        killed_when "$tag" test -e "$TMPDIR/marks/started"
        ;;
    pull)
        over_line --rate 4000000
        held
        killed_when "$tag" pulling
        ;;
    ingest)
        over_line
        held
        lock_store
        killed_when "$tag" record_says "$tag" pulled
        ;;
    report)
        over_line
        held plot
        killed_when "$tag" test -e "$TMPDIR/marks/plotting"
        ;;
    esac
    elsewhere "$tag"
}

# A run whose harness was killed in the push, with the plan as file and the sources as folder; its id in CHANGED.
unfinished_push() {
    head -c 16000000 /dev/urandom >"$TMPDIR/large/big"
    over_line --rate 6000000
    held
    sweep "$1"
    until_true 120 pushing
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null
    CHANGED=$(jq -r .run_id "$(record_of "$1")")
}

starting() {
    BACKEND=openssh
    unfinished_push starting
    exits "status of it exits 0" 0 ks status "$CHANGED" --json
    is "status says starting" "$(jq -r '.[0].state' <<<"$OUT")" starting
    like "status of all runs says starting" "$(ks status 2>&1)" "^$CHANGED .* starting "
    is "its record has no secret" "$(grep -l hunter2 "$TMPDIR"/runs/*)" ""
    exits "cancel exits 0" 0 ks cancel "$CHANGED"
    is "cancel removes its record" "$(record_of starting)$(bundle_of starting)" ""
    exits "attach exits 2 once it is cancelled" 2 ks attach "$CHANGED"
}

# A start that is made again is the same start, or none.
changed_sources() {
    BACKEND=openssh
    unfinished_push sources
    echo '# changed' >>"$TMPDIR/large/workload"
    exits "attach exits 2" 2 ks attach "$CHANGED"
    one_line "attach prints one error" "$(grep '^kernsweep:' <<<"$ERR")"
    like "attach says what has changed and what to do" "$ERR" "large: changed since run $CHANGED was started: .kernsweep cancel"
    cp "$FIXTURES/workload" "$TMPDIR/large/"
    ks cancel "$CHANGED" >/dev/null 2>&1
}

changed_plan() {
    BACKEND=openssh
    unfinished_push plan
    cp "$TMPDIR/held.json" "$TMPDIR/held.good"
    sed -i 's/"threshold"/"comment": "new", "threshold"/; s/"ticket"/"comment": "new", "ticket"/' "$TMPDIR/held.json"
    exits "attach exits 2" 2 ks attach "$CHANGED"
    like "attach says that the plan has changed" "$ERR" 'held.json: changed since'
    mv "$TMPDIR/held.good" "$TMPDIR/held.json"
    ks cancel "$CHANGED" >/dev/null 2>&1
}

# instant N: killed after so many of the calls that leave something behind; 0 when it was, 1 when it had ended before.
instant() {
    local store=$TMPDIR/instant.$1 rc=0 n
    local plan=("$TMPDIR/small.json" --db "$store/results.db" --artifacts "$store/artifacts")
    strace -qq -o /dev/null -e 'trace=rename,renameat,renameat2,mkdir,fsync,fdatasync,pwrite64,connect,sendto,unlink,unlinkat' \
        -e "inject=rename,renameat,renameat2,mkdir,fsync,fdatasync,pwrite64,connect,sendto,unlink,unlinkat:signal=KILL:when=$1" \
        "$KERNSWEEP" run "${plan[@]}" "${KS_OPTIONS[@]}" >/dev/null 2>&1 || rc=$?
    [ "$rc" = 137 ] || return 1
    if [ -n "$(find "$store/runs" -name '*.json' 2>/dev/null)" ]; then
        try "$KERNSWEEP" attach latest --db "$store/results.db" --artifacts "$store/artifacts" "${KS_OPTIONS[@]}"
    else # nothing had been begun
        try "$KERNSWEEP" run "${plan[@]}" "${KS_OPTIONS[@]}"
    fi
    n=$(find "$store/artifacts" -name manifest.json | wc -l)
    [ "$RC $n" = "0 1" ] && manifest_holds "$(find "$store/artifacts" -name manifest.json -printf '%h')"
    ok "killed at call $1, it ends as one whole run" $? "exit $RC, $n bundles: $ERR"
    is "killed at call $1, it is stored once" "$(sqlite3 "$store/results.db" "SELECT count(*), sum(r.status = 'COMPLETE') FROM run r")" "1|1"
    rm -rf "$store"
}

at_some_instants() {
    local seed=${SEED:-$RANDOM} at=0 kills=0
    BACKEND=openssh
    diag "SEED=$seed"
    RANDOM=$seed
    export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # a process has one tracer
    plan_with '.variants |= map(select(.name == "good")) | .contexts = [16] | .repetitions = 1' "$TMPDIR/small.json"
    over_line
    for ((;;)); do
        at=$((at + 1 + RANDOM % ${INSTANTS_EVERY:-40}))
        instant "$at" || break
        kills=$((kills + 1))
    done
    ok "it has more than three such calls" $((kills > 3 ? 0 : 1)) "$kills"
}

pipeline_setup
mkdir -p "$TMPDIR/large" "$TMPDIR/other"
cp "$FIXTURES/workload" "$TMPDIR/large/"
plan_with ".connect = {timeout_s: 20, patience_s: 100} | .source = {dir: \"$TMPDIR/large\"} |
    .env.API_TOKEN = \"hunter2hunter2\" | .secrets = [\"API_TOKEN\"]" "$TMPDIR/all.json"
held_plan "$TMPDIR/all.json" "$TMPDIR/held.json"

scenario "a sweep that nothing disturbs" undisturbed
for phase in push build test pull ingest report; do
    title="a sweep over libssh2 killed in its $phase"
    if [ $phase = report ] && ! command -v gnuplot >/dev/null; then
        skip_scenario "$title" "no gnuplot to hold it"
    else
        scenario "$title" killed_in $phase libssh2
    fi
done
for phase in push test pull; do
    scenario "a sweep over openssh killed in its $phase" killed_in $phase openssh
done
if strace -qq -o /dev/null -e trace=none true 2>/dev/null; then
    scenario "a sweep killed at some of its system calls" at_some_instants
else
    skip_scenario "a sweep killed at some of its system calls" "no strace, or it may not trace here"
fi
scenario "a run whose push was killed" starting
scenario "a run whose push was killed and whose sources then changed" changed_sources
scenario "a run whose push was killed and whose plan then changed" changed_plan
done_testing
