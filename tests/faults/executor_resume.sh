#!/usr/bin/env bash
# The executor dies, the node goes down, two runs want one node: nothing is lost, nothing runs twice.
. tests/lib.sh
. tests/executor.sh

good='echo "[PERF_TIMING] {\"prefill_s\": 1}"'

# three ID SCRIPT [JOB_JSON]: three tests; the second runs the script
three() {
    job "$1" "$(jq -nc --arg s "$2" --arg g "echo ran >>$TMPDIR/$1.count; $good" --argjson j "${3:-"{}"}" \
        '{variants: [{name: "a", run: ["sh", "-c", $g]}, {name: "v", run: ["sh", "-c", $s]}, {name: "z", run: ["sh", "-c", $g]}],
          tests: [{variant: "a"}, {variant: "v"}, {variant: "z"}]} + $j')"
}

# once MARK SCRIPT: hangs the first time, runs the script the next
once() {
    printf 'if [ -e %s ]; then %s; else touch %s; exec sleep %s; fi' "$1" "$2" "$1" "$3"
}

dies() {
    until_true 20 sh -c "! kill -0 $1 2>/dev/null"
}

in_second_test() {
    waits "$1" '.event == "TEST_START" and .test_index == 2'
    until_true 20 test -e "$2"
}

three killed "(setsid sleep 811 &); $(once "$TMPDIR/m1" "$good" 812)"
submit killed
in_second_test killed "$TMPDIR/m1"
x follow --run killed >"$TMPDIR/killed.follow" 2>"$TMPDIR/killed.err" &
follower=$!
pid=$(supervisor killed)
kill -9 "$pid"
rc=0
wait "$follower" || rc=$?
is "follow ends with 75 when the executor is killed" "$rc" 75
one_line "   and says so in one line" "$(cat "$TMPDIR/killed.err")"
passes "the test dies with it" until_true 20 sh -c "! pgrep -f '[s]leep 812'"
is "the run is dead" "$(x status --run killed | jq -r '.[0].state')" dead
is "one test is done" "$(x status --run killed | jq -r '.[0].tests_done')" 1
ok "its daemon lives on, nobody is there to end it" "$(alive '^sleep 811' >/dev/null && echo 0 || echo 1)"
is "probe sees what it left" "$(x probe | jq -r '.leftovers[0] | .run_id + " " + .command')" "killed sleep 811"
printf '{"seq":99,"event":"TEST_E' >>"$(bundle killed)/events.jsonl"
offset=$(grep -v '^$' "$TMPDIR/killed.follow" | wc -c)
is "submit goes on with it" "$(x submit <"$TMPDIR/killed.json" | jq -r .state)" started
x follow --run killed --offset "$offset" >>"$TMPDIR/killed.follow"
is "it ends COMPLETE" "$(summary killed '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
is "the first test was not run again" "$(wc -l <"$TMPDIR/killed.count")" 2
is "the second is its second attempt" "$(perf killed .attempt)" 2
is "the journal tells of the first" \
    "$(events killed '[.[] | select(.event == "TEST_END" and .test_index == 2) | [.exit_status, .attempt, .retry] | map(tostring) | join(" ")] | join(", ")')" \
    "INTERRUPTED 1 true, OK 2 false"
is "each test has one final end" "$(events killed '[.[] | select(.event == "TEST_END" and .retry == false) | .test_index] | join(" ")')" "1 2 3"
is "numbers go on without a gap, the torn line is gone" "$(events killed '[.[].seq] == [range(1; length + 1)]')" true
is "a follower that went on by offset has the same journal" "$(grep -v '^$' "$TMPDIR/killed.follow" | cmp - "$(bundle killed)/events.jsonl" && echo same)" same
ok "the daemon was ended by the next executor" "$(alive '^sleep 811' >/dev/null && echo 1 || echo 0)"
like "   which says so" "$(events killed '.[] | select(.event == "NODE") | .message // ""')" 'killed 1 processes'

three down "$(once "$TMPDIR/m2" "$good" 813)"
submit down
in_second_test down "$TMPDIR/m2"
pid=$(supervisor down)
kill -TERM "$pid"
dies "$pid"
is "TERM without cancel (a node going down) leaves the run open" "$(x status --run down | jq -r '.[0].state')" dead
like "   with the reason" "$(x status --run down | jq -r '.[0].error')" 'told to end'
ok "   and ends the test" "$(alive 'sleep 813' >/dev/null && echo 1 || echo 0)"
run down
is "it is gone on with" "$(summary down '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
is "   by a second attempt" "$(perf down .attempt)" 2
is "   the reason is forgotten" "$(x status --run down | jq -r '.[0].error')" null

