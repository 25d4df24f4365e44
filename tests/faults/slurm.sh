#!/usr/bin/env bash
# Sweeps through a real Slurm while nodes and supervisors die and jobs are requeued, cancelled or not answered for.
# timeout: 300
. tests/lib.sh
. tests/slurm.sh

slurm_setup

both_idle() {
    [ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | xargs)" = "n1 n2" ]
}

# A node dies under a test, and its processes live on.
start lost "$TMPDIR/plan.json" --variants waits --contexts 16
until_true 60 on '*'
ok "a test runs" $?
dead=$(squeue --noheader --states=RUNNING --format=%N)
other=$([ "$dead" = n1 ] && echo n2 || echo n1)
scripts/slurm-loopback kill "$dead" "$SLURM"
until_true 90 on "$other"
ok "when its node is dead it runs again on the other" $? "$(cat "$TMPDIR/lost.err"; squeue --states=all; ls "$MARKS")"
go
ends "the sweep exits 0" 0
bundle=$(bundle_of lost)
is "each test is stored once, from the node that lived" "$(tests_of lost t.repetition t.status t.host | xargs)" \
    "1|OK|$other 2|OK|$other"
is "the lost attempt is told" "$(jq -r 'select(.event == "TEST_END" and .retry) | "\(.exit_status) \(.test_index)"' \
    "$bundle/events.jsonl")" "INTERRUPTED 1"
is "the result says that it is the second" "$(jq -r .attempt "$bundle/waits/ctx_16_run1/perf.json")" 2
like "and why there had to be one" "$(cat "$TMPDIR/lost.err")" "on $dead: NODE_FAIL.*go to another job"
passes "the journal is whole" journal_whole "$bundle"
on "$dead" waits.16.2
is "the node that was given up began no further test" $? 1
scripts/slurm-loopback revive "$dead" "$SLURM"
until_true 60 both_idle
ok "the node comes back" $? "$(sinfo; tail -n 5 "$SLURM/log/$dead.log")"

# The supervisor is killed: jobs go on, and the harness starts it again.
start headless "$TMPDIR/plan.json" --variants waits --contexts 16
until_true 60 on '*'
kill -KILL "$(ks status "$(run_id headless)" --json | jq -r '.[0].pid')"
go
ends "a sweep whose supervisor is killed exits 0" 0
is "each test is there once" "$(tests_of headless t.repetition t.status | xargs)" "1|OK 2|OK"
is "at its first attempt" "$(jq -r .attempt "$(bundle_of headless)"/waits/ctx_16_run*/perf.json | xargs)" "1 1"
passes "and the journal is whole" journal_whole "$(bundle_of headless)"

# Slurm starts a job again by itself: what the first attempt still writes is nobody's.
start again "$TMPDIR/plan.json" --variants waits --contexts 16
until_true 60 on '*'
job=$(live_jobs | cut -d _ -f 1)
scontrol update "jobid=${job}_1" requeue=1 && scontrol requeue "${job}_1" && scontrol update "jobid=${job}_1" starttime=now
until_true 60 twice waits.16.1
ok "a requeued job starts again" $? "$(squeue --states=all)"
go
ends "the sweep exits 0" 0
is "each test is there once" "$(tests_of again t.repetition t.status | xargs)" "1|OK 2|OK"
passes "and the journal is whole" journal_whole "$(bundle_of again)"

# The answer to sbatch is lost on its way.
mkdir "$TMPDIR/bin"
cat >"$TMPDIR/bin/sbatch" <<END
#!/bin/sh
$(command -v sbatch) "\$@" >"$TMPDIR/answer" || exit
[ -e "$TMPDIR/once" ] && exec cat "$TMPDIR/answer"
: >"$TMPDIR/once"
echo "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)" >&2
exit 1
END
chmod +x "$TMPDIR/bin/sbatch"
go
PATH=$TMPDIR/bin:$PATH exits "a sweep whose submission was not answered exits 0" 0 \
    sweep unheard "$TMPDIR/plan.json" --variants waits --contexts 16
is "it was not submitted twice" \
    "$(squeue --noheader --states=all --name="kernsweep-$(sql "SELECT run_id FROM run WHERE tag = 'unheard'")" --format=%i | wc -l)" 1
is "each test is there once" "$(tests_of unheard t.repetition t.status | xargs)" "1|OK 2|OK"

# Somebody else cancels a job.
start taken "$TMPDIR/plan.json" --variants waits --contexts 16
until_true 60 on '*'
scancel "$(live_jobs | cut -d _ -f 1)"
ends "a sweep whose job somebody cancels exits 1" 1
is "its tests are not run again" "$(tests_of taken t.status | xargs)" "INTERRUPTED INTERRUPTED"
like "and say why" "$(tests_of taken t.reason)" 'cancelled by someone else'

done_testing
