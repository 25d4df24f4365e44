# shellcheck shell=bash
# tests/lib.sh: TAP, scenarios and a private sshd for the test scripts. A script says
#
#   . tests/lib.sh
#   a_file_is_copied() {
#       exits "exits 0" 0 cp a b
#       is "the copy has the same bytes" "$(cat b)" "$(cat a)"
#   }
#   scenario "cp of a file" a_file_is_copied
#   done_testing
#
# which prints "ok 1 - cp of a file: exits 0" and so on: the scenario's title is the subject of each of its checks.
# A scenario makes what it needs itself, or asks for it by `needs` or `try_once`, which do it once in a script; it never
# relies on another scenario. `tests/run --only TITLE` depends on that, and `tests/run --each` checks it.
#
# tests/run gives a script BUILD, KERNSWEEP, TMPDIR and HOME. Without done_testing there is no plan and the script counts as
# failed, so that one that dies half-way is never taken for a success.
set -u

# gojq starts in a tenth of jq's time, but sorts the keys of its output; where their order matters, use `command jq`.
if command -v gojq >/dev/null; then
    jq() {
        gojq "$@"
    }
fi

TESTS=0
FAILED=0
NODE=
SUBJECT= # "TITLE: " inside a scenario
declare -A MADE=()

# scenario TITLE FUNCTION [ARGUMENT...]: runs the function's checks, unless others are selected (tests/run --only, --titles).
# A function that fails, or checks nothing, fails the scenario, so that "|| return 1" never counts as a success.
scenario() {
    local title=$1 began=$SECONDS
    shift
    if [ -n "${TESTS_TITLES:-}" ]; then
        printf '# scenario: %s\n' "$title"
    elif chosen "$title" "$1"; then
        SUBJECT="$title: "
        RC=0 OUT='' ERR=''
        complete "$@"
        SUBJECT=
        printf '# %d s: %s\n' $((SECONDS - began)) "$title"
    fi
}

complete() {
    local tests=$TESTS failed=$FAILED rc=0
    "$@" || rc=$?
    [ "$FAILED" = "$failed" ] || return 0
    [ "$rc" = 0 ] || ok "it runs to its end" "$rc" "$1 returned $rc"
    [ "$TESTS" != "$tests" ] || ok "it checks something" 1
}

# chosen TITLE [FUNCTION]: TESTS_ONLY is a part of the title, a whole line as it is printed, or a part of the function's text,
# which contains the titles of its checks.
chosen() {
    [ -z "${TESTS_ONLY:-}" ] || [[ $1 == *"$TESTS_ONLY"* || $TESTS_ONLY == "$1: "* ]] ||
        grep -qF -- "$TESTS_ONLY" <<<"$(declare -f "${2:-true}")"
}

# needs FUNCTION [ARGUMENT...]: runs set-up that scenarios share once per script, when the first of them asks for it.
needs() {
    [ -z "${MADE[$*]:-}" ] || return 0
    MADE[$*]=1
    "$@" || ok "set-up: $*" 1
}

# ok NAME RC: the test passes if RC is 0; otherwise further arguments are shown.
ok() {
    local name=$SUBJECT$1 rc=$2
    shift 2
    TESTS=$((TESTS + 1))
    if [ "$rc" = 0 ]; then
        printf 'ok %d - %s\n' "$TESTS" "$name"
        return 0
    fi
    FAILED=$((FAILED + 1))
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
    printf 'ok %d - %s # SKIP %s\n' "$TESTS" "$SUBJECT$1" "$2"
}

# skip_scenario TITLE REASON: for a scenario that cannot run here.
skip_scenario() {
    # shellcheck disable=SC2317,SC2329 # called by scenario
    skipped_for() { skip "all of it" "$1"; }
    scenario "$1" skipped_for "$2"
}

