#!/usr/bin/env bash
# A plan with a scheduler, through a real Slurm of two nodes on this machine.
. tests/lib.sh
. tests/slurm.sh
. tests/tree.sh
. tests/gpus.sh

slurm_setup

# jobs_of TAG FORMAT: a line for each job that the run ever had
jobs_of() {
    squeue --noheader --states=all --name="kernsweep-$(sql "SELECT run_id FROM run WHERE tag = '$1'")" --format="$2"
}

build_ends() {
    jq -r "select(.event == \"BUILD_END\") | $2" "$(bundle_of "$1")/events.jsonl"
}

bad_word() {
    plan_with '.scheduler.gres = "gpu:1; rm"' "$TMPDIR/bad.json"
    exits "run exits 2" 2 sweep bad "$TMPDIR/bad.json"
    like "the error names the place in the plan" "$ERR" '\$\.scheduler\.gres: expected'
}

# Both nodes at once: each takes one task, as the plan wants them for itself.
two_nodes() {
    local job shown bundle
    start wide "$TMPDIR/plan.json" --variants waits
    until_true 60 on n1 && until_true 60 on n2
    ok "tests run on both nodes at once" $? "$(cat "$TMPDIR/wide.err"; ls "$MARKS"; squeue)"
    job=$(live_jobs | cut -d _ -f 1)
    shown=$(scontrol show job "$job")
    like "the job asks for the GPU" "$shown" 'TresPerNode=.*gpu:mi300x:1'
    like "the job asks for the feature" "$shown" 'Features=mi300x'
    like "the job's time limit has room for the time-outs of a task" "$shown" 'TimeLimit=00:08:00'
    is "there is one array job" "$(live_jobs | tr ' ' '\n' | cut -d _ -f 1 | sort -u | wc -l)" 1
    like "files of the jobs are in the run's folder while they run" "$(find "$WORK/runs" -name .arrays -o -name .job.json)" '/\.arrays$'
    go
    ends "run exits 0" 0
    bundle=$(bundle_of wide)
    is "each test is stored once, with the node that ran it" \
        "$(tests_of wide t.status t.repetition s.context_len 't.host IN ("n1","n2")')" \
        $'OK|1|16|1\nOK|2|16|1\nOK|1|32|1\nOK|2|32|1'
    is "both nodes ran tests" "$(tests_of wide t.host | sort -u | xargs)" "n1 n2"
    is "repetitions of a context ran on one node" \
        "$(sql "SELECT max(n) FROM (SELECT count(DISTINCT host) n FROM test JOIN run ON run.id = test.run_id WHERE tag = 'wide' GROUP BY series_id)")" 1
    is "the run is stored under the class of its nodes" "$(sql "SELECT node FROM run WHERE tag = 'wide'")" mi300x
    is "the bundle has the facts of each node" "$(jq -r .host "$bundle"/nodes/n[12].json | xargs)" "n1 n2"
    passes "the journal is whole" journal_whole "$bundle"
    like "the report says where tests ran" "$(cat "$bundle.md")" '^- \*\*Machines \(tests\):\*\* n[12] \(2\), n[12] \(2\)$'
    is "no job is left in the queue" "$(live_jobs)" ""
    is "no file of the jobs is left in the run's folder" "$(find "$WORK/runs" -name .arrays -o -name .job.json)" ""
}

# Builds and gates run in a job, once for each variant; what fails there skips its tests.
built_sweep() {
    try_once built sweep built "$TMPDIR/plan.json" --variants one,two,broken --contexts 16
}

builds() {
    local bundle
    built_sweep
    exited "run exits 1, for one variant does not build" 1
    bundle=$(bundle_of built)
    is "the tests of the variant that does not build are skipped, the others OK" "$(tests_of built s.variant t.status | xargs)" \
        "broken|SKIPPED broken|SKIPPED one|OK one|OK two|OK two|OK"
    is "each variant is built once" "$(build_ends built '"\(.variant) \(.status)"' | sort | xargs)" "broken BUILD_FAILED one OK two OK"
    is "each variant is built on a node of the cluster" "$(build_ends built .host | grep -cx 'n[12]')" 3
    passes "the build's log is in the bundle" test -s "$bundle/one/build.log"
    is "the gate is passed" "$(jq -r '.variants[] | select(.name == "two") | .gates[0].status' "$bundle/summary.json")" OK
}

