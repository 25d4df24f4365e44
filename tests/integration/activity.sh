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
    recorded second 'if .variant == "v5" and .context_len == 16384 then .activity.joules *= 1.3 | .activity.neighbours = 2 else . end'
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
        "$(ks export first --format json | jq -r '.[0] | [.sclk_mhz, .joules, .joules_per_token, .sclk_p5_mhz, .mclk_mhz, .power_w, .temp_c, .throttled_s, .throttle, .joules_from, .neighbours, .activity_window] | map(. != null) | all')" true
}

compared() {
    prepare
    is "joules compare like any metric" \
        "$(ks compare first second --metric joules --json | jq -r '.cells | map("\(.verdict) \(.ratio * 100 | round)") | sort | join(", ")')" \
        "regressed 130, unchanged 100, unchanged 100, unchanged 100, unchanged 100, unchanged 100"
    is "joules per token do" \
        "$(ks compare first second --metric joules_per_token --json | jq -r '.cells | map(select(.variant == "v5" and .context == 16384))[0].verdict')" regressed
    is "the clock does, and more of it is better" \
        "$(ks compare first second --metric sclk_mhz --json | jq -r '.cells | map(select(.metric == "sclk_mhz")) | map(.verdict) | unique | join(" ")')" unchanged
    ks history --variant v5 --context 16384 --metric joules >"$TMPDIR/history"
    is "a history shows them" "$(grep -cE '(2349|3054)\.[0-9]+ +2 ' "$TMPDIR/history")" 2
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
