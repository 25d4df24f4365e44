#!/usr/bin/env bash
# Metrics of the user's own, the wall time where a program prints none, and times that cannot be: from the plan to the
# verdict, the store, the export and the report.
# shellcheck disable=SC2154,SC2016 # OUT, ERR and RC are those of try; the plans' shells expand their own text
. tests/lib.sh
. tests/store.sh

# A program that nobody here wrote: it prints a throughput, of which more is better. $1: thousands of kB/s.
rate='echo "sha256  $(($1 * 1000 + $2)).25k"'

# plan NAME FILTER: in $TMPDIR/NAME.json
plan() {
    jq -n --arg dir "$TMPDIR" --arg rate "$rate" '
        {schema: "kernsweep.plan/1", ticket: "rates", node: "local", workdir: ($dir + "/work"), contexts: [16],
         repetitions: {default: 5}, timeouts: {default: 10},
         variants: [{name: "v", run: ["sh", "-c", $rate, "sh", "500", "{repetition}"]}],
         timings: {kind: "regex", pattern: "sha256 +(?<speed>[0-9.]+)k"},
         metrics: [{name: "sha_rate", unit: "kB/s", better: "more", from: "speed", primary: true}]} | '"$2" \
        >"$TMPDIR/$1.json"
}

ks_run() {
    ks run "$TMPDIR/$1.json" --artifacts "$TMPDIR/artifacts" --tag "$1" "${@:2}"
}

run_of() {
    ks runs --json | jq -r --arg tag "$1" 'map(select(.tag == $tag))[0].run_id'
}

fast_run() {
    plan fast .
    try_once fast ks_run fast
}

half_run() {
    plan half '.variants[0].run[4] = "250"'
    fast_run
    ks baseline set main "$(run_of fast)" >/dev/null 2>&1
    try_once half ks_run half --baseline main
}

half_speed_is_a_regression() {
    fast_run
    exited "the first run exits 0" 0
    half_run
    exited "half the throughput is a regression" 4
    like "and called one" "$OUT" 'regressed'
    like "the live line names the metric with its unit" "$ERR" 'OK  sha_rate 250001 kB/s  wall'
    unlike "no prefill is mentioned" "$OUT$ERR" prefill
    like "compare gives the direction its meaning" "$(ks compare "$(run_of fast)" "$(run_of half)" 2>&1)" '0.50x +-5[0-9.]+ % +regressed|0.50x +-49.9 % +regressed'
    like "back to the old speed is an improvement" "$(ks compare "$(run_of half)" "$(run_of fast)" 2>&1)" 'improved'
}

shown_exported_and_reported() {
    half_run
    like "show has it" "$(ks show "$(run_of half)")" 'sha_rate \(kB/s\)'
    is "show --json has it" "$(ks show "$(run_of half)" --json | jq '.tests[0].metrics.sha_rate')" 250001.25
    is "the CSV has a column" "$(ks export "$(run_of half)" --format csv | awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "sha_rate") c = i } NR == 2 { print $c }')" 250001.25
    is "so has the JSON" "$(ks export "$(run_of half)" --format json | jq '.[0].sha_rate')" 250001.25
    like "history takes it without being told" "$(ks history --variant v --context 16)" 'sha_rate, plan rates'
    local report
    report=$(ks report "$(run_of half)" --against "$(run_of fast)")
    like "the report says what changed, in words for a rate" "$report" 'is (49.9|50.0) % lower'
    unlike "and nothing of prefill, tokens or n^2" "$report" '[Pp]refill|tokens|tok/s|n²'
    passes "the store can be exported whole" sh -c '"$KERNSWEEP" export --format sql --db "$1" | sqlite3 "$2"' sh "$TMPDIR/results.db" "$TMPDIR/copy.db"
}

# sum_gbs beside the primary time.
beside_the_time() {
    local with='del(.timings) | .ticket = "gbs" | .metrics = [{name: "sum_gbs", unit: "GB/s", better: "more", least: 1}] | .variants[0].run[2] = "sleep 0.1
        echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.0${2}1, \\\"sum_gbs\\\": $1, \\\"laps\\\": 3}\""'
    plan gbs "$with"' | .variants[0].run[4] = "400"'
    plan gbs_less "$with"' | .variants[0].run[4] = "200"'
    exits "a run with a time and a throughput" 0 ks_run gbs
    exits "a second one with half the throughput" 0 ks_run gbs_less
    exits "the time is the same" 0 ks compare "$(run_of gbs)" "$(run_of gbs_less)"
    exits "on request the throughput is compared" 4 ks compare "$(run_of gbs)" "$(run_of gbs_less)" --metric sum_gbs
    like "by name and unit" "$OUT" 'Base \(GB/s\)'
    like "--all-metrics has it" "$(ks compare "$(run_of gbs)" "$(run_of gbs_less)" --all-metrics)" 'sum_gbs +400.* GB/s +200.* GB/s'
    like "show has it beside the time" "$(ks show "$(run_of gbs)")" 'sum_gbs \(GB/s\)'
    like "the report has it" "$(ks report "$(run_of gbs)")" 'sum_gbs \(GB/s\)'
    is "history on request" "$(ks history --variant v --context 16 --ticket gbs --metric sum_gbs --json | jq -c '[.points[].median]')" '[400,200]'
    is "a number that the plan does not define is exported" "$(ks export "$(run_of gbs)" --format json | jq '.[0].laps')" 3
    exits "but not compared" 2 ks compare "$(run_of gbs)" "$(run_of gbs_less)" --metric laps
    like "for want of a direction" "$ERR" 'define it under "metrics"'
}

