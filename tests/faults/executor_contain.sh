#!/usr/bin/env bash
# A control group per test: it holds what leaves the tree of processes, enforces the plan's limits, goes with the test, and
# what a killed executor left is ended by the next one. Without control groups nothing is claimed that is not known.
# shellcheck disable=SC2016 # the scripts that are tests expand their own variables
. tests/lib.sh
. tests/held.sh
. tests/executor.sh

# tests ID SCRIPT [JOB_JSON]
tests() {
    job "$1" "$(shell "$2" "${3:-}")"
}

# The folders of our groups, in any hierarchy.
groups_left() {
    find /sys/fs/cgroup -maxdepth 8 -type d -name "kernsweep-$1-*" 2>/dev/null | wc -l
}

says_cgroup() {
    tests says "$good; grep '^0::' /proc/self/cgroup"
    run says
    is "perf.json says that a control group held it" "$(perf says .contained)" cgroup
    like "it ran in a group of its own" "$(cat "$(bundle says)/v/ctx_64_run1/run.log")" '/kernsweep-says-[0-9]+/test-1-1$'
    is "its end is proven" "$(perf says .cleanup.group_gone)" true
    is "no group is left" "$(groups_left says)" 0
    ok "nor a record of one" "$([ -e "$WORK/contained" ] && echo 1 || echo 0)"
}

holds_build() {
    tests built "$good"
    edit built '.job.variants[0].build = [["sh", "-c", "grep ^0:: /proc/self/cgroup; (setsid env -i sleep 171 &)"]]'
    run built
    like "it runs in a group of its own" "$(cat "$(bundle built)/v/build.log")" '/kernsweep-built-[0-9]+/step$'
    ok "no process of it is left" "$(alive '^sleep 171' >/dev/null && echo 1 || echo 0)"
    is "the test runs" "$(perf built .exit_status)" OK
}

bomb='i=0; while [ $i -lt 200 ]; do sleep 173 & i=$((i + 1)); done; wait'

fork_bomb() {
    tests bomb "$bomb" '{"tests": [{"variant": "v", "timeout_s": 10}], "limit_processes": 24}'
    run bomb
    isnt_ok=$(perf bomb .exit_status)
    ok "it is not OK" "$([ "$isnt_ok" != OK ] && echo 0 || echo 1)" "$isnt_ok"
    like "the reason names the limit" "$(perf bomb .reason)" 'limits.processes 24\), [0-9]+ were refused'
    is "perf.json counts what was refused" "$(perf bomb '"\(.limits.processes) \(.limits.processes_refused > 0)"')" "24 true"
    ok "no process of it is left" "$(alive '^sleep 173' >/dev/null && echo 1 || echo 0)"
    is "no group is left" "$(groups_left bomb)" 0
}

memory_hog() {
    tests hog 'exec tail /dev/zero' '{"limit_memory": "48M"}'
    run hog
    is "the test is OOM" "$(perf hog .exit_status)" OOM
    is "the reason names the limit" "$(perf hog .reason)" "killed at the plan's memory limit (limits.memory 48M)"
    is "perf.json counts the kill" "$(perf hog '"\(.limits.memory_bytes) \(.limits.memory_kills > 0)"')" "50331648 true"
}

within_limits() {
    tests within "$good" '{"limit_memory": "512M", "limit_processes": 64}'
    run within
    is "the test is OK" "$(perf within .exit_status)" OK
    is "perf.json says that no limit was hit" "$(perf within '.limits | "\(.memory_kills) \(.processes_refused)"')" "0 0"
}

# What it started has no mark of ours in its environment, so only its group tells whose it is.
killed_executor() {
    tests victim "(setsid env -i sh -c 'trap \"\" TERM; while :; do sleep 174; done' >/dev/null 2>&1 &); echo ready; sleep 60"
    submit victim
    until_true 20 alive '^sleep 174'
    kill -9 "$(supervisor victim)"
    until_true 10 test -e "$WORK/contained"
    ok "what the test started survives it" "$(alive '^sleep 174' >/dev/null && echo 0 || echo 1)"
    is "its groups are there" "$(($(groups_left victim) > 0))" 1
    tests next "$good"
    run next
    is "the next run is COMPLETE" "$(summary next .status)" COMPLETE
    like "it says what it ended" "$(messages next)" 'control groups left behind by a killed executor'
    ok "no process of it is left" "$(alive '^sleep 174' >/dev/null && echo 1 || echo 0)"
    is "no group is left" "$(groups_left victim)" 0
}

