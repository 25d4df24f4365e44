#!/usr/bin/env bash
# The harness is killed -9 in each phase of a run, and at some instants of no choice: attach ends the run, with the bundle of
# one that nothing disturbed. A phase is known by what the node, the disk or the store shows.
# timeout: 900
. tests/lib.sh
. tests/pipeline.sh
. tests/line.sh
. tests/pipeline_faults.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
finish() {
    line_end
    node_stop
}
trap finish EXIT
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

# undisturbed_but NAME TAG: the run that TAG names is there, as if nothing had happened.
undisturbed_but() {
    local bundle
    bundle=$(bundle_of "$2")
    is "   $1: the tests and files of an undisturbed run, each once" "$(shape_of "$bundle")" "$UNDISTURBED"
    passes "   $1: the bundle is whole" manifest_holds "$bundle"
    is "   $1: stored once" "$(stored_tests "$2")" "3 3"
    passes "   $1: the report is there" test -s "$bundle.md" -a -s "$bundle.html"
    is "   $1: nothing is left beside it" "$(find "$TMPDIR/artifacts_remote" -name '*.partial*' -o -name '*.tmp.*')" ""
}

# killed_in PHASE WHEN...: the harness is killed once WHEN holds; what is held is let go, and attach does the rest.
killed_in() {
    local phase=$1 tag=$BACKEND-$1 run rc=0
    shift
    sweep "$tag"
    until_true 120 "$@"
    ok "$BACKEND: the sweep has come to its $phase" $? "$(cat "$TMPDIR/$tag.err")"
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null || rc=$?
    is "   and is killed there" "$rc" 137
    [ -z "${STORE_LOCK:-}" ] || unlock_store
    held
    run=$(jq -r .run_id "$(record_of "$tag")")
    exits "   attach ends the run" 0 ks attach "$run"
    undisturbed_but "$phase" "$tag"
    [ "$phase" = push ] || attached_elsewhere "$phase" "$tag" "$run"
}

# Another machine knows the node and the run's id.
attached_elsewhere() {
    local bundle
    exits "   $1: another machine attaches, too" 0 "$KERNSWEEP" attach "$3" --node loopback --workdir "$TMPDIR/work" \
        --db "$TMPDIR/other/results.db" --artifacts "$TMPDIR/other/$2" "${KS_OPTIONS[@]}"
    bundle=$(find "$TMPDIR/other/$2" -name manifest.json -printf '%h\n')
    passes "   $1: and has the same bundle" diff -r "$bundle" "$(bundle_of "$2")"
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

in_each_phase() {
    over_line
    held build
    killed_in build test -e "$TMPDIR/marks/building"
    held go
    killed_in test test -e "$TMPDIR/marks/started"
    over_line --rate 4000000
    held
    killed_in pull pulling
    over_line
    held
    lock_store
    killed_in ingest record_says "$BACKEND-ingest" pulled
    if ! command -v gnuplot >/dev/null; then
        skip "$BACKEND: the report" "no gnuplot holds it"
        return
    fi
    held plot
    killed_in report test -e "$TMPDIR/marks/plotting"
}

# The sources are new each time: what the node has is not pushed.
in_the_push() {
    head -c 16000000 /dev/urandom >"$TMPDIR/large/big"
    over_line --rate 6000000
    held
    killed_in push pushing
    passes "   push: no half of the sources stays" until_true 20 nothing_staged
}

# A start that is done again is the same start, or none.
other_plan() {
    local run
    head -c 16000000 /dev/urandom >"$TMPDIR/large/big"
    over_line --rate 6000000
    held
    sweep changed
    until_true 120 pushing
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null
    run=$(jq -r .run_id "$(record_of changed)")
    exits "a run whose push was killed has a status" 0 ks status "$run" --json
    is "   starting" "$(jq -r '.[0].state' <<<"$OUT")" starting
    like "   also among all" "$(ks status 2>&1)" "^$run .* starting "
    is "   its record holds no secret" "$(grep -l hunter2 "$TMPDIR"/runs/*)" ""
    echo '# changed' >>"$TMPDIR/large/workload"
    exits "   its sources changed: attach refuses" 2 ks attach "$run"
    one_line "   in one line" "$(grep '^kernsweep:' <<<"$ERR")"
    like "   that says what to do" "$ERR" "large: changed since run $run was begun: .kernsweep cancel"
    sed -i 's/"threshold"/"comment": "new", "threshold"/; s/"ticket"/"comment": "new", "ticket"/' "$TMPDIR/held.json"
    exits "   its plan changed: attach refuses" 2 ks attach "$run"
    like "   and says so" "$ERR" 'held.json: changed since'
    exits "   cancel forgets it" 0 ks cancel "$run"
    is "   here" "$(record_of changed)$(bundle_of changed)" ""
    exits "   then there is nothing to attach to" 2 ks attach "$run"
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
    ok "killed at call $1: one whole run in the end" $? "exit $RC, $n bundles: $ERR"
    is "   stored once" "$(sqlite3 "$store/results.db" "SELECT count(*), sum(r.status = 'COMPLETE') FROM run r")" "1|1"
    rm -rf "$store"
}

at_some_instants() {
    local seed=${SEED:-$RANDOM} at=0 kills=0
    strace -qq -o /dev/null -e trace=none true 2>/dev/null || {
        skip "some instants" "no strace, or it may not trace here"
        return
    }
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
    ok "a run has more than three such instants" $((kills > 3 ? 0 : 1)) "$kills"
}

pipeline_setup
mkdir -p "$TMPDIR/large" "$TMPDIR/other"
cp "$FIXTURES/workload" "$TMPDIR/large/"
plan_with ".connect = {timeout_s: 20, patience_s: 100} | .source = {dir: \"$TMPDIR/large\"} |
    .env.API_TOKEN = \"hunter2hunter2\" | .secrets = [\"API_TOKEN\"]" "$TMPDIR/all.json"
held_plan "$TMPDIR/all.json" "$TMPDIR/held.json"

BACKEND=libssh2
over_line
held
sweep undisturbed
wait "$RUN_PID"
ok "a sweep that nothing disturbs" $? "$(cat "$TMPDIR/undisturbed.err")"
UNDISTURBED=$(shape_of "$(bundle_of undisturbed)")
is "   is stored" "$(stored_tests undisturbed)" "3 3"
in_the_push
in_each_phase
BACKEND=openssh
in_the_push
over_line
held go
killed_in test test -e "$TMPDIR/marks/started"
over_line --rate 4000000
held
killed_in pull pulling
at_some_instants
other_plan
done_testing
