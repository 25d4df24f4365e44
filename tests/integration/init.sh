#!/usr/bin/env bash
# The first hour: a plan made from a command line and its output, checked, tried and run; commands measured without a
# plan. Programs are scripts on this machine.
# shellcheck disable=SC2154,SC2016 # OUT, ERR and RC are those of try; scripts expand their own text
. tests/lib.sh
. tests/store.sh

export KERNSWEEP_DB=$TMPDIR/results.db
ks() {
    "$KERNSWEEP" "$@"
}

# program NAME TEXT: a script in the current folder.
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}

# in_folder COMMAND...: in a folder of its own with a program that prints a time and a rate.
in_folder() {
    (
        mkdir -p "$TMPDIR/here" && cd "$TMPDIR/here" || exit
        [ -e bench ] || program bench 'sleep 0.03; echo "set-up took 1 us"; echo "kernel average: 1.5 ms, $2.5 GB/s"'
        "$@"
    )
}

# plan_of FILE: the plan without its comments, as JSON.
plan_of() {
    sed 's,^ *//.*,,' "$1" | jq -c "${2:-.}"
}

from_a_command_line() {
    exits "exits 0" 0 in_folder ks init -- ./bench --n 4096
    like "says what it found" "$ERR" 'kernel_average +1.5 ms +\(less is better\)'
    like "and the rate" "$ERR" 'bandwidth +4096.5 GB/s +\(more is better\)'
    like "says what comes next" "$OUT" 'kernsweep validate kernsweep.jsonc'
    local file=$TMPDIR/here/kernsweep.jsonc
    is "the size is a placeholder, the program is found from anywhere" "$(plan_of "$file" '.variants[0].run')" \
        "[\"$TMPDIR/here/bench\",\"--n\",\"{context}\"]"
    is "its value is the context" "$(plan_of "$file" .contexts)" '[4096]'
    is "the time of the kernel decides" "$(plan_of "$file" '.metrics | map(select(.primary).name)')" '["kernel_average"]'
    like "comments say what to change" "$(cat "$file")" '// What is compared\. Copy the block'
    exits "validate accepts it" 0 ks validate "$file"
    like "and shows the command of the first test" "$OUT" "bench' '--n' '4096'"
    exits "a smoke run exits 0" 0 in_folder ks run kernsweep.jsonc --smoke
    like "it has one test" "$ERR" '\[1/1\] baseline ctx 4096 run 1  OK'
    passes "its bundle is kept" test -d "$TMPDIR"/here/artifacts_remote/*/here-bench
    passes "nothing is stored" test ! -e "$TMPDIR/results.db"
    is "and no run is known" "$(find "$TMPDIR/runs" -name '*.json' | wc -l)" 0
    exits "the run itself exits 0" 0 in_folder ks run kernsweep.jsonc --repeat 3
    like "its table has the metric" "$OUT" 'kernel_average'
    is "and it is stored" "$(ks runs --json | jq length)" 1
}

nothing_is_overwritten() {
    in_folder ks init -- ./bench 64 >/dev/null 2>&1
    cp "$TMPDIR/here/kernsweep.jsonc" "$TMPDIR/before"
    exits "a second init exits 2" 2 in_folder ks init -- ./bench 128
    like "says so" "$ERR" 'kernsweep.jsonc exists: choose another name with --output, or --force'
    passes "the file is as it was" cmp "$TMPDIR/before" "$TMPDIR/here/kernsweep.jsonc"
    exits "--force replaces it" 0 in_folder ks init --force -- ./bench 128
    is "by the new plan" "$(plan_of "$TMPDIR/here/kernsweep.jsonc" .contexts)" '[128]'
    exits "a node that is no name is refused" 2 in_folder ks init --yes --force --node 'mi300x a' -- ./bench --n 4096
    like "with what was expected" "$ERR" '--node: expected an ssh alias'
}

with_options() {
    printf '{"n": 1, "time_us": 7.5, "gbs": 100.5}\n' >"$TMPDIR/sample"
    exits "exits 0" 0 in_folder ks init -o kernsweep.yaml --node me@gpu --sample "$TMPDIR/sample" --primary gbs --contexts 1024,2048 \
        --build 'cc -O2 -o prog *.c' --run './prog --n 512'
    local file=$TMPDIR/here/kernsweep.yaml
    exits "validate accepts it" 0 ks validate "$file" --json
    is "as JSON too" "$(jq -c '[.valid, .errors]' <<<"$OUT")" '[true,[]]'
    like "the sources are sent" "$(cat "$file")" '^source: \{"dir": "\."\}$'
    like "the program is the build's" "$(cat "$file")" '^    run: \["\{build\}/prog", "--n", "\{context\}"\]$'
    like "the metric that was asked for decides" "$(cat "$file")" '"gbs", "unit": "GB/s", "better": "more", "primary": true'
    if [ -e "$(dirname "$KERNSWEEP")/../schemas/plan.schema.json" ]; then
        like "editors find the schema" "$(head -n 1 "$file")" '^# yaml-language-server: \$schema=/.*/plan.schema.json$'
    else
        skip "editors find the schema" "this build does not lie beside the schemas"
    fi
    exits "a metric that is not there is an error" 2 in_folder ks init -o x.yaml --sample "$TMPDIR/sample" --primary none -- ./bench
    like "which names it" "$ERR" '"none"'
    passes "and writes nothing" test ! -e "$TMPDIR/here/x.yaml"
    exits "without a command, and nobody to ask" 2 in_folder ks init -o x.yaml </dev/null
    like "it says how to give one" "$ERR" 'kernsweep init -- ./a.out'
}