cancelled() {
    tests stop "(setsid env -i sh -c 'trap \"\" TERM; while :; do sleep 175; done' >/dev/null 2>&1 &); sleep 60"
    submit stop
    until_true 20 alive '^sleep 175'
    x cancel --run stop >/dev/null
    follow stop
    ok "no process of it is left" "$(alive '^sleep 175' >/dev/null && echo 1 || echo 0)"
    is "no group is left" "$(groups_left stop)" 0
}

isolated() {
    tests alone-here "touch own.txt; for f in \$HOME/x {build}/x ../x $(bundle alone-here)/x; do touch \$f; done 2>&1; $good" '{"isolate": true}'
    edit alone-here '.job.variants[0].build = [["touch", "made"]]'
    run alone-here
    is "the test is OK" "$(perf alone-here '"\(.exit_status) \(.isolated)"')" "OK true"
    is "it can write to its own folder" "$(find "$(bundle alone-here)/v/ctx_64_run1" -name own.txt | wc -l)" 1
    is "it cannot write elsewhere" "$(grep -c 'Read-only file system' "$(bundle alone-here)/v/ctx_64_run1/run.log")" 4
    tests open "touch \$HOME/y; $good"
    run open
    ok "without \"isolate\" it can" "$([ -e "$HOME/y" ] && echo 0 || echo 1)"
}

# What runs beside it, of the same user, and a process of its own.
isolated_signals() {
    sleep 187 &
    local other=$!
    tests signals "kill -TERM $other && echo hit; sleep 188 & kill -TERM \$! && wait \$!; echo own \$?; $good" '{"isolate": true}'
    run signals
    is "the test is OK" "$(perf signals '"\(.exit_status) \(.isolated)"')" "OK true"
    is "it can signal its own processes" "$(grep own "$(bundle signals)/v/ctx_64_run1/run.log")" "own 143"
    is "perf.json claims what held" "$(perf signals '.isolated_signals // false')" \
        "$(grep -q hit "$(bundle signals)/v/ctx_64_run1/run.log" && echo false || echo true)"
    has_scopes && is "it cannot signal others" "$(kill -0 "$other" && perf signals .isolated_signals)" true
    kill "$other" 2>/dev/null
}

# Landlock's version here, by the number of its system call; scopes came with 6.
has_scopes() {
    [ "$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1))')" -ge 6 ]
}

# A node without control groups, played by a folder.
none_here() {
    mkdir -p "$TMPDIR/proc/self"
    : >"$TMPDIR/proc/self/cgroup"
    : >"$TMPDIR/proc/self/mountinfo"
}

group_alone() {
    needs none_here
    tests alone "$good"
    run alone --proc "$TMPDIR/proc"
    is "perf.json says so" "$(perf alone '"\(.exit_status) \(.contained)"')" "OK group"
    is "node.json says why" "$(jq -r '.containment | "\(.kind) \(.why)"' "$(bundle alone)/node.json")" "group no control groups of version 2 are mounted"
}

refused_limits() {
    needs none_here
    tests refused "$good" '{"limit_memory": "1G"}'
    run refused --proc "$TMPDIR/proc"
    is "the run is BLOCKED" "$(summary refused .status)" BLOCKED
    like "the reason says what to do" "$(summary refused .reason)" 'cannot enforce limits.memory: .*docs/nodes.md, or drop the limit'
    is "no test ran" "$(find "$(bundle refused)" -name run.log | wc -l)" 0
}

scenario "a test on a node without control groups" group_alone
scenario "a plan's limits on a node that cannot enforce them" refused_limits
held_scenario .isolate "a test that is isolated" isolated
held_scenario .isolate "an isolated test that signals others" isolated_signals
held_scenario '.kind == "cgroup"' "a test in a control group" says_cgroup
held_scenario '.kind == "cgroup"' "a build in a control group" holds_build
held_scenario '.kind == "cgroup"' "an executor killed in the middle of a test" killed_executor
held_scenario '.kind == "cgroup"' "a run that is cancelled" cancelled
held_scenario .processes "a fork bomb at the limit of processes" fork_bomb
held_scenario .memory "a test that takes more memory than its limit" memory_hog
held_scenario '.memory and .processes' "a test within its limits" within_limits
done_testing
