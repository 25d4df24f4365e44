#!/usr/bin/env bash
# `tests/run --since REV`, in a clone of this repository with one change: what runs is what the change can touch.
# unsanitized: exercises no C code
. tests/lib.sh

git rev-parse --verify --quiet HEAD >/dev/null 2>&1 || skip_all "this is no git checkout"

CLONE=$TMPDIR/clone

cloned() {
    git clone --quiet --shared "$PWD" "$CLONE" 2>"$TMPDIR/clone.err" || {
        diag "$(cat "$TMPDIR/clone.err")"
        return 1
    }
    cp tests/run tests/since "$CLONE/tests/" # as they are here; what is committed may be older
    git -C "$CLONE" add -A
    git -C "$CLONE" -c user.name=x -c user.email=x@example.com commit --quiet --allow-empty -m start
}

# chosen_since: what a run since the last commit would run, in LIST, a name a line; then the clone is as it was. SAID: the reasons.
chosen_since() {
    try env -C "$CLONE" tests/run --build "$BUILD" --since HEAD --list unit integration faults
    LIST=$(sed "s,^.*/tests/\(test_\),unit/\1,; s,^tests/,,; s,\.sh$,," <<<"$OUT")
    SAID=$ERR
    git -C "$CLONE" checkout --quiet .
    git -C "$CLONE" clean --quiet -fd
}

# touched FILE: by one line at its end
touched() {
    echo "/* changed */" >>"$CLONE/$1"
    chosen_since
}

# has NAME... -- NAME...: those run, and these do not
has() {
    local name want=1
    for name; do
        if [ "$name" = -- ]; then want=0 && continue; fi
        is "$name is $([ $want = 1 ] && echo chosen || echo left out)" "$(grep -cx "$name" <<<"$LIST")" "$want"
    done
}

everything_runs() {
    is "everything runs" "$(wc -l <<<"$LIST")" "$(env -C "$CLONE" tests/run --build "$BUILD" --list unit integration faults | wc -l)"
}

one_unit_program() {
    needs cloned
    touched tests/unit/test_strvec.c
    is "it runs" "$(head -n 1 <<<"$LIST")" unit/test_strvec
    like "it is said what a file has chosen" "$SAID" '^since HEAD: tests/unit/test_strvec\.c: unit/test_strvec '
    like "and what is left out" "$SAID" '^since HEAD: 1 file changed, [1-9] of [0-9]+ programs run; left out: .*unit/test_args .*integration/executor'
}

one_header() {
    needs cloned
    touched executor/process/oom.h
    has unit/test_lane_plan integration/executor integration/pipeline_ssh faults/executor_oom faults/executor_resume -- \
        unit/test_buf unit/test_report_markdown integration/schemas integration/kernels_cpu faults/transport_faults
}

one_room_of_the_harness() {
    needs cloned
    touched results/judge/strata.h
    has integration/results_b3 integration/pipeline_local -- unit/test_buf integration/executor faults/executor_resume integration/schemas
}

one_page() {
    needs cloned
    touched docs/plans.md
    has integration/plan_docs integration/docs integration/reference -- unit/test_plan integration/pipeline_ssh faults/executor_resume
}

one_script() {
    needs cloned
    touched scripts/slurm-loopback
    has integration/slurm faults/slurm faults/slurm_queue -- integration/docs unit/test_scheduler_slurm integration/executor
}

one_kernel() {
    needs cloned
    touched kernels/attention/baseline.hip
    has integration/kernels_cpu integration/kernels_compile integration/model_ssh -- unit/test_buf faults/executor_resume
}

a_migration() {
    needs cloned
    touched schemas/sql/001_store.sql
    has unit/test_store integration/results_b3 -- unit/test_buf integration/executor
}

# unsure CHANGE...: a command in the clone after which everything runs
unsure() {
    needs cloned
    (cd "$CLONE" && eval "$1")
    chosen_since
    everything_runs
}

nothing_changed() {
    needs cloned
    try env -C "$CLONE" tests/run --build "$BUILD" --since HEAD unit
    is "the runner says so and runs nothing" "$RC $(tail -n 1 <<<"$ERR")" "2 tests/run: nothing that the changes since HEAD can touch"
    try env -C "$CLONE" tests/run --build "$BUILD" --since nowhere unit
    is "an unknown commit is an error" "$RC $ERR" "1 tests/since: no such commit: nowhere"
}

scenario "a test" one_unit_program
scenario "a header of the executor" one_header
scenario "a header of the judge" one_room_of_the_harness
scenario "a page" one_page
scenario "a script" one_script
scenario "a kernel" one_kernel
scenario "a migration" a_migration
scenario "a makefile" unsure "echo >>executor/module.mk"
scenario "a deleted header" unsure "rm common/base/buf.h"
scenario "a new file that nothing names" unsure "echo >new"
scenario "no change" nothing_changed
done_testing
