#!/usr/bin/env bash
# The test runner itself: whatever a program does wrong, it must not count as a success.
. tests/lib.sh

# last_line: runs tests/run on a script with the body $1 and leaves RC, OUT and the last line in LAST.
run_script() {
    local script=$TMPDIR/case.sh
    printf '#!/bin/bash\n%s\n' "$1" >"$script"
    chmod +x "$script"
    try tests/run --build "$TMPDIR/build" "$script"
    LAST=$(printf '%s\n' "$OUT" | tail -n 1)
}

run_script 'echo 1..2; echo ok 1; echo "ok 2 - x"'
is "passes are counted" "$RC $LAST" "0 2 passed, 0 failed"

run_script 'echo ok 1; echo "ok 2 - gpu # SKIP no GPU here"; echo 1..2'
is "a skipped test is neither passed nor failed" "$RC $LAST" "0 1 passed, 0 failed, 1 skipped"
like "the reason of a skip is shown" "$OUT" "no GPU here"

run_script 'echo 1..2; echo ok 1; echo not ok 2 - two is odd; echo "# evidence"'
is "a failure fails the run" "$RC $LAST" "1 1 passed, 1 failed"
like "and shows the test with its evidence" "$OUT" "evidence"

# shellcheck disable=SC2016 # for the script
once='echo 1..1; [ -e "$BUILD/was" ] && echo ok 1 || { touch "$BUILD/was"; echo not ok 1; }'
run_script "$once"
is "a failure counts, also one that would not come back" "$RC $LAST" "1 0 passed, 1 failed"
rm "$TMPDIR/build/was"
AGAIN=1 run_script "$once"
is "unless a second run alone is asked for" "$RC $LAST" "0 1 passed, 0 failed"
like "which is said" "$OUT" "^again case.sh failed while others ran"
AGAIN=1 run_script 'echo 1..1; echo not ok 1'
is "a second failure fails the run" "$RC $LAST" "1 0 passed, 1 failed"

run_script 'echo ok 1'
is "output without a plan is a failure" "$RC $LAST" "1 1 passed, 1 failed"

run_script 'echo 1..3; echo ok 1'
is "fewer tests than planned is a failure" "$RC $LAST" "1 1 passed, 1 failed"

run_script 'echo 1..1; echo ok 1; kill -SEGV $$'
is "a crash after the last test is a failure" "$RC $LAST" "1 1 passed, 1 failed"

run_script 'echo 1..1; echo ok 1; exit 3'
is "a non-zero exit status is a failure" "$RC $LAST" "1 1 passed, 1 failed"
like "and is named" "$OUT" "exit status 3"

run_script '# timeout: 1
echo 1..1; echo ok 1; sleep 300'
is "a program out of time is a failure" "$RC $LAST" "1 1 passed, 1 failed"
like "and says so" "$OUT" "time limit of 1 s exceeded"

run_script 'setsid sleep 301 </dev/null >/dev/null 2>&1 & echo 1..1; echo ok 1'
is "a detached process left behind is a failure" "$RC $LAST" "1 1 passed, 1 failed"
like "and is named" "$OUT" "still running at the end: .*sleep 301"

# shellcheck disable=SC2016 # for the script
run_script 'echo leaked >"${ASAN_OPTIONS#*log_path=}.123"; echo 1..1; echo ok 1'
is "what a sanitizer finds in any process is a failure" "$RC $LAST" "1 1 passed, 1 failed"
like "and is shown" "$OUT" "leaked"

run_script 'echo 1..0 "# SKIP" nothing to see'
is "a script may skip itself; but a run that tested nothing is no success" "$RC $LAST" "1 0 passed, 0 failed, 1 skipped"

exits "an unknown level is refused" 2 tests/run --build "$TMPDIR/build" nonsense
exits "a program that does not exist fails" 1 tests/run --build "$TMPDIR/build" "$TMPDIR/none.sh"
done_testing
