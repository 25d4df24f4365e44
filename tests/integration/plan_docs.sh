#!/usr/bin/env bash
# docs/plans.md (with docs/axes.md) has every key of a plan as schemas/plan.schema.json describes it. That the schema agrees with the tables by
# which plans are read is for tests/unit/test_contract.c.
. tests/lib.sh

reference() {
    passes "it is what scripts/plan-reference makes of the schema" scripts/plan-reference --check
}

# Every JSON example of the page is a plan or a part of one that the command takes.
mkdir -p "$TMPDIR/docs/x"
ln -s "$PWD/kernels" "$PWD/common" "$TMPDIR/"
awk -v dir="$TMPDIR/docs" '/^```/ { inside = 0 } inside { print > (dir "/" n ".txt") }
    /^```json$/ { inside = 1; n++ }' docs/plans.md docs/axes.md

# example FILE: a plan, or a part of one, that the command accepts
example() {
    local plan=$TMPDIR/docs/x/plan.json
    case $(head -c 1 "$1") in
    '{')
        if jq -e .schema "$1" >/dev/null; then
            cp "$1" "$plan"
        else
            jq -n --slurpfile v "$1" '{schema: "kernsweep.plan/1", ticket: "t", source: {dir: "../..", include: ["kernels"]}, variants: $v, contexts: [1], timeouts: {default: 1}}' >"$plan"
        fi
        ;;
    *)
        { printf '{'; cat "$1"; printf '}'; } |
            jq '{schema: "kernsweep.plan/1", ticket: "t", variants: [{name: "v", run: ["x"]}], contexts: [1], timeouts: {default: 1}} + .' >"$plan"
        ;;
    esac
    exits "run --dry-run accepts it" 0 "$KERNSWEEP" run "$plan" --dry-run --db "$TMPDIR/db"
}

examples() {
    is "there are more than six" "$(($(find "$TMPDIR/docs" -name '*.txt' | wc -l) > 6))" 1
}

scenario "docs/plans.md" reference
scenario "the examples of docs/plans.md and docs/axes.md" examples
for text in "$TMPDIR"/docs/*.txt; do
    name=${text##*/}
    scenario "example ${name%.txt} of docs/plans.md" example "$text"
done
done_testing
