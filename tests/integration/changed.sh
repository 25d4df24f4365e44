#!/usr/bin/env bash
# Runs that measure what changed: what is measured and what is carried when nothing changed, when code, flags, headers, data,
# arguments or the environment did, and what cannot be known to be unchanged; what is carried counts as nothing.
# timeout: 600
# shellcheck disable=SC2016 # jq expands these
. tests/lib.sh
. tests/store.sh

NIGHT=0

# tree NAME: sources, plan and store of a scenario's own.
tree() {
    dir=$TMPDIR/$1 DB=$TMPDIR/$1/results.db NIGHT=0
    plan=$dir/plan.json
    mkdir -p "$dir/src"
    echo 1 >"$dir/data"
    cat >"$dir/src/main.c" <<'END'
#include "scale.h"
#include <stdio.h>
#include <unistd.h>
#define DIR "IT"
double helper(double x);
int main(int argc, char **argv)
{
    printf("Prompt tokens: %s\n[PERF_TIMING] {\"prefill_s\": %.3f}\n", argv[1], helper(KERNEL) * SCALE);
    while (access(DIR "/wait", F_OK) == 0 && fclose(fopen(DIR "/waits", "w")) == 0)
        usleep(10000);
    return argc > 9;
}
END
    sed -i "s|\"IT\"|\"$dir\"|" "$dir/src/main.c"
    echo 'double helper(double x) { return x + 1; }' >"$dir/src/helper.c"
    echo '#define SCALE 1' >"$dir/src/scale.h"
    cat >"$dir/src/script.sh" <<'END'
#!/bin/sh
echo "Prompt tokens: $1"
echo '[PERF_TIMING] {"prefill_s": 2}'
END
    chmod +x "$dir/src/script.sh"
    write_plan '["-O1"]'
}

# variant NAME KERNEL FLAGS [ARGUMENT]
variant() {
    jq -n --arg name "$1" --arg kernel "$2" --argjson flags "$3" --arg more "${4:-}" '{name: $name,
        build: [(["gcc", "-DKERNEL=\($kernel)"] + $flags + ["-o", "{build}/prog", "{src}/main.c", "{src}/helper.c"])],
        run: (["{build}/prog", "{context}"] + if $more == "" then [] else [$more] end)}'
}

# write_plan FLAGS-OF-A [FILTER]: four variants of four contexts; d reads a file; and a script.
write_plan() {
    jq -n --arg work "$TMPDIR/work" --arg src "$dir/src" --argjson a "$(variant a 1 "$1")" \
        --argjson b "$(variant b 2 '[]')" --argjson c "$(variant c 3 '[]')" --argjson d "$(variant d 4 '[]' "--data=$dir/data")" '{
        schema: "kernsweep.plan/1", clock: "simulated", ticket: "changed", node: "local", workdir: $work, baseline: "main",
        source: {dir: $src}, contexts: [16, 32, 64], timeouts: {default: 20}, repetitions: 2, changed: {nights: 7},
        variants: [$a, $b, $c, $d, {name: "script", run: ["sh", "-c",
            "echo \"Prompt tokens: $0\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 2}\"", "{context}"]}]}' | jq "${2:-.}" >"$plan"
}

# night [OPTION...]: the next night, with --changed.
night() {
    NIGHT=$((NIGHT + 1))
    try ks run "$plan" --changed --date "$(printf '2026-03-%02d' "$NIGHT")" --artifacts "$dir/artifacts" "$@"
}

