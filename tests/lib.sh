# shellcheck shell=bash
# tests/lib.sh: TAP and a node for the test scripts. A script says
#
#   . tests/lib.sh
#   is "what is expected" "$got" "$want"
#   done_testing
#
# and tests/run gives it BUILD, KERNSWEEP, TMPDIR and HOME. Without done_testing there is no plan and the
# script counts as failed, so one that dies half-way is never taken for a success.
set -u

TESTS=0
NODE=

# ok NAME RC: the test passed when RC is 0. Further arguments are shown when it did not.
ok() {
    local name=$1 rc=$2
    shift 2
    TESTS=$((TESTS + 1))
    if [ "$rc" = 0 ]; then
        printf 'ok %d - %s\n' "$TESTS" "$name"
        return 0
    fi
    printf 'not ok %d - %s\n' "$TESTS" "$name"
    [ $# = 0 ] || diag "$@"
    return 1
}

diag() {
    printf '%s\n' "$*" | head -n 40 | sed 's/^/#   /'
}

# skip NAME REASON
skip() {
    TESTS=$((TESTS + 1))
    printf 'ok %d - %s # SKIP %s\n' "$TESTS" "$1" "$2"
}

skip_all() {
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

done_testing() {
    printf '1..%d\n' "$TESTS"
}

# is NAME GOT WANT
is() {
    [ "$2" = "$3" ]
    ok "$1" $? "got:  $2"$'\n'"want: $3"
}

# like NAME TEXT PATTERN (an extended regular expression, matched line by line)
like() {
    grep -Eq -- "$3" <<<"$2"
    ok "$1" $? "no line matches: $3"$'\n'"in: $2"
}

unlike() {
    ! grep -Eq -- "$3" <<<"$2"
    ok "$1" $? "a line matches: $3"$'\n'"in: $2"
}

# passes NAME COMMAND...
passes() {
    local name=$1 text rc=0
    shift
    text=$("$@" 2>&1) || rc=$?
    ok "$name" "$rc" "exit status $rc of: $*"$'\n'"$text"
}

# try COMMAND...: runs it and leaves RC, OUT (stdout) and ERR (stderr).
# shellcheck disable=SC2034 # for the scripts
try() {
    RC=0
    "$@" >"$TMPDIR/.out" 2>"$TMPDIR/.err" </dev/null || RC=$?
    OUT=$(cat "$TMPDIR/.out")
    ERR=$(cat "$TMPDIR/.err")
}

# exits NAME CODE COMMAND...: as try, and the exit status is a test.
exits() {
    local name=$1 want=$2
    shift 2
    try "$@"
    [ "$RC" = "$want" ]
    ok "$name" $? "exit status $RC, want $want, of: $*"$'\n'"$ERR"$'\n'"$OUT"
}

# one_line NAME TEXT: an error is one line.
one_line() {
    is "$1" "$(printf '%s\n' "$2" | grep -c .)" 1
}

# until_true SECONDS COMMAND...: polls; for what has no event to wait for. Fails at the deadline.
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

# A private sshd whose host alias is `loopback`; NODE is its folder.
node_start() {
    NODE=$TMPDIR/node
    mkdir -p "$NODE"
    # What a sanitizer finds on the node must come to light too.
    [ -z "${ASAN_OPTIONS:-}" ] ||
        printf 'SetEnv ASAN_OPTIONS=%s UBSAN_OPTIONS=%s\n' "$ASAN_OPTIONS" "${UBSAN_OPTIONS:-}" >"$NODE/sshd_extra.conf"
    scripts/loopback-node start "$NODE" >"$TMPDIR/node.log" 2>&1 || {
        diag "$(cat "$TMPDIR/node.log")"
        return 1
    }
    trap node_stop EXIT
}

node_stop() {
    [ -z "$NODE" ] || scripts/loopback-node stop "$NODE" >/dev/null 2>&1
    NODE=
}
