# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/probe.sh: a transport driven by hand, without a run. Source it after tests/lib.sh, and set CONFIG, the ssh configuration.

PROBE=$BUILD/tests/transport_probe
BACKENDS=${BACKENDS:-libssh2 openssh}

# probe OPTION... NODE WORD...: leaves the key=value lines in OUT. It has no terminal, whatever the tests run on.
probe() {
    try setsid -w "$PROBE" --ssh-config "$CONFIG" --connect-timeout 20 "$@"
}

# value KEY: of the last probe; "no KEY" when it said nothing of the kind.
value() {
    grep -q "^$1=" <<<"$OUT" || printf 'no %s\n' "$1"
    sed -n "s/^$1=//p" <<<"$OUT" | tail -n 1
}
