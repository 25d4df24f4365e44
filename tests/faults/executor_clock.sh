#!/usr/bin/env bash
# The node's clock is stepped by an hour in the middle of a test: durations do not notice.
. tests/lib.sh
. tests/executor.sh

lib=
for file in /usr/lib/*/faketime/libfaketime.so.1; do
    [ ! -e "$file" ] || lib=$file
done
[ -n "$lib" ] || skip_all "libfaketime is not installed"

case $BUILD in */sanitize) skip_all "the executor cannot be linked again here (a sanitizer build)" ;; esac

# A static program cannot be told another time. The library is linked and not preloaded: its children, the tests'
# programs, would share its semaphore with a parent that has ended, and now and then find none.
"${CC:-cc}" -o "$TMPDIR/executor" "$BUILD/executor/main.o" -Wl,--no-as-needed -Wl,-rpath,"${lib%/*}" "$lib" "$BUILD/libexecutor.a" \
    "$BUILD/libcommon.a" -ljansson -lnettle -lpcre2-8 -lz -lzstd -liberty -lm || exit 1

step() {
    echo "$1" >"$TMPDIR/offset.new"
    mv "$TMPDIR/offset.new" "$TMPDIR/offset"
}

stepped() {
    env FAKETIME_TIMESTAMP_FILE="$TMPDIR/offset" FAKETIME_NO_CACHE=1 \
        FAKETIME_DONT_FAKE_MONOTONIC=1 "$TMPDIR/executor" "$1" --workdir "$WORK" "${@:2}"
}

# go OFFSET ID: the clock makes the step while the test runs.
go() {
    step +0
    rm -f "$TMPDIR/step"
    job "$2" "$(shell "touch $TMPDIR/step; while [ -e $TMPDIR/step ]; do sleep 0.02; done; sleep 0.3; $good")"
    stepped submit <"$TMPDIR/$2.json" >/dev/null
    until_true 30 test -e "$TMPDIR/step"
    step "$1"
    rm "$TMPDIR/step"
    stepped follow --run "$2" >/dev/null
}

# stepped_by SECONDS ID
stepped_by() {
    go "$(printf '%+d' "$1")" "$2"
    check "$2" "$1"
}

check() {
    is "the test is OK" "$(perf "$1" .exit_status)" OK
    is "the test's wall time has no part of the step" "$(perf "$1" '.wall_time_sec > 0.3 and .wall_time_sec < 20')" true
    is "the run's wall time has no part of the step" "$(summary "$1" '.wall_s > 0.3 and .wall_s < 60')" true
    is "the dates follow the clock" \
        "$(jq --argjson want "$2" '((.ended_at[0:19] + "Z" | fromdate) - (.started_at[0:19] + "Z" | fromdate) - $want) | fabs < 120' "$(bundle "$1")/summary.json")" true
}

scenario "a clock set forward by an hour in a test" stepped_by 3600 forward
scenario "a clock set back by an hour in a test" stepped_by -3600 back
done_testing
