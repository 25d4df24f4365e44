#!/usr/bin/env bash
# Tests that write to their run's journal lose neither the run nor the next night.
. tests/lib.sh
. tests/pipeline.sh

# junk_plan FILE SHELL: a plan whose tests append what SHELL prints to events.jsonl.
junk_plan() {
    jq -n --arg work "$TMPDIR/work" --arg junk "$2" '{schema: "kernsweep.plan/1", ticket: "junk", node: "local", workdir: $work,
        variants: [{name: "a", run: ["sh", "-c",
            ("{ " + $junk + "; } >>\"$(dirname \"$(dirname \"$PWD\")\")/events.jsonl\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.001}\"; sleep 0.1")]}],
        contexts: [1], repetitions: 2, timeouts: {default: 30}}' >"$1"
}

# survives TAG SHELL
survives() {
    junk_plan "$TMPDIR/$1.json" "$2"
    exits "the run is collected and stored" 0 ks_run "$TMPDIR/$1.json" --tag "$1"
    is "the store has all of its tests" "$(sql "SELECT r.status, count(*) FROM run r JOIN test t ON t.run_id = r.id WHERE r.tag = '$1' AND t.status = 'OK' GROUP BY 1")" "COMPLETE|2"
}

told_once() {
    survives told 'echo junk; echo more junk'
    is "a note quotes the first line" "$(grep -c 'has a line that is no event' <<<"$OUT$ERR")" 1
    like "and the end has their number" "$OUT$ERR" '4 lines of events.jsonl are no events'
    passes "the bundle keeps them" grep -qx 'more junk' "$(bundle_of told)/events.jsonl"
}

scenario "words" told_once
scenario "a line without an end" survives half 'printf "no end"'
scenario "half an object" survives object 'echo "{\"seq\":"'
scenario "an object that is no event" survives none 'echo "{\"a\": 1}"'
scenario "an event that nobody knows" survives newer 'echo "{\"seq\": 0, \"event\": \"LATER\"}"'
scenario "bytes that are no text" survives bytes 'printf "\377\376\000\n"'
scenario "empty lines and blanks" survives blank 'printf "\n\n  x\n \n"'
scenario "a line of 100 KB" survives long 'head -c 100000 /dev/zero | tr "\0" x; echo'
scenario "a line of 1 MB without an end" survives huge 'head -c 1000000 /dev/zero | tr "\0" x'
scenario "a line that is an array" survives array 'echo "[1, 2]"'
scenario "an event with a number out of order" survives order 'echo "{\"seq\": 99999, \"event\": \"NODE\", \"message\": \"m\"}"'
done_testing
