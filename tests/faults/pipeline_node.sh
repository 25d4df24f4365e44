#!/usr/bin/env bash
# Whole runs whose executor dies, whose GPU another run has, whose bundle finds no room here, and one that is taken home by
# another machine.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

pipeline_setup

# The id of the run that the command in the background has started.
run_of() {
    grep -o 'run [^ ]* started' "$TMPDIR/$1.err" | cut -d ' ' -f 2
}

bundle_event() {
    jq -rs "$2" "$(bundle_of "$1")/events.jsonl"
}

executor_killed() {
    start_waiting reborn
    ok "a sweep waits in a test" $?
    rm "$TMPDIR/marks/started"
    kill -KILL "$(ks status "$(run_of reborn)" --json | jq -r '.[0].pid')"
    until_true 60 test -e "$TMPDIR/marks/started"
    ok "its executor is killed: the harness has it started again" $? "$(cat "$TMPDIR/reborn.err")"
    like "   and says so" "$(cat "$TMPDIR/reborn.err")" 'executor on the node is gone; resuming'
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "   the sweep ends well" $?
    is "   the test in flight was INTERRUPTED, then run again" "$(bundle_event reborn \
        '[.[] | select(.event == "TEST_END") | "\(.exit_status) \(.retry)"] | join(", ")')" "INTERRUPTED true, OK false"
    passes "   the bundle is whole" manifest_holds "$(bundle_of reborn)"
}

# As a node that comes back after a reboot: nobody follows, nobody runs.
node_rebooted() {
    local run
    start_waiting reboot
    run=$(run_of reboot)
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null
    kill -KILL "$(ks status "$run" --json | jq -r '.[0].pid')"
    until_true 20 sh -c "[ \"\$('$KERNSWEEP' status '$run' --json --db '$TMPDIR/results.db' | jq -r '.[0].state')\" = dead ]"
    ok "after a reboot status shows the run as dead" $?
    : >"$TMPDIR/marks/go"
    exits "   attach starts it again and brings it home" 0 ks attach "$run"
    is "   with each test once" "$(jq -r '[.tests[].exit_status] | join(" ")' "$(bundle_of reboot)/summary.json")" OK
}

two_harnesses() {
    start_waiting holder
    exits "a second sweep of a busy node is blocked: exit 3" 3 ks_run "$TMPDIR/plan.json" --variants good --tag refused
    like "   and names who has it" "$ERR" "^run BLOCKED.*used by the run $(run_of holder)"
    is "   none of its tests ran" "$(jq .counts.ok "$(bundle_of refused)/summary.json")" 0
    plan_with '.lock_wait_s = 600' "$TMPDIR/patient.json"
    "$KERNSWEEP" run "$TMPDIR/patient.json" --variants good --tag patient --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" >"$TMPDIR/patient.out" 2>"$TMPDIR/patient.err" &
    local second=$!
    until_true 60 grep -q 'waiting up to 600 s for the run' "$TMPDIR/patient.err"
    ok "one that may wait says so" $? "$(cat "$TMPDIR/patient.err")"
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "   the first ends well" $?
    wait "$second"
    ok "   then the second does" $?
}

# What the store knows of is asked once each: two folders of this node, then one that nobody answers for.
status_of_all() {
    local going ended
    plan_with ".workdir = \"$TMPDIR/work2\"" "$TMPDIR/second.json"
    exits "a run in another folder" 0 ks_run "$TMPDIR/second.json" --variants good --contexts 16 --tag second
    ended=$(sql "SELECT run_id FROM run WHERE tag = 'second'")
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    exits "a run that goes on" 0 ks_run "$TMPDIR/plan.json" --variants good,waits --contexts 32 --tag going --detach
    going=$OUT
    until_true 60 test -e "$TMPDIR/marks/started"
    until_true 20 jq -e '.[0].tests_done == 1' <(ks status "$going" --json)
    exits "status without a name: all nodes of the store" 0 ks status
    like "   what goes on, with its progress, the time left and the test" "$OUT" \
        "^$going +local +running +1/2 +ETA [0-9.]+ (ms|s|min|h)[a-z0-9 ]* +waits +ctx 32"
    like "   what is done" "$OUT" "^$ended +local +complete +2/2 +COMPLETE"
    like "   how another ended" "$OUT" ' complete +0/[0-9]+ +BLOCKED'
    is "   once each" "$(sort <<<"$OUT" | uniq -d)" ""
    is "   as JSON, too" "$(ks status --json | jq -c --arg a "$going" --arg b "$ended" \
        '[.[] | select(.run_id == $a or .run_id == $b) | [.node, .state, .tests_done, .tests_total]] | sort')" \
        '[["local","complete",2,2],["local","running",1,2]]'
    jq '.node = "127.0.0.1:1" | .run_id = "20000101T000000Z-gone-000000"' "$TMPDIR/runs/$ended.json" \
        >"$TMPDIR/runs/20000101T000000Z-gone-000000.json"
    exits "a node that does not answer: exit 3" 3 ks status
    like "   it is named" "$ERR" '^kernsweep: .*127\.0\.0\.1:1'
    like "   and the others are shown" "$OUT" "^$going .* running "
    rm "$TMPDIR/runs/20000101T000000Z-gone-000000.json"
    : >"$TMPDIR/marks/go"
    exits "   attach ends what went on" 0 ks attach "$going"
}