summary() {
    cat "$dir/artifacts/$(printf '2026-03-%02d' "$NIGHT")"/*/summary.json
}

# measured [FILTER]: the cells that the last night measured, one a line.
measured() {
    summary | jq -r "[.tests[] | \"\\(.variant) \\(.context_len)\"] | unique | .[]" | grep -E "${1:-.}" || true
}

count() {
    measured "${1:-.}" | wc -l
}

# settled NAME: a tree whose cells are known: the baseline, and a second night of the same.
settled() {
    tree "$1"
    [ -z "${2:-}" ] || write_plan '["-O1"]' "$2"
    night
    ks baseline set main latest >/dev/null 2>&1
    night
}

nothing() {
    settled nothing
    is "measures everything on the first nights" "$(count)" 15
    night
    is "measures six controls, and the script" "$(count '^[a-d] ') $(count script)" "6 3"
    is "spreads the controls over variants and contexts" \
        "$(measured '^[a-d] ' | cut -d ' ' -f 1 | sort -u | wc -l) $(measured '^[a-d] ' | cut -d ' ' -f 2 | sort -u | wc -l)" "4 3"
    is "is COMPLETE, and counts what it measured" "$(summary | jq -c '[.status, .counts.total, .counts.skipped]')" '["COMPLETE",18,0]'
    is "says when the others were measured" \
        "$(summary | jq -c '[.cells[] | select(.carried) | .carried] | [length, unique]')" '[6,["2026-03-02"]]'
    is "says why the script is measured" "$(summary | jq -r '.cells[] | select(.variant == "script") | .changing' | sort -u)" \
        "it is not built by the plan"
    like "lists them under its table" "$OUT" 'carried, measured 2026-03-02: .*[a-d] (16|32|64)'
    is "finds nothing missing, new or broken" "$(ks compare latest --baseline main --json 2>/dev/null |
        jq -c '[.cells[]?.verdict] | unique')" '["unchanged"]'
    is "gives carried cells to who asks for JSON" "$(ks compare latest --baseline main --json 2>/dev/null | jq '.carried | length')" 6
    first=$(sql "SELECT run_id FROM run ORDER BY id LIMIT 1")
    is "has their last values as a base" "$(ks compare latest "$first" --json 2>/dev/null |
        jq -c '[.cells[]?.verdict] | [length, unique]')" '[15,["unchanged"]]'
    like "has them in the report" "$(ks report latest 2>/dev/null)" 'arried.*2026-03-02'
    is "stores no test of what is carried" "$(sql "SELECT count(*) FROM fingerprint f WHERE f.left_out IS NOT NULL AND EXISTS
        (SELECT 1 FROM test t JOIN series c ON c.id = t.series_id WHERE t.run_id = f.run_id AND c.variant = f.variant
        AND c.context_len = f.context_len)")" 0
}

# changes WHAT CELLS COMMAND...: after the command, the cells that match are measured, of the others six controls.
changes() {
    local cells=$1
    shift
    "$@"
    night
    is "measures all of it" "$(count "$cells")" "$(for c in 16 32 64; do printf 'a %s\nb %s\nc %s\nd %s\n' $c $c $c $c; done | grep -cE "$cells")"
    is "and six controls" "$(measured '^[a-d] ' | grep -cvE "$cells")" "${EXPECT:-6}"
}

one_variant() {
    settled one
    changes '^a ' write_plan '["-DKERNEL=1.01", "-UKERNEL", "-DKERNEL=1.01"]'
}

# Of the time of a night: what changed costs its share, and the rotation a seventh, which is the controls.
share() {
    local n eight='.repetitions = 1 | .contexts = [range(1; 9) * 16] | .variants = [range(1; 9) as $n | .variants[0]
        | .name = "v\($n)" | .build[0][1] = "-DKERNEL=\($n)"]'
    settled share "$eight"
    is "measures everything on the first nights" "$(count)" 64
    for ((n = 0; n < 7; n++)); do
        night
        measured
    done >"$dir/seen"
    is "measures at most 0.15 of it while nothing changes" "$(($(wc -l <"$dir/seen") * 100 <= 64 * 7 * 15))" 1
    is "and each cell once" "$(sort -u "$dir/seen" | wc -l)" 64
    write_plan '["-O1"]' "$eight | .variants[2].build[0][1] = \"-DKERNEL=3.03\""
    night
    is "measures at most 0.25 of it where one of eight variants changed" "$(count '^v3 ') $(($(count) * 100 <= 64 * 25))" "8 1"
}

flags_only() {
    settled flags
    changes '^a ' write_plan '["-O0"]'
}

header_only() {
    settled header
    EXPECT=0 changes '^[a-d] ' sed -i 's/SCALE 1/SCALE 1.001/' "$dir/src/scale.h"
}

other_file() {
    settled helper
    EXPECT=0 changes '^[a-d] ' sed -i 's/x + 1/x + 1.001/' "$dir/src/helper.c"
}

comment_only() {
    settled comment
    changes none sed -i 's/^double/\/* a comment *\/ double/' "$dir/src/helper.c"
}

data_file() {
    settled data
    changes '^d ' sh -c "echo 2 >'$dir/data'"
}

arguments() {
    settled arguments
    changes '^b ' write_plan '["-O1"]' '.variants[1].run += ["more"]'
}

environment() {
    settled environment
    changes '^c ' write_plan '["-O1"]' '.variants[2].env = {OMP_NUM_THREADS: "2"}'
}

everything() {
    settled everything
    EXPECT=0 changes '^[a-d] ' write_plan '["-O1"]' '.env = {OMP_NUM_THREADS: "2"}'
}

stripped() {
    settled stripped
    changes none write_plan '["-O1", "-s"]'
}

build_ids() {
    settled ids '.variants[0].build[0] += ["-Wl,--build-id=uuid"]'
    night --fresh
    is "measures six controls" "$(count '^[a-d] ')" 6
}

renamed() {
    settled renamed
    write_plan '["-O1"]' '.variants[0].name = "e"'
    night
    is "is measured under its new name" "$(count '^e ')" 3
    is "carries nothing under the old name" "$(summary | jq '[.cells[] | select(.variant == "a")] | length')" 0
}

# The helper is another function in another file, with the same instructions: what a build contains without its symbols tells.
kernels() {
    settled "$1"
    "$1"
    night
    is "$2" "$(count '^[a-d] ')" "$3"
}

kernel_renamed() {
    sed -i 's/helper(/kernel(/g' "$dir/src/main.c" "$dir/src/helper.c"
}

kernel_moved() {
    mv "$dir/src/helper.c" "$dir/src/scale.c"
    sed -i 's/helper[.]c/scale.c/' "$plan"
}

# Programs of which it cannot be known what they run: each replaces variant a.
never() {
    tree "never-$1"
    write_plan '["-O1"]' "$2"
    night
    is "has no fingerprint ($1)" "$(summary | jq -c '[.cells[] | select(.variant == "a") | .fingerprint]')" "[null,null,null]"
    like "and says why ($1)" "$(summary | jq -r '.cells[] | select(.variant == "a") | .changing')" "$3"
}


never_known() {
    never wrapper '.variants[0].run = ["env"] + .variants[0].run' 'not a file of its build'
    never script '.variants[0].build = [["cp", "{src}/script.sh", "{build}/prog"]]' 'not a compiled one'
    never starts '.variants[0].build[0] += ["-Wl,-u,system"]' 'starts other programs'
    never sources '.variants[0].run += ["{src}/helper.c"]' 'code identity is unknown'
    never static '.variants[0].build[0] += ["-static"]' 'linked statically|starts other programs|loads libraries'
}

# Cells that are open are measured: a regression, until it is accepted or gone.
open_cells() {
    settled open
    sed -i 's/helper(KERNEL)/(KERNEL == 2 ? 5 : helper(KERNEL))/' "$dir/src/main.c"
    night
    like "finds the regression" "$OUT" 'regressed'
    night
    night
    is "measures the open cells, though nothing changed any more" "$(count '^b ')" 3
    is "and six controls" "$(count '^[acd] ')" 6
}

# starts_never: `run --changed` is killed while it waits for the node's answer.
starts_never() {
    printf '#!/bin/sh\necho $$ >%s/asked\nexec sleep 60\n' "$dir" >"$dir/executor"
    chmod +x "$dir/executor"
    KERNSWEEP_EXECUTOR=$dir/executor "$KERNSWEEP" run "$plan" --changed --budget 1h --date 2026-03-03 \
        --artifacts "$dir/artifacts" --db "$DB" >"$dir/out" 2>&1 &
    until_true 20 test -s "$dir/asked"
    kill -KILL $! "$(cat "$dir/asked")"
    wait $! 2>/dev/null
    NIGHT=3
}

begun_again() {
    settled again
    starts_never
    exits "attach begins the run" 0 ks attach latest
    is "as it was asked for: it measures six controls" "$(count '^[a-d] ')" 6
    like "and keeps the budget" "$(jq -c .budget_s "$dir"/artifacts/2026-03-03/*/job.json)" '^3600(.0)?$'
}

