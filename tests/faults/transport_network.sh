#!/usr/bin/env bash
# The network goes away under a connection, in network namespaces of this test's own: the link down, and a black
# hole that takes every packet. Without a stall limit: it is the socket's options that must notice.
# timeout: 900
if [ -z "${IN_NAMESPACE:-}" ]; then
    why=$(unshare -n true 2>&1) || {
        printf '1..0 # SKIP no network namespaces here: %s\n' "$why"
        exit 0
    }
    IN_NAMESPACE=1 exec unshare -n "$0" "$@"
fi
. tests/lib.sh

PROBE=$BUILD/tests/transport_probe
BACKENDS=${BACKENDS:-libssh2 openssh}
HERE=10.231.7.1
THERE=10.231.7.2

# A second namespace for the node, a cable between them, and the private sshd at its end.
unshare -n sleep 850 &
HOLDER=$!
there() {
    nsenter -n -t "$HOLDER" "$@"
}
finish() {
    there scripts/loopback-node stop "$TMPDIR/node" >/dev/null 2>&1
    kill "$HOLDER"
}
trap finish EXIT

plug_in() {
    until_true 30 test "$(readlink /proc/self/ns/net)" != "$(readlink "/proc/$HOLDER/ns/net")" &&
        ip link set lo up && ip link add kshere type veth peer name ksthere &&
        ip link set ksthere netns "$HOLDER" && ip addr add "$HERE/24" dev kshere && ip link set kshere up &&
        there ip link set lo up && there ip addr add "$THERE/24" dev ksthere && there ip link set ksthere up
}
why=$(plug_in 2>&1) || skip_all "no virtual cable here: $why"
mkdir -p "$TMPDIR/node"
printf 'ListenAddress %s\n' "$THERE" >"$TMPDIR/node/sshd_extra.conf"
why=$(there scripts/loopback-node start "$TMPDIR/node" 2>&1) || skip_all "no private sshd: $why"
sed -i "s/127\.0\.0\.1/$THERE/" "$TMPDIR/node/ssh_config" "$TMPDIR/node/known_hosts"

cat >"$TMPDIR/linger" <<END
echo \$\$ >>'$TMPDIR/lingering'
echo started
exec sleep 300
END

value() {
    grep -q "^$1=" <<<"$OUT" || printf 'no %s\n' "$1"
    sed -n "s/^$1=//p" <<<"$OUT" | tail -n 1
}

link() {
    ip link set kshere "$1"
    there ip link set ksthere "$1"
}

# Frames go to an address that nobody has, in both directions.
hole() {
    case $1 in
    down)
        ip neigh replace "$THERE" lladdr 02:00:00:00:00:99 dev kshere nud permanent
        there ip neigh replace "$HERE" lladdr 02:00:00:00:00:98 dev ksthere nud permanent
        ;;
    up)
        ip neigh del "$THERE" dev kshere
        there ip neigh del "$HERE" dev ksthere
        ;;
    esac
}

# away HOW OPTION... WORD...: runs the probe; once output has come, the network is gone.
away() {
    local how=$1
    shift
    rm -f "$TMPDIR/mark"
    "$PROBE" --ssh-config "$TMPDIR/node/ssh_config" --mark "$TMPDIR/mark" --deadline 120 "$@" >"$TMPDIR/away" &
    until_true 60 test -e "$TMPDIR/mark"
    "$how" down
}

# noticed NAME: the probe ends by itself, long before its deadline.
noticed() {
    wait $! || true
    OUT=$(cat "$TMPDIR/away")
    is "$1" "$(value link_lost) $(value timed_out) $(value kind)" "1 0 node" || diag "$OUT"
    one_line "$1: in one line" "$(value error)"
}

# The command ends when the fault is over, whether its first connection lived to see that or a second one had
# to be made.
comes_back() {
    rm -f "$TMPDIR/over"
    away hole --backend "$1" --reconnect --patience 100 loopback sh -c \
        "echo; while ! [ -e '$TMPDIR/over' ]; do sleep 0.1; done"
    sleep 20 # how long the fault lasts, not a wait for anything
    hole up
    : >"$TMPDIR/over"
    wait $! || true
    OUT=$(cat "$TMPDIR/away")
    is "$1: a hole for 20 s: it goes on" "$(value exit_code)" 0 || diag "$OUT"
}

for backend in $BACKENDS; do
    away link --backend "$backend" loopback sh "$TMPDIR/linger"
    noticed "$backend: link down while idle"
    link up
    away hole --backend "$backend" loopback sh "$TMPDIR/linger"
    noticed "$backend: a hole while idle"
    hole up
    away hole --backend "$backend" loopback cat /dev/zero
    noticed "$backend: a hole while receiving"
    hole up
    away hole --backend "$backend" --send 100000000000 loopback sh -c 'echo; exec cat >/dev/null'
    noticed "$backend: a hole while sending"
    try "$PROBE" --backend "$backend" --ssh-config "$TMPDIR/node/ssh_config" --connect-timeout 2 loopback true
    is "$backend: a hole while connecting" "$(value kind)" node
    hole up
    comes_back "$backend"
done
xargs kill <"$TMPDIR/lingering" 2>/dev/null
done_testing
