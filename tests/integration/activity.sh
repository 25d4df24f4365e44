#!/usr/bin/env bash
# What the GPU did during tests, as recorded on an H100: shown, exported, compared and reported.
# shellcheck disable=SC2016 # backquotes and jq variables are meant
. tests/lib.sh
. tests/store.sh

# The recorded bundle as run NAME, with a jq filter applied to each perf.json. $2: the filter, of which $v is the variant.
recorded() {
    local dir=$TMPDIR/$1 file
    mkdir "$dir"
    tar -C "$dir" --strip-components 1 -xzf tests/fixtures/h100_activity/bundle.tar.gz || return 1
    find "$dir" -name '*.json' | while read -r file; do
        jq --arg run "$1" '(if .run_id then .run_id = $run else . end)' "$file" >"$dir/new" && mv "$dir/new" "$file"
    done
    find "$dir" -name perf.json | while read -r file; do
        jq "$2" "$file" >"$dir/new" && mv "$dir/new" "$file"
    done
    rm "$dir/manifest.json"
    (cd "$dir" && find . -type f -printf '%P\n' | while read -r file; do
        jq -n --arg p "$file" --arg h "$(sha256sum <"$file" | cut -d ' ' -f 1)" --argjson s "$(stat -c %s "$file")" \
            '{path: $p, size: $s, sha256: $h}'
    done | jq -s --arg run "$1" '{schema: "kernsweep.manifest/1", run_id: $run, files: .}') >"$TMPDIR/manifest" || return 1
    mv "$TMPDIR/manifest" "$dir/manifest.json"
    ks ingest "$dir" >/dev/null
}

prepare() {
    [ -e "$TMPDIR/results.db" ] && return
    recorded first . || exit 1
    local worse='if .variant == "v5" and .context_len == 16384 then .activity.joules *= 1.3 | .activity.neighbours = 2 else . end'
    local read='if .timings then .timings.tokenize_s = 0.001 else . end'
    recorded second "$worse"
    recorded tokens "$read"
    recorded second_tokens "$read | $worse"
}

shown() {
    local row
    prepare
    ks show first >"$TMPDIR/shown"
    row=$(grep -E '^ *16384 +v5 .*power' "$TMPDIR/shown")
    like "the row of a throttled cell says why and how long" "$row" '3\.[0-9]+ s: power'
    like "the row has clock, power and energy, and a kernel no joules per token" "$row" '1614 +1500 +2619 +701 .* 2349$'
    is "numbers of different parts of a test stand in different tables" \
        "$(grep -cE '^(While the part that the program timed ran|While the GPU was busy, because|Over whole tests, including)' "$TMPDIR/shown")" 3
    is "JSON has it for each test" \
        "$(ks show first --json | jq -c '.tests | map(select(.variant == "v5" and .context == 16384))[0].activity | [.window, .throttle, .joules_from, .neighbours]')" \
        '["timed",["power"],"accumulator",0]'
    is "the window of a short test and of a bare kernel" \
        "$(ks show first --json | jq -r '.tests | map(select(.context == 8192 and .repetition == 1)) | map("\(.variant) \(.activity.window)") | join(", ")')" \
        "v5 timed, v5_short test, v5_bench busy"
}

exported() {
    prepare
    is "an export has every column" \
        "$(ks export first --format json | jq -r '.[0] | [.sclk_mhz, .joules, .sclk_p5_mhz, .mclk_mhz, .power_w, .temp_c, .throttled_s, .throttle, .joules_from, .neighbours, .activity_window] | map(. != null) | all')" true
    is "no column has numbers of different parts of tests" \
        "$(ks export first --format json | jq -r 'map(to_entries[] as {$key, $value} | select($value != null and ($key | test("^(sclk|mclk|power|temp|throttled|joules)_?.*") and (. | IN("throttle", "joules_from") | not))) | "\($key | sub("^.*_(?<p>busy|test|untold)$"; "\(.p)") | if IN("busy", "test", "untold") then . else "timed" end) \(.activity_window)") | unique | join(", ")')" \
        "busy busy, test test, timed timed"
    is "a kernel has no joules per token, however its energy was measured" \
        "$(ks export first --format json | jq -r 'map(.joules_per_token) | unique | tostring')" "[null]"
    is "what read tokens has them, of the part that was timed" \
        "$(ks export tokens --format json | jq -r 'map(select(.joules_per_token) | .variant, (.joules_per_token * .context_len / .joules * 1e6 | round)) | unique | tostring')" '[1000000,"v5"]'
    is "samples for other programs name their part" \
        "$(ks export first --format openmetrics | grep -oE '^kernsweep_(joules|sclk_mhz)\{.*part="[a-z]+' | sed 's/{.*part="/ /' | sort -u | paste -sd ,)" \
        "kernsweep_joules busy,kernsweep_joules test,kernsweep_joules timed,kernsweep_sclk_mhz busy,kernsweep_sclk_mhz test,kernsweep_sclk_mhz timed"
}

compared() {
    prepare
    is "joules compare like any metric" \
        "$(ks compare first second --metric joules --json | jq -r '.cells | map("\(.verdict) \(.ratio * 100 | round)") | sort | join(", ")')" \
        "regressed 130, unchanged 100, unchanged 100, unchanged 100, unchanged 100, unchanged 100"
    is "joules per token do" \
        "$(ks compare tokens second_tokens --metric joules_per_token --json | jq -r '.cells | map(select(.variant == "v5" and .context == 16384))[0].verdict')" regressed
    exits "those of a kernel are no metric" 2 ks compare first second --metric joules_per_token
    is "the clock does, and more of it is better" \
        "$(ks compare first second --metric sclk_mhz --json | jq -r '.cells | map(select(.metric == "sclk_mhz")) | map(.verdict) | unique | join(" ")')" unchanged
    ks history --variant v5 --context 16384 --metric joules >"$TMPDIR/history"
    is "a history shows them" "$(grep -cE '(2349|3054)\.[0-9]+ +(-|[-+]?[0-9.]+ %) +2 ' "$TMPDIR/history")" 4
}

reported() {
    prepare
    ks report second --against first -o "$TMPDIR/report.md" >/dev/null
    ks report second --against first --lang es -o "$TMPDIR/informe.md" >/dev/null
    like "the report lists what the GPU did" "$(cat "$TMPDIR/report.md")" '## What the GPU did'
    like "it names throttled cells" "$(cat "$TMPDIR/report.md")" '`v5` at 16384: throttled in 2 of 2 repetitions, for up to 3\.[0-9]+ s \(reason: power\)'
    like "it names cells that had neighbours" "$(cat "$TMPDIR/report.md")" '`v5` at 16384: up to 2 other processes'
    like "in Spanish, too" "$(cat "$TMPDIR/informe.md")" '## Actividad de la GPU'
    like "with its sentences" "$(cat "$TMPDIR/informe.md")" 'limitada en 2 de 2 repeticiones, durante hasta 3'
    is "kernels have no joules per token" "$(grep -c 'J/token' "$TMPDIR/report.md")" 0
}

scenario "a throttled test in show" shown
scenario "the export of what the GPU did" exported
scenario "a comparison of energy and clocks" compared
scenario "a report of what the GPU did" reported
done_testing
