#!/usr/bin/env bash
# A test that was stopped while it ran is no measurement.
. tests/lib.sh
. tests/executor.sh

# sweep RUN SHELL: one test that runs SHELL and then is busy for a second.
sweep() {
    job "$1" "$(jq -nc --arg s "$2" '{variants: [{name: "a", run: ["sh", "-c", ($s + "; end=$(($(date +%s%N) + 1200000000)); while [ $(date +%s%N) -lt $end ]; do :; done; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\"")]}], tests: [{variant: "a", timeout_s: 60}]}')"
    run "$1"
}

stopped_by_another() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep stopped '( sleep 0.3; kill -STOP $$; sleep 0.6; kill -CONT $$ ) & true'
    is "it is INVALID" "$(perf stopped .exit_status a)" INVALID
    like "the reason says why" "$(perf stopped .reason a)" 'was stopped for 0\.[4-9][0-9] s while it ran'
}

executor_too() {
    # shellcheck disable=SC2016 # for the test's shell
    sweep both '( sleep 0.3; kill -STOP $PPID $$; sleep 0.6; kill -CONT $$ $PPID ) & true'
    is "it is INVALID" "$(perf both .exit_status a)" INVALID
}

busy() {
    sweep busy ':'
    is "it is OK" "$(perf busy .exit_status a)" OK
}

scenario "a test that another process stops for a while" stopped_by_another
scenario "a test that is stopped together with its executor" executor_too
scenario "a test that is only busy" busy
done_testing
