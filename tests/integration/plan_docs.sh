#!/usr/bin/env bash
# docs/plans.md has every key of a plan as schemas/plan.schema.json describes it. That the schema agrees with the tables by
# which plans are read is for tests/unit/test_contract.c.
. tests/lib.sh

passes "docs/plans.md is what scripts/plan-reference makes of the schema" scripts/plan-reference --check

# Every JSON example of the page is a plan or a part of one that the command takes.
mkdir -p "$TMPDIR/docs/x"
ln -s "$PWD/kernels" "$PWD/common" "$TMPDIR/"
awk -v dir="$TMPDIR/docs" '/^```/ { inside = 0 } inside { print > (dir "/" n ".txt") }
    /^```json$/ { inside = 1; n++ }' docs/plans.md
examples=0
for text in "$TMPDIR"/docs/*.txt; do
    plan=$TMPDIR/docs/x/plan.json
    examples=$((examples + 1))
    case $(head -c 1 "$text") in
    '{')
        if jq -e .schema "$text" >/dev/null; then
            cp "$text" "$plan"
        else
            jq -n --slurpfile v "$text" '{schema: "kernsweep.plan/1", ticket: "t", variants: $v, contexts: [1], timeouts: {default: 1}}' >"$plan"
        fi
        ;;
    *)
        { printf '{'; cat "$text"; printf '}'; } |
            jq '{schema: "kernsweep.plan/1", ticket: "t", variants: [{name: "v", run: ["x"]}], contexts: [1], timeouts: {default: 1}} + .' >"$plan"
        ;;
    esac
    exits "example $examples of the page is taken" 0 "$KERNSWEEP" run "$plan" --dry-run --db "$TMPDIR/db"
done
is "there are examples" "$((examples > 6))" 1
done_testing
