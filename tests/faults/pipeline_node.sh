#!/usr/bin/env bash
# Whole runs whose executor dies, whose GPU another run has, whose bundle finds no room here, and one that is taken home by
# another machine.
# shellcheck disable=SC2016 # other shells and jq expand these
. tests/lib.sh
. tests/held.sh
. tests/pipeline.sh

pipeline_setup

bundle_event() {
    jq -rs "$2" "$(bundle_of "$1")/events.jsonl"
}

executor_killed() {
    start_waiting reborn
    ok "the sweep comes to its test" $?
    rm "$TMPDIR/marks/started"
    kill -KILL "$(ks status "$(run_of reborn)" --json | jq -r '.[0].pid')"
    until_true 60 test -e "$TMPDIR/marks/started"
    ok "the harness starts the executor again" $? "$(cat "$TMPDIR/reborn.err")"
    like "the harness says that it starts it again" "$(cat "$TMPDIR/reborn.err")" 'executor on the node is gone; resuming'
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "run exits 0" $?
    is "the test was INTERRUPTED and then run again" "$(bundle_event reborn \
        '[.[] | select(.event == "TEST_END") | "\(.exit_status) \(.retry)"] | join(", ")')" "INTERRUPTED true, OK false"
    passes "the manifest has every file with its hash" manifest_holds "$(bundle_of reborn)"
}

# A node where programs start slowly, because it is busy or its disk is far away.
slow_to_start() {
    printf '#!/bin/sh\ncase $1 in supervise | resume) sleep 1 ;; esac\nexec "%s" "$@"\n' "$KERNSWEEP_EXECUTOR" >"$TMPDIR/slow"
    chmod 755 "$TMPDIR/slow"
    KERNSWEEP_EXECUTOR=$TMPDIR/slow start_waiting slowly
    kill -KILL "$(ks status "$(run_of slowly)" --json | jq -r '.[0].pid')"
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "run exits 0" $? "$(cat "$TMPDIR/slowly.err")"
    is "one death is told once" "$(grep -c 'executor on the node is gone; resuming' "$TMPDIR/slowly.err")" 1
}

# As a node that lost power: its executor is dead, and the disk has only the beginning of the journal. The harness has read more.
journal_lost() {
    local run journal
    start_waiting lost
    run=$(run_of lost)
    journal=$TMPDIR/work/runs/$run/events.jsonl
    kill -STOP "$RUN_PID"
    kill -KILL "$(ks status "$run" --json | jq -r '.[0].pid')"
    until_true 20 is_dead "$run"
    head -n 1 "$journal" >"$TMPDIR/head"
    cat "$TMPDIR/head" >"$journal"
    : >"$TMPDIR/marks/go"
    kill -CONT "$RUN_PID"
    wait "$RUN_PID"
    ok "run exits 0" $? "$(cat "$TMPDIR/lost.err")"
    like "the harness says that it reads the journal again" "$(cat "$TMPDIR/lost.err")" 'lost the end of the run.s journal'
    is "the bundle has its test once" "$(jq -r '[.tests[].exit_status] | join(" ")' "$(bundle_of lost)/summary.json")" OK
}

told_stopped() {
    grep -q 'has been stopped for .*kill -CONT' "$TMPDIR/$1.err"
}

# SIGSTOP stands for whatever freezes the executor while its node answers.
executor_frozen() {
    local run pid
    start_waiting frozen
    run=$(run_of frozen)
    pid=$(ks status "$run" --json | jq -r '.[0].pid')
    kill -STOP "$pid"
    until_true 60 told_stopped frozen
    ok "the harness says that the executor is stopped, and what to do" $? "$(cat "$TMPDIR/frozen.err")"
    kill -CONT "$pid"
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "run exits 0 once it goes on" $?
    is "the harness says it once" "$(grep -c 'has been stopped' "$TMPDIR/frozen.err")" 1
}

frozen_cancelled() {
    local run
    start_waiting icy
    run=$(run_of icy)
    kill -STOP "$(ks status "$run" --json | jq -r '.[0].pid')"
    exits "cancel of a run whose executor is stopped exits 0" 0 ks cancel "$run"
    like "the run is cancelled" "$(ks status "$run" --json | jq -r '.[0].status')" CANCELLED
    wait "$RUN_PID" 2>/dev/null || true
}

is_dead() {
    [ "$(ks status "$1" --json | jq -r '.[0].state')" = dead ]
}

# As a node that comes back after a reboot: neither harness nor executor.
node_rebooted() {
    local run
    start_waiting reboot
    run=$(run_of reboot)
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null
    kill -KILL "$(ks status "$run" --json | jq -r '.[0].pid')"
    until_true 20 is_dead "$run"
    ok "status says dead" $?
    : >"$TMPDIR/marks/go"
    exits "attach starts it again and exits 0" 0 ks attach "$run"
    is "the bundle has its test once" "$(jq -r '[.tests[].exit_status] | join(" ")' "$(bundle_of reboot)/summary.json")" OK
}

