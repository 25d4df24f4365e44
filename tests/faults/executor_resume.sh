#!/usr/bin/env bash
# The executor dies, the node goes down, two runs want one node: nothing is lost, nothing runs twice.
. tests/lib.sh
. tests/executor.sh

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

in_second_test() {
    waits "$1" '.event == "TEST_START" and .test_index == 2'
    until_true 20 test -e "$2"
}

daemon_lives() {
    alive '^sleep 811' >/dev/null
}

attempts() {
    events "$1" '[.[] | select(.event == "TEST_END" and .test_index == 2) | [.exit_status, .attempt, .retry] | map(tostring) | join(" ")] | join(", ")'
}

killed() {
    local follower rc=0 offset
    three killed "(setsid sleep 811 &); $(once "$TMPDIR/m1" "$good" 812)"
    submit killed
    in_second_test killed "$TMPDIR/m1"
    x follow --run killed >"$TMPDIR/killed.follow" 2>"$TMPDIR/killed.err" &
    follower=$!
    kill -9 "$(supervisor killed)"
    wait "$follower" || rc=$?
    is "follow exits 75" "$rc" 75
    one_line "follow prints one line" "$(cat "$TMPDIR/killed.err")"
    passes "the test dies with the executor" until_true 20 sh -c "! pgrep -f '[s]leep 812'"
    is "status says dead" "$(x status --run killed | jq -r '.[0].state')" dead
    is "status says that one test is done" "$(x status --run killed | jq -r '.[0].tests_done')" 1
    daemon_lives
    ok "a daemon of the test lives on" $?
    is "probe prints the daemon as a leftover" "$(x probe | jq -r '.leftovers[0] | .run_id + " " + .command')" "killed sleep 811"
    printf '{"seq":99,"event":"TEST_E' >>"$(bundle killed)/events.jsonl" # a line that was cut
    offset=$(grep -v '^$' "$TMPDIR/killed.follow" | wc -c)
    is "submit starts it again" "$(x submit <"$TMPDIR/killed.json" | jq -r .state)" started
    x follow --run killed --offset "$offset" >>"$TMPDIR/killed.follow"
    is "the run ends COMPLETE" "$(summary killed '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the test that had ended is not run again" "$(wc -l <"$TMPDIR/killed.count")" 2
    is "the interrupted test has its second attempt" "$(perf killed .attempt)" 2
    is "the journal has both attempts" "$(attempts killed)" "INTERRUPTED 1 true, OK 2 false"
    is "each test has one final TEST_END" "$(events killed '[.[] | select(.event == "TEST_END" and .retry == false) | .test_index] | join(" ")')" "1 2 3"
    is "events are numbered without a gap, the cut line is gone" "$(events killed '[.[].seq] == [range(1; length + 1)]')" true
    grep -v '^$' "$TMPDIR/killed.follow" | cmp - "$(bundle killed)/events.jsonl"
    ok "a follower that went on at its offset has the same journal" $?
    daemon_lives
    is "the next executor ends the daemon" $? 1
    like "the journal says that the daemon was ended" "$(messages killed)" 'killed 1 process left|control groups left behind by a killed executor'
}

# Seconds pass between the two executors, in which nothing works on the run.
# shellcheck disable=SC2016 # jq expands these
duration() {
    local wall
    three longer "$(once "$TMPDIR/m12" "sleep 1.2; $good" 822)"
    edit longer '.job.variants[0].run[2] |= "sleep 2; " + .'
    submit longer
    in_second_test longer "$TMPDIR/m12"
    kill_executor longer
    sleep 6
    run longer
    wall=$(summary longer .wall_s)
    passes "it lasted as long as both executors worked on it ($wall s)" jq -en --argjson s "$wall" '$s > 3.2'
    passes "without the time in which there was none" jq -en --argjson s "$wall" \
        --argjson all "$(summary longer '(.ended_at[0:19] + "Z" | fromdate) - (.started_at[0:19] + "Z" | fromdate)')" '$s < $all - 4'
    is "the journal's end says the same" "$(events longer '.[-1].wall_s')" "$wall"
    is "and who took it over, once" "$(events longer '[.[] | select(.resumed)] | length')" 1
}

# elsewhere COMMAND...: the same path of the workdir, but another folder: a mount namespace, with the PIDs of this one.
elsewhere() {
    # shellcheck disable=SC2016 # for the inner shell
    "${NAMESPACE[@]}" sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$TMPDIR/other" "$WORK" "$@"
}

