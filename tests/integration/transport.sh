#!/usr/bin/env bash
# Commands through every transport: their arguments, input, output and exit status, and the messages when they fail.
. tests/lib.sh
. tests/probe.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
CONFIG=$NODE/ssh_config

# node_of BACKEND: what it leads to
node_of() {
    if [ "$1" = local ]; then echo local; else echo loopback; fi
}

# Every back-end gives the same answers.
same_answers() {
    local via=(--backend "$1") there
    there=$(node_of "$1")
    probe "${via[@]}" "$there" true
    is "true exits 0" "$(value rc) $(value exited) $(value exit_code)" "0 1 0"
    probe "${via[@]}" "$there" sh -c 'exit 7'
    is "exit 7 exits 7" "$(value rc) $(value exited) $(value exit_code)" "0 1 7"
    probe "${via[@]}" "$there" sh -c 'kill -TERM $$'
    is "a command that a signal ends has the signal and no exit code" "$(value rc) $(value exited) $(value signal)" "0 0 TERM"
    probe "${via[@]}" "$there" no-such-command-here
    is "a command that does not exist exits 127" "$(value rc) $(value exit_code)" "0 127"
    probe "${via[@]}" "$there" sh -c 'head -c 20000000 /dev/zero >&2; echo end'
    is "20 MB of stderr do not block stdout" "$(value received) $(value stderr_len)" "20000004 4096"
    probe "${via[@]}" --send 67108864 "$there" cat
    is "64 MiB sent come back" "$(value received)" 67108864
    is "64 MiB sent come back as the same bytes" "$(value out_sha256)" "$(value in_sha256)"
    probe "${via[@]}" --send 30000000 "$there" true
    is "a command that does not read its input exits 0" "$(value rc) $(value exit_code)" "0 0"
    probe "${via[@]}" --send 5000000 "$there" sh -c "exec >&- 2>&-; cat >'$TMPDIR/silent'"
    is "input arrives after the command has closed its output" \
        "$(sha256sum <"$TMPDIR/silent" | cut -d ' ' -f 1)" "$(value in_sha256)"
    probe "${via[@]}" --times 20 "$there" true
    is "20 commands run on one connection" "$(grep -c '^exit_code=0$' <<<"$OUT")" 20
    probe "${via[@]}" --deadline 1 "$there" sh "$TMPDIR/linger"
    is "a deadline ends the wait" "$(value rc) $(value timed_out) $(value kind)" "-1 1 node"
    like "a deadline's error names the command and the time" "$(value error)" 'not done within 1 s: .*linger'
    words_arrive "$1"
    interrupted_at_once "$1"
}