busy_node() {
    start_waiting holder
    exits "run exits 3" 3 ks_run "$TMPDIR/plan.json" --variants good --tag refused
    like "run names the run that has the node" "$ERR" "^run BLOCKED.*used by the run $(run_of holder)"
    is "none of its tests runs" "$(jq .counts.ok "$(bundle_of refused)/summary.json")" 0
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "the first sweep exits 0" $?
}

patient_sweep() {
    local second
    start_waiting keeper
    plan_with '.lock_wait_s = 600' "$TMPDIR/patient.json"
    "$KERNSWEEP" run "$TMPDIR/patient.json" --variants good --tag patient --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts_remote" >"$TMPDIR/patient.out" 2>"$TMPDIR/patient.err" &
    second=$!
    until_true 60 grep -q 'waiting up to 600 s for the run' "$TMPDIR/patient.err"
    ok "run says that it waits" $? "$(cat "$TMPDIR/patient.err")"
    : >"$TMPDIR/marks/go"
    wait "$RUN_PID"
    ok "the first sweep exits 0" $?
    wait "$second"
    ok "the second sweep exits 0 after it" $?
}

# Two runs in two folders of this node, one that has ended and one with a test done and one in progress; and a blocked one.
three_runs() {
    plan_with ".workdir = \"$TMPDIR/work2\"" "$TMPDIR/second.json"
    ks_run "$TMPDIR/second.json" --variants good --contexts 16 --tag second >/dev/null 2>&1 || return 1
    ENDED=$(sql "SELECT run_id FROM run WHERE tag = 'second'")
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    GOING=$(ks_run "$TMPDIR/plan.json" --variants good,waits --contexts 32 --tag going --detach 2>/dev/null) || return 1
    until_true 60 test -e "$TMPDIR/marks/started"
    until_true 20 one_done "$GOING"
    ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag blocked >/dev/null 2>&1
    [ $? = 3 ]
}

one_done() {
    ks status "$1" --json | jq -e '.[0].tests_done == 1'
}

status_of_all() {
    local stranger=20000101T000000Z-gone-000000
    needs three_runs
    exits "status exits 0" 0 ks status
    like "it shows the run in progress with its count, the time left and the test" "$OUT" \
        "^$GOING +local +sweep +running +1/2 +ETA [0-9.]+ (ms|s|min|h)[a-z0-9 ]* +waits +ctx 32"
    like "it shows the run that has ended" "$OUT" "^$ENDED +local +sweep +complete +2/2 +COMPLETE"
    like "it shows the run that was blocked" "$OUT" ' complete +0/[0-9]+ +BLOCKED'
    is "it shows each run once" "$(sort <<<"$OUT" | uniq -d)" ""
    exits "status --json exits 0" 0 ks status --json
    is "it prints the same as JSON" "$(jq -c --arg a "$GOING" --arg b "$ENDED" \
        '[.[] | select(.run_id == $a or .run_id == $b) | [.node, .state, .tests_done, .tests_total]] | sort' <<<"$OUT")" \
        '[["local","complete",2,2],["local","running",1,2]]'
    jq --arg id "$stranger" '.node = "127.0.0.1:1" | .run_id = $id' "$TMPDIR/runs/$ENDED.json" >"$TMPDIR/runs/$stranger.json"
    exits "it exits 3 when a node does not answer" 3 ks status
    like "it names the node that does not answer" "$ERR" '^kernsweep: .*127\.0\.0\.1:1'
    like "it shows the others when a node does not answer" "$OUT" "^$GOING .* running "
    rm "$TMPDIR/runs/$stranger.json"
    : >"$TMPDIR/marks/go"
    exits "attach ends the run in progress" 0 ks attach "$GOING"
}

follows() {
    "$KERNSWEEP" attach "$1" --db "$TMPDIR/results.db" >"$TMPDIR/follower.$2.out" 2>"$TMPDIR/follower.$2.err" &
    FOLLOWERS+=($!)
    until_true 60 grep -q 'tests' "$TMPDIR/follower.$2.err"
}

