# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/network.sh: a private network that can fail: two namespaces, a cable between them, and the private sshd at its far
# end. A script calls network_own before anything else, then sources tests/lib.sh and calls network_up; the node's
# configuration is then $TMPDIR/node/ssh_config. Call network_down at the end.

HERE=10.231.7.1
THERE=10.231.7.2
HOLDER=

# network_own SCRIPT: continues in a new namespace, or skips the script.
network_own() {
    local why
    [ -z "${IN_NAMESPACE:-}" ] || return 0
    why=$(unshare -n true 2>&1) || {
        printf '1..0 # SKIP no network namespaces here: %s\n' "$why"
        exit 0
    }
    IN_NAMESPACE=1 exec unshare -n "$@"
}

there() {
    nsenter -n -t "$HOLDER" "$@"
}

plug_in() {
    until_true 30 test "$(readlink /proc/self/ns/net)" != "$(readlink "/proc/$HOLDER/ns/net")" &&
        ip link set lo up && ip link add kshere type veth peer name ksthere &&
        ip link set ksthere netns "$HOLDER" && ip addr add "$HERE/24" dev kshere && ip link set kshere up &&
        there ip link set lo up && there ip addr add "$THERE/24" dev ksthere && there ip link set ksthere up
}

network_up() {
    local why
    unshare -n sleep 850 &
    HOLDER=$!
    trap network_down EXIT
    why=$(plug_in 2>&1) || skip_all "no virtual cable here: $why"
    mkdir -p "$TMPDIR/node"
    printf 'ListenAddress %s\n%s\n' "$THERE" "$CHEAP_KEX" >"$TMPDIR/node/sshd_extra.conf"
    [ -z "${ASAN_OPTIONS:-}" ] || printf 'SetEnv SHLVL=1 ASAN_OPTIONS=%s UBSAN_OPTIONS=%s\n' "$ASAN_OPTIONS" \
        "${UBSAN_OPTIONS:-}" >>"$TMPDIR/node/sshd_extra.conf"
    why=$(there scripts/loopback-node start "$TMPDIR/node" 2>&1) || skip_all "no private sshd: $why"
    sed -i "s/127\.0\.0\.1/$THERE/" "$TMPDIR/node/ssh_config" "$TMPDIR/node/known_hosts"
}

network_down() {
    there scripts/loopback-node stop "$TMPDIR/node" >/dev/null 2>&1
    kill "$HOLDER"
}

# cable_rate BYTES_PER_S: limits both directions.
cable_rate() {
    tc qdisc replace dev kshere root tbf rate "$(($1 * 8))" burst 64kb latency 400ms
    there tc qdisc replace dev ksthere root tbf rate "$(($1 * 8))" burst 64kb latency 400ms
}

# Each of the following faults takes the argument down or up.
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

# The far end's firewall silently drops every packet, in both directions.
drops() {
    case $1 in
    down)
        there nft -f - <<'END'
table inet kernsweep {
    chain in { type filter hook input priority 0; policy drop; }
    chain out { type filter hook output priority 0; policy drop; }
}
END
        ;;
    up) there nft delete table inet kernsweep ;;
    esac
}

# Succeeds if such a firewall is possible, otherwise prints why not.
drops_work() {
    local why
    if why=$(drops down 2>&1); then
        drops up
        return 0
    fi
    printf '%s\n' "${why%%$'\n'*}"
    return 1
}

# for_20_s FAULT: the sleep is the duration of the fault, not a wait for anything.
for_20_s() {
    "$1" down
    sleep 20
    "$1" up
}
