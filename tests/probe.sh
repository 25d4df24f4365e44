# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with tests/lib.sh and the scripts
# tests/probe.sh: uses a transport directly, without a run. Source it after tests/lib.sh, and set CONFIG, the ssh
# configuration.

PROBE=$BUILD/tests/transport_probe
BACKENDS=${BACKENDS:-libssh2 openssh}

# probe OPTION... NODE WORD...: sets OUT to the key=value lines. The probe never has a terminal.
probe() {
    try setsid -w "$PROBE" --ssh-config "$CONFIG" --connect-timeout 20 "$@"
}

# value KEY: its value in the last probe, or "no KEY".
value() {
    grep -q "^$1=" <<<"$OUT" || printf 'no %s\n' "$1"
    sed -n "s/^$1=//p" <<<"$OUT" | tail -n 1
}