builds_cached() {
    built_sweep
    exits "run exits 0" 0 sweep again "$TMPDIR/plan.json" --variants one --contexts 16
    is "the build is CACHED" "$(build_ends again .status)" CACHED
    unlike "nothing is said of its seal" "$ERR" seal
}

# Two sweeps of one source at once: one of them builds.
builds_shared() {
    local first
    # shellcheck disable=SC2016 # for the shell in the plan
    plan_with '.variants[0].build = [["sh", "-c", "echo built >>$MARKS/builds; sleep 1; cp {src}/workload {build}/workload"]]' "$TMPDIR/slow.json"
    start first "$TMPDIR/slow.json" --variants one --contexts 16
    first=$RUN_PID
    exits "the second exits 0" 0 sweep second "$TMPDIR/slow.json" --variants one --contexts 16
    RUN_PID=$first
    ends "the first exits 0" 0
    is "the variant is built once" "$(wc -l <"$MARKS/builds")" 1
}

# A job for each test, with its warm-up before it on the same node; builds on the login node.
job_per_test() {
    local before
    plan_with '.scheduler.granularity = "test" | .scheduler.build = "login" | .warmup = 1 | .timeouts["32"] = 330' "$TMPDIR/fine.json"
    before=$(squeue --noheader --states=all --array --format=%i | wc -l)
    exits "run exits 0" 0 sweep fine "$TMPDIR/fine.json" --variants one
    is "four tests and their warm-ups are four jobs" \
        "$(($(squeue --noheader --states=all --array --format=%i | wc -l) - before))" 4
    is "each job has the time limit of its test" "$(jobs_of fine %l | sort | xargs)" "14:00 5:00 8:00 8:00"
    is "all tests and warm-ups are OK" "$(tests_of fine s.context_len t.warmup t.status | sort | xargs)" \
        "16|0|OK 16|0|OK 16|1|OK 32|0|OK 32|0|OK 32|1|OK"
    is "the build was made on the login node" "$(build_ends fine '.host // "here"')" here
}

waits_for_turn() {
    [ "$(squeue --noheader --array --states=PENDING,RUNNING --format='%T %r' | sort | xargs)" = "PENDING JobArrayTaskLimit RUNNING None" ]
}

max_parallel() {
    plan_with '.scheduler.max_parallel = 1' "$TMPDIR/narrow.json"
    start narrow "$TMPDIR/narrow.json" --variants waits
    until_true 60 waits_for_turn
    ok "one task runs and the other waits for its turn" $? "$(squeue --array)"
    go
    ends "run exits 0" 0
}

array_max() {
    plan_with '.scheduler.array_max = 1' "$TMPDIR/short.json"
    exits "run exits 0" 0 sweep short "$TMPDIR/short.json" --variants one
    is "two contexts are two jobs, beside the one that builds" "$(jobs_of short %F | sort -u | wc -l)" 3
    is "all tests are OK" "$(tests_of short t.status | xargs)" "OK OK OK OK"
}

cancelled() {
    local other
    other=$(sbatch --parsable --gres=gpu:mi300x:1 --output=/dev/null --wrap="sleep 300")
    start gone "$TMPDIR/plan.json" --variants waits
    until_true 60 on '*'
    ok "its test starts" $?
    exits "cancel exits 0" 0 ks cancel "$(run_id gone)"
    ends "the command that follows it exits 1" 1
    is "the run is CANCELLED" "$(sql "SELECT status FROM run WHERE tag = 'gone'")" CANCELLED
    is "its tests are CANCELLED" "$(tests_of gone t.status | sort -u | xargs)" CANCELLED
    is "none of its jobs is left" "$(live_jobs "kernsweep-$(run_id gone)")" ""
    is "a job of somebody else goes on" "$(squeue --noheader --job "$other" --format=%T)" RUNNING
    scancel "$other"
}

suspended() {
    local job
    start held "$TMPDIR/plan.json" --variants waits --contexts 16 --repeat 16:1
    until_true 60 on '*'
    job=$(live_jobs "kernsweep-$(run_id held)")
    scontrol suspend "$job"
    sleep 2
    go
    scontrol resume "$job"
    ends "the command exits 1" 1
    is "its test ran once, and is INVALID" "$(tests_of held t.status)" INVALID
    like "the reason says why" "$(jq -r .reason "$(bundle_of held)"/waits/*/perf.json)" 'was stopped for [0-9.]+ s while it ran'
}

