#!/usr/bin/env bash
# What commands print is what they did: cancelling, first runs, options, output into a pipe.
# timeout: 300
. tests/lib.sh
. tests/pipeline.sh

waiting_run() {
    rm -f "$TMPDIR/marks/go" "$TMPDIR/marks/started"
    ks_run "$TMPDIR/plan.json" --variants waits --contexts 32 --tag "$1" --detach 2>/dev/null
    until_true 60 test -e "$TMPDIR/marks/started"
}

state_of() {
    ks status "$1" --json 2>/dev/null | jq -r '.[0] | [.state, .status] | join(" ")'
}

cancel_complete() {
    clean_sweep
    exits "cancel of a complete run exits 2" 2 ks cancel "$(sql "SELECT run_id FROM run WHERE tag = 'clean'")"
    like "it says how the run had ended" "$ERR" 'had already ended \(COMPLETE\): nothing was cancelled; no run is running on local'
    exits "cancel latest exits 2 when nothing runs" 2 ks cancel latest
    like "it says so" "$ERR" 'no run is running'
}

cancel_after_blocked() {
    local first second
    first=$(waiting_run first)
    second=$(ks_run "$TMPDIR/plan.json" --variants good --tag second --detach 2>/dev/null)
    until_true 60 eval "state_of '$second' | grep -q BLOCKED"
    is "the second start is blocked" "$(state_of "$second")" "complete BLOCKED"
    exits "cancel of the blocked run exits 2" 2 ks cancel "$second"
    like "it names the run that is running" "$ERR" "already ended \\(BLOCKED\\): nothing was cancelled; running on local: $first"
    is "that run goes on" "$(state_of "$first" | cut -d ' ' -f 1)" running
    exits "cancel latest exits 0" 0 ks cancel latest
    like "it names the run that it cancelled" "$ERR" "cancelled run $first on local"
    is "that run is cancelled" "$(state_of "$first")" "complete CANCELLED"
    exits "a second cancel exits 2" 2 ks cancel "$first"
    like "it says that the run was cancelled before" "$ERR" 'had already ended \(CANCELLED\)'
}

no_baseline_yet() {
    exits "a first run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag first --baseline unset
    like "a note says how to set the baseline" "$ERR" 'note: pipe has no baseline "unset" on local yet.*kernsweep baseline set unset '
    unlike "it is no error" "$ERR" '^kernsweep:'
    exits "a first run with a failing test exits 1" 1 ks_run "$TMPDIR/plan.json" --variants fails --contexts 16 --tag firstfails --baseline unset
}

# An executor that refuses every job, as one of another version might.
refused_by_executor() {
    cat >"$TMPDIR/refuses" <<EOF
#!/bin/sh
[ "\$1" != submit ] || { echo "kernsweep-executor: stdin: job: no" >&2; exit 2; }
exec $BUILD/kernsweep-executor "\$@"
EOF
    chmod +x "$TMPDIR/refuses"
    clean_sweep
    KERNSWEEP_EXECUTOR=$TMPDIR/refuses try ks_run "$TMPDIR/plan.json" --variants good --tag refused
    like "the start fails with the executor's reason" "$ERR" 'submit failed with exit code 2: .*job: no'
    unlike "status does not show it" "$(ks status 2>/dev/null)" 'starting'
    exits "attach latest takes the run before it" 0 ks attach latest
    is "no bundle is left" "$(bundle_of refused)" ""
}

pipeline_setup
scenario "cancel of a run that has ended" cancel_complete
scenario "cancel latest after a blocked start" cancel_after_blocked
scenario "a first run with a baseline that nobody has set" no_baseline_yet
scenario "a start that the executor refuses" refused_by_executor
done_testing