# Each word as it is, whatever a shell would make of it.
words_arrive() {
    # shellcheck disable=SC1003,SC2016 # meant literally
    local there words=("a b" "it's" '"' '$(touch '"$TMPDIR"'/pwned)' '`id`' ';' '&&' '*' '' $'two\nlines' '-n' '\' $'tab\t' 'é' '%s' '!x' '~')
    there=$(node_of "$1")
    probe --backend "$1" --stdout "$TMPDIR/words" "$there" printf '%s\0' "${words[@]}"
    printf '%s\0' "${words[@]}" | cmp -s - "$TMPDIR/words"
    ok "words with quotes, blanks and shell characters arrive as they are" $? "$(od -c "$TMPDIR/words")"
    [ ! -e "$TMPDIR/pwned" ]
    ok "words of shell syntax are not run" $?
}

interrupted_at_once() {
    local pid rc=0
    rm -f "$TMPDIR/mark"
    "$PROBE" --backend "$1" --ssh-config "$CONFIG" --mark "$TMPDIR/mark" "$(node_of "$1")" \
        sh "$TMPDIR/linger" >"$TMPDIR/interrupted" &
    pid=$!
    until_true 30 test -e "$TMPDIR/mark"
    kill -INT "$pid"
    wait "$pid" || rc=$?
    OUT=$(cat "$TMPDIR/interrupted")
    is "SIGINT ends a wait" "$rc $(value kind)" "1 interrupted"
}

# A command that is given up on goes on at the node; it is ended at the end.
: >"$TMPDIR/lingering"
cat >"$TMPDIR/linger" <<END
echo \$\$ >>'$TMPDIR/lingering'
echo started
exec sleep 300
END

# A command that finds the sshd process of its own connection, tells it, and then sends without end.
cat >"$TMPDIR/stream" <<'END'
p=$PPID
until grep -q "^sshd" /proc/$p/comm; do p=$(cut -d ' ' -f 4 /proc/$p/stat); done
echo $p >"$1"
exec cat /dev/zero
END

# lose SIGNAL BACKEND: starts the stream, and signals its sshd once bytes flow.
lose() {
    local pid rc=0
    rm -f "$TMPDIR/mark" "$TMPDIR/sshd"
    "$PROBE" --backend "$2" --ssh-config "$CONFIG" --stall 3 --mark "$TMPDIR/mark" loopback \
        sh "$TMPDIR/stream" "$TMPDIR/sshd" >"$TMPDIR/lost" &
    pid=$!
    until_true 30 test -e "$TMPDIR/mark"
    kill "-$1" "$(cat "$TMPDIR/sshd")"
    wait "$pid" || rc=$?
    OUT=$(cat "$TMPDIR/lost")
    is "the link is lost when sshd gets SIG$1" "$(value rc) $(value link_lost) $(value kind)" "-1 1 node"
    one_line "the error about it is one line" "$(value error)"
    kill -KILL "$(cat "$TMPDIR/sshd")" 2>/dev/null || true
}

# The sshd of the first connection is killed by its own command; the second goes on.
reconnects() {
    rm -f "$TMPDIR/once"
    probe --backend "$1" --reconnect loopback sh -c "if [ -e '$TMPDIR/once' ]; then echo again; exit 5; fi
        touch '$TMPDIR/once'; p=\$PPID
        until grep -q '^sshd' /proc/\$p/comm; do p=\$(cut -d ' ' -f 4 /proc/\$p/stat); done
        kill -KILL \$p; exec sleep 2"
    is "the second connection runs the command to its end" "$(grep -c '^link_lost=1' <<<"$OUT") $(value exit_code)" "1 5"
}

# refused BACKEND NAME PATTERN: a connection now fails at once with one line like PATTERN.
refused() {
    probe --backend "$1" --patience 60 loopback true
    is "the $2 is refused" "$RC $(value kind)" "1 node"
    like "the error about the $2 says what it is" "$(value error)" "$3"
    one_line "the error about the $2 is one line" "$(value error)"
    unlike "the $2 is not tried again" "$OUT" '^notice=.*retrying'
}

# A key pair that the node does not know.
other_key() {
    ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/other"
}

host_keys() {
    local name key
    name=$(cut -d ' ' -f 1 "$NODE/known_hosts")
    key=$(cut -d ' ' -f 2,3 "$NODE/known_hosts")
    cp "$NODE/known_hosts" "$TMPDIR/good"
    needs other_key
    : >"$NODE/known_hosts"
    refused "$1" "unknown host key" 'SHA256:.*kernsweep nodes trust loopback'
    printf '%s %s\n' "$name" "$(cut -d ' ' -f 1,2 "$TMPDIR/other.pub")" >"$NODE/known_hosts"
    refused "$1" "changed host key" 'CHANGED'
    printf '@revoked * %s\n%s %s\n' "$key" "$name" "$key" >"$NODE/known_hosts"
    refused "$1" "revoked host key" '[Rr]evoked'
    printf 'junk line\n|1|broken\n\n# comment\n*.example.org,[127.0.0.*]:* %s\n' "$key" >"$NODE/known_hosts"
    probe --backend "$1" loopback true
    is "a wildcard line after junk is found" "$(value rc)" 0
    cp "$TMPDIR/good" "$NODE/known_hosts"
    ssh-keygen -q -H -f "$NODE/known_hosts" >/dev/null 2>&1
    rm -f "$NODE/known_hosts.old"
    unlike "ssh-keygen -H has hashed the name" "$(cat "$NODE/known_hosts")" '127\.0\.0\.1'
    probe --backend "$1" loopback true
    is "a hashed name is found" "$(value rc)" 0
    cp "$TMPDIR/good" "$NODE/known_hosts"
}

wrong_key() {
    needs other_key
    mv "$NODE/user_key" "$TMPDIR/user_key"
    cp "$TMPDIR/other" "$NODE/user_key"
    refused "$1" "wrong user key" 'user_key'
    mv "$TMPDIR/user_key" "$NODE/user_key"
}

# The pauses between tries, as they are announced.
pauses() {
    sed -n 's/.*; retrying in \([0-9.]*\) s.*/\1/p' "$@"
}

backs_off() {
    local i pids=()
    scripts/loopback-node stop "$NODE" >/dev/null
    probe --backend libssh2 --patience 6 loopback true
    is "each pause is about twice the last" "$(pauses <<<"$OUT" |
        awk '{ nominal = 0.5 * 2 ^ (NR - 1); print ($1 >= nominal * 0.6 && $1 <= nominal * 1.4) }' | sort | uniq -c | awk '{ print ($1 >= 3), $2 }')" "1 1"
    for i in {1..8}; do
        "$PROBE" --backend libssh2 --ssh-config "$CONFIG" --patience 4 loopback true >"$TMPDIR/pause.$i" &
        pids+=($!)
    done
    wait "${pids[@]}"
    for i in {1..8}; do pauses "$TMPDIR/pause.$i" | head -n 2 | xargs; done | sort -u >"$TMPDIR/pauses"
    is "eight harnesses do not pause alike" "$(($(wc -l <"$TMPDIR/pauses") > 1))" 1
    scripts/loopback-node start "$NODE" >/dev/null
}

