#!/usr/bin/env bash
# The network goes away under a connection: the link down, a black hole that takes every packet, and a firewall that drops
# them. Without a stall limit: it is the socket's options that must notice.
. tests/network.sh
network_own "$0" "$@"
. tests/lib.sh
. tests/probe.sh

network_up

cat >"$TMPDIR/linger" <<END
echo \$\$ >>'$TMPDIR/lingering'
echo started
exec sleep 300
END

# away HOW OPTION... WORD...: runs the probe; once output has come, the network is gone.
away() {
    local how=$1
    shift
    rm -f "$TMPDIR/mark"
    "$PROBE" --ssh-config "$TMPDIR/node/ssh_config" --mark "$TMPDIR/mark" --deadline 120 "$@" >"$TMPDIR/away" &
    until_true 60 test -e "$TMPDIR/mark"
    "$how" down
}

# noticed: the probe ends by itself, long before its deadline.
noticed() {
    wait $! || true
    OUT=$(cat "$TMPDIR/away")
    is "the link is lost before the deadline" "$(value link_lost) $(value timed_out) $(value kind)" "1 0 node" || diag "$OUT"
    one_line "the error is one line" "$(value error)"
}

# comes_back BACKEND FAULT: the command ends when the fault is over, whether its first connection lived to see that or a
# second one had to be made.
comes_back() {
    rm -f "$TMPDIR/over"
    away : --backend "$1" --reconnect --patience 100 loopback sh -c \
        "echo; while ! [ -e '$TMPDIR/over' ]; do sleep 0.1; done"
    for_20_s "$2"
    : >"$TMPDIR/over"
    wait $! || true
    OUT=$(cat "$TMPDIR/away")
    is "the command exits 0" "$(value exit_code)" 0 || diag "$OUT"
}

# goes_away FAULT OPTION... WORD...: the probe notices it.
goes_away() {
    away "$@"
    noticed
    "$1" up
}

away_at_start() {
    hole down
    try "$PROBE" --backend "$1" --ssh-config "$TMPDIR/node/ssh_config" --connect-timeout 2 loopback true
    is "it is an error of the node" "$(value kind)" node
    hole up
}

no_drops=$(drops_work) && no_drops=
: >"$TMPDIR/lingering"
for backend in $BACKENDS; do
    scenario "$backend with the link down while idle" goes_away link --backend "$backend" loopback sh "$TMPDIR/linger"
    scenario "$backend with a black hole while idle" goes_away hole --backend "$backend" loopback sh "$TMPDIR/linger"
    scenario "$backend with a black hole while receiving" goes_away hole --backend "$backend" loopback cat /dev/zero
    scenario "$backend with a black hole while sending" goes_away hole --backend "$backend" --send 100000000000 loopback \
        sh -c 'echo; exec cat >/dev/null'
    scenario "$backend with a black hole while connecting" away_at_start "$backend"
    scenario "$backend with the link down for 20 s and --patience" comes_back "$backend" link
    if [ -n "$no_drops" ]; then
        skip_scenario "$backend with a firewall that drops all" "no nft rules here: $no_drops"
        continue
    fi
    scenario "$backend with a firewall that drops all while idle" goes_away drops --backend "$backend" loopback sh "$TMPDIR/linger"
    scenario "$backend with a firewall that drops all for 20 s and --patience" comes_back "$backend" drops
done
xargs -r kill <"$TMPDIR/lingering" 2>/dev/null
done_testing