# Two containers with --pid=host and the same paths.
same_path_elsewhere() {
    mkdir -p "$TMPDIR/other" "$WORK"
    job neighbour "$(shell "touch $TMPDIR/m9; sleep 3.821; $good")"
    elsewhere "$KERNSWEEP_EXECUTOR" submit --workdir "$WORK" <"$TMPDIR/neighbour.json" >/dev/null
    until_true 20 test -e "$TMPDIR/m9"
    is "the neighbour's run is not in this workdir" "$(x status | jq -r '[.[] | select(.run_id == "neighbour")] | length')" 0
    is "probe prints no leftover of another folder" "$(x probe | jq -c .leftovers)" "[]"
    three own "$good"
    run own
    is "a run here ends COMPLETE" "$(summary own .status)" COMPLETE
    unlike "it kills nothing" "$(events own '.[] | .message // ""')" killed
    until_true 20 test -e "$TMPDIR/other/runs/neighbour/manifest.json"
    is "the neighbour's test is OK" "$(jq -r .exit_status "$TMPDIR/other/runs/neighbour/v/ctx_64_run1/perf.json")" OK
}

told_to_end() {
    local pid
    three down "$(once "$TMPDIR/m2" "$good" 813)"
    submit down
    in_second_test down "$TMPDIR/m2"
    pid=$(supervisor down)
    kill -TERM "$pid"
    dies "$pid"
    is "status says dead, for the run is open" "$(x status --run down | jq -r '.[0].state')" dead
    like "status has the reason" "$(x status --run down | jq -r '.[0].error')" 'told to end'
    ok "the test is ended" "$(alive 'sleep 813' >/dev/null && echo 1 || echo 0)"
    run down
    is "the next submit ends it COMPLETE" "$(summary down '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the interrupted test has its second attempt" "$(perf down .attempt)" 2
    is "status has no error any more" "$(x status --run down | jq -r '.[0].error')" null
}

# dies_in ID MARK SECONDS ATTEMPT...: the executor is killed in these attempts of test 2, which sleeps for SECONDS
dies_in() {
    local id=$1 mark=$2 seconds=$3 attempt
    for attempt in "${@:4}"; do
        rm -f "$mark"
        submit "$id"
        waits "$id" ".event == \"TEST_START\" and .test_index == 2 and .attempt == $attempt"
        until_true 20 test -e "$mark"
        kill_executor "$id"
        until_true 20 sh -c "! pgrep -f '[s]leep $seconds'"
    done
}

# ends ID: the tests that have a final event, with its status
ends() {
    events "$1" '[.[] | select((.event == "TEST_END" and (.retry | not)) or .event == "TEST_SKIP") | "\(.test_index) \(.status // .exit_status)"] | sort | join(", ")'
}

deadly_test() {
    three fatal "touch $TMPDIR/m3; exec sleep 814"
    dies_in fatal "$TMPDIR/m3" 814 1 2 3
    run fatal
    is "it is INTERRUPTED after its third attempt" "$(perf fatal '"\(.exit_status) \(.attempt)"')" "INTERRUPTED 3"
    is "each test has one end in the journal" "$(ends fatal)" "1 OK, 2 INTERRUPTED, 3 OK"
    is "the other tests are OK" "$(summary fatal '.status + " " + (.counts.ok | tostring)')" "COMPLETE 2"
}

deadly_test_cancelled() {
    three fatal2 "touch $TMPDIR/m8; exec sleep 818"
    dies_in fatal2 "$TMPDIR/m8" 818 1 2 3
    passes "cancel exits 0" x cancel --run fatal2
    is "it has an end in the journal" "$(ends fatal2)" "1 OK, 2 INTERRUPTED"
    is "the summary says the same" "$(summary fatal2 '[.status, .tests[].exit_status] | join(" ")')" "CANCELLED OK INTERRUPTED CANCELLED"
    is "its record, too" "$(perf fatal2 '"\(.exit_status) \(.attempt)"')" "INTERRUPTED 3"
}

cancelled_dead() {
    three forgotten "touch $TMPDIR/m4; exec sleep 815"
    submit forgotten
    in_second_test forgotten "$TMPDIR/m4"
    kill_executor forgotten
    passes "cancel exits 0" x cancel --run forgotten
    is "the run is CANCELLED" "$(summary forgotten .status)" CANCELLED
    is "the test that had ended is OK" "$(summary forgotten '.tests[0].exit_status')" OK
    is "the test that had begun has an end in the journal" "$(ends forgotten)" "1 OK, 2 CANCELLED"
}

# Between the last event and the manifest.
killed_while_closing() {
    three closing "$good"
    run closing
    mv "$(bundle closing)/manifest.json" "$TMPDIR/manifest.old"
    jq .job "$TMPDIR/closing.json" >"$(bundle closing)/.job.json"
    run closing
    passes "the manifest is made again as it was" cmp "$TMPDIR/manifest.old" "$(bundle closing)/manifest.json"
    is "no test is run again" "$(wc -l <"$TMPDIR/closing.count")" 2
}

# The node lost power: half a result is no result.
empty_result() {
    three torn "$good"
    run torn
    rm "$(bundle torn)/manifest.json" "$(bundle torn)/summary.json"
    sed -i '/SUITE_END/d' "$(bundle torn)/events.jsonl"
    : >"$(bundle torn)/v/ctx_64_run1/perf.json"
    jq .job "$TMPDIR/torn.json" >"$(bundle torn)/.job.json"
    run torn
    is "the run ends COMPLETE" "$(summary torn '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the other tests are not run again" "$(wc -l <"$TMPDIR/torn.count")" 2
}

