#!/usr/bin/env bash
# Lines that delay, stall, freeze, break and lie: what a transport notices, and how soon.
. tests/lib.sh
. tests/probe.sh
. tests/line.sh

# The key exchange that OpenSSH itself chooses: lines are cut in the middle of it.
NODE_SSHD="" node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"

trap 'line_end; node_stop' EXIT

# lost WHEN: the last probe lost its link, and says so in one line that names the node.
lost() {
    is "the link is lost when $1" "$(value rc) $(value link_lost) $(value kind)" "-1 1 node"
    one_line "the error is one line when $1" "$(value error)"
    like "the error names the node when $1" "$(value error)" '@127\.0\.0\.1:[0-9]+'
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

stalls() {
    line --rtt 200 --stall-every 2 --stall-for 1
    probe --backend "$1" --stall 20 --send 8000000 loopback cat
    is "8 MB sent come back as they were" "$(value received) $(value out_sha256)" "8000000 $(value in_sha256)"
}

narrow() {
    line --rtt 20 --rate 2000000
    probe --backend "$1" --stall 20 --send 4000000 loopback cat
    is "4 MB sent come back as they were" "$(value received) $(value out_sha256)" "4000000 $(value in_sha256)"
}

broken_transfers() {
    line
    during freeze --backend "$1" --stall 3 loopback cat /dev/zero
    lost "the line is frozen"
    like "the error says for how long nothing came when the line is frozen" "$(value error)" 'nothing moved for 3 s'
    line
    rm -f "$TMPDIR/cut"
    during cut --backend "$1" --reconnect --deadline 60 loopback sh -c \
        "if [ -e '$TMPDIR/cut' ]; then echo again; exit 0; fi; : >'$TMPDIR/cut'; cat /dev/zero"
    is "--reconnect connects again when the line is cut" "$(grep -c '^link_lost=1' <<<"$OUT") $(value exit_code)" "1 0"
    probe --backend "$1" --stall 1 --least 1000 loopback sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do printf x; sleep 0.2; done'
    is "a line that trickles counts as lost" "$RC $(value link_lost)" "1 1"
    like "the error says how little moved" "$(value error)" 'fewer than 1000 bytes moved in 1 s'
    during garbage --backend "$1" --stall 10 loopback cat /dev/zero
    lost "a byte is changed"
}

broken_handshakes() {
    line --cut-after 1500
    probe --backend "$1" loopback true
    is "a cut line is an error of the node" "$RC $(value kind)" "1 node"
    line --cut-after 1500
    probe --backend "$1" --patience 60 loopback true
    is "--patience connects again after a cut" "$(value exit_code)" 0
    like "--patience says that it tries again after a cut" "$OUT" '^notice=.*retrying'
    line --garbage-after 1200
    probe --backend "$1" loopback true
    is "a changed byte is an error of the node" "$RC $(value kind)" "1 node"
}

silent_lines() {
    line
    say freeze
    probe --backend "$1" --connect-timeout 2 loopback true
    is "it is an error of the node" "$RC $(value kind)" "1 node"
    one_line "the error is one line" "$(value error)"
    "$PROBE" --backend "$1" --ssh-config "$CONFIG" --connect-timeout 2 --patience 120 loopback true >"$TMPDIR/late" &
    until_true 60 grep -q retrying "$TMPDIR/late"
    say thaw
    wait $!
    ok "--patience connects when the line answers again" $? "$(cat "$TMPDIR/late")"
}

# A source tree of 30 MB.
tree() {
    mkdir -p "$TMPDIR/tree"
    head -c 30000000 /dev/urandom >"$TMPDIR/tree/big"
}

# The other side sees the end of its input, or nothing at all; it must not take half a tree for a whole one.
cut_push() {
    needs tree
    line --rate 8000000
    rm -rf "$TMPDIR/half" "$TMPDIR/mark"
    mkdir "$TMPDIR/half"
    "$PROBE" --backend "$1" --ssh-config "$CONFIG" --mark "$TMPDIR/mark" --push "$TMPDIR/tree" loopback \
        sh -c "echo started; cat >'$TMPDIR/half/part' && mv '$TMPDIR/half/part' '$TMPDIR/half/whole'" >"$TMPDIR/during" &
    until_true 60 test -s "$TMPDIR/half/part"
    say cut
    wait $! || true
    OUT=$(cat "$TMPDIR/during")
    is "the link is lost" "$(value link_lost)" 1
}

cut_pull() {
    needs tree
    line --rate 8000000
    rm -rf "$TMPDIR/pulled"
    rm -f "$TMPDIR/mark"
    during cut --backend "$1" --pull "$TMPDIR/pulled" loopback tar -C "$TMPDIR/tree" -cf - .
    is "the link is lost" "$(value link_lost)" 1
    is "no file is extracted" "$(find "$TMPDIR/pulled" -type f | wc -l)" 0
    probe --backend "$1" --pull "$TMPDIR/pulled" loopback tar -C "$TMPDIR/tree" -cf - .
    is "a second pull exits 0" "$(value exit_code)" 0
    passes "a second pull brings the same bytes" cmp -s "$TMPDIR/tree/big" "$TMPDIR/pulled/big"
}

# no_ssh BACKEND COMMAND: what answers at the port is the command.
no_ssh() {
    line --exec "$2"
    probe --backend "$1" --connect-timeout 3 loopback true
    is "it is an error of the node" "$RC $(value kind)" "1 node"
    one_line "the error is one line" "$(value error)"
    is "the output has no control character" "$(tr -d '\n' <<<"$OUT" | LC_ALL=C tr -d '[:print:]' | wc -c)" 0
}

for backend in $BACKENDS; do
    scenario "$backend over a line with 200 ms of delay and stalls" stalls "$backend"
    scenario "$backend over a line of 2 MB/s" narrow "$backend"
    scenario "$backend over a line that breaks in a transfer" broken_transfers "$backend"
    scenario "$backend over a line that breaks in the handshake" broken_handshakes "$backend"
    scenario "$backend over a line that accepts connections and says nothing" silent_lines "$backend"
    scenario "$backend over a line that is cut in a push" cut_push "$backend"
    scenario "$backend over a line that is cut in a pull" cut_pull "$backend"
    for server in 'echo HTTP/1.1 400 Bad Request' "printf '\\033[2J\\033]0;gone\\007 SSH-1.0\\r\\n'; exec sleep 10" \
        'exec sleep 10' 'exec cat /dev/urandom' 'exec yes SSH-2.0-endless'; do
        scenario "$backend against a server that is not SSH ($server)" no_ssh "$backend" "$server"
    done
done
done_testing
