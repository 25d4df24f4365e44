#!/usr/bin/env bash
# Axes beside the contexts, from the plan to the store: builds, environments, repetitions until the median is known, the
# best point, and a search for it. The workload's times are computed from its axes, with noise that repeats.
. tests/lib.sh
. tests/pipeline.sh

# t = (1 + 0.1 * |log2(block / 128)|) * (fp16: 1.05) * context / 1024, times noise of NOISE (relative), seeded by the test.
# shellcheck disable=SC2016 # expanded by the workload
WORKLOAD='awk -v b="$1" -v d="$2" -v c="$3" -v seed="$4" -v noise="${NOISE:-0}" "BEGIN {
    srand(seed + b * 7 + c * 13 + (d == \"fp16\") * 101); rand(); e = 0
    for (i = 0; i < 12; i++) e += rand(); e -= 6
    x = log(b / 128) / log(2); if (x < 0) x = -x
    t = (1 + 0.1 * x) * (d == \"fp16\" ? 1.05 : 1) * c / 1024 * (1 + noise * e)
    printf \"[PERF_TIMING] {\\\"prefill_s\\\": %.9f}\\n\", t }"'

# axes_plan FILTER FILE [OPTION...]: the axes stay in this order.
axes_plan() {
    command jq -n --arg workdir "$TMPDIR/work" --arg workload "$WORKLOAD" --arg marks "$TMPDIR/marks" '{
        schema: "kernsweep.plan/1", ticket: "axes", node: "local", workdir: $workdir, clock: "simulated",
        axes: {block: [64, 128, 256], dtype: ["bf16", "fp16"]}, contexts: [1024, 2048], timeouts: {default: 60},
        env: {MARKS: $marks},
        variants: [{name: "v", build: [["sh", "-c", "echo built {block} >> $MARKS/builds; env > {build}/env"]],
                    run: ["sh", "-c", $workload, "sh", "{block}", "{dtype}", "{context}", "{repetition}"]}]
        } | '"$1" "${@:3}" >"$2"
}

prefills() {
    sql "SELECT c.variant || ' ' || c.context_len || ' ' || round(t.prefill_s, 3) FROM test t
         JOIN series c ON c.id = t.series_id JOIN run r ON r.id = t.run_id WHERE r.tag = '$1' ORDER BY 1"
}

crossed() {
    axes_plan '.skip = [{block: 256, dtype: "fp16"}, {block: 64, context: 2048}]' "$TMPDIR/crossed.json"
    exits "runs" 0 ks_run "$TMPDIR/crossed.json" --tag crossed
    is "every point that is not left out is measured" "$(prefills crossed)" "v_block128_bf16 1024 1.0
v_block128_bf16 2048 2.0
v_block128_fp16 1024 1.05
v_block128_fp16 2048 2.1
v_block256_bf16 1024 1.1
v_block256_bf16 2048 2.2
v_block64_bf16 1024 1.1
v_block64_fp16 1024 1.155"
    is "what the build does not mention needs no other build" "$(sort "$TMPDIR/marks/builds")" "built 128
built 256
built 64"
    is "the store knows the axes" "$(sql "SELECT axes FROM variant v JOIN run r ON r.id = v.run_id WHERE r.tag = 'crossed'
        AND v.name = 'v_block64_bf16'")" '{"block":64,"dtype":"bf16"}'
    exits "is shown" 0 ks show latest
    like "points of one variant are compared with the first" "$OUT" 'vs v_block64_bf16 '
    like "of which there is one" "$OUT" '1024  v_block128_bf16 .* 1\.10x  Faster'
    is "reference" "$(grep -c Reference <<<"$OUT")" 1
    exits "compares with the next run" 0 ks_run "$TMPDIR/crossed.json" --tag again
    exits "point by point" 0 ks compare "$(sql "SELECT run_id FROM run WHERE tag = 'crossed'")" latest --json
    is "all of them" "$(jq '[.cells[] | select(.verdict != "new" and .verdict != "missing")] | length' <<<"$OUT")" 8
}

environments() {
    # shellcheck disable=SC2016 # expanded by the test
    axes_plan '.axes = {tools: [{name: "old", env: {CC_NAME: "cc-1"}}, {name: "new", value: "-O3 {x}", env: {CC_NAME: "cc-2"}}],
                        n: {values: [{name: "one", env: {THREADS: "1"}}, {name: "two", env: {THREADS: "2"}}], build: false}}
        | .contexts = [1024] | .variants[0].build = [["sh", "-c", "echo built >> $MARKS/tools; env > {build}/env"]]
        | .variants[0].run = ["sh", "-c", "echo \"$0 $CC_NAME $THREADS $(grep -c THREADS {build}/env) $(grep CC_NAME {build}/env)\"", "{tools}"]
        ' "$TMPDIR/tools.json"
    exits "runs" 0 ks_run "$TMPDIR/tools.json" --tag tools
    local bundle
    bundle=$(bundle_of tools)
    is "a value has its environment in tests and builds" "$(cat "$bundle"/v_old_two/ctx_1024_run1/run.log)" \
        "old cc-1 2 0 CC_NAME=cc-1"
    is "its text in commands, and a test what no build depends on" "$(cat "$bundle"/v_new_one/ctx_1024_run1/run.log)" \
        "-O3 {x} cc-2 1 0 CC_NAME=cc-2"
    is "builds that no value changes are shared" "$(wc -l <"$TMPDIR/marks/tools")" 2
}

narrowed() {
    axes_plan . "$TMPDIR/narrow.json"
    exits "narrows" 0 ks_run "$TMPDIR/narrow.json" --tag narrow --axis block=64,128,dtype=bf16 --contexts 1024
    is "to the values asked for" "$(prefills narrow)" "v_block128_bf16 1024 1.0
v_block64_bf16 1024 1.1"
    exits "an unknown value is refused" 2 ks_run "$TMPDIR/narrow.json" --axis block=63
    like "with those there are" "$ERR" "it has: 64, 128, 256"
}

until_known() {
    axes_plan '.axes = {block: [64], dtype: "bf16"} | .contexts = [1024] | .repetitions = {until: 2, least: 3, most: 30} | .env.NOISE = "0"' \
        "$TMPDIR/quiet.json"
    exits "runs" 0 ks_run "$TMPDIR/quiet.json" --tag quiet
    is "six repetitions are enough for what does not vary" "$(prefills quiet | wc -l)" 6
    is "the rest is not missing" "$(sql "SELECT status FROM run WHERE tag = 'quiet'")" COMPLETE
    is "nor unmeasured" "$(sql 'SELECT count(*) FROM unmeasured')" 0
    local summary
    summary=$(bundle_of quiet)/summary.json
    is "the summary counts what ran" "$(jq -c '[.counts.total, .counts.ok, .counts.skipped, (.needless | length)]' "$summary")" \
        "[6,6,0,24]"
    like "progress ends at what ran" "$ERR" "6 ok, 0 failed, 0 skipped"
    axes_plan '.axes = {block: [64], dtype: "bf16"} | .contexts = [1024] | .repetitions = {until: 2, least: 3, most: 12} | .env.NOISE = "0.2"' \
        "$TMPDIR/noisy.json"
    exits "runs" 0 ks_run "$TMPDIR/noisy.json" --tag noisy
    is "what varies too much is repeated up to the limit" "$(prefills noisy | wc -l)" 12
    exits "a number on the command line replaces the rule" 0 ks_run "$TMPDIR/quiet.json" --tag exact --repeat 8
    is "exactly" "$(prefills exact | wc -l)" 8
}

# The noise differs from test to test, and is the same whenever the script runs.
noisy_plan() {
    # shellcheck disable=SC2016 # expanded by the test
    axes_plan '.env.NOISE = "0.01" | .contexts = [1024]
        | .variants[0].run[2] = "n=$(cat $MARKS/count 2>/dev/null || echo 1); echo $((n + 1)) > $MARKS/count; set -- \"$1\" \"$2\" \"$3\" \"$n\"; " + .variants[0].run[2]
        | '"$1" "$2"
}

# best_of JSON: each group, as "CONTEXT BEST SECOND".
best_of() {
    jq -r '.groups[] | "\(.variant) \(.context) \(.best) \(.second)"' <<<"$1"
}

best_point() {
    noisy_plan '.repetitions = 12 | .contexts = [1024, 2048]' "$TMPDIR/best.json"
    exits "runs" 0 ks_run "$TMPDIR/best.json" --tag best
    exits "best says so" 0 ks best --json
    is "at each context" "$(best_of "$OUT")" "v 1024 v_block128_bf16 v_block128_fp16
v 2048 v_block128_bf16 v_block128_fp16"
    is "with the margin" "$(jq '[.groups[] | .margin > 0.04 and .margin < 0.06 and .sure > 0.99] | all' <<<"$OUT")" true
    exits "in words" 0 ks best latest
    like "too" "$OUT" '^v at context 1024: block128_bf16 is best, [45][.0-9]* % ahead of block128_fp16 .*; .*% certain'
    like "with a column for each axis" "$OUT" 'Variant .*block .*dtype .*Repetitions'
    exits "and Markdown" 0 ks best --markdown
    like "as a table" "$OUT" '^\| Context \|'
    exits "the report" 0 ks report latest --lang en,es -o "$TMPDIR/best.md"
    like "names the best at each context" "$(cat "$TMPDIR/best.md")" '\*\*Best at 2048\*\*: .v_block128_bf16., [45].* % ahead of .v_block128_fp16. \('
    like "in Spanish, too" "$(cat "$TMPDIR/best.md")" '\*\*Mejor en 2048\*\*: .v_block128_bf16., un [45].* % por delante'
    # shellcheck disable=SC2016 # expanded by the workload
    noisy_plan '.repetitions = 6 | .axes.block = [128, {name: "same", value: 128}] | .axes.dtype = "bf16"' "$TMPDIR/equal.json"
    exits "equal points run" 0 ks_run "$TMPDIR/equal.json" --tag equal
    exits "of which" 0 ks best --json
    like "says the report" "$(ks report latest --lang en -o - 2>&1)" '\*\*At 1024, no point is best\*\*: 2 of 2 cannot be told apart'
    is "none is best" "$(jq -c '.groups[] | [.best, (.not_distinguishable | sort)]' <<<"$OUT")" \
        '[null,["v_block128","v_same"]]'
}

# few_of NAME REPETITIONS TIMES...: a run of one point per time (in ms, the repetitions' separated by commas).
few_of() {
    local name=$1 n=$2
    shift 2
    # shellcheck disable=SC2016 # expanded by the workload
    axes_plan '.contexts = [1024] | .repetitions = '"$n"'
        | .variants[0] |= {name: "k", run: ["sh", "-c",
            "echo \"[PERF_TIMING] {\\\"prefill_s\\\": $(echo \"$1\" | cut -d, -f$2)e-3}\"", "sh", "{b}", "{repetition}"]}
        | .axes = {b: [$ARGS.positional | to_entries[] | {name: "b\(.key + 1)", value: .value}]}' "$TMPDIR/$name.json" --args "$@"
    exits "runs" 0 ks_run "$TMPDIR/$name.json" --tag "$name"
    exits "best" 0 ks best
}

few_repetitions() {
    few_of two 2 1.01,1.02 2.97,2.97
    like "two repetitions do not test" "$OUT" '^k at context 1024: b1 is ahead of b2 by 193 %; 2 repetitions are too few to be sure$'
    like "nor does the table say so" "$OUT" ' 2\.93x slower  behind, too few repetitions'
    exits "JSON" 0 ks best --json
    is "nor JSON" "$(jq -c '.groups[] | [.best, .first, .not_distinguishable, [.points[].finding]]' <<<"$OUT")" \
        '[null,"k_b1",[],["ahead, too few repetitions","behind, too few repetitions"]]'
    like "nor the report" "$(ks report latest --lang en -o - 2>&1)" '\*\*At 1024, .k_b1. is 193 % ahead\*\* of .k_b2.; the repetitions are too few'
    few_of near 2 1.01,1.03 1.02,1.05 9,9
    like "who may be best is named" "$OUT" ': b1 is ahead of b2 by 1.5 %; 2 repetitions are too few to rule out b2$'
    few_of one 1 1.01 1.5
    like "nor does one" "$OUT" ': b1 is ahead of b2 by 49 %; 1 repetition is too few to be sure$'
    # shellcheck disable=SC2016 # expanded by the workload
    axes_plan '.contexts = [1024] | .variants[0] |= {name: "k", run: ["sh", "-c", "exit $1", "sh", "{b}"]} | .axes = {b: [0, 1, 2]}' "$TMPDIR/alone.json"
    exits "runs" 1 ks_run "$TMPDIR/alone.json" --tag alone
    exits "best" 0 ks best
    like "one that worked alone is ahead of nothing" "$OUT" '^k at context 1024: b0 is the only point with a result$'
}

# Every second test of the fastest point fails. This comes last: how many tests ran before decides the noise of search.
best_that_fails() {
    # shellcheck disable=SC2016 # expanded by the test
    noisy_plan '.repetitions = 12 | .axes.dtype = "bf16" | .env.NOISE = "0.002"
        | .variants[0].run[2] |= "[ \"$1\" != 128 ] || [ $(($4 % 2)) = 0 ] || exit 1; " + .' "$TMPDIR/fails.json"
    exits "runs" 1 ks_run "$TMPDIR/fails.json" --tag fails
    exits "best" 0 ks best
    like "says of the best that it fails" "$OUT" '^v at context 1024: block128 is best, but 6 of its 12 tests are not OK, '
    like "and so does the report" "$(ks report latest --lang en -o - 2>&1)" 'ahead\*\* of .*, but 6 of its 12 tests are not OK'
    like "in the table, too" "$OUT" '1024 +v +128 +6 .* best, 6 of 12 not OK'
}

search() {
    noisy_plan '.axes.block = [16, 32, 64, 128, 256, 512] | .env.NOISE = "0.04"' "$TMPDIR/search.json"
    exits "runs" 0 ks_run "$TMPDIR/search.json" --search --json
    local found=$OUT ids
    is "finds the best of twelve points" "$(jq -r '.groups[0].points | sort_by(-.repetitions)[0].variant' <<<"$found")" v_block128_bf16
    is "in several rounds" "$(jq '.runs | length >= 2' <<<"$found")" true
    is "of fewer points each" "$(sql "SELECT group_concat(n > 0 AND n < 12) FROM (SELECT count(DISTINCT t.series_id) n FROM test t
        JOIN run r ON r.id = t.run_id WHERE r.tag = 'search' GROUP BY r.id ORDER BY r.id LIMIT 10 OFFSET 1)" | tr -d '1,')" ""
    is "says how often each was measured" "$(jq '[.groups[0].points[] | .repetitions >= 3] | all' <<<"$found")" true
    is "and which were not measured to the end" "$(jq '[.groups[0].points[] | select(.finding == "dropped" or .finding == "ruled out")]
        | length >= 10' <<<"$found")" true
    is "every round has the purpose search, and is no night" "$(sql "SELECT DISTINCT purpose FROM run WHERE tag = 'search'")" search
    mapfile -t ids < <(jq -r '.runs[]' <<<"$found")
    exits "the runs say the same later" 0 ks best --json "${ids[@]}"
    is "all of it" "$(jq . <<<"$OUT")" "$(jq . <<<"$found")"
    exits "a search has no number of repetitions" 2 ks_run "$TMPDIR/search.json" --search --repeat 3
}

mkdir -p "$TMPDIR/marks"
scenario "crossed axes" crossed
scenario "values with an environment" environments
scenario "run --axis" narrowed
scenario "repetitions until the median is known" until_known
scenario "the best point" best_point
scenario "run --search" search
scenario "too few repetitions" few_repetitions
scenario "a best point that fails at times" best_that_fails
done_testing
