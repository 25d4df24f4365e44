# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/pipeline_faults.sh: whole runs over a line that breaks, for one transport. A script sources tests/lib.sh,
# tests/pipeline.sh, tests/line.sh and this, sets BACKEND and calls pipeline_faults, or uses its functions.

# over_line OPTION...: starts a new line, through which later runs go.
over_line() {
    line "$@"
    KS_OPTIONS=(--ssh-config "$CONFIG" --transport "$BACKEND")
}

# begin TAG VARIANT OPTION...: starts a sweep of one test in the background; its pid is RUN_PID, its stderr $TMPDIR/TAG.err.
begin() {
    local tag=$1 variant=$2
    shift 2
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    "$KERNSWEEP" run "$TMPDIR/plan.json" --variants "$variant" --contexts 32 --tag "$tag" --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" "${KS_OPTIONS[@]}" "$@" >"$TMPDIR/$tag.out" 2>"$TMPDIR/$tag.err" &
    RUN_PID=$!
}

# ended TAG: checks that the sweep ends well, with one test in a complete bundle.
ended() {
    local rc=0
    wait "$RUN_PID" || rc=$?
    is "run exits 0" "$rc" 0 || diag "$(cat "$TMPDIR/$1.err")"
    whole "$1"
}

whole() {
    is "the bundle has its one test" "$(jq -r '[.tests[] | .exit_status] | join(" ")' "$(bundle_of "$1")/summary.json")" OK
    passes "the manifest has every file with its hash" manifest_holds "$(bundle_of "$1")"
    is "no partial bundle is left" "$(find "$TMPDIR/artifacts_remote" -name '*.partial*' | wc -l)" 0
}

# Kills the sshd processes that serve connections, which resets the connections as a network may.
kill_sessions() {
    local main pids pid
    main=$(cat "$NODE/sshd.pid")
    pids=$(pgrep -P "$main" '^sshd')
    for pid in $pids; do pids="$pids $(pgrep -P "$pid" '^sshd')"; done
    # shellcheck disable=SC2086 # a list of pids
    kill -KILL $pids 2>/dev/null
}

pushing() {
    [ -n "$(find "$TMPDIR/work/src" -path '*/.tmp.*' -name big -size +100k 2>/dev/null)" ]
}

nothing_staged() {
    [ -z "$(find "$TMPDIR/work/src" -name '.tmp.*')" ]
}

# same_as FILE OTHER...: prints how many of the others have the same contents.
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

# in_push FAULT TAG: injects the fault while the sources are being sent.
in_push() {
    mkdir -p "$TMPDIR/large"
    cp "$FIXTURES/workload" "$TMPDIR/large/"
    head -c 16000000 /dev/urandom >"$TMPDIR/large/big"
    patient_plan ".source = {dir: \"$TMPDIR/large\"}"
    over_line --rate 6000000
    begin "$2" good
    until_true 60 pushing
    ok "the push is under way" $?
    $1
    ended "$2"
    is "the sources are whole on the node" "$(same_as "$TMPDIR/large/big" "$TMPDIR"/work/src/[0-9a-f]*/big)" 1
    # The executor gives up 120 s after the last byte if even the end of the connection was lost.
    passes "no half of the sources is left on the node" until_true 180 nothing_staged
}

# in_pull FAULT TAG: injects it while the bundle is being fetched.
in_pull() {
    patient_plan .
    over_line --rate 4000000
    begin "$2" bulky
    until_true 60 pulling
    ok "the pull is under way" $?
    $1
    ended "$2"
}

# The bytes that the pull has brought.
pulled() {
    find "$TMPDIR/artifacts_remote" -path '*.partial/*' -type f -printf '%s\n' 2>/dev/null | awk '{ s += $1 } END { print s + 0 }'
}

has_pulled() {
    [ "$(pulled)" -ge "$1" ] || ! kill -0 "$RUN_PID" 2>/dev/null
}

# Cuts the line again and again, each time after a good part of the bundle has arrived, so that it never passes at once: more than
# the 64 KiB without which a pull counts as one in vain.
cut_again_and_again() {
    local cuts=0
    patient_plan .
    over_line --rate 1500000
    begin cuts bulky
    until_true 60 pulling
    while [ "$cuts" -lt 6 ] && kill -0 "$RUN_PID" 2>/dev/null; do
        until_true 60 has_pulled $(($(pulled) + 200000))
        ! pulling || { say cut && cuts=$((cuts + 1)); }
        until_true 60 sh -c "[ \"\$(grep -c reconnecting '$TMPDIR/cuts.err')\" -ge $cuts ] || ! kill -0 $RUN_PID 2>/dev/null"
    done
    [ "$cuts" -ge 5 ]
    ok "the pull was cut more often than it is begun anew" $? "$cuts times"
    ended cuts
}

# in_test FAULT TAG: injects it while the test runs.
in_test() {
    patient_plan .
    over_line
    begin "$2" waits
    until_true 60 test -e "$TMPDIR/marks/started"
    $1
    until_true 60 tells_of_reconnect "$2"
    ok "run says that it connects again" $? "$(cat "$TMPDIR/$2.err")"
    : >"$TMPDIR/marks/go"
    ended "$2"
}

# Nothing passes for 20 s, which is longer than any stall that is tolerated.
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
    is "run exits 3 when the plan's patience is over" "$rc" 3 || diag "$(cat "$TMPDIR/gone.err")"
    run=$(grep -o 'kernsweep attach [^ `]*' "$TMPDIR/gone.err" | head -n 1 | cut -d ' ' -f 3)
    scripts/loopback-node start "$NODE" >/dev/null
    : >"$TMPDIR/marks/go"
    exits "attach exits 0 once the node is back" 0 ks attach "$run"
    whole gone
}

slow_line() {
    patient_plan .
    over_line --rtt 200 --stall-every 2 --stall-for 1
    begin slow good
    ended slow
}

patient_plan() {
    plan_with ".connect = {timeout_s: 10, patience_s: 100} | $1" "$TMPDIR/plan.json"
}

pipeline_faults() {
    pipeline_setup
    scenario "a sweep over $BACKEND whose sshd is killed in the push" in_push kill_sessions push-killed
    scenario "a sweep over $BACKEND whose sshd is killed in the test" in_test kill_sessions test-killed
    scenario "a sweep over $BACKEND whose sshd is restarted in the test" in_test node_restart test-restarted
    scenario "a sweep over $BACKEND whose line passes nothing for 20 s in the test" in_test hole test-hole
    scenario "a sweep over $BACKEND whose sshd is killed in the pull" in_pull kill_sessions pull-killed
    scenario "a sweep over $BACKEND whose line is cut again and again in the pull" cut_again_and_again
    scenario "a sweep over $BACKEND whose node stays away" out_of_patience
    scenario "a sweep over $BACKEND with 200 ms of delay and a stall every two seconds" slow_line
}
