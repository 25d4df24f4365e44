#!/usr/bin/env bash
# Jobs that Slurm ends under a test: for a partition that goes first, and at their time limit.
# unsanitized: what takes the time is Slurm; integration/slurm runs the same code
. tests/lib.sh
. tests/slurm.sh

slurm_setup

# ended TAG: both tests of the sweep, the first at its second attempt.
ended() {
    go
    ends "run exits 0" 0
    is "each test is stored once" "$(tests_of "$1" t.repetition t.status | xargs)" "1|OK 2|OK"
    is "the first test is at its second attempt" "$(jq -r .attempt "$(bundle_of "$1")"/waits/ctx_*_run*/perf.json | xargs)" "2 1"
    passes "the journal is whole" journal_whole "$(bundle_of "$1")"
}

# node_of TAG: the node that its job runs on
node_of() {
    squeue --noheader --states=RUNNING --name="kernsweep-$(run_id "$1")" --format=%N
}

# sweep_of TAG CONTEXT: a sweep with marks of its own, in its first test; its pid in PID.
sweep_of() {
    MARKS=$TMPDIR/marks-$1
    mkdir -p "$MARKS"
    plan_with . "$TMPDIR/$1.json"
    start "$1" "$TMPDIR/$1.json" --variants waits --contexts "$2"
    until_true 60 on '*'
}

late_sweep() {
    sweep_of late 16 || return
    LATE_PID=$RUN_PID
    LATE_NODE=$(node_of late)
    scontrol update "jobid=$(squeue --noheader --array --name="kernsweep-$(run_id late)" --states=RUNNING --format=%i)" timelimit=1
}

time_limit() {
    needs late_sweep
    MARKS=$TMPDIR/marks-late
    until_true 150 journal_has late '.event == "TEST_END" and .retry'
    ok "its test is lost" $? "$(squeue --states=all)"
    until_true 60 grep -q 'go to another job' "$TMPDIR/late.err" # which follows
    like "run says why" "$(cat "$TMPDIR/late.err")" "on $LATE_NODE: [A-Z]+.*its time limit is near.*go to another job"
    until_true 60 twice waits.16.1
    ok "its test runs again in another job" $? "$(squeue --states=all)"
    RUN_PID=$LATE_PID
    ended late
}

# The node is taken away for a job of a partition that goes first.
preempted() {
    local first node
    sweep_of bumped 32
    ok "its test starts" $?
    node=$(node_of bumped)
    first=$(sbatch --parsable --partition=urgent --nodelist="$node" --gres=gpu:mi300x:2 --exclusive --output=/dev/null --wrap="sleep 5")
    until_true 60 journal_has bumped '.event == "TEST_END" and .retry'
    ok "its test is lost" $? "$(squeue --states=all)"
    until_true 60 grep -q 'go to another job' "$TMPDIR/bumped.err" # which follows
    like "run says why" "$(cat "$TMPDIR/bumped.err")" "on $node: PREEMPTED.*go to another job"
    until_true 60 twice waits.32.1
    ok "its test runs again in another job" $? "$(squeue --states=all)"
    passes "the job that goes first ends" until_true 60 no_live_jobs "$first"
    ended bumped
}

# Slurm enforces a time limit a minute late and more: that sweep is started first and looked at last.
LATE="a sweep in Slurm whose job exceeds its time limit"
[ -n "${TESTS_TITLES:-}" ] || ! chosen "$LATE" time_limit || needs late_sweep
scenario "a sweep in Slurm whose node goes to an urgent job" preempted
scenario "$LATE" time_limit
done_testing