# answered: on a terminal, with an answer per question: command, node, build, sizes, run it, which number.
answered() {
    printf '%s\n' './bench --n 64' '' '' '32,64' maybe y 9 2 |
        script -qec "'$KERNSWEEP' init -o asked.jsonc" /dev/null
}

on_a_terminal() {
    exits "exits 0" 0 in_folder answered
    like "it asks for the command" "$OUT" 'Command to measure'
    like "again after an answer that is none" "$OUT" 'Answer y or n'
    like "and after a number that is none" "$OUT" 'Answer with a number from 1 to 3'
    is "the sizes are the answer's" "$(plan_of "$TMPDIR/here/asked.jsonc" .contexts)" '[32,64]'
    is "and the second number decides" "$(plan_of "$TMPDIR/here/asked.jsonc" '.metrics | map(select(.primary).name)')" '["kernel_average"]'
}

elsewhere() {
    exits "a program that is not here is no error, as its node may have it" 0 in_folder ks init -o absent.yaml -- ./absent 64
    like "but is said to fail, and how" "$ERR" '^note: the command failed here \(exit code 127\): '
    mkdir -p "$TMPDIR/plans"
    exits "a plan in another folder" 0 in_folder ks init -o "$TMPDIR/plans/a.yaml" --build true -- ./bench 64
    like "names the sources by their path" "$(cat "$TMPDIR/plans/a.yaml")" "^source: \\{\"dir\": \"$TMPDIR/here\"\\}"
    exits "a command for a shell" 0 in_folder ks init -o "$TMPDIR/plans/b.jsonc" --run './bench x | tail -n 1'
    exits "finds its files" 0 ks run "$TMPDIR/plans/b.jsonc" --smoke --artifacts "$TMPDIR/artifacts"
    printf '{"schema": "kernsweep.plan/1", "ticket": "f", "node": "local", "contexts": [2, 1], "timeouts": {"default": 9}, "timings": "wall",
        "variants": [{"name": "a", "run": ["true"]}, {"name": "b", "run": ["false"]},]}' >"$TMPDIR/plans/f.json"
    exits "a smoke run in which a variant fails exits 1" 1 ks run "$TMPDIR/plans/f.json" --smoke --artifacts "$TMPDIR/artifacts"
    like "each variant was run once" "$ERR" '\[2/2\] b ctx 1 run 1  FAIL'
    exits "--smoke with --detach exits 2" 2 ks run "$TMPDIR/plans/f.json" --smoke --detach
}

# Copies of the sources and of what was made from them carry no times that make could go by; in which order they are
# copied is the file system's affair, so that there are pairs for both.
stale_program() {
    (
        mkdir -p "$TMPDIR/made" && cd "$TMPDIR/made" || exit
        printf '%s\n' 'zz: a.o z.o m.o n.o' '	(echo "#!/bin/sh"; cat a.o z.o m.o n.o) >zz; chmod +x zz' 'a.o: z.in' 'z.o: a.in' \
            'm.o: n.in' 'n.o: m.in' 'a.o z.o m.o n.o:' '	cp $< $@' >Makefile
        for part in a z m n; do echo 'echo "old took 9 ms"' >$part.in; done
        make -s zz
        for part in a z m n; do echo 'echo "new took 1 ms"' >$part.in; done
        ks init -o plan.yaml --yes --build make -- ./zz 77 >/dev/null 2>&1
    )
    exits "a smoke run exits 0" 0 ks run "$TMPDIR/made/plan.yaml" --smoke --artifacts "$TMPDIR/artifacts_made"
    is "what runs was made from these sources" "$(sort "$TMPDIR"/artifacts_made/*/*/*/ctx_77_run1/run.log | uniq -c | xargs)" "4 new took 1 ms"
}