# Each of the three shows the run, and one of them brings it home.
three_followers() {
    local rc=0 pid
    FOLLOWERS=()
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    exits "run --detach exits 0" 0 ks_run "$TMPDIR/plan.json" --variants waits,bulky --contexts 32 --tag three --detach
    until_true 60 test -e "$TMPDIR/marks/started"
    for pid in 1 2 3; do follows "$OUT" "$pid"; done
    : >"$TMPDIR/marks/go"
    for pid in "${FOLLOWERS[@]}"; do wait "$pid" || rc=$?; done
    is "each attach exits 0" "$rc" 0 || diag "$(cat "$TMPDIR"/follower.*.err)"
    is "each attach prints the table" "$(for pid in 1 2 3; do grep -c ' bulky ' "$TMPDIR/follower.$pid.out"; done | xargs)" "1 1 1"
    passes "the manifest has every file with its hash" manifest_holds "$(bundle_of three)"
    is "the store has the run once" "$(sql "SELECT count(*) FROM run WHERE tag = 'three'")" 1
    is "no partial or temporary file is left" "$(find "$TMPDIR/artifacts_remote" -name '*.partial*' -o -name '*.tmp.*')" ""
}

# Another machine: another store, and nothing but the node's and the run's names.
elsewhere() {
    local run
    rm -f "$TMPDIR/marks/go"
    exits "run --detach exits 0" 0 ks_run "$TMPDIR/plan.json" --variants waits --contexts 32 --detach
    run=$OUT
    : >"$TMPDIR/marks/go"
    exits "attach on another machine exits 0" 0 "$KERNSWEEP" attach "$run" --node local --workdir "$TMPDIR/work" \
        --db "$TMPDIR/other.db" --artifacts "$TMPDIR/other"
    is "the other machine's store has the run" "$(sqlite3 "$TMPDIR/other.db" "SELECT run_id, status FROM run")" "$run|COMPLETE"
    exits "attach on the first machine exits 0 afterwards" 0 ks attach "$run"
}

no_room_here() {
    local run
    exits "run exits 5" 5 ks run "$TMPDIR/plan.json" --variants bulky --contexts 32 \
        --tag bulky --artifacts "$TMPDIR/small"
    like "run says why" "$ERR" '^kernsweep: .*No space left'
    like "run says how to go on" "$ERR" 'kernsweep attach '
    is "no half of the bundle is left" "$(find "$TMPDIR/small" -type f | wc -l)" 0
    run=$(grep -o 'kernsweep attach [^ `]*' <<<"$ERR" | head -n 1 | cut -d ' ' -f 3)
    mount -o remount,size=64m "$TMPDIR/small"
    exits "attach exits 0 once there is room" 0 ks attach "$run"
    passes "the manifest has every file with its hash" manifest_holds "$(find "$TMPDIR/small" -type d -name '*_bulky')"
}

# A build that kills the executor, whenever it is started again.
deadly_build() {
    local run
    plan_with '.variants = [{name: "deadly", build: [["sh", "-c", "kill -9 $PPID"]], run: ["true"]}] | .contexts = [16] | del(.reference)' \
        "$TMPDIR/deadly.json"
    exits "run gives up and exits 3" 3 ks_run "$TMPDIR/deadly.json" --tag deadly
    like "it says that the executor keeps ending, and what to do" "$ERR" \
        'keeps ending: `kernsweep cancel .*` ends the run'
    unlike "a build that was never finished has lost no seal" "$ERR" 'seal'
    if can_hold '.kind == "cgroup"'; then
        like "one executor is one" "$ERR" '^ended the control groups left behind by a killed executor'
    else
        skip "one executor is one" "this machine has no such control groups"
    fi
    run=$(grep -o "kernsweep cancel [^\`]*" <<<"$ERR" | head -n 1 | cut -d " " -f 3)
    exits "cancel exits 0" 0 ks cancel "$run"
    like "the run is cancelled" "$(ks status "$run" --json | jq -r '.[0].status')" CANCELLED
}

scenario "a build that kills its executor" deadly_build
scenario "a sweep whose executor is killed" executor_killed
scenario "a sweep whose executor is killed and takes a second to start again" slow_to_start
scenario "a run whose node lost the end of its journal" journal_lost
scenario "a run whose executor is frozen" executor_frozen
scenario "a run whose executor is frozen is cancelled" frozen_cancelled
scenario "a run whose node is rebooted" node_rebooted
scenario "a sweep of a node that another sweep has" busy_node
scenario "a sweep with lock_wait_s of a node that another sweep has" patient_sweep
scenario "status of all runs" status_of_all
scenario "three followers of one run" three_followers
scenario "a run that another machine attaches to" elsewhere
mkdir "$TMPDIR/small"
if mount -t tmpfs -o size=4m tmpfs "$TMPDIR/small" 2>/dev/null; then
    trap 'umount -l "$TMPDIR/small"' EXIT
    scenario "a bundle that finds no room on this machine" no_room_here
else
    skip_scenario "a bundle that finds no room on this machine" "mounting a tmpfs is not permitted here"
fi
done_testing