# Its jobs wait for others, and scancel says nothing and does nothing.
cancelled_in_vain() {
    local others
    others=$(for _ in 1 2; do sbatch --parsable --exclusive --output=/dev/null --wrap="sleep 300"; done)
    mkdir -p "$TMPDIR/deaf"
    printf '#!/bin/sh\nexit 0\n' >"$TMPDIR/deaf/scancel"
    chmod +x "$TMPDIR/deaf/scancel"
    PATH=$TMPDIR/deaf:$PATH start vain "$TMPDIR/plan.json" --variants waits --contexts 16
    until_true 60 journal_has vain '.message // "" | test("no job is running")'
    ok "its job waits" $?
    exits "cancel exits 3" 3 ks cancel "$(run_id vain)"
    like "it says which job is still there, and what to do" "$ERR" "jobs of it are still in Slurm.s queue: run there: scancel $(live_jobs "kernsweep-$(run_id vain)" | cut -d _ -f 1)"
    unlike "it does not say that it is cancelled" "$ERR" '^cancelled run'
    wait "$RUN_PID"
    # shellcheck disable=SC2086 # several words
    scancel $others "$(live_jobs "kernsweep-$(run_id vain)" | cut -d _ -f 1)"
}

login_node() {
    mkdir -p "$TMPDIR/node"
    printf 'SetEnv SHLVL=1 SLURM_CONF=%s%s\n' "$SLURM_CONF" \
        "${ASAN_OPTIONS:+ ASAN_OPTIONS=$ASAN_OPTIONS UBSAN_OPTIONS=${UBSAN_OPTIONS:-}}" >"$TMPDIR/node/sshd_extra.conf"
    if scripts/loopback-node start "$TMPDIR/node" >"$TMPDIR/node.log" 2>&1; then
        exits "run exits 0" 0 sweep far "$TMPDIR/plan.json" --variants one --contexts 16 \
            --node loopback --ssh-config "$TMPDIR/node/ssh_config"
        is "tests run on the nodes of the cluster" "$(tests_of far t.status 't.host IN ("n1","n2")' | xargs)" "OK|1 OK|1"
        scripts/loopback-node stop "$TMPDIR/node" >/dev/null 2>&1
    else
        ok "a login node starts" 1 "$(cat "$TMPDIR/node.log")"
    fi
}

harness_killed() {
    start left "$TMPDIR/plan.json" --variants waits --contexts 16
    until_true 60 on '*'
    kill -KILL "$RUN_PID"
    wait "$RUN_PID" 2>/dev/null
    go
    exits "attach exits 0" 0 ks attach "$(run_id left)" --artifacts "$TMPDIR/artifacts"
    is "attach brings each test once" "$(tests_of left t.status t.repetition | xargs)" "OK|1 OK|2"
}

# What squeue, sbatch and scancel take from the environment must not hide a job, nor send it elsewhere.
users_settings() {
    local name
    for name in ACCOUNT ARRAY_UNIQUE FORMAT LICENSES NAMES PARTITION QOS SORT STATES USERS; do
        export "SQUEUE_$name=none"
    done
    for name in ACCOUNT ARRAY_INX CLUSTERS CONSTRAINT EXCLUSIVE GRES HINT JOB_NAME MEM_PER_NODE OUTPUT PARTITION QOS REQUEUE TIMELIMIT WAIT; do
        export "SBATCH_$name=0"
    done
    export SCANCEL_STATE=PENDING SCANCEL_PARTITION=none SCANCEL_NAME=none SLURM_CLUSTERS=none SLURM_TIME_FORMAT=none
    start settings "$TMPDIR/plan.json" --variants waits --contexts 16 --repeat 16:1
    until_true 60 on '*'
    ok "its test starts" $?
    sleep "$1"
    "$2"
}

a_minute_later() {
    go
    ends "the command exits 0" 0
    is "the test ran once" "$(find "$MARKS" -name 'on.*' | wc -l)" 1
    unlike "nothing was lost" "$(cat "$TMPDIR/settings.err")" 'no longer in the queue'
}

cancelled_at_once() {
    exits "cancel exits 0" 0 ks cancel "$(run_id settings)"
    ends "the command that follows it exits 1" 1
    is "none of its jobs is left" "$(env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" squeue --noheader --name="kernsweep-$(run_id settings)" --states=PENDING,RUNNING --format=%i 2>&1)" ""
}

# Their variables end with the subshell.
with_settings() {
    (users_settings "$@" >"$TMPDIR/checks" 2>&1)
    is "a sweep survives them" "$(grep -c '^ok' "$TMPDIR/checks") $(grep '^not ok' "$TMPDIR/checks")" "$3 "
}

