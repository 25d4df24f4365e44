#!/usr/bin/env bash
# GPUs that differ: which card stands out, a cell that moves to another one, and what suffers from neighbours; on a node of four GPUs
# one of which is 10 % slower than the others.
# unsanitized: hundreds of starts of the command; integration/gpus runs the same code
. tests/lib.sh
. tests/pipeline.sh
. tests/tree.sh
. tests/gpus.sh

unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES SLURM_JOB_ID SLURM_JOB_GPUS SLURM_STEP_GPUS

# The program: `card LEVEL SUFFERS SECONDS`: prints LEVEL, 10 % more on GPU 2, 8 % more on the GPUs that the file `hot` lists, and
# SUFFERS times that in a run on all GPUs. What the job says, since on a busy machine two tests side by side may hardly meet.
write_card_program() {
    CARD=$GPUS_ROOT/card
    {
        printf '#!%s\nslow=%q hot=%q\n' "$BASH" "$(gpu_word 2)" "$GPUS_ROOT/hot"
        cat <<'PROGRAM'
sleep "$3"
gpu=${ROCR_VISIBLE_DEVICES-}
job=$(<"$KERNSWEEP_OUT/../../job.json")
others=0 of_slow=1 of_hot=1
[[ $job =~ \"gpus\":\ *\"all\" ]] && others=1
[ "$gpu" = "$slow" ] && of_slow=1.10
[ -e "$hot" ] && [[ $'\n'$(<"$hot")$'\n' = *$'\n'"$gpu"$'\n'* ]] && of_hot=1.08
exec awk -v level="$1" -v suffers="$2" -v others="$others" -v seed="$$" -v of_slow="$of_slow" -v of_hot="$of_hot" '
    BEGIN { srand(seed); t = level * of_slow * of_hot * (others > 0 ? suffers : 1) * (1 + 0.002 * (rand() - 0.5))
            printf "[PERF_TIMING] {\"prefill_s\": %.6f}\n", t / 100 }'
PROGRAM
    } >"$CARD"
    chmod +x "$CARD"
}

# card_plan FILTER FILE: two variants at four contexts; b suffers from neighbours
card_plan() {
    jq -n --arg node "$PLAN_NODE" --arg workdir "$TMPDIR/work" --arg card "$CARD" '
        {schema: "kernsweep.plan/1", ticket: "cards", node: $node, workdir: $workdir, contexts: [1, 2, 3, 4], repetitions: 2,
         timeouts: {default: 30}, vram_settle_s: 0, sampling: {interval_ms: 50}, kill_grace_s: 0.2,
         variants: [{name: "a", run: [$card, "{context}", "1", "0.11"]}, {name: "b", run: [$card, "{context}", "1.3", "0.12"]}]} | '"$1" >"$2"
}

# run_of TAG
run_of() {
    jq -r .run_id "$(bundle_of "$1")/job.json"
}

# sweep TAG FILTER [OPTION...]
sweep() {
    card_plan "$2" "$TMPDIR/$1.json"
    try ks_run "$TMPDIR/$1.json" --tag "$1" "${@:3}"
    exited "$1 exits 0" 0
}

prepare() {
    amd_gpus "$TMPDIR/cards" 4
    write_card_program
}

standing() {
    prepare
    sweep every '.gpus = "all" | .placement = "every" | .variants |= .[:1]'
    try ks compare latest --by gpu --json
    exited "--by gpu exits 0" 0
    is "four cards" "$(jq '.gpus | length' <<<"$OUT")" 4
    is "the slow one is named, and no other" "$(jq -r '[.gpus[] | select(.verdict == "slow") | .gpu] | join(" ")' <<<"$OUT")" "$(gpu_id 2)"
    is "its interval holds 10 % and not 5 %" "$(jq '.gpus[] | select(.verdict == "slow") | .ratio_low > 1.05 and .ratio_high < 1.15' <<<"$OUT")" true
    try ks compare latest --by gpu
    like "as a table" "$OUT" "$(gpu_id 2)"
    try ks report latest
    like "the report has a table of cards" "$OUT" "GPUs side by side"
    like "and says which one stands out" "$OUT" "stands out"
    try ks report latest --lang es
    like "also in Spanish" "$OUT" "Las GPU entre s"
    try ks show latest --json
    exited "show" 0
}

moving() {
    prepare
    sweep first ".gpus = [\"$(gpu_id 0)\"] | .ticket = \"moves\" | .variants |= .[:1]"
    sweep second ".gpus = [\"$(gpu_id 2)\"] | .ticket = \"moves\" | .variants |= .[:1]"
    try ks compare "$(run_of first)" "$(run_of second)" --json
    exited "a slower card is no regression" 0
    is "every cell is inconclusive" "$(jq -r '[.cells[].verdict] | unique | join(" ")' <<<"$OUT")" noisy
    like "and says why" "$(jq -r '.cells[0].reason' <<<"$OUT")" "measured on a different GPU than before"
    sweep both '.gpus = "all" | .placement = "every" | .ticket = "moves" | .variants |= .[:1]'
    try ks compare "$(run_of first)" "$(run_of second)" --json
    exited "nor is it once both were measured" 0
    is "which leaves every cell inconclusive" "$(jq -r '[.cells[].verdict] | unique | join(" ")' <<<"$OUT")" noisy
    is "as it moved" "$(jq '[.cells[].place.moved] | all' <<<"$OUT")" true
    sweep third ".gpus = [\"$(gpu_id 2)\"] | .ticket = \"moves\" | .variants |= (.[:1] | map(.run[1] = \"{context}.4\"))"
    try ks compare "$(run_of second)" "$(run_of third)" --json
    exited "a slowdown on the same card is a regression" 4
}

noise() {
    prepare
    card_plan . "$TMPDIR/noise.json"
    try ks noise "$TMPDIR/noise.json" --gpus --runs 2 --artifacts "$TMPDIR/artifacts_remote" --json
    exited "noise --gpus exits 0" 0
    is "what suffers is b, at every context" \
        "$(jq -r '[.cells[] | select(.suffers and .metric == "prefill_s") | .variant + "@" + (.context | tostring)] | join(" ")' <<<"$OUT")" "b@1 b@2 b@3 b@4"
    is "by 30 %" "$(jq '[.cells[] | select(.variant == "b" and .metric == "prefill_s") | .ratio > 1.25 and .ratio < 1.35] | all' <<<"$OUT")" true
    sweep later '.gpus = "all"'
    bundle=$(bundle_of later)
    is "in later runs it runs alone" "$(find "$bundle/b" -name perf.json -exec cat {} + | jq .beside | sort -u)" 0
    is "as the job says" "$(jq -r '[.variants[] | select(.alone) | .name] | join(" ")' "$bundle/job.json")" b
}

# too_few N: on a node with N GPUs
too_few() {
    amd_gpus "$TMPDIR/cards-$1" "$1"
    write_card_program
    card_plan . "$TMPDIR/noise.json"
    try ks noise "$TMPDIR/noise.json" --gpus --runs 2 --artifacts "$TMPDIR/artifacts-$1"
    exited "noise --gpus is refused with $1 GPUs" 3
    like "it says why" "$ERR" "shows $1 GPUs?, but 2 at once are needed: see .kernsweep check"
    is "nothing was measured" "$(find "$TMPDIR/artifacts-$1" -name perf.json 2>/dev/null | wc -l)" 0
}

real() {
    local store=$TMPDIR/h200.db bundles=$TMPDIR/h200/artifacts_remote/2026-11-23
    mkdir "$TMPDIR/h200"
    tar -C "$TMPDIR/h200" -xzf tests/fixtures/h200_gpus/bundles.tar.gz
    try "$KERNSWEEP" ingest "$bundles/gpus" "$bundles/gpus_again" --db "$store"
    exited "both runs are stored" 0
    try "$KERNSWEEP" compare latest --by gpu --json --db "$store"
    exited "--by gpu exits 0" 0
    is "two GPUs, both alike" "$(jq -r '[.gpus[].verdict] | join(" ")' <<<"$OUT")" "alike alike"
    is "each measured every cell" "$(jq -r '[.gpus[].tests] | unique | join(" ")' <<<"$OUT")" 36
    is "every test says on which GPU it ran, and that it had a neighbour at most" \
        "$(find "$bundles" -name perf.json -exec cat {} + | jq -c '[(.gpus | length), .beside <= 1]' | sort -u)" "[1,true]"
    try "$KERNSWEEP" show latest --db "$store"
    like "the plan's reference is that of the table" "$OUT" "v5_tiles +v5_tile_loop +[0-9.]+ +1.00x +Reference"
    try "$KERNSWEEP" compare "$(jq -r .run_id "$bundles/gpus/summary.json")" "$(jq -r .run_id "$bundles/gpus_again/summary.json")" --json --db "$store"
    exited "the same programs twice: no regression" 0
    is "nine cells, all unchanged" "$(jq -r '[.cells[].verdict] | join(" ")' <<<"$OUT")" "$(yes unchanged | head -9 | xargs)"
}

# Four variants at four contexts on four GPUs: four cells each
hot_night() {
    # shellcheck disable=SC2016 # jq's own variables
    card_plan '.ticket = "hot" | .gpus = "all" | .variants = [range(4) as $i | .variants[0] | .name = "v\($i)" | .run[3] = "0.105"]' "$TMPDIR/hot.json"
    try ks_run "$TMPDIR/hot.json" --fail-on none
    exited "a night exits 0" 0
}

getting_hot() {
    local slow format about='(7\.[5-9]|8(\.[0-4])?) %'
    prepare
    for _ in 1 2 3 4 5 6 7 8; do hot_night; done
    gpu_word 1 >"$GPUS_ROOT/hot"
    hot_night
    slow=$(gpu_id 1)
    try ks compare latest --json
    exited "a GPU that became slower fails the comparison" 4
    is "it is one finding" "$(jq -r '[.cards[] | "\(.gpu) \(.worse) \(.cells) of \(.of)"] | join(", ")' <<<"$OUT")" "$slow true 4 of 4"
    is "of about 8 %" "$(jq '.cards[0].ratio | . > 1.07 and . < 1.09' <<<"$OUT")" true
    is "no cell is regressed" "$(jq .verdicts.regressed <<<"$OUT")" 0
    is "its cells name the factor" "$(jq '[.cells[] | select(.gpu_factor > 1.07)] | length' <<<"$OUT")" 4
    try ks compare latest
    like "the table says it in a sentence" "$OUT" "The GPU $slow is $about slower than before in all 4 of its cells, while the other GPUs are not"
    for format in md github junit; do
        try ks compare latest --format "$format"
        like "as $format" "$OUT" "The GPU $slow is $about(25)? slower than before"
    done
    is "JUnit counts it" "$(ks compare latest --format junit | grep -c '<failure')" 1
    try ks compare latest --format csv
    is "CSV has the factor of each cell" "$(head -1 <<<"$OUT" | tr , '\n' | grep -c '^gpu_factor$')" 1
    try ks compare latest --by gpu
    like "--by gpu agrees" "$OUT" "The GPU $slow is $about"
    is "also as JSON" "$(ks compare latest --by gpu --json | jq -r '[.gpus[] | select(.ratio_before) | .gpu] | join(" ")')" "$slow"
    try ks report latest
    like "the report's summary says it" "$OUT" "Slower on 1 of 4 GPUs"
    try ks report latest --format html
    like "so does the page" "$OUT" "$slow is $about slower than before"
    try ks report latest --lang es
    like "also in Spanish" "$OUT" "un (7[.,][5-9]|8([.,][0-4])?) % más lenta que antes"
}

pipeline_setup
scenario "a card that became slower" getting_hot
scenario "a slow card stands out" standing
scenario "two H200s at once" real
scenario "a cell that moved to another card" moving
scenario "what suffers from neighbours" noise
scenario "one GPU has no neighbours" too_few 1
scenario "nor has none" too_few 0
done_testing
