#!/usr/bin/env bash
# A plan with a scheduler, through a real Slurm of two nodes on this machine.
# timeout: 240
. tests/lib.sh
. tests/slurm.sh

slurm_setup

plan_with '.scheduler.gres = "gpu:1; rm"' "$TMPDIR/bad.json"
exits "a wrong word in the plan is refused" 2 sweep bad "$TMPDIR/bad.json"
like "with its place" "$ERR" '\$\.scheduler\.gres: expected'

# Both nodes at once: each takes one task, as the plan wants them for itself.
start wide "$TMPDIR/plan.json" --variants waits
until_true 60 on n1 && until_true 60 on n2
ok "tests run on both nodes at once" $? "$(cat "$TMPDIR/wide.err"; ls "$MARKS"; squeue)"
job=$(live_jobs | cut -d _ -f 1)
shown=$(scontrol show job "$job")
like "the job asks for the GPU" "$shown" 'TresPerNode=.*gpu:mi300x:1'
like "and for the feature and whole nodes" "$shown" 'Features=mi300x'
like "its time limit holds the time-outs of a task and slack" "$shown" 'TimeLimit=00:08:00'
is "it is one array job" "$(live_jobs | tr ' ' '\n' | cut -d _ -f 1 | sort -u | wc -l)" 1
go
ends "the sweep exits 0" 0
bundle=$(bundle_of wide)
is "each test is stored once, with the machine that ran it" \
    "$(tests_of wide t.status t.repetition s.context_len 't.host IN ("n1","n2")')" \
    $'OK|1|16|1\nOK|2|16|1\nOK|1|32|1\nOK|2|32|1'
is "both machines took part" "$(tests_of wide t.host | sort -u | xargs)" "n1 n2"
is "repetitions of a context stay on one machine" \
    "$(sql "SELECT max(n) FROM (SELECT count(DISTINCT host) n FROM test GROUP BY series_id)")" 1
is "the run is stored under the class of its nodes" "$(sql "SELECT node FROM run WHERE tag = 'wide'")" mi300x
is "the facts of each machine are in the bundle" "$(jq -r .host "$bundle"/nodes/n[12].json | xargs)" "n1 n2"
passes "the journal is one, whole" journal_whole "$bundle"
like "the report says where tests ran" "$(cat "$bundle.md")" '^- \*\*Machines \(tests\):\*\* n[12] \(2\), n[12] \(2\)$'
is "no job is left" "$(live_jobs)" ""
is "nothing of the jobs is left in the run's folder" "$(find "$WORK/runs" -name .slurm -o -name .job.json)" ""

# Builds and gates in a job, once a variant; what fails there skips its tests.
exits "a sweep that builds exits 1 for the variant that does not" 1 \
    sweep built "$TMPDIR/plan.json" --variants one,two,broken --contexts 16
bundle=$(bundle_of built)
is "its tests are skipped, the others OK" "$(tests_of built s.variant t.status | xargs)" \
    "broken|SKIPPED broken|SKIPPED one|OK one|OK two|OK two|OK"
is "each variant was built once" "$(jq -r 'select(.event == "BUILD_END") | "\(.variant) \(.status)"' "$bundle/events.jsonl" |
    sort | xargs)" "broken BUILD_FAILED one OK two OK"
is "on a machine of the cluster" \
    "$(jq -r 'select(.event == "BUILD_END") | .host' "$bundle/events.jsonl" | grep -cx 'n[12]')" 3
passes "the build's log came along" test -s "$bundle/one/build.log"
is "the gate was met" "$(jq -r '.variants[] | select(.name == "two") | .gates[0].status' "$bundle/summary.json")" OK
exits "the next sweep builds nothing" 0 sweep again "$TMPDIR/plan.json" --variants one --contexts 16
is "and says so" "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of again)/events.jsonl")" CACHED

# Two sweeps of one source at once: one of them builds.
# shellcheck disable=SC2016 # for the shell in the plan
plan_with '.variants[0].build = [["sh", "-c", "echo built >>$MARKS/builds; sleep 1; cp {src}/workload {build}/workload"]]' "$TMPDIR/slow.json"
start first "$TMPDIR/slow.json" --variants one --contexts 16
first=$RUN_PID
exits "two sweeps may build the same at once" 0 sweep second "$TMPDIR/slow.json" --variants one --contexts 16
RUN_PID=$first
ends "and both are done" 0
is "it is built once" "$(wc -l <"$MARKS/builds")" 1