# The build's commands run in a copy of the sources on the node, so that nothing is written beside them.
built_on_the_node() {
    (
        mkdir -p "$TMPDIR/src" && cd "$TMPDIR/src" || exit
        printf '#!/bin/sh\necho "took 2.5 us for $1"\n' >prog.in
        ks init -o plan.yaml --yes --build 'cp prog.in prog && chmod +x prog' -- ./prog 77 >/dev/null 2>&1
    )
    exits "a smoke run builds and runs it" 0 ks run "$TMPDIR/src/plan.yaml" --smoke --artifacts "$TMPDIR/artifacts"
    passes "nothing is built beside the sources" test ! -e "$TMPDIR/src/prog"
}

# with_mistakes: nine of them, of all kinds.
with_mistakes() {
    cat >"$TMPDIR/bad.yaml" <<'EOF'
schema: kernsweep.plan/1
ticket: a b
contexts: [16, 16]
timeouts: {default: 5}
warmup: "1"
variants:
  - {name: v, run: [a, "{contxt}", 3]}
  - {name: w, runn: [a]}
timings: {kind: regex, pattern: '(?<x[0-9]+)'}
EOF
    exits "exits 2" 2 ks validate "$TMPDIR/bad.yaml"
    is "every mistake is named with its line and column" "$(sed -n 's/^.*bad.yaml:\([0-9]*:[0-9]*\): .*/\1/p' <<<"$ERR" | xargs)" \
        "2:9 3:16 5:9 7:24 7:36 8:5 8:15 9:33"
    like "and they are counted" "$ERR" 'bad.yaml: 8 errors'
    like "with what was found" "$ERR" 'expected an integer, found a string, "1"'
    exits "run shows the first" 2 ks run "$TMPDIR/bad.yaml"
    one_line "in one line" "$ERR"
    exits "as JSON exits 2" 2 ks validate "$TMPDIR/bad.yaml" --json
    is "with lines, columns and paths" "$(jq -c '.errors[0] | [.line, .column, .path]' <<<"$OUT")" '[2,9,"$.ticket"]'
    printf '{"a": 1\n "b": 2}' >"$TMPDIR/bad.json"
    exits "what is no JSON exits 2" 2 ks validate "$TMPDIR/bad.json"
    like "and says what was found" "$ERR" "bad.json:2:2: not valid JSON: expected ',' or '}' after the value, found \"b\""
    exits "a file that is not there exits 2" 2 ks validate "$TMPDIR/none.json"
}

# A pattern is tried on a saved output.
with_a_sample() {
    printf 'setup 1 s\nn=5 rate: 12.5 GB/s\nn=5 rate: 13.5 GB/s\n' >"$TMPDIR/log"
    cat >"$TMPDIR/plan.yaml" <<'EOF'
schema: kernsweep.plan/1
ticket: t
contexts: [16]
timeouts: {default: 5}
variants: [{name: v, run: ["true"]}]
timings: {kind: regex, pattern: 'rate: (?<rate>[0-9.]+) GB'}
metrics: [{name: rate, unit: GB/s, better: more, primary: true}]
EOF
    exits "exits 0" 0 ks validate "$TMPDIR/plan.yaml" --sample "$TMPDIR/log"
    like "shows value, unit and line" "$OUT" 'rate +13.5 GB/s +line 3 +\(primary\)'
    echo nothing >"$TMPDIR/log"
    exits "a sample in which nothing is found exits 2" 2 ks validate "$TMPDIR/plan.yaml" --sample "$TMPDIR/log"
    like "and says why" "$OUT" 'rate +not found: no line matches the pattern'
    exits "--node asks the node" 0 ks validate "$TMPDIR/plan.yaml" --node
    like "which is reachable" "$OUT" 'reachable +local'
}

# bench_of OPTION...: in a folder of its own, in which it could leave something.
bench_of() {
    (
        export KERNSWEEP_DB=$TMPDIR/bench/results.db
        mkdir -p "$TMPDIR/bench" && cd "$TMPDIR/bench" || exit
        ks bench --repeat 6 'sleep 0.01' 'sleep 0.2' "$@"
    )
}

