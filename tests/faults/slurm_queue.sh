#!/usr/bin/env bash
# Sweeps through a real Slurm that does not answer, or has no node for them.
# unsanitized: what takes the time is Slurm; integration/slurm runs the same code
. tests/lib.sh
. tests/slurm.sh

slurm_setup

# Slurm may look at its queue less often than these plans are patient: attach, as the message says, until it is done.
comes_home() {
    passes "$1" until_true 90 ks attach "$2"
}

started_run() {
    sed -n 's/^run \([^ ]*\) started$/\1/p' <<<"$ERR"
}

no_node() {
    local run
    scontrol update nodename=n1,n2 state=drain reason="out of order"
    plan_with '.scheduler.start_patience_s = 2' "$TMPDIR/patient.json"
    go
    exits "run exits 3 after start_patience_s" 3 \
        sweep idle "$TMPDIR/patient.json" --variants waits --contexts 16
    like "run has Slurm's reason" "$ERR" 'is waiting: .*(Nodes_required_for_job_are_DOWN|DRAINED|Resources|ReqNodeNotAvail)'
    like "run says how to come back" "$ERR" 'kernsweep attach '
    run=$(started_run)
    is "the job stays in the queue" "$(live_jobs "kernsweep-$run" | wc -w)" 1
    scontrol update nodename=n1,n2 state=resume
    comes_home "attach exits 0 when the nodes are back" "$run"
    is "all tests are OK" "$(tests_of idle t.status | xargs)" "OK OK"
}

impossible_constraint() {
    plan_with '.scheduler.constraint = "nowhere"' "$TMPDIR/impossible.json"
    exits "run exits 3" 3 sweep impossible "$TMPDIR/impossible.json" --variants waits --contexts 16
    like "run has Slurm's words" "$ERR" 'Slurm refuses the jobs of this plan: .*(feature|configuration)'
}

away_in_test() {
    start mute "$TMPDIR/plan.json" --variants waits --contexts 16
    until_true 60 on '*'
    scripts/slurm-loopback kill ctld "$SLURM"
    until_true 60 journal_has mute '.event == "NODE" and .stalled'
    ok "the journal says that it is away" $? "$(cat "$TMPDIR/mute.err")"
    go
    ends "run exits 0 without it" 0
    is "each test is stored once" "$(tests_of mute t.repetition t.status | xargs)" "1|OK 2|OK"
    scripts/slurm-loopback revive ctld "$SLURM"
}

away_at_start() {
    local run
    scripts/slurm-loopback kill ctld "$SLURM"
    go
    plan_with '.scheduler.patience_s = 3' "$TMPDIR/controlled.json"
    exits "run exits 3 after the plan's patience" 3 \
        sweep deaf "$TMPDIR/controlled.json" --variants waits --contexts 16
    like "run has the reason" "$ERR" 'nothing moved for 3 s: Slurm does not answer'
    run=$(started_run)
    exits "attach exits 3 while it is away" 3 ks attach "$run"
    scripts/slurm-loopback revive ctld "$SLURM"
    comes_home "attach exits 0 when it is back" "$run"
    is "each test is stored once" "$(tests_of deaf t.repetition t.status | xargs)" "1|OK 2|OK"
}

scenario "a sweep that no node of Slurm takes" no_node
scenario "a plan with a constraint that no node meets" impossible_constraint
scenario "a Slurm controller that goes away while a test runs" away_in_test
scenario "a Slurm controller that is away when a sweep starts" away_at_start
done_testing