# The second test leaves its executor no more memory than it has, and prints what needs more.
# shellcheck disable=SC2016 # for the test's shell
out_of_memory() {
    local rc=0
    three hungry "if [ -e $TMPDIR/m14 ]; then $good; else touch $TMPDIR/m14; prlimit --as=1 --pid \$(ps -o ppid= -p \$PPID)
        echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1, \\\"x\\\": [\$(yes '{},' | head -n 20000 | tr -d '\\n') 0]}\"; exec sleep 823; fi"
    submit hungry
    x follow --run hungry >/dev/null 2>"$TMPDIR/hungry.err" || rc=$?
    is "follow exits 75" "$rc" 75
    like "it says why, and what to do" "$(cat "$TMPDIR/hungry.err")" 'the executor ran out of memory: free some on the node, then submit the run again'
    like "so does the journal's last event" "$(events hungry '.[-1] | "\(.event) \(.message)"')" '^NODE the executor ran out of memory'
    like "its log has the line of the end" "$(cat "$(bundle hungry)"/executor.log)" 'out of memory for [0-9]* bytes'
    until_true 20 sh -c "! pgrep -f '[s]leep 823'"
    run hungry
    is "the next submit ends it COMPLETE" "$(summary hungry '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the test that had ended is not run again" "$(wc -l <"$TMPDIR/hungry.count")" 2
    is "each test has one end in the journal" "$(ends hungry)" "1 OK, 2 OK, 3 OK"
    is "events are numbered without a gap" "$(events hungry '[.[].seq] == [range(1; length + 1)]')" true
}

# holder ID: a run that has the node until holder_dies
holder() {
    three "$1" "touch $TMPDIR/$1.mark; sleep 816"
    submit "$1"
    in_second_test "$1" "$TMPDIR/$1.mark"
}

busy_node() {
    holder holder
    three refused "$good"
    run refused
    is "it is BLOCKED" "$(summary refused .status)" BLOCKED
    like "its reason names the other run" "$(summary refused .reason)" 'used by the run holder'
    is "none of its tests runs" "$(summary refused .counts.ok)" 0
    three impatient "$good" '{"lock_wait_s": 0.2}'
    run impatient
    is "it is BLOCKED after a lock_wait_s that is too short" "$(summary impatient .status)" BLOCKED
    x cancel --run holder >/dev/null
}

patient_run() {
    holder mortal
    three waiting "$good" '{"lock_wait_s": 600}'
    submit waiting
    waits waiting '.event == "NODE" and ((.message // "") | test("waiting up to 600 s for the run mortal"))'
    ok "it waits, and says so" $?
    kill -9 "$(supervisor mortal)"
    x follow --run waiting >/dev/null
    is "it has the node when the other executor is killed" "$(summary waiting '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    x cancel --run mortal >/dev/null
}

patient_run_cancelled() {
    holder holder2
    three late "$good" '{"lock_wait_s": 600}'
    submit late
    waits late '.event == "NODE"'
    passes "cancel exits 0" x cancel --run late
    is "it is CANCELLED" "$(summary late .status)" CANCELLED
    x cancel --run holder2 >/dev/null
}

six_submits() {
    local i pids=()
    three both "$good"
    for i in 1 2 3 4 5 6; do
        x submit <"$TMPDIR/both.json" >"$TMPDIR/both.$i" &
        pids+=($!)
    done
    wait "${pids[@]}"
    x follow --run both >/dev/null
    is "one of them starts it" "$(cat "$TMPDIR"/both.? | jq -r .state | grep -c started)" 1
    is "each test runs once" "$(wc -l <"$TMPDIR/both.count")" 2
}

NAMESPACE=(unshare --mount)
unshare --mount true 2>/dev/null || NAMESPACE=(unshare --user --map-root-user --mount)
scenario "a run whose executor is killed" killed
scenario "the duration of a run whose executor is killed" duration
scenario "a run whose executor gets TERM, as from a node going down" told_to_end
scenario "a test that kills its executor three times" deadly_test
scenario "cancel of a run after its third attempt of a test" deadly_test_cancelled
scenario "cancel of a run whose executor is dead" cancelled_dead
scenario "a run whose executor is killed before it writes the manifest" killed_while_closing
case $BUILD in
*/sanitize) skip_scenario "a run whose executor runs out of memory" "a sanitizer needs more address space than it may have" ;;
*) scenario "a run whose executor runs out of memory" out_of_memory ;;
esac
scenario "a run with an empty perf.json" empty_result
scenario "a run on a node that another has" busy_node
scenario "a run that waits for a node that another has" patient_run
scenario "cancel of a run that waits for its node" patient_run_cancelled
scenario "six submits of one run at once" six_submits
if "${NAMESPACE[@]}" sh -c 'mount --bind / /mnt' 2>/dev/null; then
    scenario "a run in another folder of the same path" same_path_elsewhere
else
    skip_scenario "a run in another folder of the same path" "mount namespaces are not permitted here"
fi
done_testing