without_a_plan() {
    exits "exits 0" 0 bench_of
    like "the table has both commands" "$OUT" 'c1 .* reference +sleep 0.01'
    like "the second is slower" "$OUT" 'c2 .* 0\.[0-9]+x +slower .* sleep 0.2'
    like "they were measured alternately" "$ERR" '\[2/12\] c2'
    is "nothing is kept" "$(find "$TMPDIR/bench" "$TMPDIR" -maxdepth 1 -path '*/bench/*' -o -maxdepth 1 -name 'kernsweep.*' | wc -l)" 0
    exits "as JSON exits 0" 0 bench_of --json --name fast,slow
    is "with every value" "$(jq -c '[.metric, (.commands | map([.name, (.values | length), .verdict]))]' <<<"$OUT")" \
        '["wall_s",[["fast",6,null],["slow",6,"regressed"]]]'
    exits "as Markdown exits 0" 0 bench_of --markdown
    is "it is a table" "$(grep -c '^|' <<<"$OUT")" 4
}

# Each writes a line into its own file, so that their order and number can be told.
around_the_commands() {
    local at=$TMPDIR/around back=$PWD
    mkdir -p "$at" && cd "$at" || return
    exits "exits 0" 0 ks bench --repeat 2 -L 'n=1,2' --setup 'echo setup {n} >>log' --prepare 'echo prepare {n} | cat >>log' \
        --cleanup 'echo cleanup {n} >>log' --export-json out.json 'tee -a log-{n}' true
    is "what comes once and before each run, in the folder of the commands" "$(xargs <log)" \
        "setup 1 setup 2 setup {n} prepare 1 prepare 2 prepare {n} prepare 1 prepare 2 prepare {n} cleanup 1 cleanup 2 cleanup {n}"
    is "a command with a parameter is measured for each value" "$(jq -c '[.results[] | [.command, .parameters.n]]' out.json)" \
        '[["tee -a log-1","1"],["tee -a log-2","2"],["true",null]]'
    is "every run is told, as by hyperfine" \
        "$(jq -c '[.results[2] | (.times | length), .exit_codes, (.memory_usage_byte[0] > 1000), ([.mean, .stddev, .median, .user, .system, .min, .max] | map(type) | unique)]' out.json)" \
        '[2,[0,0],true,["number"]]'
    exits "import reads it" 0 ks import out.json --map hyperfine --date 2026-01-02 --ticket around
    exits "a failure before a run exits 1" 1 ks bench --repeat 1 --prepare 'exit 7' 'touch ran'
    like "it says why" "$ERR" 'c1: FAIL: prepare: exit code 7'
    passes "the command did not run" test ! -e ran
    exits "a failure of --setup exits 1" 1 ks bench --repeat 1 --setup 'exit 7' 'touch ran'
    passes "the command did not run either" test ! -e ran
    exits "a failure after the last run is only told" 0 ks bench --repeat 1 --cleanup 'exit 7' true
    like "it is told" "$ERR" 'the cleanup of c1 failed: exit code 7'
    exits "exit codes may be ignored" 0 ks bench --repeat 2 --ignore-failure --export-json out.json false true
    is "they are recorded" "$(jq -c '[.results[].exit_codes]' out.json)" '[[1,1],[0,0]]'
    exits "but not a signal" 1 ks bench --repeat 1 --ignore-failure --shell 'kill -9 $$'
    exits "a parameter that no command has exits 2" 2 ks bench -L 'z=1' true
    exits "a parameter without values exits 2" 2 ks bench -L z 'echo {z}'
    cd "$back" || return
}

as_often_as_needed() {
    exits "exits 0" 0 in_folder ks bench --until 100 --repeat 40 --json 'sleep 0.02'
    is "it stops when the median is known" "$(jq '.commands[0].values | length' <<<"$OUT")" 10
    exits "without, at the limit" 0 in_folder ks bench --until 0.02 --repeat 12 --json 'sleep 0.01'
    is "it stops there" "$(jq '.commands[0].values | length' <<<"$OUT")" 12
    is "the range has all" "$(jq '.commands[0] | .min == (.values | min) and .max == (.values | max) and .user_s + .system_s < .max' <<<"$OUT")" true
    exits "a percentage that is none exits 2" 2 in_folder ks bench --until x true
}

