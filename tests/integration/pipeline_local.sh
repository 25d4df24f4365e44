#!/usr/bin/env bash
# The whole pipeline without ssh: plan, node, bundle, store, comparison, report.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

dry_run() {
    exits "exits 0" 0 "$KERNSWEEP" run "$TMPDIR/plan.json" --variants good --dry-run --db "$TMPDIR/dry/results.db"
    is "prints a line for each test" "$(grep -c 'good .*run [0-9]' <<<"$OUT")" 3
    is "makes no store" "$(find "$TMPDIR" -path '*/dry/*' | wc -l)" 0
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