# Two contexts in one task, each on a GPU of its own.
two_gpus() {
    local bundle
    amd_gpus "$TMPDIR/gpus" 2
    export use=$USE_GPU
    plan_with '.scheduler.gres = "gpu:mi300x:2" | .gpus = "all" | .clock = "process" | del(.source)
        | .variants = [{name: "v", run: [env.use, "0.5"]}]' "$TMPDIR/gpus.json"
    # What a task gets from the executor has none of our own variables: this sbatch adds the one that plays the node.
    mkdir -p "$TMPDIR/bin"
    printf '#!/bin/sh\nKERNSWEEP_FAKE_ROOT=%q exec %q "$@"\n' "$KERNSWEEP_FAKE_ROOT" "$(command -v sbatch)" >"$TMPDIR/bin/sbatch"
    chmod +x "$TMPDIR/bin/sbatch"
    PATH=$TMPDIR/bin:$PATH exits "run exits 0" 0 sweep gpus "$TMPDIR/gpus.json"
    unset KERNSWEEP_FAKE_ROOT
    bundle=$(bundle_of gpus)
    is "both contexts are one task" "$(jobs_of gpus %i | grep -c _)" 1
    is "each context is on a GPU of its own" \
        "$(jq -r '"\(.context_len)@\(.gpus[0].index)"' "$bundle"/v/*/perf.json | sort | uniq -c | awk '{print $1}' | xargs)" "2 2"
    is "tests run beside each other" "$(jq -r .beside "$bundle"/v/*/perf.json | sort -u | xargs)" 1
    is "each test saw one GPU" "$(cut -d' ' -f 3 "$GPUS_ROOT/used" | sort -u | xargs)" "$(gpu_word 0) $(gpu_word 1)"
}

# A node for itself has more GPUs than the plan asks for.
exclusive() {
    amd_gpus "$TMPDIR/more-gpus" 2
    export use=$USE_GPU
    plan_with '.scheduler.exclusive = true | .scheduler.gres = "gpu:mi300x:1" | .clock = "process" | del(.source)
        | .variants = [{name: "v", run: [env.use, "0.5"]}]' "$TMPDIR/alone.json"
    mkdir -p "$TMPDIR/bin"
    printf '#!/bin/sh\nKERNSWEEP_FAKE_ROOT=%q exec %q "$@"\n' "$KERNSWEEP_FAKE_ROOT" "$(command -v sbatch)" >"$TMPDIR/bin/sbatch"
    chmod +x "$TMPDIR/bin/sbatch"
    PATH=$TMPDIR/bin:$PATH exits "run exits 0" 0 sweep alone "$TMPDIR/alone.json" --contexts 16
    unset KERNSWEEP_FAKE_ROOT
    like "Slurm gives both GPUs" "$(scontrol show job --details "$(jobs_of alone %A | head -n 1)")" 'GRES=gpu:mi300x:2'
    is "each test has one GPU" "$(jq -r '.gpus | length' "$(bundle_of alone)"/v/*/perf.json | sort -u | xargs)" 1
    is "each test saw one GPU" "$(cut -d' ' -f 3 "$GPUS_ROOT/used" | sort -u | xargs)" "$(gpu_word 0)"
    like "the run says so" "$ERR" 'Slurm gave this job 2 GPUs, and the plan.s gres asks for 1: the others are not used'
}

scenario "a plan with a wrong word for Slurm" bad_word
scenario "a sweep on two nodes of Slurm" two_nodes
scenario "a sweep that builds in Slurm's jobs" builds
scenario "a second sweep of the same builds" builds_cached
scenario "two sweeps that build the same at once" builds_shared
scenario "a plan with a job for each test" job_per_test
scenario "a plan with max_parallel" max_parallel
scenario "a plan with array_max" array_max
scenario "a job with two GPUs" two_gpus
scenario "a job that has its node, and so more GPUs than it asks for" exclusive
scenario "settings of Slurm's commands, and a job of more than a minute" with_settings 65 a_minute_later 4
scenario "settings of Slurm's commands, and cancel" with_settings 1 cancelled_at_once 4
scenario "a job that Slurm suspends" suspended
scenario "a sweep in Slurm that is cancelled" cancelled
scenario "a sweep in Slurm whose jobs stay in the queue when they are cancelled" cancelled_in_vain
scenario "a sweep through a login node behind ssh" login_node
scenario "a sweep in Slurm whose harness is killed" harness_killed
done_testing
