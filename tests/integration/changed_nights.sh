#!/usr/bin/env bash
# Planted nights, measured whole and with --changed: both find the same. A plan of 8 variants of 8 contexts, whose times are simulated, has
# a history of equal nights; each planted night begins with that, and changes no variant or one, which is mostly slower by 5 to 10 %; in some
# the node drifts. PLANTED=40 makes so many, of 5 repetitions and after 9 nights, which takes a quarter of an hour; SEED has others.
# unsanitized: hundreds of starts of programs; integration/changed runs the same code
# timeout: 1800
. tests/lib.sh
. tests/store.sh

NIGHTS=${PLANTED:-1}
RANDOM=${SEED:-1}
dir=$TMPDIR plan=$TMPDIR/plan.json

# source NAME FACTOR FROM REVISION: the code of a variant, slower by FACTOR from the context FROM on
source_of() {
    printf '#define FACTOR %s\n#define FROM %s\n#define REVISION %s\n' "$2" "$3" "$4" >"$dir/src/$1.h"
}

# Times scatter by 0.2 % between nights and 0.4 % within one; the file "tonight" is the node's own doing, which no program is told of.
plant() {
    local n
    mkdir -p "$dir/src"
    cat >"$dir/src/main.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
static double scatter(unsigned long a, unsigned long b)
{
    double sum = 0;
    unsigned long x = a * 0x9e3779b97f4a7c15 + b * 0xbf58476d1ce4e5b9 + 1;
    for (int i = 0; i < 12; i++) {
        x ^= x >> 31, x *= 0x94d049bb133111eb, x ^= x >> 29;
        sum += (double)(x >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}
int main(int argc, char **argv)
{
    unsigned long night = 0, context = strtoul(argv[1], NULL, 10), cell = strtoul(argv[2] + 1, NULL, 10) << 32 | context;
    double drift = 1;
    FILE *f = fopen(TONIGHT, "r");
    if (!f || fscanf(f, "%lu %lf", &night, &drift) != 2)
        return 1;
    double s = 0.1 * (double)(context + 64) / 64 * drift * (context >= FROM ? FACTOR : 1) * (1 + 0.002 * scatter(night, cell)) *
               (1 + 0.004 * scatter(night << 8 | strtoul(getenv("KERNSWEEP_REPETITION"), NULL, 10), cell));
    printf("Prompt tokens: %lu\n[PERF_TIMING] {\"prefill_s\": %.6f}\n", context, s);
    return argc > 9 ? REVISION : 0;
}
END
    for n in 1 2 3 4 5 6 7 8; do source_of "v$n" 1 0 0; done
    jq -n --arg work "$dir/work" --arg src "$dir/src" --arg tonight "-DTONIGHT=\"$dir/tonight\"" --argjson repetitions $((NIGHTS < 20 ? 3 : 5)) '{
        schema: "kernsweep.plan/1", clock: "simulated", ticket: "planted", node: "local", workdir: $work, baseline: "main", source: {dir: $src},
        contexts: [range(1; 9) * 16], timeouts: {default: 20}, repetitions: $repetitions, threshold: {regression: 0.03},
        variants: [range(1; 9) | {name: "v\(.)", run: ["{build}/prog", "{context}", "{variant}"],
            build: [["gcc", "-O1", $tonight, "-include", "{src}/v\(.).h", "-o", "{build}/prog", "{src}/main.c"]]}]}' >"$plan"
}

# measure NAME [OPTION...]: earlier runs become a day older; tonight's run in the store of that name, what it finds, and the simulated
# seconds that it took
measure() {
    DB=$dir/$1.db
    [ ! -e "$DB" ] || sql "UPDATE run SET date = date(date, '-1 day'), started_at = started_at - 86400000,
        ended_at = ended_at - 86400000, ordered_at = ordered_at - 86400000"
    rm -rf "$dir/bundles"
    ks run "$plan" "${@:2}" --artifacts "$dir/bundles" >"$dir/out" 2>&1
    [ "$NIGHT" != 1 ] || ks baseline set main latest >>"$dir/out" 2>&1
    ks compare latest --baseline main --json 2>>"$dir/out" | jq -r --arg n "$NIGHT" '.cells[]
        | select(.verdict == "regressed" or .verdict == "suspected") | "\($n) \(.variant) \(.context) \(.verdict) \(.ratio)"' >>"$dir/$1.found"
    jq '[.tests[].prefill_s] | add' "$dir"/bundles/*/*/summary.json >"$dir/$1.s"
}

both() {
    measure whole
    measure changed --changed
}

# change: one variant, or none; writes down which cells are slow: "NIGHT VARIANT CONTEXT FACTOR".
change() {
    local n context from=$((RANDOM % 2 * 64)) v=v$((RANDOM % 8 + 1)) roll=$((RANDOM % 5)) factor
    factor=1.$(printf '%03d' $((50 + RANDOM % 51)))
    for n in 1 2 3 4 5 6 7 8; do source_of "v$n" 1 0 0; done
    kind=none
    [ "$NIGHTS" -ge 20 ] || roll=2
    [ "$roll" != 0 ] || return
    kind=one
    [ "$roll" != 1 ] || factor=1
    source_of "$v" "$factor" "$from" "$NIGHT"
    for ((context = 16; context <= 128; context += 16)); do
        [ "$factor" = 1 ] || [ "$context" -lt "$from" ] || echo "$NIGHT $v $context $factor"
    done >>"$dir/truth"
}

# cells FILE: which cells it has on which nights, and how sure it is of them
cells() {
    cut -d ' ' -f "1-${2:-3}" "$1" | sort
}

nights() {
    local n drift kind
    plant
    for ((NIGHT = 1; NIGHT <= (NIGHTS < 20 ? 2 : 9); NIGHT++)); do
        echo "$NIGHT 1" >"$dir/tonight"
        both
    done
    for DB in whole changed; do sqlite3 "$dir/$DB.db" ".backup $dir/$DB.past"; done
    for ((n = 0; n < NIGHTS; n++, NIGHT++)); do
        change
        drift=1
        [ $((RANDOM % 4)) != 0 ] || drift=1.0$((10 + RANDOM % 21))
        echo "$NIGHT $drift" >"$dir/tonight"
        for DB in whole changed; do sqlite3 "$dir/$DB.past" ".backup $dir/$DB.db"; done
        both
        echo "$NIGHT $kind $drift $(cat "$dir/whole.s") $(cat "$dir/changed.s")" >>"$dir/time"
    done
    awk '{ n[$2]++; w[$2] += $4; c[$2] += $5 } END { for (k in n) printf "# %s changed: %d nights, %.3f of the time\n", k, n[k], c[k] / w[k] }' "$dir/time"
    for n in whole changed; do
        printf '# %s: %d of %d slow cells found, %d others\n' "$n" "$(comm -12 <(cells "$dir/truth") <(cells "$dir/$n.found") | wc -l)" \
            "$(wc -l <"$dir/truth")" "$(comm -13 <(cells "$dir/truth") <(cells "$dir/$n.found") | wc -l)"
    done
    is "both find the same cells, as surely" "$(cells "$dir/changed.found" 4)" "$(cells "$dir/whole.found" 4)"
    is "all that were planted" "$(comm -23 <(cells "$dir/truth") <(cells "$dir/changed.found"))" ""
    is "as large" "$(join -j 1 <(sed 's/ /_/; s/ /_/' "$dir/whole.found" | sort) <(sed 's/ /_/; s/ /_/' "$dir/changed.found" | sort) |
        awk '{ d = $3 / $5 - 1; if (d > 0.01 || d < -0.01) print }')" ""
    ok "a night with one changed variant takes at most 0.25 of the time" "$(awk '$2 == "one" { w += $4; c += $5 }
        END { print !(c <= 0.25 * w) }' "$dir/time")"
}

scenario "planted nights" nights
done_testing
