#!/usr/bin/env bash
# Jobs that Slurm ends under a test: for a partition that goes first, and at their time limit.
# timeout: 300
# shellcheck disable=SC2034 # the pids are read by their name
. tests/lib.sh
. tests/slurm.sh

slurm_setup

# The limit that Slurm enforces last, which takes it a minute and more, on one node; the other is for what follows.
start late "$TMPDIR/plan.json" --variants waits --contexts 16
late=$RUN_PID
until_true 60 on '*'
held=$(live_jobs | cut -d _ -f 1)
node=$(squeue --noheader --states=RUNNING --format=%N)
scontrol update "jobid=${held}_1" timelimit=1
other=$([ "$node" = n1 ] && echo n2 || echo n1)

# The other node is taken away for somebody who goes first.
KEEP_MARKS=1 start bumped "$TMPDIR/plan.json" --variants waits --contexts 32
bumped=$RUN_PID
until_true 60 on "$other" waits.32.1
ok "a test runs" $?
first=$(sbatch --parsable --partition=urgent --nodelist="$other" --gres=gpu:mi300x:2 --exclusive --output=/dev/null --wrap="sleep 5")
until_true 60 journal_has bumped '.event == "TEST_END" and .retry'
ok "a job that goes first takes its node, and the test is lost" $? "$(squeue --states=all)"
like "for that reason" "$(cat "$TMPDIR/bumped.err")" "on $other: PREEMPTED.*go to another job"
until_true 60 twice waits.32.1
ok "it runs again, in another job" $? "$(squeue --states=all)"
passes "the one that went first is done" until_true 60 no_live_jobs "$first"

until_true 150 journal_has late '.event == "TEST_END" and .retry'
ok "a job that hits its time limit loses its test" $? "$(squeue --states=all)"
like "for that reason" "$(cat "$TMPDIR/late.err")" "on $node: [A-Z]+.*its time limit is near.*go to another job"
until_true 60 twice waits.16.1
ok "it runs again, too" $? "$(squeue --states=all)"
go
for tag in bumped late; do
    RUN_PID=${!tag}
    ends "$tag: the sweep exits 0" 0
    is "each test is stored once" "$(tests_of $tag t.repetition t.status | xargs)" "1|OK 2|OK"
    is "the first at its second attempt" "$(jq -r .attempt "$(bundle_of $tag)"/waits/ctx_*_run*/perf.json | xargs)" "2 1"
    passes "and the journal is whole" journal_whole "$(bundle_of $tag)"
done
done_testing
