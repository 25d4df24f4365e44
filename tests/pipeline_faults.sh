# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/pipeline_faults.sh: whole runs over a line that breaks, for one transport. A script sources tests/lib.sh,
# tests/pipeline.sh, tests/line.sh and this, sets BACKEND and calls pipeline_faults.

# over_line OPTION...: a new line, and runs that go through it.
over_line() {
    line "$@"
    KS_OPTIONS=(--ssh-config "$CONFIG" --transport "$BACKEND")
}

# begin TAG VARIANT OPTION...: a sweep of one test in the background; RUN_PID, its stderr in $TMPDIR/TAG.err.
begin() {
    local tag=$1 variant=$2
    shift 2
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    "$KERNSWEEP" run "$TMPDIR/plan.json" --variants "$variant" --contexts 32 --tag "$tag" --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" "${KS_OPTIONS[@]}" "$@" >"$TMPDIR/$tag.out" 2>"$TMPDIR/$tag.err" &
    RUN_PID=$!
}

# ended NAME TAG: the sweep ends well, with the one test in a whole bundle.
ended() {
    local rc=0
    wait "$RUN_PID" || rc=$?
    is "$BACKEND: $1: the run ends well" "$rc" 0 || diag "$(cat "$TMPDIR/$2.err")"
    whole "$1" "$2"
}

whole() {
    is "   its test ran once" "$(jq -r '[.tests[] | .exit_status] | join(" ")' "$(bundle_of "$2")/summary.json")" OK
    passes "   its bundle is whole" manifest_holds "$(bundle_of "$2")"
    is "   and nothing is left beside it" "$(find "$TMPDIR/artifacts_remote" -name '*.partial*' | wc -l)" 0
}

# The processes of the node's sshd that serve connections, as a network that resets them would end them.
kill_sessions() {
    local main pids pid
    main=$(cat "$NODE/sshd.pid")
    pids=$(pgrep -P "$main" -x sshd)
    for pid in $pids; do pids="$pids $(pgrep -P "$pid" -x sshd)"; done
    # shellcheck disable=SC2086 # a list of pids
    kill -KILL $pids 2>/dev/null
}

pushing() {
    [ -n "$(find "$TMPDIR/work/src" -path '*/.tmp.*' -name big -size +100k 2>/dev/null)" ]
}

nothing_staged() {
    [ -z "$(find "$TMPDIR/work/src" -name '.tmp.*')" ]
}

# same_as FILE OTHER...: how many of the others are the same.
same_as() {
    local other n=0
    for other in "${@:2}"; do if cmp -s "$1" "$other"; then n=$((n + 1)); fi; done
    echo "$n"
}

pulling() {
    [ -n "$(find "$TMPDIR/artifacts_remote" -path '*.partial/*' -type f 2>/dev/null)" ]
}

tells_of_reconnect() {
    grep -q 'reconnecting' "$TMPDIR/$1.err"
}

in_push() {
    local name=$1 fault=$2 tag=$3
    mkdir -p "$TMPDIR/large"
    cp "$FIXTURES/workload" "$TMPDIR/large/"
    head -c 16000000 /dev/urandom >"$TMPDIR/large/big"
    patient_plan ".source = {dir: \"$TMPDIR/large\"}"
    over_line --rate 6000000
    begin "$tag" good
    until_true 60 pushing
    ok "$BACKEND: $name: half of the sources are there" $?
    $fault
    ended "$name" "$tag"
    is "   its sources stand there, whole" "$(same_as "$TMPDIR/large/big" "$TMPDIR"/work/src/[0-9a-f]*/big)" 1
    passes "   and no half of them" until_true 20 nothing_staged
    patient_plan .
}

in_pull() {
    over_line --rate 4000000
    begin "$3" bulky
    until_true 60 pulling
    ok "$BACKEND: $1: half of the bundle is there" $?
    $2
    ended "$1" "$3"
}

in_test() {
    begin "$3" waits
    until_true 60 test -e "$TMPDIR/marks/started"
    $2
    until_true 60 tells_of_reconnect "$3"
    ok "$BACKEND: $1: is noticed" $? "$(cat "$TMPDIR/$3.err")"
    : >"$TMPDIR/marks/go"
    ended "$1" "$3"
}

restart_node() {
    scripts/loopback-node stop "$NODE" >/dev/null
    scripts/loopback-node start "$NODE" >/dev/null
}

# A hole of 20 s, longer than any stall that is waited for.
hole() {
    say freeze
    sleep 20 # how long the fault lasts, not a wait for anything
    say thaw
}

out_of_patience() {
    local run rc=0
    patient_plan '.connect.patience_s = 0.5'
    over_line
    begin gone waits
    until_true 60 test -e "$TMPDIR/marks/started"
    scripts/loopback-node stop "$NODE" >/dev/null
    wait "$RUN_PID" || rc=$?
    is "$BACKEND: the node stays away: exit 3 when the patience is spent" "$rc" 3 || diag "$(cat "$TMPDIR/gone.err")"
    run=$(grep -o 'kernsweep attach [^ `]*' "$TMPDIR/gone.err" | head -n 1 | cut -d ' ' -f 3)
    scripts/loopback-node start "$NODE" >/dev/null
    : >"$TMPDIR/marks/go"
    exits "   attach brings the run home later" 0 ks attach "$run"
    whole "" gone
    patient_plan .
}

patient_plan() {
    plan_with ".connect = {timeout_s: 10, patience_s: 100} | $1" "$TMPDIR/plan.json"
}

pipeline_faults() {
    pipeline_setup
    patient_plan .
    in_push "sshd killed in the push" kill_sessions push-killed
    in_test "sshd killed in the test" kill_sessions test-killed
    in_test "sshd started anew in the test" restart_node test-restarted
    over_line
    in_test "a hole for 20 s in the test" hole test-hole
    in_pull "sshd killed in the pull" kill_sessions pull-killed
    over_line
    out_of_patience
    over_line --rtt 200 --stall-every 2 --stall-for 1
    begin slow good
    ended "200 ms and a stall every other second throughout" slow
}
