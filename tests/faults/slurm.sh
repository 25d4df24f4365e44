#!/usr/bin/env bash
# Sweeps through a real Slurm while nodes and supervisors die and jobs are requeued, cancelled or not answered for.
. tests/lib.sh
. tests/slurm.sh

slurm_setup

both_idle() {
    [ "$(sinfo --noheader --Node --states=idle --format=%N | sort -u | xargs)" = "n1 n2" ]
}

# each_test_once TAG: both of its tests are stored as OK
each_test_once() {
    is "each test is stored once" "$(tests_of "$1" t.repetition t.status | xargs)" "1|OK 2|OK"
}

# A node dies under a test, and its processes live on.
node_dies() {
    local dead other bundle
    start lost "$TMPDIR/plan.json" --variants waits --contexts 16
    until_true 60 on '*'
    ok "its test starts" $?
    dead=$(squeue --noheader --states=RUNNING --format=%N)
    other=$([ "$dead" = n1 ] && echo n2 || echo n1)
    scripts/slurm-loopback kill "$dead" "$SLURM"
    until_true 90 on "$other"
    ok "the test runs again on the other node" $? "$(cat "$TMPDIR/lost.err"; squeue --states=all; ls "$MARKS")"
    go
    ends "run exits 0" 0
    bundle=$(bundle_of lost)
    is "each test is stored once, from the other node" "$(tests_of lost t.repetition t.status t.host | xargs)" \
        "1|OK|$other 2|OK|$other"
    is "the journal has the lost attempt" "$(jq -r 'select(.event == "TEST_END" and .retry) | "\(.exit_status) \(.test_index)"' \
        "$bundle/events.jsonl")" "INTERRUPTED 1"
    is "perf.json has the second attempt" "$(jq -r .attempt "$bundle/waits/ctx_16_run1/perf.json")" 2
    like "run says why the test goes to another job" "$(cat "$TMPDIR/lost.err")" "on $dead: NODE_FAIL.*go to another job"
    passes "the journal is whole" journal_whole "$bundle"
    on "$dead" waits.16.2
    is "the dead node begins no further test" $? 1
    scripts/slurm-loopback revive "$dead" "$SLURM"
    until_true 60 both_idle
    ok "Slurm takes the node back" $? "$(sinfo; tail -n 5 "$SLURM/log/$dead.log")"
}

# Its jobs go on, and the harness starts it again.
supervisor_killed() {
    plan_with '(.variants[] | select(.name == "waits")).build = [["true"]]' "$TMPDIR/built.json"
    start headless "$TMPDIR/built.json" --variants waits --contexts 16
    until_true 60 on '*'
    kill -KILL "$(ks status "$(run_id headless)" --json | jq -r '.[0].pid')"
    go
    ends "run exits 0" 0
    each_test_once headless
    unlike "nothing is said of its build, which the jobs made and watch" "$(cat "$TMPDIR/headless.err")" seal
    is "each test is at its first attempt" "$(jq -r .attempt "$(bundle_of headless)"/waits/ctx_16_run*/perf.json | xargs)" "1 1"
    passes "the journal is whole" journal_whole "$(bundle_of headless)"
}

# Slurm starts a job again by itself: what the first attempt still writes does not count.
requeued() {
    local job
    start again "$TMPDIR/plan.json" --variants waits --contexts 16
    until_true 60 on '*'
    job=$(live_jobs | cut -d _ -f 1)
    scontrol update "jobid=${job}_1" requeue=1 && scontrol requeue "${job}_1" && scontrol update "jobid=${job}_1" starttime=now
    until_true 60 twice waits.16.1
    ok "Slurm starts its job again" $? "$(squeue --states=all)"
    go
    ends "run exits 0" 0
    each_test_once again
    passes "the journal is whole" journal_whole "$(bundle_of again)"
}

unanswered_sbatch() {
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
    PATH=$TMPDIR/bin:$PATH exits "run exits 0" 0 \
        sweep unheard "$TMPDIR/plan.json" --variants waits --contexts 16
    is "the job is submitted once" \
        "$(squeue --noheader --states=all --name="kernsweep-$(sql "SELECT run_id FROM run WHERE tag = 'unheard'")" --format=%i | wc -l)" 1
    each_test_once unheard
}

foreign_scancel() {
    start taken "$TMPDIR/plan.json" --variants waits --contexts 16
    until_true 60 on '*'
    scancel "$(live_jobs | cut -d _ -f 1)"
    ends "run exits 1" 1
    is "its tests are INTERRUPTED and not run again" "$(tests_of taken t.status | xargs)" "INTERRUPTED INTERRUPTED"
    like "the tests' reason says that the job was cancelled elsewhere" "$(tests_of taken t.reason)" 'cancelled by someone else'
}

scenario "a sweep in Slurm whose node dies under a test" node_dies
scenario "a sweep in Slurm whose supervisor is killed" supervisor_killed
scenario "a sweep in Slurm whose job is requeued" requeued
scenario "a sweep in Slurm whose sbatch gets no answer" unanswered_sbatch
scenario "a sweep in Slurm whose job somebody else cancels" foreign_scancel
done_testing