unreachable() {
    scripts/loopback-node stop "$NODE" >/dev/null
    probe --backend "$1" loopback true
    is "a refused port is an error of the node" "$RC $(value kind)" "1 node"
    like "the error about a refused port says so" "$(value error)" '127\.0\.0\.1.*[Rr]efused'
    "$PROBE" --backend "$1" --ssh-config "$CONFIG" --patience 100 loopback true >"$TMPDIR/late" &
    until_true 30 grep -q retrying "$TMPDIR/late"
    scripts/loopback-node start "$NODE" >/dev/null
    wait $!
    ok "--patience connects when the node is back" $? "$(cat "$TMPDIR/late")"
    probe --backend "$1" --connect-timeout 2 nobody@192.0.2.1:22 true
    is "an unreachable address is an error of the node" "$RC $(value kind)" "1 node"
    like "the error about an unreachable address names it" "$(value error)" 'nobody@192\.0\.2\.1:22'
}

# As under cron, where bash takes a socket as input for a login from afar.
bashrc() {
    mkdir -p "$TMPDIR/home"
    echo "touch '$TMPDIR/read'; sleep 30" >"$TMPDIR/home/.bashrc"
    (export HOME=$TMPDIR/home SHELL=/bin/bash SHLVL=0 && probe --backend openssh loopback true && value rc) >"$TMPDIR/cron"
    is "a connection is made" "$(cat "$TMPDIR/cron")" 0
    passes "nothing of ~/.bashrc runs on this side" test ! -e "$TMPDIR/read"
}

bad_names() {
    probe --backend libssh2 'loop back' true
    is "one with a space is an input error" "$(value kind)" input
    probe --backend libssh2 -- '-oProxyCommand=touch x' true
    is "one that looks like an option is refused" "$RC" 2
}

scenario "commands over local" same_answers local
for backend in $BACKENDS; do
    scenario "commands over $backend" same_answers "$backend"
    scenario "a transfer over $backend whose sshd is killed" lose KILL "$backend"
    scenario "a transfer over $backend whose sshd is stopped" lose STOP "$backend"
    scenario "a lost link over $backend that is made again" reconnects "$backend"
    scenario "host keys over $backend" host_keys "$backend"
    scenario "a wrong user key over $backend" wrong_key "$backend"
    scenario "a node out of reach over $backend" unreachable "$backend"
done
scenario "pauses between tries" backs_off
scenario "a start by cron" bashrc
scenario "names of nodes" bad_names
xargs -r kill <"$TMPDIR/lingering" 2>/dev/null
done_testing
