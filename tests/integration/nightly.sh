#!/usr/bin/env bash
# Nights of a plan: the first becomes the baseline, the next are compared; one at a time; what was cut short is
# picked up; people are told what they asked for; old bundles go, a baseline's never.
# timeout: 300
. tests/lib.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
plan=$TMPDIR/night.json
told=$TMPDIR/told

# write_plan PREFILL SLEEP: a workload that reports PREFILL seconds and takes SLEEP.
write_plan() {
    jq -n --arg prefill "$1" --arg sleep "$2" --arg told "$told" '{
        schema: "kernsweep.plan/1", ticket: "night", node: "loopback", workdir: ($told + "-work"), baseline: "main",
        variants: [{name: "a", run: ["sh", "-c",
            "sleep \($sleep); echo \"Prompt tokens: $1\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": \($prefill), \\\"attn_impl\\\": \\\"x\\\"}\"",
            "sh", "{context}"]}],
        contexts: [16, 32], timeouts: {default: 20}, repetitions: 2, threshold: {regression: 0.2},
        connect: {timeout_s: 5, patience_s: 1}, retention: {keep_bundles: 1, keep_samples: 1, cache_days: 2},
        notify: [{on: ["always"], run: ["sh", "-c", "echo \"$KERNSWEEP_NEWS $(jq -r .headline)\" >>\"$1\"", "sh", $told]},
                 {on: ["regression"], run: ["sh", "-c", "cp \"$KERNSWEEP_REPORT\" \"$1.report\"; jq -r .lines[] >\"$1.lines\"", "sh", $told]},
                 {on: ["blocked"], run: ["/nonexistent/program"]}]}' >"$plan"
}

