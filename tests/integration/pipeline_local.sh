#!/usr/bin/env bash
# The whole pipeline without ssh: plan, node, bundle, store, comparison, report.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

pipeline_setup
exits "--dry-run lists the tests" 0 ks run "$TMPDIR/plan.json" --variants good --dry-run
is "and starts nothing" "$(find "$TMPDIR" -name work -o -name 'results.db' | wc -l)" 0
check_clean_run
check_second_run_builds_nothing
check_statuses
check_timeout
check_secrets
check_compare
check_report
check_ingest_again
check_interrupt
check_cancel
check_detach
done_testing
