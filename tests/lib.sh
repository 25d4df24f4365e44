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
# relies on another scenario. That is what `tests/run --only TITLE` stands on, and `tests/run --each` holds scripts to it.
#
# tests/run gives a script BUILD, KERNSWEEP, TMPDIR and HOME. Without done_testing there is no plan and the script counts as
# failed, so that one that dies half-way is never taken for a success.
set -u

# gojq starts in a tenth of jq's time. It sorts the keys of what it writes: where their order matters, say `command jq`.
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

# scenario TITLE FUNCTION [ARGUMENT...]: the function's checks, unless others are asked for (tests/run --only, --titles). A
# function that fails, or checks nothing, fails the scenario, so that "|| return 1" never passes for a success.
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
# which has the titles of its checks.
chosen() {
    [ -z "${TESTS_ONLY:-}" ] || [[ $1 == *"$TESTS_ONLY"* || $TESTS_ONLY == "$1: "* ]] ||
        grep -qF -- "$TESTS_ONLY" <<<"$(declare -f "${2:-true}")"
}

# needs FUNCTION [ARGUMENT...]: set-up that scenarios share: done once in a script, for whichever asks first.
needs() {
    [ -z "${MADE[$*]:-}" ] || return 0
    MADE[$*]=1
    "$@" || ok "set-up: $*" 1
}

# ok NAME RC: the test passed when RC is 0. Further arguments are shown when it did not.
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

# skip_scenario TITLE REASON: for one that cannot run here.
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
    [[ $2 != *$'\n'* && $2 =~ $3 ]] || grep -Eq -- "$3" <<<"$2" # the shell is faster, but knows no lines
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

# try_once KEY COMMAND...: as try, but the command runs once in a script; later calls get the same RC, OUT and ERR.
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

# exited NAME CODE: the exit status of the last try is a test.
exited() {
    [ "$RC" = "$2" ]
    ok "$1" $? "exit status $RC, want $2"$'\n'"$ERR"$'\n'"$OUT"
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
    is "$1" "$(grep -c . <<<"$2")" 1
}

# until_true SECONDS COMMAND...: polls; for what has no event to wait for. Fails at the deadline, which is two minutes at least:
# waiting costs nothing where all is well, and sanitizers on a machine with others at work take ten times as long.
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

# The store of a script's own, or of a scenario's own.
DB=$TMPDIR/results.db
KS_OPTIONS=()

# ks COMMAND...: the command, with that store
ks() {
    "$KERNSWEEP" "$@" --db "$DB" "${KS_OPTIONS[@]}"
}

sql() {
    sqlite3 -batch -noheader "$DB" "$1"
}

# A private sshd whose host alias is `loopback`; NODE is its folder, and its sessions have a home of their own, so that scripts
# do not meet in the account's. NODE_ENV: "NAME=VALUE ..." for them. NODE_SSHD: a line for sshd's configuration instead of this one:
# the key exchange that OpenSSH chooses takes each connection 100 ms of a core.
CHEAP_KEX="KexAlgorithms curve25519-sha256"
node_start() {
    local env="SHLVL=1 HOME=$TMPDIR/home-of-node ${NODE_ENV:-}" # SHLVL: see scripts/loopback-node
    [ ! -x "$BUILD/tests/bin/hipcc" ] || env="PATH=$BUILD/tests/bin:/usr/local/bin:/usr/bin:/bin:/usr/games $env"
    NODE=$TMPDIR/node
    mkdir -p "$NODE" "$TMPDIR/home-of-node"
    # What a sanitizer finds on the node must come to light too.
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
