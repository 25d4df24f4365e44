#!/usr/bin/env bash
# The node's clock is stepped by an hour in the middle of a test: durations do not notice. A file system with another clock,
# or one that takes long to write: what changed when is known all the same.
. tests/lib.sh
. tests/executor.sh

lib=
for file in /usr/lib/*/faketime/libfaketime.so.1; do
    [ ! -e "$file" ] || lib=$file
done
[ -n "$lib" ] || skip_all "libfaketime is not installed"

case $BUILD in */sanitize) skip_all "the executor cannot be linked again here (a sanitizer build)" ;; esac

# executor_with NAME OPTION...: the executor's objects linked once more, as a program of its own
executor_with() {
    "${CC:-cc}" -o "$TMPDIR/$1" "$BUILD/executor/main.o" "${@:2}" "$BUILD/libexecutor.a" "$BUILD/libcommon.a" \
        -ljansson -lnettle -lpcre2-8 -lzstd -lm
}

# A static program cannot be told another time. The library is linked and not preloaded: its children, the tests'
# programs, would share its semaphore with a parent that has ended, and now and then find none.
executor_with executor -Wl,--no-as-needed -Wl,-rpath,"${lib%/*}" "$lib" || exit 1

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
    job "$2" "$(one "$(jq -nc --arg s "touch $TMPDIR/step; while [ -e $TMPDIR/step ]; do sleep 0.02; done; sleep 0.3; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\"" \
        '{run: ["sh", "-c", $s]}')")"
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

# As on a file server: NO_FAKE_STAT leaves the times of files as they are.
files_ahead_by() {
    step "$(printf '%+d' $((-$1)))"
    job "$2" "$(jq -nc '{run: ["echo", "[PERF_TIMING] {\"prefill_s\": 0.000001}"]} as $v
        | {variants: [{name: "v"} + $v], tests: [{variant: "v"}, {variant: "v", context: 65}]}')"
    NO_FAKE_STAT=1 stepped submit <"$TMPDIR/$2.json" >/dev/null
    stepped follow --run "$2" >/dev/null
    is "both tests are OK" "$(summary "$2" '[.tests[].exit_status] | join(" ")')" "OK OK"
    unlike "no file of theirs is said to have changed" "$(events "$2" '.[] | select(.event == "NODE") | .message // empty')" 'changed'
}

# A test that changes the folder of the one before it is told all the same.
changed_files_ahead_by() {
    step "$(printf '%+d' $((-$1)))"
    job "$2" "$(jq -nc --arg s "sleep 0.05; echo more >>$(bundle "$2")/v/ctx_64_run1/run.log" '
        {variants: [{name: "v", run: ["echo", "[PERF_TIMING] {\"prefill_s\": 0.000001}"]}, {name: "w", run: ["sh", "-c", $s]}],
         tests: [{variant: "v"}, {variant: "w"}]}')"
    NO_FAKE_STAT=1 stepped submit <"$TMPDIR/$2.json" >/dev/null
    stepped follow --run "$2" >/dev/null
    is "what was changed is told, and nothing else" \
        "$(events "$2" '.[] | select(.event == "NODE") | .message // empty' | grep changed)" \
        "v/ctx_64_run1/run.log was changed after its test had ended, while test 2 (w, context 64) ran"
}

# Gates change the build, and then each record takes longer to be written than a clock may be wrong.
slow_files() {
    cat >"$TMPDIR/slow.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_rename(const char *from, const char *to)
{
    int rc = __real_rename(from, to);
    if (strstr(to, "/perf.json"))
        usleep(700000);
    return rc;
}
C
    executor_with slow -Wl,--wrap=rename "$TMPDIR/slow.c" || exit 1
    job slow "$(jq -nc '
        {variants: [{name: "v", run: ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.000001}\""],
                     build: [["sh", "-c", "echo 1 >\"$1/prog\"", "sh", "{build}"]],
                     gates: [{kind: "command", name: "g", run: ["sh", "-c", "echo 5 >\"$1/prog\"", "sh", "{build}"]}]}],
         tests: [range(1; 4) | {variant: "v", repetition: .}]}')"
    KERNSWEEP_EXECUTOR=$TMPDIR/slow run slow
    is "all tests are OK" "$(summary slow '[.tests[].exit_status] | join(" ")')" "OK OK OK"
    is "the build is said to have been changed by the gates" \
        "$(events slow '.[] | select(.event == "NODE") | .message // empty' | grep changed)" \
        "build and sources of v: prog has changed while builds and gates ran"
}

scenario "a clock set forward by an hour in a test" stepped_by 3600 forward
scenario "a clock set back by an hour in a test" stepped_by -3600 back
scenario "files whose clock is two seconds ahead" files_ahead_by 2 ahead
scenario "files whose clock is two seconds behind" files_ahead_by -2 behind
scenario "a file that is changed where the clock is ahead" changed_files_ahead_by 2 changed_ahead
scenario "a file that is changed where the clock is behind" changed_files_ahead_by -2 changed_behind
scenario "records that take long to be written" slow_files
done_testing