another_unit() {
    fast_run
    plan mb '.metrics[0].unit = "MB/s"'
    ks_run mb >/dev/null 2>&1
    exits "runs that disagree are not compared" 2 ks compare "$(run_of fast)" "$(run_of mb)"
    is "which takes one line" "$(wc -l <<<"$ERR")" 1
    like "that says what to do" "$ERR" 'another name'
}

impossible_time() {
    plan minutes 'del(.metrics) | .ticket = "minutes" | .timings.pattern = "sha256 +(?<prefill_s>[0-9.]+)k"'
    exits "a time beyond that of its process is no result" 1 ks_run minutes
    like "which gives both" "$OUT$ERR" 'INVALID.*prefill_s is 500001 s, but the process ran for only 0[.0-9e-]+ s'
    plan model 'del(.metrics) | .ticket = "model" | .clock = "simulated" | .timings.pattern = "sha256 +(?<prefill_s>[0-9.]+)k"'
    exits "a simulator's time may be longer" 0 ks_run model
}

wall_time_alone() {
    plan plain 'del(.metrics, .timings) | .ticket = "plain" | .variants = [{name: "a", run: ["sleep", "0.05"]}, {name: "b", run: ["sleep", "0.15"]}]'
    exits "a program that prints nothing can be swept" 0 ks_run plain
    like "and is compared by its wall time" "$(ks compare "$(run_of plain)" --within --reference a)" 'b +0\.[0-9]+ +0\.[0-9]+ .*regressed'
    like "show says so" "$(ks show "$(run_of plain)")" 'Wall time \(s\)'
    unlike "without a word of prefill" "$OUT$ERR$(ks report "$(run_of plain)")" '[Pp]refill|tokens|tok/s|n²'
    plan ignored 'del(.metrics) | .timings = "wall" | .ticket = "ignored"'
    exits "a plan may ask for it" 0 ks_run ignored
    is "and then nothing is read" "$(ks export "$(run_of ignored)" --format json | jq '.[0] | has("speed")')" false
    plan promised 'del(.metrics, .timings) | .ticket = "promised" | .variants[0].attn_impl = "k"'
    exits "a plan that promises timings must have them" 1 ks_run promised
    like "as before" "$OUT$ERR" 'no line has .PERF_TIMING.; the last line is: .*'
}

imported() {
    jq -n '{schema: "kernsweep.map/1", input: "csv", rows: "/*", run: {ticket: {const: "sheet"}, date: {const: "2026-02-14"}},
            metrics: [{name: "sum_gbs", unit: "GB/s", better: "more", primary: true}],
            test: {variant: "/kernel", context: {at: "/n"}, sum_gbs: "/gbs"}}' >"$TMPDIR/map.json"
    printf 'kernel,n,gbs\na,16,400\na,16,402\nb,16,200\nb,16,201\n' >"$TMPDIR/sheet.csv"
    exits "a sheet with a metric of its own is imported" 0 ks import --map "$TMPDIR/map.json" "$TMPDIR/sheet.csv"
    like "and compared by it, the right way round" "$(ks show "$(ks runs --json | jq -r 'map(select(.ticket == "sheet"))[0].run_id')")" 'b +200.* +0.50x'
    jq '.test.prefill_s = "/t" | .test.wall_s = "/w" | .run.ticket.const = "hours"' "$TMPDIR/map.json" >"$TMPDIR/map2.json"
    printf 'kernel,n,gbs,t,w\na,16,400,3600,1\n' >"$TMPDIR/hours.csv"
    exits "an impossible time does not spoil an import" 0 ks import --map "$TMPDIR/map2.json" "$TMPDIR/hours.csv"
    like "but is left out, and said" "$OUT$ERR" 'prefill_s of 3600 s is longer than the wall time of 1 s; left out'
}

scenario "half the throughput" half_speed_is_a_regression
scenario "a metric of one's own in every output" shown_exported_and_reported
scenario "a metric beside the primary one" beside_the_time
scenario "a metric whose unit changed" another_unit
scenario "a time longer than its process" impossible_time
scenario "programs without timings" wall_time_alone
scenario "an imported metric" imported
done_testing
