#!/usr/bin/env bash
# docs/plans.md has every key of a plan as schemas/plan.schema.json describes it, and that has those of plan_load().
. tests/lib.sh

reference() {
    passes "it is what scripts/plan-reference makes of the schema" scripts/plan-reference --check
}

schema_keys() {
    is "it has the keys of plan_load()" "$(jq -r '.properties | keys[]' schemas/plan.schema.json)" \
        "$(sed -n '/known_keys\[\] = /,/NULL}/p' harness/plan/plan.c | grep -o '"[a-z_]*"' | tr -d '"' | LC_ALL=C sort)"
}

# The JSON examples of the page, a file each.
mkdir -p "$TMPDIR/docs/x"
ln -s "$PWD/kernels" "$PWD/common" "$TMPDIR/"
awk -v dir="$TMPDIR/docs" '/^```/ { inside = 0 } inside { print > (dir "/" n ".txt") }
    /^```json$/ { inside = 1; n++ }' docs/plans.md

# example FILE: a plan, or a part of one, that the command accepts
example() {
    local plan=$TMPDIR/docs/x/plan.json
    case $(head -c 1 "$1") in
    '{')
        if jq -e .schema "$1" >/dev/null; then
            cp "$1" "$plan"
        else
            jq -n --slurpfile v "$1" '{schema: "kernsweep.plan/1", ticket: "t", variants: $v, contexts: [1], timeouts: {default: 1}}' >"$plan"
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
scenario "schemas/plan.schema.json" schema_keys
scenario "the examples of docs/plans.md" examples
for text in "$TMPDIR"/docs/*.txt; do
    name=${text##*/}
    scenario "example ${name%.txt} of docs/plans.md" example "$text"
done
done_testing