# A job a test; builds on the login node; warm-up before the first that counts, on the same machine.
plan_with '.scheduler.granularity = "test" | .scheduler.build = "login" | .warmup = 1 | .timeouts["32"] = 330' "$TMPDIR/fine.json"
before=$(squeue --noheader --states=all --array --format=%i | wc -l)
exits "a job for each test" 0 sweep fine "$TMPDIR/fine.json" --variants one
is "is four for four tests and their warm-ups" \
    "$(($(squeue --noheader --states=all --array --format=%i | wc -l) - before))" 4
is "each with its own limit" "$(squeue --noheader --states=all --name="kernsweep-$(sql "SELECT run_id FROM run WHERE tag = 'fine'")" \
    --format=%l | sort | xargs)" "14:00 5:00 8:00 8:00"
is "and all of them are there" "$(tests_of fine s.context_len t.warmup t.status | sort | xargs)" \
    "16|0|OK 16|0|OK 16|1|OK 32|0|OK 32|0|OK 32|1|OK"
is "the build was made where the run was started" \
    "$(jq -r 'select(.event == "BUILD_END") | .host // "here"' "$(bundle_of fine)/events.jsonl")" here

# No more at a time, and no more in one job, than the plan says.
plan_with '.scheduler.max_parallel = 1' "$TMPDIR/narrow.json"
start narrow "$TMPDIR/narrow.json" --variants waits
waits_for_turn() {
    [ "$(squeue --noheader --array --states=PENDING,RUNNING --format='%T %r' | sort | xargs)" = "PENDING JobArrayTaskLimit RUNNING None" ]
}
until_true 60 waits_for_turn
ok "with max_parallel one task runs and the other waits for its turn" $? "$(squeue --array)"
go
ends "the sweep exits 0" 0
plan_with '.scheduler.array_max = 1' "$TMPDIR/short.json"
exits "with array_max" 0 sweep short "$TMPDIR/short.json" --variants one
is "two contexts are two jobs, beside the one that builds" "$(squeue --noheader --states=all --format=%F \
    --name="kernsweep-$(sql "SELECT run_id FROM run WHERE tag = 'short'")" | sort -u | wc -l)" 3
is "and all tests are there" "$(tests_of short t.status | xargs)" "OK OK OK OK"

# Cancel: ours, and no other.
other=$(sbatch --parsable --gres=gpu:mi300x:1 --output=/dev/null --wrap="sleep 300")
start gone "$TMPDIR/plan.json" --variants waits
until_true 60 on '*'
ok "a sweep is under way" $?
exits "cancel stops it" 0 ks cancel "$(run_id gone)"
ends "whoever follows it exits" 1
is "the run is CANCELLED" "$(sql "SELECT status FROM run WHERE tag = 'gone'")" CANCELLED
is "and so is what ran" "$(tests_of gone t.status | sort -u | xargs)" CANCELLED
is "none of its jobs is left" "$(live_jobs "kernsweep-$(run_id gone)")" ""
is "another's job goes on" "$(squeue --noheader --job "$other" --format=%T)" RUNNING
scancel "$other"

# The login node is elsewhere.
mkdir -p "$TMPDIR/node"
printf 'SetEnv SLURM_CONF=%s%s\n' "$SLURM_CONF" \
    "${ASAN_OPTIONS:+ ASAN_OPTIONS=$ASAN_OPTIONS UBSAN_OPTIONS=${UBSAN_OPTIONS:-}}" >"$TMPDIR/node/sshd_extra.conf"
if scripts/loopback-node start "$TMPDIR/node" >"$TMPDIR/node.log" 2>&1; then
    exits "a sweep through a login node behind ssh" 0 sweep far "$TMPDIR/plan.json" --variants one --contexts 16 \
        --node loopback --ssh-config "$TMPDIR/node/ssh_config"
    is "is the same" "$(tests_of far t.status 't.host IN ("n1","n2")' | xargs)" "OK|1 OK|1"
    scripts/loopback-node stop "$TMPDIR/node" >/dev/null 2>&1
else
    ok "a login node starts" 1 "$(cat "$TMPDIR/node.log")"
fi

# The harness dies; the run does not.
start left "$TMPDIR/plan.json" --variants waits --contexts 16
until_true 60 on '*'
kill -KILL "$RUN_PID"
wait "$RUN_PID" 2>/dev/null
go
exits "attach brings home what a killed harness started" 0 ks attach "$(run_id left)" --artifacts "$TMPDIR/artifacts"
is "whole" "$(tests_of left t.status t.repetition | xargs)" "OK|1 OK|2"
done_testing
