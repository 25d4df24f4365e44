# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/line.sh: a line to the node that delays, stalls, freezes and breaks on demand. Source it after tests/lib.sh; call
# line_end before the node stops.

PROXY=
CONFIG=

# line OPTION...: starts a proxy in front of the node; CONFIG connects through it, and words on the FIFO control it.
line() {
    line_end
    rm -f "$TMPDIR/port" "$TMPDIR/control"
    mkfifo "$TMPDIR/control"
    [ "${1:-}" = --exec ] || set -- --to "127.0.0.1:$(cat "$NODE/port")" "$@"
    "$BUILD/tests/faultproxy" --port-file "$TMPDIR/port" --control "$TMPDIR/control" "$@" &
    PROXY=$!
    until_true 30 test -s "$TMPDIR/port"
    via "$(cat "$TMPDIR/port")"
}

# via PORT: sets CONFIG to a configuration for the node at that local port.
via() {
    CONFIG=$TMPDIR/config.$1
    sed -e "s/^\( *Port\) .*/\1 $1/" -e "s|^\( *UserKnownHostsFile\) .*|\1 $TMPDIR/known.$1|" "$NODE/ssh_config" >"$CONFIG"
    sed "s/^\[127.0.0.1\]:[0-9]*/[127.0.0.1]:$1/" "$NODE/known_hosts" >"$TMPDIR/known.$1"
}

say() {
    printf '%s\n' "$1" >"$TMPDIR/control"
}

line_end() {
    [ -z "$PROXY" ] || say quit
    [ -z "$PROXY" ] || wait "$PROXY"
    PROXY=
}
