#!/usr/bin/env bash
# A test that was stopped while it ran is no measurement.
. tests/lib.sh
. tests/executor.sh

# sweep RUN SHELL: one test that runs SHELL and then is busy for a second.
sweep() {
    job "$1" "$(jq -nc --arg s "$2" '{variants: [{name: "a", run: ["sh", "-c", ($s + "; end=$(($(date +%s%N) + 1200000000)); while [ $(date +%s%N) -lt $end ]; do :; done; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\"")]}], tests: [{variant: "a", timeout_s: 60}]}')"
    run "$1"
}

stopped_by_another() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep stopped '( sleep 0.3; kill -STOP $$; sleep 0.6; kill -CONT $$ ) & true'
    is "it is INVALID" "$(perf stopped .exit_status a)" INVALID
    like "the reason says why" "$(perf stopped .reason a)" 'was stopped for 0\.[4-9][0-9] s while it ran'
}

child_stopped() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep child 'sleep 0.9 & h=$!; ( sleep 0.2; kill -STOP $h; sleep 0.4; kill -CONT $h ) & true'
    is "it is INVALID" "$(perf child .exit_status a)" INVALID
    like "the reason says why" "$(perf child .reason a)" 'was stopped for 0\.[3-9][0-9] s while it ran'
}

# Nothing waits for such a process, so the test's times are right.
helper_stays_stopped() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep helper 'sleep 60 & kill -STOP $!; true'
    is "it is OK" "$(perf helper '.exit_status + " " + (.reason // "")' a)" "OK "
    # shellcheck disable=SC2016 # for the test's shell
    sweep killed 'sleep 60 & h=$!; kill -STOP $h; ( sleep 0.5; kill -KILL $h ) & true'
    is "so is one whose helper was killed while it was stopped" "$(perf killed '.exit_status + " " + (.reason // "")' a)" "OK "
    # shellcheck disable=SC2016 # for the test's shell
    sweep beside 'sleep 60 & kill -STOP $!; ( sleep 0.3; kill -STOP $$; sleep 0.6; kill -CONT $$ ) & true'
    is "a test that was stopped beside such a helper is INVALID" "$(perf beside .exit_status a)" INVALID
}

# What a test's shell needs to know its executor: between them is the process that waits for the test.
# shellcheck disable=SC2016 # for the test's shell
executor='keeper=$PPID; executor=$(awk "{print \$4}" /proc/$keeper/stat)'

executor_too() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep both "$executor"'; ( sleep 0.3; kill -STOP $executor $keeper $$; sleep 0.6; kill -CONT $$ $keeper $executor ) & true'
    is "it is INVALID" "$(perf both .exit_status a)" INVALID
}

# As the scheduler suspends a job, or an engine pauses a container: no signal tells.
frozen() {
    local group
    group=$(freezer) || { skip "a frozen control group" "no freezer is writable here"; return; }
    job cold "$(shell "sleep 1; $good")"
    (echo "$BASHPID" >"$group/cgroup.procs" && run cold) &
    waits cold '.event == "TEST_START"'
    sleep 0.3
    freeze "$group" 1
    sleep 1.2
    freeze "$group" 0
    wait $!
    is "it is INVALID" "$(perf cold .exit_status v)" INVALID
    like "the reason says why" "$(perf cold .reason v)" 'was stopped for [01]\.[0-9]+ s while it ran'
    rmdir "$group"
}

# freezer: makes a control group that can be frozen, and prints its path.
freezer() {
    local top
    for top in /sys/fs/cgroup/freezer /sys/fs/cgroup/unified /sys/fs/cgroup; do
        mkdir "$top/kernsweep.$$" 2>/dev/null || continue
        if [ -w "$top/kernsweep.$$/freezer.state" ] || [ -w "$top/kernsweep.$$/cgroup.freeze" ]; then
            echo "$top/kernsweep.$$"
            return
        fi
        rmdir "$top/kernsweep.$$"
    done
    return 1
}

# freeze GROUP 0|1
freeze() {
    local states=(THAWED FROZEN)
    if [ -e "$1/freezer.state" ]; then echo "${states[$2]}" >"$1/freezer.state"; else echo "$2" >"$1/cgroup.freeze"; fi
}

# It ends before its next sample.
ends_at_once() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep last "$executor"'; ( sleep 0.3; kill -STOP $executor $keeper $$; sleep 1.5; kill -CONT $executor $keeper $$ ) & sleep 1; echo "[PERF_TIMING] {\"prefill_s\": 1}"; exit'
    is "it is INVALID" "$(perf last .exit_status a)" INVALID
}

executor_alone() {
    # shellcheck disable=SC2016 # for the test's shell
    job late "$(jq -nc --arg s "$executor"'; ( sleep 1; kill -CONT $executor ) & kill -STOP $executor' \
        '{variants: [{name: "a", run: ["sh", "-c", $s]}], tests: [{variant: "a", timeout_s: 60}]}')"
    run late
    is "its wall time is its own" "$(perf late '.wall_time_sec < 0.7' a)" true
}

busy() {
    sweep busy ':'
    is "it is OK" "$(perf busy .exit_status a)" OK
}

scenario "a test that another process stops for a while" stopped_by_another
scenario "a test of which another process stops a child for a while" child_stopped
scenario "a test with a helper that stays stopped" helper_stays_stopped
scenario "a test that is stopped together with its executor" executor_too
scenario "an idle test that is frozen together with its executor" frozen
scenario "a test that ends as soon as it goes on" ends_at_once
scenario "a test that ends while its executor is stopped" executor_alone
scenario "a test that is only busy" busy
done_testing
