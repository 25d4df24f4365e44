#!/usr/bin/env bash
# A test that the kernel kills for memory is OOM, with the evidence; one that is killed otherwise is a CRASH.
. tests/lib.sh
. tests/executor.sh

job killed "$(one '{"run": ["sh", "-c", "kill -9 $$"]}')"
run killed
is "killed by whoever: CRASH" "$(perf killed .exit_status)" CRASH

# The counters, played by a folder.
mkdir -p "$TMPDIR/proc/self" "$TMPDIR/sys/fs/cgroup/a/b"
echo "oom_kill 4" >"$TMPDIR/proc/vmstat"
job counted "$(one "{\"run\": [\"sh\", \"-c\", \"echo oom_kill 5 >$TMPDIR/proc/vmstat; kill -9 \$\$\"]}")"
x submit --proc "$TMPDIR/proc" <"$TMPDIR/counted.json" >/dev/null
x follow --run counted >/dev/null
is "with the system's counter: OOM" "$(perf counted .exit_status)" OOM
like "   evidence" "$(head -n 1 "$(bundle counted)/v/ctx_64_run1/diag.txt")" 'oom_kill .*rose from 4 to 5'
echo "0::/a/b" >"$TMPDIR/proc/self/cgroup"
printf 'low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n' >"$TMPDIR/sys/fs/cgroup/a/b/memory.events"
job cgroup "$(one "{\"run\": [\"sh\", \"-c\", \"echo oom_kill 1 >$TMPDIR/sys/fs/cgroup/a/b/memory.events; exit 137\"]}")"
x submit --proc "$TMPDIR/proc" --sysfs "$TMPDIR/sys" <"$TMPDIR/cgroup.json" >/dev/null
x follow --run cgroup >/dev/null
is "with the cgroup's, and a shell's 137: OOM" "$(perf cgroup .exit_status)" OOM
like "   evidence" "$(perf cgroup .reason)" 'memory cgroup'

# For real, where a memory cgroup can be made.
if [ -d /sys/fs/cgroup/memory ]; then
    group=/sys/fs/cgroup/memory/kernsweep-test-$$ limit=memory.limit_in_bytes
else
    group=/sys/fs/cgroup/kernsweep-test-$$ limit=memory.max
fi
if mkdir "$group" 2>/dev/null && echo 64M >"$group/$limit" 2>/dev/null; then
    job real "$(one "{\"run\": [\"sh\", \"-c\", \"echo \$\$ >$group/cgroup.procs; exec tail /dev/zero\"]}")"
    run real
    is "killed by the kernel's OOM killer: OOM" "$(perf real .exit_status)" OOM
    is "   by its signal" "$(perf real .signal)" 9
    like "   evidence" "$(perf real .reason)" 'Killed process [0-9]+ .tail|oom_kill'
else
    skip "killed by the kernel's OOM killer" "no memory cgroup can be made here"
fi
rmdir "$group" 2>/dev/null
done_testing