three fatal "touch $TMPDIR/m3; exec sleep 814"
for attempt in 1 2 3; do
    rm -f "$TMPDIR/m3"
    submit fatal
    waits fatal ".event == \"TEST_START\" and .test_index == 2 and .attempt == $attempt"
    until_true 20 test -e "$TMPDIR/m3"
    pid=$(supervisor fatal)
    kill -9 "$pid"
    dies "$pid"
    until_true 20 sh -c "! pgrep -f '[s]leep 814'"
done
run fatal
is "a test that kills the executor three times is given up" "$(perf fatal '"\(.exit_status) \(.attempt)"')" "INTERRUPTED 3"
is "   the others are kept" "$(summary fatal '.status + " " + (.counts.ok | tostring)')" "COMPLETE 2"

three forgotten "touch $TMPDIR/m4; sleep 815"
submit forgotten
in_second_test forgotten "$TMPDIR/m4"
pid=$(supervisor forgotten)
kill -9 "$pid"
dies "$pid"
passes "a dead run can be cancelled" x cancel --run forgotten
is "   and is closed as that" "$(summary forgotten .status)" CANCELLED
is "   with what it had" "$(summary forgotten '.tests[0].exit_status')" OK

# Between the last event and the manifest.
three closing "$good"
run closing
mv "$(bundle closing)/manifest.json" "$TMPDIR/manifest.old"
jq .job "$TMPDIR/closing.json" >"$(bundle closing)/.job.json"
run closing
is "killed while closing: only the manifest is made again" "$(cmp "$TMPDIR/manifest.old" "$(bundle closing)/manifest.json" && wc -l <"$TMPDIR/closing.count")" 2

# Half a result is no result.
three torn "$good"
run torn
rm "$(bundle torn)/manifest.json" "$(bundle torn)/summary.json"
sed -i '/SUITE_END/d' "$(bundle torn)/events.jsonl"
: >"$(bundle torn)/v/ctx_64_run1/perf.json"
jq .job "$TMPDIR/torn.json" >"$(bundle torn)/.job.json"
run torn
is "an empty perf.json (the node lost power) is run again" "$(summary torn '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
is "   the others are not" "$(wc -l <"$TMPDIR/torn.count")" 2

# One node, two runs.
three holder "touch $TMPDIR/m5; sleep 816"
three refused "$good"
three waiting "$good" '{"lock_wait_s": 600}'
three impatient "$good" '{"lock_wait_s": 0.2}'
submit holder
in_second_test holder "$TMPDIR/m5"
run refused
is "a second run is refused" "$(summary refused .status)" BLOCKED
like "   naming who has the node" "$(summary refused .reason)" 'used by the run holder'
is "   nothing of it ran" "$(summary refused .counts.ok)" 0
run impatient
is "one that waits too short is refused" "$(summary impatient .status)" BLOCKED
submit waiting
waits waiting '.event == "NODE" and ((.message // "") | test("waiting up to 600 s for the run holder"))'
ok "one may wait, and says so" $?
pid=$(supervisor holder)
kill -9 "$pid"
x follow --run waiting >/dev/null
is "a dead holder does not keep the node" "$(summary waiting '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
x cancel --run holder >/dev/null
three late "$good" '{"lock_wait_s": 600}'
three holder2 "touch $TMPDIR/m6; sleep 817"
submit holder2
in_second_test holder2 "$TMPDIR/m6"
submit late
waits late '.event == "NODE"'
passes "a waiting run can be cancelled" x cancel --run late
is "   and is closed as that" "$(summary late .status)" CANCELLED
x cancel --run holder2 >/dev/null

# Two submits of one run at the same time.
three both "$good"
for i in 1 2 3 4 5 6; do x submit <"$TMPDIR/both.json" >"$TMPDIR/both.$i" & done
wait
x follow --run both >/dev/null
is "of six submits at once one starts the run" "$(cat "$TMPDIR"/both.? | jq -r .state | grep -c started)" 1
is "   and each test ran once" "$(wc -l <"$TMPDIR/both.count")" 2
done_testing
