#!/usr/bin/env bash
# A plan with a mistake: one line that names the file and the place in it, exit 2, and nothing started.
. tests/lib.sh
. tests/pipeline.sh

# refused NAME FILTER PLACE EXPECTED: the fixture's plan changed by FILTER is refused at the JSON path PLACE.
refused() {
    plan_with "$2" "$TMPDIR/bad.json"
    try ks_run "$TMPDIR/bad.json"
    is "$1: exit 2" "$RC" 2
    one_line "$1: one line" "$ERR"
    if grep -qF -- "bad.json: $3" <<<"$ERR" && grep -qE -- "$4" <<<"$ERR"; then
        ok "$1: names the place and what was expected" 0
    else
        ok "$1: names the place and what was expected" 1 "want: bad.json: $3 ... $4"$'\n'"got:  $ERR"
    fi
}

pipeline_setup
refused "an unknown key" '.contextz = [1]' '$' 'contextz.*contexts'
refused "an unknown key of a variant" '.variants[1].runn = []' '$.variants[1]' 'runn.*run'
refused "a wrong type" '.warmup = "one"' '$.warmup' 'expected'
refused "a variant that is no object" '.variants[0] = 7' '$.variants[0]' 'expected'
refused "no schema" 'del(.schema)' '$.schema' 'expected'
refused "another schema" '.schema = "kernsweep.plan/9"' '$.schema' 'kernsweep.plan/1'
refused "no variants" '.variants = []' '$.variants' 'expected'
refused "no contexts" '.contexts = []' '$.contexts' 'expected'
refused "a negative time-out" '.timeouts["16"] = -5' '$.timeouts.16' 'expected'
refused "a time-out of zero" '.timeouts.default = 0' '$.timeouts.default' 'expected'
refused "a context without time-out" '.timeouts = {"16": 5}' '$.timeouts.32' 'time-out'
refused "a context of zero tokens" '.contexts = [0]' '$.contexts[0]' 'expected'
refused "a context twice" '.contexts = [16, 16]' '$.contexts[1]' 'twice'
refused "a variant that climbs" '.variants[0].name = "../x"' '$.variants[0].name' 'expected'
refused "a variant with spaces" '.variants[0].name = "my variant"' '$.variants[0].name' 'expected'
refused "a variant with a newline" '.variants[0].name = "a\nb"' '$.variants[0].name' 'expected'
refused "a variant twice" '.variants[1].name = "good"' '$.variants[1].name' 'twice'
refused "a ticket that climbs" '.ticket = ".."' '$.ticket' 'expected'
refused "an unknown placeholder" '.variants[0].run[3] = "{contex}"' '$.variants[0].run[3]' 'placeholder.*context'
refused "an empty command" '.variants[0].run = []' '$.variants[0].run' 'expected'
refused "a source that is not there" '.source.dir = "/nonexistent"' '$.source.dir' 'no such folder'
refused "an include that climbs" '.source.include = ["../../etc"]' '$.source.include[0]' 'expected'
refused "no repetitions" '.repetitions = 0' '$.repetitions' 'expected'
refused "too many tests" '.repetitions = 1000000000' '$.repetitions' 'expected'
refused "an order that is none" '.order = "random"' '$.order' 'interleaved'
refused "a workdir that climbs" '.workdir = "../x"' '$.workdir' 'expected'

# refused_text NAME TEXT: not even JSON.
refused_text() {
    printf '%s' "$2" >"$TMPDIR/text.json"
    exits "$1: exit 2" 2 ks_run "$TMPDIR/text.json"
    one_line "$1: one line" "$ERR"
    like "$1: names the file" "$ERR" 'text\.json'
}
refused_text "an empty file" ''
refused_text "half a plan" '{"schema": "kernsweep.plan/1", "ticket": '
refused_text "a plan with a key twice" '{"schema": "kernsweep.plan/1", "schema": "kernsweep.plan/1"}'
refused_text "an array" '[]'
refused_text "bytes that are no UTF-8" $'{"ticket": "\xff"}'
exits "a plan that is not there" 2 ks_run "$TMPDIR/none.json"
one_line "in one line" "$ERR"
exits "a folder as a plan" 2 ks_run "$TMPDIR"
exits "an unknown variant of --variants" 2 ks_run "$TMPDIR/plan.json" --variants nosuch
exits "a context without time-out of --contexts" 2 ks_run "$TMPDIR/plan.json" --contexts many
exits "a tag that climbs" 2 ks_run "$TMPDIR/plan.json" --tag ../x
exits "an unknown option" 2 ks_run "$TMPDIR/plan.json" --frobnicate
exits "an unknown command" 2 "$KERNSWEEP" frobnicate

is "nothing was started" "$(find "$TMPDIR" -name work -o -name artifacts_remote | wc -l)" 0
done_testing
