#!/usr/bin/env bash
# The whole pipeline without ssh: plan, node, bundle, store, comparison, report.
. tests/lib.sh
. tests/pipeline.sh

dry_run() {
    plan_with ".workdir = \"$TMPDIR/dry/work\"" "$TMPDIR/dry.json"
    exits "exits 0" 0 "$KERNSWEEP" run "$TMPDIR/dry.json" --variants good --dry-run --db "$TMPDIR/dry/results.db" \
        --artifacts "$TMPDIR/dry/artifacts"
    is "prints a line for each test" "$(grep -c 'good .*run [0-9]' <<<"$OUT")" 3
    passes "makes no workdir, no bundle and no store" test ! -e "$TMPDIR/dry"
}

pipeline_setup
scenario "run --dry-run" dry_run
pipeline_scenarios
scenario "a workload, a build and a gate that print a secret" secrets
scenario "the report of a sweep" report_written
scenario "the report of a sweep against another" report_against
scenario "a bundle that is ingested again" ingested_again
scenario "a bundle with a changed file" forged
done_testing
