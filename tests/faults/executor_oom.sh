#!/usr/bin/env bash
# A test that the kernel kills for memory is OOM, with the evidence; one that is killed otherwise is a CRASH.
. tests/lib.sh
. tests/executor.sh

other_kill() {
    job killed "$(shell 'kill -9 $$')"
    run killed
    is "the test is CRASH" "$(perf killed .exit_status)" CRASH
}

# The counters, played by a folder.
system_counter() {
    mkdir -p "$TMPDIR/proc1"
    echo "oom_kill 4" >"$TMPDIR/proc1/vmstat"
    job counted "$(shell "echo oom_kill 5 >$TMPDIR/proc1/vmstat; kill -9 \$\$")"
    run counted --proc "$TMPDIR/proc1"
    is "the test is OOM" "$(perf counted .exit_status)" OOM
    like "diag.txt has the counter before and after" "$(head -n 1 "$(bundle counted)/v/ctx_64_run1/diag.txt")" 'oom_kill .*rose from 4 to 5'
}

cgroup_counter() {
    local events=$TMPDIR/sys/fs/cgroup/a/b/memory.events
    mkdir -p "$TMPDIR/proc2/self" "${events%/*}"
    echo "oom_kill 5" >"$TMPDIR/proc2/vmstat"
    echo "0::/a/b" >"$TMPDIR/proc2/self/cgroup"
    printf 'low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n' >"$events"
    job cgroup "$(shell "echo oom_kill 1 >$events; exit 137")"
    run cgroup --proc "$TMPDIR/proc2" --sysfs "$TMPDIR/sys"
    is "the test is OOM" "$(perf cgroup .exit_status)" OOM
    like "the reason names the memory cgroup" "$(perf cgroup .reason)" 'memory cgroup'
}

kernel_kill() {
    job real "$(shell "echo \$\$ >$group/cgroup.procs; exec tail /dev/zero")"
    run real
    is "the test is OOM" "$(perf real .exit_status)" OOM
    is "the signal is 9" "$(perf real .signal)" 9
    like "the reason has the kernel's evidence" "$(perf real .reason)" 'Killed process [0-9]+ .tail|oom_kill'
}

scenario "a test that somebody kills" other_kill
scenario "a test killed while the system's OOM counter rises" system_counter
scenario "a test whose shell exits 137 while its cgroup's OOM counter rises" cgroup_counter

# For real, where a memory cgroup can be made.
if [ -d /sys/fs/cgroup/memory ]; then
    group=/sys/fs/cgroup/memory/kernsweep-test-$$ limit=memory.limit_in_bytes
else
    group=/sys/fs/cgroup/kernsweep-test-$$ limit=memory.max
fi
if mkdir "$group" 2>/dev/null && echo 64M >"$group/$limit" 2>/dev/null; then
    scenario "a test that the kernel's OOM killer kills" kernel_kill
else
    skip_scenario "a test that the kernel's OOM killer kills" "no memory cgroup can be made here"
fi
rmdir "$group" 2>/dev/null
done_testing