night=("$KERNSWEEP" nightly "$plan" --ssh-config "$NODE/ssh_config" --db "$TMPDIR/results.db"
    --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/nights")
runs_stored() {
    sqlite3 "$TMPDIR/results.db" "SELECT count(*) FROM run WHERE tag = ''"
}

write_plan 0.5 0.1
jq '.variants[0].run = ["false"] | .workdir += "-false"' "$plan" >"$TMPDIR/false.json"
exits "a first night in which nothing works: exit 1" 1 "$KERNSWEEP" nightly "$TMPDIR/false.json" --ssh-config "$NODE/ssh_config" \
    --db "$TMPDIR/false.db" --artifacts "$TMPDIR/false" --reports "$TMPDIR/false"
like "is no baseline, which is said" "$ERR" 'not compared with the baseline: the run has no OK measurement'
is "the index has it, and not the bundle beside it" "$(grep -c '^| .* |$' "$TMPDIR/false/index.md")" 3
like "and has its report" "$(cat "$TMPDIR/false/index.md")" 'failure \| 0 of 4 tests ok; nothing to compare with \| \[.report.\]'
: >"$told"
exits "the first night" 0 "${night[@]}"
like "becomes the baseline" "$ERR" 'this night is the baseline now'
exits "a night like it" 0 "${night[@]}"
like "is compared" "$ERR" '0 regressed.*2 unchanged'
is "both told, and both were quiet" "$(cut -d ' ' -f 1 "$told" | tr '\n' ' ')" "quiet quiet "
mkdir -p "$told-work/src/unused"
touch -d '5 days ago' "$told-work/src/unused"
exits "a night after it" 0 "${night[@]}"
is "a page and a report a night" "$(find "$TMPDIR/nights" -name report.md -o -name report.html | wc -l)" 6
is "the index links them all" "$(grep -c 'report.md)' "$TMPDIR/nights/index.md")" 3
is "the index page too" "$(grep -o 'report.html"' "$TMPDIR/nights/index.html" | wc -l)" 3
is "bundles: the baseline's and the newest stay" "$(find "$TMPDIR/artifacts" -name manifest.json | wc -l)" 2
is "on the node too" "$(find "$told-work/runs" -mindepth 1 -maxdepth 1 -type d | wc -l)" 2
is "the store keeps all" "$(runs_stored)" 3
is "but samples only of the baseline's and the newest" "$(sqlite3 "$TMPDIR/results.db" "SELECT group_concat(n) FROM
    (SELECT count(telemetry.test_id) n FROM test LEFT JOIN telemetry ON telemetry.test_id = test.id GROUP BY run_id ORDER BY run_id)")" "4,0,4"
passes "which the store finds in order" "$KERNSWEEP" db check --db "$TMPDIR/results.db"
ok "sources on the node that nobody used are gone" "$(test -e "$told-work/src/unused"; echo $((1 - $?)))"

write_plan 0.9 0.1
exits "a slower night: exit 4" 4 "${night[@]}"
is "says so" "$(tail -n 1 "$told" | cut -d ' ' -f 1)" regression
like "after it measured the suspects again in turns" "$ERR" 'confirming 2 suspects'
is "four times" "$(sqlite3 "$TMPDIR/results.db" "SELECT count(*) FROM run WHERE tag = 'confirm'")" 4
is "a line a cell for a phone" "$(cat "$told.lines")" "$(printf 'a %d: regressed +80.0 %%, the node, not the sources\n' 16 32)"
like "hands the report over, which says what confirming found" "$(cat "$told.report")" 'regressed.*the node, not the sources'

exits "a node that is away: exit 3" 3 "${night[@]}" --node 127.0.0.1:1
is "says so" "$(tail -n 1 "$told" | cut -d ' ' -f 1)" blocked
like "a notifier that cannot run is one line, no failure" "$ERR" 'notify: cannot run /nonexistent/program'
like "the index shows it without a report" "$(cat "$TMPDIR/nights/index.md")" 'blocked.*none'

write_plan 0.5 0.1
exits "a good night after bad ones" 0 "${night[@]}"
is "has recovered" "$(tail -n 1 "$told" | cut -d ' ' -f 1)" recovered

newest=$(sqlite3 "$TMPDIR/results.db" "SELECT run_id FROM run WHERE tag = '' ORDER BY id DESC LIMIT 1")
is "the newest bundle stays, though its folder's name was an older one's" \
    "$(find "$TMPDIR/artifacts" -name manifest.json -exec grep -l "$newest" {} + | wc -l)" 1

# The other exit codes: a test that fails, a disk that does not take the report, a night that is told to end.
write_plan 0.5 0.1
jq '.variants[0].run[2] = "echo broken >&2; exit 9"' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
exits "a night whose tests fail: exit 4, since they worked before" 4 "${night[@]}"
is "says both" "$(tail -n 1 "$told" | cut -d ' ' -f 1)" regression,failure
jq '.baseline = null | del(.baseline)' "$plan" >"$plan.new" && mv "$plan.new" "$plan"
exits "without a baseline: exit 1" 1 "${night[@]}"
like "each is named" "$(cat "$TMPDIR"/nights/index.md)" 'failure \| 0 of 4 tests ok'
write_plan 0.5 0.1
touch "$TMPDIR/in-the-way"
exits "reports that cannot be written: exit 5" 5 "${night[@]}" --reports "$TMPDIR/in-the-way"
exits "the next night ends that one" 0 "${night[@]}"
unlike "without measuring again" "$ERR" 'run .* started'

write_plan 0.5 2
"${night[@]}" >"$TMPDIR/told-to-end.out" 2>&1 &
first=$!
until_true 20 grep -q 'run .* started' "$TMPDIR/told-to-end.out"
kill -INT "$first"
wait "$first"
is "interrupted: exit 130" $? 130
like "the run goes on" "$(cat "$TMPDIR/told-to-end.out")" 'goes on on'
exits "and the next one picks it up" 0 "${night[@]}"
like "as it is" "$ERR" 'picking up run'

before=$(runs_stored)
"${night[@]}" >"$TMPDIR/first.out" 2>&1 &
first=$!
until_true 20 grep -q 'run .* started' "$TMPDIR/first.out"
exits "a second start while it runs: exit 3" 3 "${night[@]}"
like "says who holds it since when" "$ERR" 'pid [0-9]+ on .* since 20'
kill -9 "$first"
wait "$first" 2>/dev/null
exits "after a kill -9 the next one" 0 "${night[@]}"
like "picks the run up" "$ERR" 'picking up run'
is "each test once, in one run more" "$(runs_stored)" $((before + 1))

is "with all its tests" "$(sqlite3 "$TMPDIR/results.db" "SELECT count(*) FROM test JOIN run ON run.id = test.run_id WHERE tag = '' GROUP BY run.id" | sort -u)" 4

done_testing
