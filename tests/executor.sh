# shellcheck shell=bash
# tests/executor.sh: driving the executor by hand, for the scripts that test it without a harness. Source it
# after tests/lib.sh.
#
#   job ID '{"variants": [...], "tests": [...], ...}'   a request for submit in $TMPDIR/ID.json
#   x COMMAND ...                                       the executor, in a workdir of the script's own

WORK=$TMPDIR/work
# Part of the number of seconds that a test's program sleeps ("sleep 71.$OWN"), so that pgrep finds this script's processes
# and not those of another one.
# shellcheck disable=SC2034
OWN=$(printf '%07d' "$$")
# The end of a test's script that succeeds.
# shellcheck disable=SC2034
good='echo "[PERF_TIMING] {\"prefill_s\": 1}"'
# Further options of submit for the node that a script plays.
SUBMIT=()
unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES SLURM_JOB_ID

x() {
    "$KERNSWEEP_EXECUTOR" "$1" --workdir "$WORK" "${@:2}"
}

# job ID JSON: the members that every job has are filled in; tests are numbered, and run once each with 60 s.
job() {
    jq -n --arg id "$1" --argjson more "$2" '
        {schema: "kernsweep.job/1", run_id: $id, ticket: "t1", tag: "", date: "2026-02-14", mode: "perf", clock: "simulated",
         node: "test", source: null, env: {}, secrets: [], kill_grace_s: 0.2} + $more
        | .tests |= (to_entries | map({index: (.key + 1), context: 64, repetition: 1, timeout_s: 60} + .value))
        | {plan: {ticket: "t1", env: .env}, job: .}' >"$TMPDIR/$1.json"
}

# one VARIANT_JSON: the members of a job with one variant "v" and one test of it.
one() {
    jq -nc --argjson v "$1" '{variants: [{name: "v"} + $v], tests: [{variant: "v"}]}'
}

# shell SCRIPT [JOB_JSON]: the members of a job with one test, of a variant "v" that runs the script
shell() {
    jq -nc --arg s "$1" --argjson more "${2:-"{}"}" \
        '{variants: [{name: "v", run: ["sh", "-c", $s]}], tests: [{variant: "v"}]} + $more'
}

# shell_and_next SCRIPT [JOB_JSON [TEST_JSON]]: the same, followed by a test that succeeds, of a variant "next"
shell_and_next() {
    jq -nc --arg s "$1" --arg g "$good" --argjson more "${2:-"{}"}" --argjson t "${3:-"{}"}" \
        '{variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "next", run: ["sh", "-c", $g]}],
          tests: [{variant: "v"} + $t, {variant: "next"}]} + $more'
}

# clocked ID MODE MHZ SCRIPT [JOB_JSON]: submits a run of one test that asks for these clocks
clocked() {
    job "$1" "$(shell "$4" "${5:-}" | jq -c --arg m "$2" --argjson f "$3" '{clocks_mode: $m, clocks_mhz: $f, sample_interval_ms: 20} + .')"
    submit "$1"
}

# edit ID FILTER: changes the request
edit() {
    jq "$2" "$TMPDIR/$1.json" >"$TMPDIR/$1.new" && mv "$TMPDIR/$1.new" "$TMPDIR/$1.json"
}

# submit ID [OPTION...]
submit() {
    x submit "${SUBMIT[@]}" "${@:2}" <"$TMPDIR/$1.json" >"$TMPDIR/$1.submitted"
}

follow() {
    x follow --run "$1" --offset 0 >"$TMPDIR/$1.events"
}

# run ID [OPTION...]: submits and follows to the end; the events are in $TMPDIR/ID.events
run() {
    submit "$@" && follow "$1"
}

# outcome ID: the final status of a run that was submitted
outcome() {
    follow "$1"
    summary "$1" .status
}

bundle() {
    printf '%s/runs/%s\n' "$WORK" "$1"
}

# perf ID FILTER [VARIANT]: of a test at context 64, repetition 1
perf() {
    jq -r "$2" "$(bundle "$1")/${3:-v}/ctx_64_run1/perf.json"
}

summary() {
    jq -r "$2" "$(bundle "$1")/summary.json"
}

# events ID FILTER: over the array of all events
events() {
    jq -rs "$2" "$(bundle "$1")/events.jsonl"
}

# statuses ID: of all tests, in the plan's order
statuses() {
    summary "$1" '[.tests[].exit_status] | join(" ")'
}

# messages ID: the messages in the journal
messages() {
    events "$1" '.[] | select(.event == "NODE") | .message // empty'
}

# waits ID JQ: until the journal has an event for which the expression is true
waits() {
    until_true 30 journal_has "$1" "$2"
}

journal_has() {
    jq -e -s "any(.[]; $2)" "$(bundle "$1")/events.jsonl"
}

# alive PATTERN: whether the command line of any process matches
alive() {
    pgrep -f -- "$1"
}

supervisor() {
    x status --run "$1" | jq -r '.[0].pid'
}

dies() {
    until_true 20 sh -c "! kill -0 $1 2>/dev/null"
}

# kill_executor ID: kills it and waits until it is gone
kill_executor() {
    local pid
    pid=$(supervisor "$1")
    kill -9 "$pid"
    dies "$pid"
}
