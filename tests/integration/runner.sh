#!/usr/bin/env bash
# The test runner itself: whatever a program does wrong, it must not count as a success.
# unsanitized: exercises no C code
. tests/lib.sh

# script BODY: runs tests/run on a script with that body; leaves RC, OUT and the last line in LAST.
script() {
    printf '#!/bin/bash\n%s\n' "$1" >"$TMPDIR/case.sh"
    chmod +x "$TMPDIR/case.sh"
    try env -u TESTS_ONLY tests/run --build "$TMPDIR/build" "${@:2}" "$TMPDIR/case.sh"
    LAST=$(tail -n 1 <<<"$OUT")
}

# counted BODY RESULT [PATTERN]: exit status and last line of tests/run, and what it must print.
counted() {
    script "$1"
    is "tests/run exits ${2%% *} and prints \"${2#* }\"" "$RC $LAST" "$2"
    [ $# = 2 ] || like "tests/run prints ${3}" "$OUT" "$3"
}

# shellcheck disable=SC2016 # for the script
ONCE='echo 1..1; [ -e "$BUILD/was" ] && echo ok 1 || { touch "$BUILD/was"; echo not ok 1; }'

again() {
    rm -f "$TMPDIR/build/was"
    counted "$ONCE" "1 0 passed, 1 failed"
    rm -f "$TMPDIR/build/was"
    AGAIN=1 counted "$ONCE" "0 1 passed, 0 failed" "^again case.sh failed while others ran"
}

refused() {
    exits "tests/run exits $1" "$1" env -u TESTS_ONLY tests/run --build "$TMPDIR/build" "$2"
}

# A script of two scenarios; the second asks for set-up that the first asks for, too.
# shellcheck disable=SC2016 # for the script
TWO='. tests/lib.sh
made() { echo made >>"$BUILD/made"; }
first() { needs made; ok "is well" 0; }
second() { needs made; ok "is well, too" 0; ok "is ill" 1; }
scenario "the first" first
scenario "the second" second
done_testing'

# only TITLE RESULT: of that script
only() {
    script "$TWO" --only "$1"
    is "tests/run exits ${2%% *} and prints \"${2#* }\"" "$RC $LAST" "$2"
}

shared_set_up() {
    rm -f "$TMPDIR/build/made"
    script "$TWO"
    is "it is made once" "$(wc -l <"$TMPDIR/build/made")" 1
    like "titles of checks begin with the scenario's" "$OUT" '^ *not ok 3 - the second: is ill$'
}

titles() {
    script "$TWO" --titles
    is "they are listed" "$OUT" $'the first\nthe second'
}

each() {
    script "$TWO" --each
    like "each scenario has its own result" "$OUT" '^the second: 1 passed, 1 failed$'
    is "a failure in one of them fails the whole" "$RC" 1
}

# tests/run --jobs 1 on short.sh and long.sh, in a build folder that knows how long they took.
longest_first() {
    local name dir=$TMPDIR/order
    mkdir -p "$dir/build/tests"
    for name in short long; do
        printf '#!/bin/sh\necho 1..1; echo ok 1\n' >"$dir/$name.sh"
        chmod +x "$dir/$name.sh"
    done
    printf 'long.sh 9\nshort.sh 2\n' >"$dir/build/tests/durations"
    try env -u TESTS_ONLY tests/run --build "$dir/build" --jobs 1 "$dir/short.sh" "$dir/long.sh"
    is "the longest of the last run goes first" "$(awk '/^ok/ { print $2 }' <<<"$OUT" | xargs)" "long.sh short.sh"
    is "how long they took is kept" "$(awk '$2 < 9 { print $1 }' "$dir/build/tests/durations" | xargs)" "long.sh short.sh"
}

ended_early() {
    local pid rc=0
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/bash\ntouch "$BUILD/began"; echo 1..1; sleep 302\n' >"$TMPDIR/ended.sh"
    chmod +x "$TMPDIR/ended.sh"
    env -u TESTS_ONLY tests/run --build "$TMPDIR/ended" "$TMPDIR/ended.sh" >/dev/null 2>&1 &
    pid=$!
    until_true 60 test -e "$TMPDIR/ended/began"
    ok "the program starts" $?
    kill -TERM "$pid"
    wait "$pid" || rc=$?
    is "the runner exits 130" "$rc" 130
    passes "the program is gone" until_true 20 sh -c "! pgrep -f '^/bin/bash $TMPDIR/ended.sh'"
}

unit_only() {
    try env TESTS_ONLY=nothing_is_called_so CMOCKA_MESSAGE_OUTPUT=TAP "$BUILD/tests/test_buf"
    is "cmocka runs none whose name lacks the title" "$(grep -c '^ok' <<<"$OUT")" 0
    try env -u TESTS_ONLY CMOCKA_MESSAGE_OUTPUT=TAP "$BUILD/tests/test_buf"
    try env TESTS_ONLY="$(sed -n 's/^ok 1 - //p' <<<"$OUT")" CMOCKA_MESSAGE_OUTPUT=TAP "$BUILD/tests/test_buf"
    is "cmocka runs the one of that name" "$(grep -c '^ok' <<<"$OUT")" 1
}

scenario "two tests that pass" counted 'echo 1..2; echo ok 1; echo "ok 2 - x"' "0 2 passed, 0 failed"
scenario "a skipped test" counted 'echo ok 1; echo "ok 2 - gpu # SKIP no GPU here"; echo 1..2' "0 1 passed, 0 failed, 1 skipped" "no GPU here"
scenario "a failed test" counted 'echo 1..2; echo ok 1; echo not ok 2 - two is odd; echo "# evidence"' "1 1 passed, 1 failed" evidence
scenario "a test that fails once and passes when run again" again
AGAIN=1 scenario "a test that fails twice with AGAIN=1" counted 'echo 1..1; echo not ok 1' "1 0 passed, 1 failed"
scenario "output without a plan" counted 'echo ok 1' "1 1 passed, 1 failed"
scenario "fewer tests than planned" counted 'echo 1..3; echo ok 1' "1 1 passed, 1 failed"
scenario "a crash after the last test" counted 'echo 1..1; echo ok 1; kill -SEGV $$' "1 1 passed, 1 failed"
scenario "a non-zero exit status" counted 'echo 1..1; echo ok 1; exit 3' "1 1 passed, 1 failed" "exit status 3"
scenario "a program that exceeds its time limit" counted $'# timeout: 1\necho 1..1; echo ok 1; sleep 300' "1 1 passed, 1 failed" "time limit of 1 s exceeded"
scenario "a detached process that is left behind" counted 'setsid sleep 301 </dev/null >/dev/null 2>&1 & echo 1..1; echo ok 1' \
    "1 1 passed, 1 failed" "still running at the end: .*sleep 301"
# shellcheck disable=SC2016 # for the script
scenario "a finding of a sanitizer in any process" counted 'echo leaked >"${ASAN_OPTIONS#*log_path=}.123"; echo 1..1; echo ok 1' \
    "1 1 passed, 1 failed" leaked
scenario "a script that skips all its tests" counted 'echo 1..0 "# SKIP" nothing to see' "1 0 passed, 0 failed, 1 skipped"
scenario "the order of programs" longest_first
scenario "a runner that is told to end" ended_early
scenario "an unknown level" refused 2 nonsense
scenario "a program that does not exist" refused 1 "$TMPDIR/none.sh"
scenario "set-up that two scenarios share" shared_set_up
scenario "--only with a scenario's title" only "the first" "0 1 passed, 0 failed"
scenario "--only with the printed title of a check" only "the second: is ill" "1 1 passed, 1 failed"
scenario "--only with a part of a check's title" only "is ill" "1 1 passed, 1 failed"
scenario "--only with a title that nothing has" only "the third" "1 0 passed, 0 failed, 1 skipped"
scenario "--titles of a script" titles
scenario "--each of a script" each
scenario "--only of a unit program" unit_only
done_testing
