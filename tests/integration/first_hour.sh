#!/usr/bin/env bash
# What somebody meets in the first hour: what commands say of one run each, of a build that failed, of what is not there or mistyped.
. tests/lib.sh
. tests/pipeline.sh

# small_plan FILTER FILE: two variants that print a time, changed by a jq filter
small_plan() {
    jq -n --arg workdir "$TMPDIR/work" '
        {schema: "kernsweep.plan/1", ticket: "small", node: "local", workdir: $workdir, contexts: [1, 2], repetitions: 2, clock: "simulated",
         timeouts: {default: 30}, variants: [["slow", 0.5], ["fast", 0.4]] | map({name: .[0], run: ["sh", "-c",
             "echo \"[PERF_TIMING] {\\\"prefill_s\\\": \(.[1])}\""]})} | '"$1" >"$2"
}

# small FILTER [OPTION...]
small() {
    small_plan "$1" "$TMPDIR/small.json"
    try ks_run "$TMPDIR/small.json" "${@:2}"
}

smoke() {
    small . --smoke
    exited "a smoke run exits 0" 0
    like "it says why there is no verdict" "$OUT" '^one run each: no verdict$'
    unlike "it compares no variants" "$(grep -v "^bundle " <<<"$OUT")" 'vs [a-z]|[0-9]x|faster|slower'
    unlike "it writes no report" "$OUT" '^report '
    small '.variants[0].run[2] += " #"'
    like "a run compares them" "$OUT" 'vs [a-z]'
    like "and writes one" "$OUT" '^report '
}

build_failed() {
    small '.variants[1].build = [["sh", "-c", "echo no such header >&2; exit 3"]]'
    exited "a failed build exits 1" 1
    like "the table has its status" "$OUT" '^ +1 +fast .* BUILD_FAILED$'
    unlike "and not only that its tests were skipped" "$OUT" 'SKIPPED'
    like "a line says which and why" "$OUT" '^build failed: variant fast: build command 1: exit code 3: no such header \(log: /.*/fast/build\.log\)$'
    is "the log is there" "$(sed -n 's/.*(log: \(.*\))$/\1/p' <<<"$OUT" | xargs grep -c 'no such header')" 2
    like "it is counted" "$ERR" '^run COMPLETE  4 ok, 0 failed, 4 skipped, 1 build failed in '
}

not_found() {
    try ks bench --repeat 5 'no-such-command-anywhere x' true
    exited "bench of a command that is not there exits 2" 2
    is "it stops at the first test" "$(grep -c '^\[' <<<"$ERR")" 1
    like "with one line" "$ERR" '^kernsweep: c1: command not found on local \(cannot start no-such-command-anywhere: No such file or directory\)$'
    is "and nothing is left running" "$("$KERNSWEEP" status --json 2>/dev/null | jq '[.. | objects | select(.state? == "running")] | length')" 0
}

history_of_nothing_positive() {
    # shellcheck disable=SC2034 # ks uses it
    local DB=$TMPDIR/zeros.db
    for _ in 1 2 3; do
        ks bench --store --ticket zeros --artifacts "$TMPDIR/zeros" --workdir "$TMPDIR/work" --repeat 2 --shell \
            --pattern 'errors (?<errors>[0-9]+)' 'echo errors 0' 'echo errors 1' >/dev/null 2>&1
    done
    exits "exits 0" 0 ks history --variant c1 --context 1 --ticket zeros
    is "three nights of 0 are not single ones" "$(grep -c '(not positive: no changes are sought with it)$' <<<"$OUT")" 3
}

best_of_more() {
    small .
    is "of tokens per second the most is best" "$(ks best latest --metric tok_per_s | awk '$1 == 1 {print $2}' | xargs)" "fast slow"
    is "of seconds the least" "$(ks best latest --metric prefill_s | awk '$1 == 1 {print $2}' | xargs)" "fast slow"
}

completed() {
    small '.variants[0].name = "one"'
    small '.ticket = "other" | .variants[0].name = "two" | .contexts = [7]'
    is "what logs completes are the variants of that run" "$(ks complete variant latest | xargs)" "fast two"
    is "and its contexts" "$(ks complete context latest)" 7
    is "of any run" "$(ks complete variant "$(sql "SELECT r.run_id FROM run r JOIN variant v ON v.run_id = r.id WHERE v.name = 'one'")" | xargs)" "fast one"
    like "bash offers runs and tickets for notes" "$(scripts/completions "$KERNSWEEP" bash | sed -n '/^    note)/,/;;/p' | xargs)" 'names run .*names ticket '
    like "bash asks for them" "$(scripts/completions "$KERNSWEEP" bash)" '3\) words="\$\(_kernsweep_names variant "\$\{COMP_WORDS\[2\]\}"'
}

mistyped() {
    try "$KERNSWEEP" raport
    exited "an unknown command exits 2" 2
    like "it is guessed" "$ERR" 'unknown command "raport": did you mean "report"\?'
    try "$KERNSWEEP" xyzzy
    unlike "what is like nothing is not" "$ERR" 'did you mean'
    try "$KERNSWEEP" compare --formt csv
    like "so is an option" "$ERR" 'unknown option --formt: did you mean --format\?'
    is "help help is help" "$("$KERNSWEEP" help help)" "$("$KERNSWEEP" help)"
}

one_of_each() {
    small '.contexts = [1] | .repetitions = 1 | .variants |= .[:1]'
    like "one test is no tests" "$ERR" '^1 test$'
    small_plan '.contexts = [1] | .repetitions = 1 | .variants |= .[:1]' "$TMPDIR/one.json"
    like "nor to validate" "$("$KERNSWEEP" validate "$TMPDIR/one.json")" '1 variant x 1 context, 1 test on local'
    like "nor without a start" "$(ks_run "$TMPDIR/one.json" --dry-run)" '1 variant x 1 context, 1 test$'
}

quiet() {
    small '.variants[0].run[2] = "sleep 60" | .timeouts.default = 90' --detach
    try ks cancel latest --quiet
    exited "cancel exits 0" 0
    is "with --quiet it says nothing" "$OUT$ERR" ""
}

tickets() {
    local folder
    for folder in one two; do
        mkdir -p "$TMPDIR/$folder"
        printf '#!/bin/sh\necho time: 1.5 ms\n' >"$TMPDIR/$folder/bench"
        chmod +x "$TMPDIR/$folder/bench"
        (cd "$TMPDIR/$folder" && "$KERNSWEEP" init --json -- ./bench </dev/null) >"$TMPDIR/$folder.json" 2>"$TMPDIR/$folder.err"
    done
    is "programs of one name in two folders are two series" "$(jq -r .ticket "$TMPDIR/one.json" "$TMPDIR/two.json" | xargs)" "one-bench two-bench"
}

pipeline_setup
scenario "a smoke run" smoke
scenario "a build that fails" build_failed
scenario "a command that is not there" not_found
scenario "the history of values that are not positive" history_of_nothing_positive
scenario "the best of a metric of which more is better" best_of_more
scenario "completions of logs" completed
scenario "mistyped words" mistyped
scenario "one of each" one_of_each
scenario "quiet commands" quiet
scenario "tickets of init" tickets
done_testing
