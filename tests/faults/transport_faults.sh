#!/usr/bin/env bash
# Lines that delay, stall, freeze, break and lie: what a transport notices, and how soon.
# timeout: 900
. tests/lib.sh
. tests/line.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
PROBE=$BUILD/tests/transport_probe
BACKENDS=${BACKENDS:-libssh2 openssh}

finish() {
    line_end
    node_stop
}
trap finish EXIT

probe() {
    try "$PROBE" --ssh-config "$CONFIG" --connect-timeout 20 "$@"
}

value() {
    grep -q "^$1=" <<<"$OUT" || printf 'no %s\n' "$1"
    sed -n "s/^$1=//p" <<<"$OUT" | tail -n 1
}

# lost NAME: the last probe lost its link, and says so in one line that names the node.
lost() {
    is "$1: the link is lost" "$(value rc) $(value link_lost) $(value kind)" "-1 1 node"
    one_line "$1: in one line" "$(value error)"
    like "$1: that names the node" "$(value error)" '@127\.0\.0\.1:[0-9]+'
}

# during WORD OPTION... NODE WORD...: runs the probe and says WORD to the line once output has come.
during() {
    local word=$1
    shift
    rm -f "$TMPDIR/mark"
    "$PROBE" --ssh-config "$CONFIG" --connect-timeout 20 --mark "$TMPDIR/mark" "$@" >"$TMPDIR/during" &
    until_true 60 test -e "$TMPDIR/mark"
    say "$word"
    wait $! || true
    OUT=$(cat "$TMPDIR/during")
}

slow_lines() {
    line --rtt 200 --stall-every 2 --stall-for 1
    probe --backend "$1" --stall 20 --send 8000000 loopback cat
    is "$1: 200 ms and a stall every other second: all arrives" "$(value received) $(value out_sha256)" \
        "8000000 $(value in_sha256)"
    line --rtt 20 --rate 2000000
    probe --backend "$1" --stall 20 --send 4000000 loopback cat
    is "$1: a narrow line: all arrives" "$(value received) $(value out_sha256)" "4000000 $(value in_sha256)"
}

broken_lines() {
    line
    during freeze --backend "$1" --stall 3 loopback cat /dev/zero
    lost "$1: frozen in a transfer"
    like "$1: frozen in a transfer: says how long nothing came" "$(value error)" 'nothing moved for 3 s'
    line
    during cut --backend "$1" --reconnect --deadline 60 loopback sh -c \
        "if [ -e '$TMPDIR/cut.$1' ]; then echo again; exit 0; fi; : >'$TMPDIR/cut.$1'; cat /dev/zero"
    is "$1: cut in a transfer: noticed, and made again" "$(grep -c '^link_lost=1' <<<"$OUT") $(value exit_code)" "1 0"
    during garbage --backend "$1" --stall 10 loopback cat /dev/zero
    lost "$1: a changed byte"
    line --cut-after 1500
    probe --backend "$1" loopback true
    is "$1: cut in the handshake" "$RC $(value kind)" "1 node"
    line --cut-after 1500
    probe --backend "$1" --patience 60 loopback true
    is "$1: cut in the handshake, with patience" "$(value exit_code)" 0
    like "$1: cut in the handshake, with patience: says that it tries again" "$OUT" '^notice=.*retrying'
    line --garbage-after 1200
    probe --backend "$1" loopback true
    is "$1: a changed byte in the handshake" "$RC $(value kind)" "1 node"
}

silent_lines() {
    line
    say freeze
    probe --backend "$1" --connect-timeout 2 loopback true
    is "$1: a line that takes connections and says nothing" "$RC $(value kind)" "1 node"
    one_line "$1: a line that says nothing: one line" "$(value error)"
    "$PROBE" --backend "$1" --ssh-config "$CONFIG" --connect-timeout 2 --patience 120 loopback true >"$TMPDIR/late" &
    until_true 60 grep -q retrying "$TMPDIR/late"
    say thaw
    wait $!
    ok "$1: and patience sees it thaw" $? "$(cat "$TMPDIR/late")"
}

# A half-sent tree: the other side sees the end of its input, or nothing at all; it must not take it for whole.
half_a_tree() {
    mkdir -p "$TMPDIR/tree"
    head -c 30000000 /dev/urandom >"$TMPDIR/tree/big"
    line --rate 8000000
    rm -rf "$TMPDIR/half" "$TMPDIR/mark"
    mkdir "$TMPDIR/half"
    "$PROBE" --backend "$1" --ssh-config "$CONFIG" --mark "$TMPDIR/mark" --push "$TMPDIR/tree" loopback \
        sh -c "echo started; cat >'$TMPDIR/half/part' && mv '$TMPDIR/half/part' '$TMPDIR/half/whole'" >"$TMPDIR/during" &
    until_true 60 test -s "$TMPDIR/half/part"
    say cut
    wait $! || true
    OUT=$(cat "$TMPDIR/during")
    is "$1: cut in a push: the link is lost" "$(value link_lost)" 1
    rm -rf "$TMPDIR/pulled"
    rm -f "$TMPDIR/mark"
    during cut --backend "$1" --pull "$TMPDIR/pulled" loopback tar -C "$TMPDIR/tree" -cf - .
    is "$1: cut in a pull: the link is lost" "$(value link_lost)" 1
    is "$1: cut in a pull: nothing was extracted" "$(find "$TMPDIR/pulled" -type f | wc -l)" 0
    probe --backend "$1" --pull "$TMPDIR/pulled" loopback tar -C "$TMPDIR/tree" -cf - .
    is "$1: a second pull is whole" "$(value exit_code)" 0
    cmp -s "$TMPDIR/tree/big" "$TMPDIR/pulled/big"
    ok "$1: and the same" $?
}

# Something that is no SSH server: a line of text, a hostile one, silence, and noise without end.
no_ssh() {
    local server
    for server in 'echo HTTP/1.1 400 Bad Request' "printf '\\033[2J\\033]0;gone\\007 SSH-1.0\\r\\n'; exec sleep 10" \
        'exec sleep 10' 'exec cat /dev/urandom' 'exec yes SSH-2.0-endless'; do
        line --exec "$server"
        probe --backend "$1" --connect-timeout 3 loopback true
        is "$1: not an SSH server ($server): refused" "$RC $(value kind)" "1 node"
        one_line "$1: not an SSH server ($server): one line" "$(value error)"
        is "$1: not an SSH server ($server): nothing raw" "$(tr -d '\n' <<<"$OUT" | LC_ALL=C tr -d '[:print:]' | wc -c)" 0
    done
}

for backend in $BACKENDS; do
    slow_lines "$backend"
    broken_lines "$backend"
    silent_lines "$backend"
    half_a_tree "$backend"
    no_ssh "$backend"
done
done_testing