by_what_they_print() {
    exits "exits 0" 0 in_folder ks bench --repeat 5 --pattern '(?<rate>[0-9.]+) GB' --unit GB/s --better more './bench --n 50' './bench --n 99'
    like "more is better" "$OUT" 'c2 +99.5 GB/s .*better .*\./bench --n 99'
    in_folder ./bench --n 8 >"$TMPDIR/log"
    exits "a sample says what to read" 0 in_folder ks bench --repeat 5 --sample "$TMPDIR/log" './bench --n 50'
    like "as init would" "$OUT" 'kernel_average'
    exits "a group may be called like a built-in timing" 0 in_folder ks bench --repeat 2 --pattern '(?<kernel_ms>[0-9.]+) ms' './bench --n 50'
    like "which decides then" "$OUT" 'kernel_ms'
    exits "it has its own unit" 2 in_folder ks bench --pattern '(?<kernel_ms>[0-9.]+) us' --unit us './bench --n 50'
    like "says the option" "$ERR" -- '--pattern: the name kernel_ms is built in'
    exits "a program may choose its own prompt" 0 in_folder ks bench --repeat 2 --shell 'echo "Prompt tokens: 512"'
    exits "a command that fails exits 1" 1 in_folder ks bench --repeat 2 false true
    like "and says why" "$ERR" 'c1: FAIL: exit code 1'
    exits "a pipe needs --shell" 2 in_folder ks bench 'echo a | cat'
    like "and is told so" "$ERR" -- '--shell'
    exits "with it, it runs" 0 in_folder ks bench --repeat 2 --shell 'echo {a} | grep -q "{a}"'
    exits "--store keeps it" 0 in_folder ks bench --repeat 2 --store --ticket mine true
    is "under its ticket" "$(ks runs --json | jq -r '.[0].ticket')" mine
}

scenario "init from a command line" from_a_command_line
scenario "init does not overwrite" nothing_is_overwritten
scenario "init with options" with_options
scenario "init on a terminal" on_a_terminal
scenario "init for another folder" elsewhere
scenario "init with a build" built_on_the_node
scenario "init with make, beside a program that was built before" stale_program
scenario "validate with every mistake at once" with_mistakes
scenario "validate with a sample" with_a_sample
# A plan of one variant's output, to which another is added as its comment says.
a_second_variant() {
    (
        mkdir -p "$TMPDIR/two" && cd "$TMPDIR/two" || exit
        program prog '[ "$1" = odd ] && echo "$1: 12.5 msx" || echo "$1: 12.5 ms"'
        ks init -o plan.jsonc --yes -- ./prog naive >/dev/null 2>&1
        for name in tiled odd; do
            plan_of plan.jsonc '.variants += [.variants[0] | .name = "NAME" | .run[1] = "NAME"]' | sed "s/NAME/$name/g" >$name.json
        done
    )
    exits "is measured by the same pattern" 0 ks run "$TMPDIR/two/tiled.json" --smoke --artifacts "$TMPDIR/artifacts_two"
    exits "one whose output differs is not" 1 ks run "$TMPDIR/two/odd.json" --smoke --artifacts "$TMPDIR/artifacts_odd"
    like "the pattern and the nearest line are shown" "$ERR$(cat "$TMPDIR"/artifacts_odd/*/*/odd/*/perf.json)" 'no line matches .*<time>'
}

what_it_says() {
    printf 'n=%s: 10 iterations took %s ms\n' 64 12.5 128 25.5 >"$TMPDIR/sweep"
    printf 'setup: 1.5 s\nlatency: 1,234.5 us\n' >>"$TMPDIR/sweep"
    exits "exits 0" 0 ks init --yes --sample "$TMPDIR/sweep" -o "$TMPDIR/says.jsonc" -- ./prog
    like "which number decides" "$ERR" '^Runs are judged by iterations_took; --primary NAME chooses another\.$'
    like "that a time is a total" "$ERR" '^note: line 2: iterations_took: the line says that it is the time of several iterations'
    like "that other lines look like this one" "$ERR" '^note: line 2: iterations_took: of the lines that look like this one, only the last counts$'
    like "and what it does not read" "$ERR" '^note: line 4: "latency": no pattern reads a number with a comma'
}

# Their folders would take the place of the run's own files.
named_like_files() {
    for name in job.json events.jsonl manifest.json summary.json; do
        printf '{"schema": "kernsweep.plan/1", "ticket": "f", "node": "local", "contexts": [1], "timeouts": {"default": 9}, "timings": "wall",
            "variants": [{"name": "%s", "run": ["true"]}]}' $name >"$TMPDIR/named.json"
        exits "$name is refused" 2 ks validate "$TMPDIR/named.json"
        like "as a name of the run's own files" "$ERR" "called \"$name\", like a file of the run"
    done
}

scenario "variants named like files" named_like_files
scenario "bench of two commands" without_a_plan
scenario "bench with commands around those that are measured" around_the_commands
scenario "bench as often as needed" as_often_as_needed
scenario "bench by what they print" by_what_they_print
scenario "init, and a second variant" a_second_variant
scenario "what init says of a sample" what_it_says
done_testing
