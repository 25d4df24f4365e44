#!/usr/bin/env bash
# What the user's ssh configuration asks for holds, or another client is taken and one line says so; a node that allows
# a single session.
. tests/lib.sh
. tests/probe.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
CONFIG=$TMPDIR/ssh_config
PORT=$(cat "$NODE/port")

# config HOST LINE...: what is said of the alias `node`.
config() {
    local host=$1
    shift
    {
        printf 'Host node\n'
        printf '    %s\n' "$@" "HostName $host" "Port $PORT" "User $(id -un)" "IdentitiesOnly yes" "IdentityAgent none" \
            "IdentityFile $NODE/user_key" "UserKnownHostsFile $NODE/known_hosts" "GlobalKnownHostsFile /dev/null" \
            "HostKeyAlias [127.0.0.1]:$PORT"
    } >"$CONFIG"
}

# unserved OPTION VALUE: one that libssh2 does not follow.
unserved() {
    config 127.0.0.1 "$1 $2"
    probe --backend libssh2 node true
    is "libssh2 alone refuses $1 $2" "$RC $(value kind)" "1 node"
    like "it names $1" "$(value error)" "sets $1, which libssh2 does not follow"
    one_line "it names $1 in one line" "$(value error)"
    probe --backend auto node true
    is "auto takes the OpenSSH client for $1 $2" "$(value backend) $(value exit_code)" "openssh 0" || diag "$OUT"
    like "one line says that $1 is why" "$(value notice)" "$1.*trying openssh instead"
}

policies() {
    config 127.0.0.1
    probe --backend auto node true
    is "a plain configuration is served by libssh2" "$(value backend) $(value exit_code)" "libssh2 0" || diag "$OUT"
    unserved Ciphers aes256-ctr
    unserved KexAlgorithms curve25519-sha256
    unserved MACs hmac-sha2-256
    unserved HostKeyAlgorithms ssh-ed25519
    unserved RekeyLimit 1G
    unserved IPQoS none
    unserved Compression yes
    config 127.0.0.1 "Ciphers +aes128-cbc"
    probe --backend auto node true
    is "an algorithm that is added counts as well" "$(value backend)" openssh
}

# The node listens on 127.0.0.1 alone.
families() {
    config 127.0.0.1 "AddressFamily inet"
    probe --backend libssh2 node true
    is "libssh2 follows AddressFamily inet" "$(value backend) $(value exit_code)" "libssh2 0" || diag "$OUT"
    config 127.0.0.1 "AddressFamily inet6"
    probe --backend libssh2 node true
    is "libssh2 does not use an IPv4 address with AddressFamily inet6" "$RC $(value kind)" "1 node" || diag "$OUT"
}

single_session() {
    local backend
    printf 'MaxSessions 1\n' >"$NODE/sshd_extra.conf"
    node_restart
    config 127.0.0.1
    for backend in libssh2 openssh; do
        probe --backend "$backend" --times 30 node true
        is "$backend runs 30 commands where one session is allowed" "$(grep -c '^exit_code=0$' <<<"$OUT")" 30 || diag "$OUT"
    done
}

scenario "the user's ssh configuration" policies
scenario "address families" families
scenario "a single session" single_session
done_testing