skip_all() {
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

done_testing() {
    if [ "$TESTS" = 0 ] && [ -n "${TESTS_ONLY:-}" ]; then skip_all "no check has a title like: $TESTS_ONLY"; fi
    printf '1..%d\n' "$TESTS"
}

# is NAME GOT WANT
is() {
    [ "$2" = "$3" ]
    ok "$1" $? "got:  $2"$'\n'"want: $3"
}

# like NAME TEXT PATTERN (an extended regular expression, matched line by line)
like() {
    [[ $2 != *$'\n'* && $2 =~ $3 ]] || grep -Eq -- "$3" <<<"$2" # the shell is faster, but does not match line by line
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
    OUT=$(<"$TMPDIR/.out")
    ERR=$(<"$TMPDIR/.err")
}

# try_once KEY COMMAND...: like try, but the command runs once per script; later calls get the same RC, OUT and ERR.
try_once() {
    local file=$TMPDIR/.once.$1
    shift
    if [ ! -e "$file.rc" ]; then
        try "$@"
        cp "$TMPDIR/.out" "$file.out"
        cp "$TMPDIR/.err" "$file.err"
        echo "$RC" >"$file.rc"
    fi
    RC=$(cat "$file.rc")
    OUT=$(cat "$file.out")
    ERR=$(cat "$file.err")
}

# exited NAME CODE: checks the exit status of the last try.
exited() {
    [ "$RC" = "$2" ]
    ok "$1" $? "exit status $RC, want $2"$'\n'"$ERR"$'\n'"$OUT"
}

# exits NAME CODE COMMAND...: like try, and checks the exit status.
exits() {
    local name=$1 want=$2
    shift 2
    try "$@"
    [ "$RC" = "$want" ]
    ok "$name" $? "exit status $RC, want $want, of: $*"$'\n'"$ERR"$'\n'"$OUT"
}

# one_line NAME TEXT: checks that an error is one line.
one_line() {
    is "$1" "$(grep -c . <<<"$2")" 1
}

# until_true SECONDS COMMAND...: polls, for conditions that signal no event. It fails at the deadline, which is at least two
# minutes: a long deadline costs nothing if all is well, and sanitizers on a busy machine take ten times as long.
until_true() {
    local deadline=$((SECONDS + ($1 > 120 ? $1 : 120))) never rc=0
    shift
    [ -p "$TMPDIR/.never" ] || mkfifo "$TMPDIR/.never"
    exec {never}<>"$TMPDIR/.never"
    while ! "$@" {never}>&- >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || rc=1
        [ "$rc" = 0 ] || break
        read -rt 0.05 _ <&"$never" # sleep would be a process each time
    done
    exec {never}>&-
    return "$rc"
}

# Starts a private sshd with the host alias `loopback`; NODE is its folder. Its sessions have their own home, so that scripts
# do not meet in the account's. NODE_ENV: "NAME=VALUE ..." for the sessions. NODE_SSHD: a line of sshd's configuration that
# replaces CHEAP_KEX, because the key exchange that OpenSSH would choose costs 100 ms of a core per connection.
CHEAP_KEX="KexAlgorithms curve25519-sha256"
node_start() {
    local env="SHLVL=1 HOME=$TMPDIR/home-of-node ${NODE_ENV:-}" # SHLVL: see scripts/loopback-node
    [ ! -x "$BUILD/tests/bin/hipcc" ] || env="PATH=$BUILD/tests/bin:/usr/local/bin:/usr/bin:/bin:/usr/games $env"
    NODE=$TMPDIR/node
    mkdir -p "$NODE" "$TMPDIR/home-of-node"
    # Findings of sanitizers on the node must be reported as well.
    [ -z "${ASAN_OPTIONS:-}" ] || env="$env ASAN_OPTIONS=$ASAN_OPTIONS UBSAN_OPTIONS=${UBSAN_OPTIONS:-}"
    printf '%s\n' "SetEnv $env" "${NODE_SSHD-$CHEAP_KEX}" >"$NODE/sshd_extra.conf"
    scripts/loopback-node start "$NODE" >"$TMPDIR/node.log" 2>&1 || {
        diag "$(cat "$TMPDIR/node.log")"
        return 1
    }
    trap node_stop EXIT
}

node_restart() {
    scripts/loopback-node stop "$NODE" >/dev/null
    scripts/loopback-node start "$NODE" >/dev/null
}

node_stop() {
    [ -z "$NODE" ] || scripts/loopback-node stop "$NODE" >/dev/null 2>&1
    NODE=
}
