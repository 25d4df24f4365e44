#!/usr/bin/env bash
# A plan with a mistake: one line that names the file and the place in it, exit 2, and nothing started.
. tests/lib.sh
. tests/pipeline.sh

# nothing_started: neither a workdir nor a bundle exists.
nothing_started() {
    is "nothing is started" "$(find "$TMPDIR" -name work -o -name artifacts_remote | wc -l)" 0
}

# refused FILTER PLACE EXPECTED: the fixture's plan changed by FILTER is refused at the JSON path PLACE.
refused() {
    plan_with "$1" "$TMPDIR/bad.json"
    exits "exits 2" 2 ks_run "$TMPDIR/bad.json"
    one_line "the error is one line" "$ERR"
    grep -qE -- 'bad\.json:[0-9]+:[0-9]+: ' <<<"$ERR" && grep -qF -- ": $2: " <<<"$ERR" && grep -qE -- "$3" <<<"$ERR"
    ok "the error names the line, the place and what was expected" $? "want: bad.json:LINE:COLUMN: $2: ... $3"$'\n'"got:  $ERR"
    nothing_started
}

pipeline_setup
scenario "a plan with an unknown key" refused '.contextz = [1]' '$' 'contextz.*contexts'
scenario "a plan with an unknown key of a variant" refused '.variants[1].runn = []' '$.variants[1]' 'runn.*run'
scenario "a plan with a wrong type" refused '.warmup = "one"' '$.warmup' 'expected'
scenario "a plan with a variant that is no object" refused '.variants[0] = 7' '$.variants[0]' 'expected'
scenario "a plan with no schema" refused 'del(.schema)' '$.schema' 'expected'
scenario "a plan with another schema" refused '.schema = "kernsweep.plan/9"' '$.schema' 'kernsweep.plan/1'
scenario "a plan with no variants" refused '.variants = []' '$.variants' 'expected'
scenario "a plan with no contexts" refused '.contexts = []' '$.contexts' 'expected'
scenario "a plan with a negative time-out" refused '.timeouts["16"] = -5' '$.timeouts.16' 'expected'
scenario "a plan with a time-out of zero" refused '.timeouts.default = 0' '$.timeouts.default' 'expected'
scenario "a plan with a context without time-out" refused '.timeouts = {"16": 5}' '$.timeouts.32' 'time-out'
scenario "a plan with a context of zero tokens" refused '.contexts = [0]' '$.contexts[0]' 'expected'
scenario "a plan with the same context twice" refused '.contexts = [16, 16]' '$.contexts[1]' 'twice'
scenario "a plan with a variant name that climbs" refused '.variants[0].name = "../x"' '$.variants[0].name' 'expected'
scenario "a plan with a variant name with spaces" refused '.variants[0].name = "my variant"' '$.variants[0].name' 'expected'
scenario "a plan with a variant name with a newline" refused '.variants[0].name = "a\nb"' '$.variants[0].name' 'expected'
scenario "a plan with two variants of one name" refused '.variants[1].name = "good"' '$.variants[1].name' 'twice'
scenario "a plan with a ticket that climbs" refused '.ticket = ".."' '$.ticket' 'expected'
scenario "a plan with an unknown placeholder" refused '.variants[0].run[3] = "{contex}"' '$.variants[0].run[3]' 'placeholder.*context'
scenario "a plan with an empty command" refused '.variants[0].run = []' '$.variants[0].run' 'expected'
scenario "a plan with a source that is not there" refused '.source.dir = "/nonexistent"' '$.source.dir' 'no such folder'
scenario "a plan with an include that climbs" refused '.source.include = ["../../etc"]' '$.source.include[0]' 'expected'
scenario "a plan with no repetitions" refused '.repetitions = 0' '$.repetitions' 'expected'
scenario "a plan with too many tests" refused '.repetitions = 1000000000' '$.repetitions' 'expected'
scenario "a plan with an unknown order" refused '.order = "random"' '$.order' 'interleaved'
scenario "a plan with a node that is no name" refused '.node = "mi300x a"' '$.node' 'expected an ssh alias'
scenario "a plan with a port that is none" refused 'del(.node) | .nodes = ["a", "b:0"]' '$.nodes[1]' 'expected an ssh alias'
scenario "a plan with a workdir that climbs" refused '.workdir = "../x"' '$.workdir' 'expected'

# refused_text TEXT: not even JSON.
refused_text() {
    printf '%s' "$1" >"$TMPDIR/text.json"
    exits "exits 2" 2 ks_run "$TMPDIR/text.json"
    one_line "the error is one line" "$ERR"
    like "the error names the file" "$ERR" 'text\.json'
    nothing_started
}
scenario "an empty file as a plan" refused_text ''
scenario "half a plan" refused_text '{"schema": "kernsweep.plan/1", "ticket": '
scenario "a plan with the same key twice" refused_text '{"schema": "kernsweep.plan/1", "schema": "kernsweep.plan/1"}'
scenario "an array as a plan" refused_text '[]'
scenario "a plan that is not UTF-8" refused_text $'{"ticket": "\xff"}'

# refused_command COMMAND...: exit 2, and an error of one line.
refused_command() {
    exits "exits 2" 2 "$@"
    one_line "the error is one line" "$(grep '^kernsweep' <<<"$ERR")"
    nothing_started
}
scenario "a plan file that does not exist" refused_command ks_run "$TMPDIR/none.json"
scenario "a folder as a plan" refused_command ks_run "$TMPDIR"
scenario "--variants with an unknown variant" refused_command ks_run "$TMPDIR/plan.json" --variants nosuch
scenario "--contexts with a word" refused_command ks_run "$TMPDIR/plan.json" --contexts many
scenario "--tag with a tag that climbs" refused_command ks_run "$TMPDIR/plan.json" --tag ../x
scenario "--node with a name that is none" refused_command ks_run "$TMPDIR/plan.json" --dry-run --node -oProxyCommand=x
scenario "--fail-on with another word" refused_command ks_run "$TMPDIR/plan.json" --dry-run --fail-on never
scenario "--transport with another word" refused_command ks_run "$TMPDIR/plan.json" --dry-run --transport telnet
scenario "--repeat with the same context twice" refused_command ks_run "$TMPDIR/plan.json" --dry-run --repeat 16:1,16:2
scenario "run with an unknown option" refused_command ks_run "$TMPDIR/plan.json" --frobnicate
scenario "an unknown command" refused_command "$KERNSWEEP" frobnicate

# What nothing_started looks for is what a good plan makes.
accepted() {
    exits "exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16
    is "makes a workdir and a bundle" "$(find "$TMPDIR" -name work -o -name artifacts_remote | wc -l)" 2
}
scenario "the plan without mistakes" accepted
done_testing