# The executor is killed in the second test: the run that goes on has the controls that it had.
resumed() {
    settled resumed
    touch "$dir/wait"
    "$KERNSWEEP" run "$plan" --changed --date 2026-03-03 --artifacts "$dir/artifacts" --db "$DB" >"$dir/out" 2>&1 &
    until_true 20 test -e "$dir/waits"
    kill -KILL "$("$KERNSWEEP_EXECUTOR" status --workdir "$TMPDIR/work" | jq '.[] | select(.state == "running") | .pid')"
    rm "$dir/wait"
    wait $!
    NIGHT=3
    like "an executor goes on" "$(cat "$dir/out")" 'resuming the run where it stopped'
    is "measures six controls" "$(count '^[a-d] ')" 6
}

rotation() {
    local n
    settled rotation
    : >"$dir/seen"
    for ((n = 0; n < 3; n++)); do
        night
        measured >>"$dir/seen"
    done
    is "measures every cell within three nights" "$(sort -u "$dir/seen" | wc -l)" 15
    is "carries some of them" "$(summary | jq '[.cells[] | select(.carried)] | length > 0')" true
}

each_night() {
    settled each '.changed.nights = 1'
    night
    is "measures everything" "$(count)" 15
}

# A night that is cut short, or fails, makes nothing unchanged.
failing() {
    settled failing
    write_plan '["-O1"]' '.variants[2].run = ["{build}/absent"]'
    night
    write_plan '["-O1"]'
    night
    is "is measured once it works again" "$(count '^c ')" 3
    night
    is "is carried after that, since its code was measured on three nights" "$(($(count '^c ') < 3))" 1
}

