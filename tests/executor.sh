# shellcheck shell=bash
# tests/executor.sh: driving the executor by hand, for the scripts that test it without a harness. Source it
# after tests/lib.sh.
#
#   job ID '{"variants": [...], "tests": [...], ...}'   a request for submit in $TMPDIR/ID.json
#   x COMMAND ...                                       the executor, in a workdir of the script's own

WORK=$TMPDIR/work
# Of the seconds that a test's program sleeps, so that pgrep finds this script's processes, and not those of one beside it:
# "sleep 71.$OWN"
# shellcheck disable=SC2034
OWN=$(printf '%07d' "$$")

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

submit() {
    x submit <"$TMPDIR/$1.json" >"$TMPDIR/$1.submitted"
}

# run ID: submits and follows to the end; the events are in $TMPDIR/ID.events
run() {
    submit "$1" && x follow --run "$1" --offset 0 >"$TMPDIR/$1.events"
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

# waits ID JQ: until the journal has an event for which the expression is true
waits() {
    until_true 30 journal_has "$1" "$2"
}

journal_has() {
    jq -e -s "any(.[]; $2)" "$(bundle "$1")/events.jsonl"
}

# alive PATTERN: some process has it in its command line
alive() {
    pgrep -f -- "$1"
}

supervisor() {
    x status --run "$1" | jq -r '.[0].pid'
}
