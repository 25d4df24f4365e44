#!/usr/bin/env bash
# Sweeps through a real Slurm that does not answer, or has no node for them.
# timeout: 300
. tests/lib.sh
. tests/slurm.sh

slurm_setup

# Slurm may look at its queue less often than these plans are patient: attach, as the message says, until it is done.
comes_home() {
    passes "$1" until_true 90 ks attach "$2"
}

# Jobs that never start.
scontrol update nodename=n1,n2 state=drain reason="out of order"
plan_with '.scheduler.start_patience_s = 2' "$TMPDIR/patient.json"
go
exits "a sweep that no node takes is given up after the plan's patience" 3 \
    sweep idle "$TMPDIR/patient.json" --variants waits --contexts 16
like "with Slurm's reason" "$ERR" 'is waiting: .*(Nodes_required_for_job_are_DOWN|DRAINED|Resources|ReqNodeNotAvail)'
like "and how to come back" "$ERR" 'kernsweep attach '
run=$(sed -n 's/^run \([^ ]*\) started$/\1/p' <<<"$ERR")
is "its job stays in the queue" "$(live_jobs "kernsweep-$run" | wc -w)" 1
scontrol update nodename=n1,n2 state=resume
comes_home "attach brings it home" "$run"
is "whole" "$(tests_of idle t.status | xargs)" "OK OK"
plan_with '.scheduler.constraint = "nowhere"' "$TMPDIR/impossible.json"
exits "a constraint that no node has blocks the run" 3 sweep impossible "$TMPDIR/impossible.json" --variants waits --contexts 16
like "in Slurm's words" "$ERR" 'Slurm refuses the jobs of this plan: .*(feature|configuration)'

# The controller is away: what runs is taken over all the same, and what does not is waited for.
start mute "$TMPDIR/plan.json" --variants waits --contexts 16
until_true 60 on '*'
scripts/slurm-loopback kill ctld "$SLURM"
until_true 60 journal_has mute '.event == "NODE" and .stalled'
ok "the journal says when the controller is away" $? "$(cat "$TMPDIR/mute.err")"
go
ends "a sweep whose tests run exits 0 without it" 0
is "with all of them" "$(tests_of mute t.repetition t.status | xargs)" "1|OK 2|OK"
plan_with '.scheduler.patience_s = 3' "$TMPDIR/controlled.json"
exits "one that cannot begin is given up after the plan's patience" 3 \
    sweep deaf "$TMPDIR/controlled.json" --variants waits --contexts 16
like "with the reason" "$ERR" 'nothing moved for 3 s: Slurm does not answer'
run=$(sed -n 's/^run \([^ ]*\) started$/\1/p' <<<"$ERR")
exits "and can be attached to" 3 ks attach "$run"
scripts/slurm-loopback revive ctld "$SLURM"
comes_home "when the controller is back attach brings it home" "$run"
is "whole" "$(tests_of deaf t.repetition t.status | xargs)" "1|OK 2|OK"
done_testing