nightly() {
    settled nightly
    try ks nightly "$plan" --artifacts "$dir/artifacts" --reports "$dir/nights"
    exited "exits 0" 0
    is "carries by the key of the plan" "$(sql "SELECT count(*) FROM fingerprint WHERE left_out = 'unchanged'")" 6
    like "says so in its report" "$(cat "$dir"/nights/*/*/report.md)" 'arried'
    like "and in its headline" "$(cat "$dir"/nights/*/*/summary.json | jq -r .headline)" ' 9 unchanged, 6 carried, 0 inconclusive$'
    like "which the index has" "$(cat "$dir"/nights/index.md)" ', 6 carried'
    unlike "calls nothing missing or new" "$(cat "$dir"/nights/*/*/summary.json | jq -r .headline)" '[1-9][0-9]* (missing|new|broken)'
}

# lasting SECONDS: the store's last tests took so long.
lasting() {
    sql "UPDATE test SET wall_s = $1"
}

# Of twelve cells, all of which changed, a budget measures as many as fit by what tests took before.
budget() {
    settled budget
    night --budget 60s
    like "leaves out what is carried anyway" "$ERR" 'budget: tests of [01] s are expected within 60 s; 0 cells are left out'
    sed -i 's/SCALE 1/SCALE 1.001/' "$dir/src/scale.h"
    lasting 5
    night --budget 60s
    is "measures six cells of two tests of 5 s, those that were not measured for longest" "$(count)" 6
    like "says what that takes" "$ERR" 'budget: tests of 60 s are expected within 60 s; 9 cells are left out'
    is "says so in its record" "$(summary | jq -c '[.cells[] | select(.left_out == "budget") | .carried] | [length, unique]')" \
        '[9,["2026-03-03"]]'
    like "under its table" "$OUT" 'left out by the budget, measured 2026-03-03: '
    like "in its report" "$(ks report latest 2>/dev/null)" 'left out by the budget, measured 2026-03-03: '
    is "and in JSON" "$(ks show latest --json 2>/dev/null | jq -c '[.carried[].why] | [length, unique]')" '[9,["budget"]]'
    is "is COMPLETE" "$(summary | jq -r .status)" COMPLETE
    measured >"$dir/first"
    night --budget 60s
    measured >"$dir/second"
    is "measures the others first the next time" "$(sort "$dir/first" "$dir/second" | uniq -d | wc -l)" 0
    is "refuses a budget that is none" "$(ks run "$plan" --budget soon 2>&1; echo $?)" \
        "kernsweep: --budget: expected a time of 1s to 168h, such as 90s, 20m or 1.5h, found \"soon\"
2"
}

new_cells() {
    settled new-cells
    lasting 5
    write_plan '["-O1"]' '.contexts += [128]'
    night --budget 20s
    is "measures cells of which it does not know how long they take" "$(count ' 128$')" 5
    like "says how many" "$ERR" 'within 20 s, and 5 cells of unknown duration; '
    is "and six controls in any case" "$(count '^[a-d] (16|32|64)$')" 6
}

smoke() {
    settled smoke '.smoke = [{variant: "a"}, {variant: "b", context: 32}]'
    sed -i 's/SCALE 1/SCALE 1.001/' "$dir/src/scale.h"
    lasting 5
    night --budget 10s
    is "measures the tier within any budget" "$(measured | tr '\n' ' ')" "a 16 a 32 a 64 b 32 "
    night --tier smoke
    is "or nothing else" "$(measured | tr '\n' ' ')" "a 16 a 32 a 64 b 32 "
    write_plan '["-O1"]'
    night --tier smoke
    exited "a plan without one is refused" 2
    like "and told of" "$ERR" 'has no "smoke", a list of conditions such as'
}

scenario "a run in which nothing changed" nothing
scenario "a budget" budget
scenario "a budget, and cells that are new" new_cells
scenario "the tier that every budget measures" smoke
scenario "one of several variants changed" one_variant
scenario "eight variants of eight contexts" share
scenario "only flags changed" flags_only
scenario "only a header changed" header_only
scenario "only a helper in another file changed" other_file
scenario "only a comment changed" comment_only
scenario "a data file that the plan names changed" data_file
scenario "arguments changed" arguments
scenario "the environment of a variant changed" environment
scenario "everything changed" everything
scenario "a program is stripped" stripped
scenario "random build ids" build_ids
scenario "a renamed variant" renamed
scenario "a renamed kernel" kernels kernel_renamed "is the same: six controls are measured" 6
scenario "a kernel in a file of another name" kernels kernel_moved "is the same: six controls are measured" 6
scenario "what cannot be known to be unchanged" never_known
scenario "open cells" open_cells
scenario "the rotation" rotation
scenario "a run that was killed before the node had it" begun_again
scenario "a run whose executor was killed" resumed
scenario "a plan whose cells are to be measured in every run" each_night
scenario "a variant that failed for a night" failing
scenario "nightly" nightly
done_testing