follows() {
    "$KERNSWEEP" attach "$1" --db "$TMPDIR/results.db" >"$TMPDIR/follower.$2.out" 2>"$TMPDIR/follower.$2.err" &
    FOLLOWERS+=($!)
    until_true 60 grep -q 'tests' "$TMPDIR/follower.$2.err"
}

# Three terminals on one run: each shows it, and one of them brings it home.
three_followers() {
    local rc=0 pid
    FOLLOWERS=()
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    exits "a run that three will follow" 0 ks_run "$TMPDIR/plan.json" --variants waits,bulky --contexts 32 --tag three --detach
    until_true 60 test -e "$TMPDIR/marks/started"
    for pid in 1 2 3; do follows "$OUT" "$pid"; done
    : >"$TMPDIR/marks/go"
    for pid in "${FOLLOWERS[@]}"; do wait "$pid" || rc=$?; done
    is "   each of them ends well" "$rc" 0 || diag "$(cat "$TMPDIR"/follower.*.err)"
    is "   with the same table" "$(for pid in 1 2 3; do grep -c ' bulky ' "$TMPDIR/follower.$pid.out"; done | xargs)" "1 1 1"
    passes "   the bundle is whole" manifest_holds "$(bundle_of three)"
    is "   stored once" "$(sql "SELECT count(*) FROM run WHERE tag = 'three'")" 1
    is "   nothing is left beside it" "$(find "$TMPDIR/artifacts_remote" -name '*.partial*' -o -name '*.tmp.*')" ""
}

# Another machine: another store, and nothing but the node's and the run's names.
elsewhere() {
    local run
    rm -f "$TMPDIR/marks/go"
    exits "a sweep is left on its node" 0 ks_run "$TMPDIR/plan.json" --variants waits --contexts 32 --detach
    run=$OUT
    : >"$TMPDIR/marks/go"
    exits "another machine attaches to it" 0 "$KERNSWEEP" attach "$run" --node local --workdir "$TMPDIR/work" \
        --db "$TMPDIR/other.db" --artifacts "$TMPDIR/other"
    is "   and has its results" "$(sqlite3 "$TMPDIR/other.db" "SELECT run_id, status FROM run")" "$run|COMPLETE"
    exits "   so can the first" 0 ks attach "$run"
}

no_room_here() {
    local run
    mkdir "$TMPDIR/small"
    mount -t tmpfs -o size=4m tmpfs "$TMPDIR/small" 2>/dev/null || {
        skip "no room for the bundle here" "mounting a tmpfs is not permitted here"
        return
    }
    trap 'umount -l "$TMPDIR/small"' EXIT
    exits "no room for the bundle here: exit 5" 5 ks run "$TMPDIR/plan.json" --variants bulky --contexts 32 \
        --tag bulky --artifacts "$TMPDIR/small"
    like "   says why" "$ERR" '^kernsweep: .*No space left'
    like "   and how to go on" "$ERR" 'kernsweep attach '
    is "   nothing stands there by half" "$(find "$TMPDIR/small" -type f | wc -l)" 0
    run=$(grep -o 'kernsweep attach [^ `]*' <<<"$ERR" | head -n 1 | cut -d ' ' -f 3)
    mount -o remount,size=64m "$TMPDIR/small"
    exits "   with room, attach brings it home" 0 ks attach "$run"
    passes "   whole" manifest_holds "$(find "$TMPDIR/small" -type d -name '*_bulky')"
}

executor_killed
node_rebooted
two_harnesses
status_of_all
three_followers
elsewhere
no_room_here
done_testing
