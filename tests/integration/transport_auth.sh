#!/usr/bin/env bash
# Who may log in, with what, and which hosts are trusted: agent, passphrases, RSA, certificates, jump hosts.
. tests/lib.sh
. tests/probe.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
CONFIG=$TMPDIR/ssh_config
PORT=$(cat "$NODE/port")

# config LINE...: what is said of the alias `node`; the loopback's own lines follow.
config() {
    {
        printf 'Host node\n'
        printf '    %s\n' "$@" "HostName 127.0.0.1" "Port $PORT" "User $(id -un)" "IdentitiesOnly yes" \
            "UserKnownHostsFile $NODE/known_hosts" "GlobalKnownHostsFile /dev/null"
        cat "$NODE/ssh_config"
    } >"$CONFIG"
}

# works WITH BACKEND [USED]: a command runs over the alias `node`; USED is the back-end that does it.
works() {
    probe --backend "$2" node true
    is "$2 connects with $1" "$(value backend) $(value exit_code)" "${3:-$2} 0" || diag "$OUT"
}

# fails WITH BACKEND PATTERN
fails() {
    probe --backend "$2" node true
    is "$2 does not connect with $1" "$RC $(value kind)" "1 node"
    like "$2 says why it does not connect with $1" "$(value error)" "$3"
    one_line "$2 says in one line that it does not connect with $1" "$(value error)"
}

# new_key FILE TYPE PASSPHRASE [OPTION...]: made, and accepted by the node.
new_key() {
    local file=$1 type=$2 passphrase=$3
    shift 3
    ssh-keygen -q -t "$type" -N "$passphrase" -C test -f "$file" "$@"
    cat "$file.pub" >>"$NODE/authorized_keys"
}

# libssh2 1.10 loses two numbers of an ECDSA key in OpenSSH's format each time it reads one.
keys_of_each_kind() {
    local options
    printf 'leak:CRYPTO_zalloc\n' >"$TMPDIR/suppressions"
    local -x LSAN_OPTIONS=suppressions=$TMPDIR/suppressions:print_suppressions=0
    for options in 'ecdsa' 'ecdsa -m PEM' 'ecdsa -b 521' 'ed25519'; do
        rm -f "$TMPDIR/kind"*
        # shellcheck disable=SC2086 # several words
        new_key "$TMPDIR/kind" ${options%% *} '' ${options#"${options%% *}"}
        config "IdentityFile $TMPDIR/kind" "IdentityAgent none"
        works "a key of ssh-keygen -t $options" libssh2
        works "a key of ssh-keygen -t $options" openssh
    done
}

# With a result, or by asking again.
answered() {
    grep -qE 'exit_code|kind=|skip' "$TMPDIR/typed" || [ "$(grep -oi passphrase "$TMPDIR/typed" | wc -l)" -ge 2 ]
}

passphrase_asked() {
    local backend=$1 answer=$2
    rm -f "$TMPDIR/typed"
    {
        until_true 30 grep -qi passphrase "$TMPDIR/typed"
        printf '%s\n' "$answer"
        until_true 30 answered
        printf '\n\n\n'
    } | timeout 60 script -qfc "$PROBE --backend $backend --ssh-config $CONFIG node true" "$TMPDIR/typed" >/dev/null 2>&1
    OUT=$(tr -d '\r' <"$TMPDIR/typed")
}

encrypted_keys() {
    local backend
    new_key "$TMPDIR/locked" ed25519 'open sesame'
    config "IdentityFile $TMPDIR/locked" "IdentityAgent none"
    fails "an encrypted key without a terminal" libssh2 "locked.*passphrase"
    probe --backend openssh node true
    is "openssh does not connect with an encrypted key without a terminal" "$RC $(value kind)" "1 node"
    if ! command -v script >/dev/null; then
        skip "the passphrase on a terminal" "no script program"
        return
    fi
    for backend in libssh2 openssh; do
        passphrase_asked "$backend" 'open sesame'
        is "$backend asks for the passphrase on a terminal and connects" "$(value exit_code)" 0 || diag "$OUT"
        unlike "$backend does not show the passphrase" "$OUT" 'sesame'
        passphrase_asked "$backend" 'wrong'
        is "$backend does not connect with a wrong passphrase" "$(value kind)" node || diag "$OUT"
    done
}

# A key pair that the node does not know.
stranger() {
    ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/stranger"
}

agent() {
    local pid
    eval "$(ssh-agent -a "$TMPDIR/agent")" >/dev/null
    pid=$SSH_AGENT_PID
    unset SSH_AUTH_SOCK SSH_AGENT_PID
    needs stranger
    new_key "$TMPDIR/kept" ed25519 'only in the agent'
    new_key "$TMPDIR/held" ecdsa ''
    SSH_AUTH_SOCK=$TMPDIR/agent ssh-add -q "$TMPDIR/stranger" "$TMPDIR/held"
    rm "$TMPDIR/held"
    config "IdentityFile none" "IdentitiesOnly no" "IdentityAgent $TMPDIR/agent"
    works "a key that only the agent has" libssh2
    works "a key that only the agent has" openssh
    config "IdentityFile $TMPDIR/stranger" "IdentitiesOnly yes" "IdentityAgent $TMPDIR/agent"
    fails "a key of the agent that IdentitiesOnly excludes" libssh2 'login refused'
    kill -STOP "$pid"
    config "IdentityFile $NODE/user_key" "IdentityAgent $TMPDIR/agent"
    works "a key file while the agent does not answer" libssh2
    kill -CONT "$pid"
    kill "$pid"
    works "a key file when the agent is gone" libssh2
}

# Debian 12's libssh2 refuses RSA; later ones can.
rsa() {
    local can=openssh
    new_key "$TMPDIR/rsa" rsa '' -b 2048
    config "IdentityFile $TMPDIR/rsa" "IdentityAgent none"
    probe --backend libssh2 node true
    if [ "$(value exit_code)" = 0 ]; then
        can=libssh2
        skip "libssh2 says that it cannot use an RSA key" "this libssh2 can use RSA"
    else
        fails "an RSA user key" libssh2 'rsa.*libssh2 [0-9.]+ cannot use'
    fi
    works "an RSA user key" openssh
    works "an RSA user key" auto "$can"
    [ "$can" = libssh2 ] || like "auto says in one line that it takes the OpenSSH client" "$(value notice)" 'trying openssh instead'
}

rsa_host() {
    local can=openssh
    scripts/loopback-node stop "$NODE" >/dev/null
    mkdir "$TMPDIR/good"
    cp -p "$NODE"/* "$TMPDIR/good"
    rm "$NODE/host_key" "$NODE/host_key.pub"
    ssh-keygen -q -t rsa -b 2048 -N '' -f "$NODE/host_key"
    scripts/loopback-node start "$NODE" >/dev/null
    config "IdentityFile $NODE/user_key" "IdentityAgent none"
    probe --backend libssh2 node true
    [ "$(value exit_code)" != 0 ] || can=libssh2
    if [ "$can" = openssh ]; then like "libssh2 says that it cannot verify an RSA host key" "$(value error)" 'ssh-rsa.*cannot verify'; fi
    works "an RSA host key" openssh
    works "an RSA host key" auto "$can"
    : >"$NODE/known_hosts"
    fails "an unknown RSA host key" auto 'unknown host key ssh-rsa SHA256:.*nodes trust node'
    probe --trust store node
    is "--trust store stores the unknown RSA host key" "$RC $(value trust) $(value type)" "0 unknown ssh-rsa"
    is "the stored fingerprint is the host's" "$(value fingerprint)" "$(ssh-keygen -lf "$NODE/host_key.pub" | cut -d ' ' -f 2)"
    works "the RSA host key once it is stored" auto "$can"
    scripts/loopback-node stop "$NODE" >/dev/null
    cp -p "$TMPDIR/good"/* "$NODE"
    scripts/loopback-node start "$NODE" >/dev/null
}

trusting() {
    needs stranger
    config "IdentityFile $NODE/user_key" "IdentityAgent none" "UserKnownHostsFile $TMPDIR/fresh/dir/known_hosts" \
        "HashKnownHosts yes"
    probe --trust store node
    is "--trust makes the file" "$RC $(value trust)" "0 unknown"
    is "the file and its folder are open to their owner only" "$(stat -c '%a' "$TMPDIR/fresh/dir/known_hosts" "$TMPDIR/fresh/dir" | xargs)" "600 700"
    like "HashKnownHosts hashes the name" "$(cat "$TMPDIR/fresh/dir/known_hosts")" '^\|1\|'
    works "a host key that was just stored" libssh2
    works "a host key that was just stored" openssh
    probe --trust store node
    is "a key that is known is not stored again" "$RC $(value trust) $(value kind)" "1 known input"
    printf '@revoked * %s' "$(cut -d ' ' -f 2,3 "$NODE/known_hosts")" >>"$TMPDIR/fresh/dir/known_hosts"
    probe --trust store node
    is "a revoked key is not stored" "$RC $(value trust) $(value kind)" "1 revoked input"
    printf '%s' "$(cat "$TMPDIR/stranger.pub")" | sed "s/^/[127.0.0.1]:$PORT /" >"$TMPDIR/fresh/dir/known_hosts"
    probe --trust store node
    is "a key does not replace another" "$RC $(value trust) $(value kind)" "1 changed input"
}

only_ssh() {
    cp "$NODE/user_key" "$TMPDIR/key-of-me"
    chmod 600 "$TMPDIR/key-of-me"
    export WHOSE=me
    config "IdentityFile $TMPDIR/key-of-\${WHOSE}" "IdentityAgent none"
    works 'a variable in IdentityFile' auto openssh
    config "IdentityFile $TMPDIR/key-of-%l" "IdentityAgent none"
    cp "$TMPDIR/key-of-me" "$TMPDIR/key-of-$(hostname)"
    works 'a token in IdentityFile' auto openssh
    config "IdentityFile $NODE/user_key" "IdentityAgent none" "ForkAfterAuthentication yes"
    works ForkAfterAuthentication openssh
    works ForkAfterAuthentication auto libssh2
}

plain_name() {
    cp "$NODE/known_hosts" "$TMPDIR/kept"
    sed 's/^\[127\.0\.0\.1\]:[0-9]*/127.0.0.1/' "$TMPDIR/kept" >"$NODE/known_hosts"
    config "IdentityFile $NODE/user_key" "IdentityAgent none"
    works "the key under the plain name" libssh2
    works "the key under the plain name" openssh
    cp "$TMPDIR/kept" "$NODE/known_hosts"
}

refused() {
    grep -ac 'Failed publickey' "$NODE/sshd.log"
}

# costs WITH COST [BACKEND]: how many logins the node refuses to a command, which are no more than ssh alone costs.
costs() {
    local before alone cost
    before=$(refused)
    setsid -w ssh -F "$CONFIG" -oBatchMode=yes node true </dev/null >/dev/null 2>&1
    alone=$(($(refused) - before))
    works "$1" auto "${3:-openssh}"
    cost=$(($(refused) - before - alone))
    is "the node refuses $2 logins with $1" "$cost" "$2" || diag "$OUT"
    [ "$cost" -le "$alone" ]
    ok "ssh alone costs no fewer with $1" $? "$cost and $alone"
}

# Of keys that libssh2 can use and others, in the order in which ssh offers them.
order_of_keys() {
    local can=openssh
    needs stranger
    new_key "$TMPDIR/first" rsa '' -b 2048
    ssh-keygen -q -t rsa -b 2048 -N '' -f "$TMPDIR/old"
    config "IdentityFile $TMPDIR/first" "IdentityFile $TMPDIR/stranger" "IdentityAgent none"
    probe --backend libssh2 node true
    [ "$(value exit_code)" != 0 ] || can=libssh2
    costs "an RSA key before one that is refused" 0 "$can"
    eval "$(ssh-agent -a "$TMPDIR/ring")" >/dev/null
    SSH_AUTH_SOCK=$TMPDIR/ring ssh-add -q "$TMPDIR/first" "$TMPDIR/stranger"
    config "IdentityFile none" "IdentitiesOnly no" "IdentityAgent $TMPDIR/ring"
    costs "an agent's RSA key before one that is refused" 0 "$can"
    ssh-agent -k >/dev/null
    unset SSH_AUTH_SOCK SSH_AGENT_PID
    rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/kernsweep"
    config "IdentityFile $TMPDIR/old" "IdentityFile $NODE/user_key" "IdentityAgent none"
    costs "an RSA key that is refused before another" 1 "$can"
    costs "the same once it is known which works" 0 libssh2
    config "IdentityFile $TMPDIR/stranger" "IdentityFile $NODE/user_key" "IdentityAgent none"
    costs "two keys, of which it is known which works" 0 libssh2
    rm -rf "${XDG_CACHE_HOME:-$HOME/.cache}/kernsweep"
    costs "two keys, of which the first is refused" 1 libssh2
    costs "the same two keys again" 0 libssh2
    mv "$NODE/authorized_keys" "$TMPDIR/authorized"
    cat "$TMPDIR/stranger.pub" >"$NODE/authorized_keys"
    works "the other key once the one that worked is refused" libssh2
    mv "$TMPDIR/authorized" "$NODE/authorized_keys"
}

# IdentityFile may name a public key, or a private one that only the agent has.
public_keys() {
    local name
    eval "$(ssh-agent -a "$TMPDIR/lent")" >/dev/null
    new_key "$TMPDIR/lent-key" ed25519 ''
    ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/other-key"
    SSH_AUTH_SOCK=$TMPDIR/lent ssh-add -q "$TMPDIR/other-key" "$TMPDIR/lent-key"
    rm "$TMPDIR/lent-key"
    for name in lent-key.pub lent-key; do
        config "IdentityFile $TMPDIR/$name" "IdentityAgent $TMPDIR/lent"
        costs "IdentityFile $name" 0 libssh2
    done
    ssh-agent -k >/dev/null
    unset SSH_AUTH_SOCK SSH_AGENT_PID
}

certificates() {
    ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/ca"
    ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/certified"
    ssh-keygen -q -s "$TMPDIR/ca" -I test -n "$(id -un)" "$TMPDIR/certified.pub"
    ssh-keygen -q -s "$TMPDIR/ca" -h -I host -n 127.0.0.1 "$NODE/host_key.pub"
    printf 'TrustedUserCAKeys %s\nHostCertificate %s\n' "$TMPDIR/ca.pub" "$NODE/host_key-cert.pub" >"$NODE/sshd_extra.conf"
    node_restart
    config "IdentityFile $TMPDIR/certified" "IdentityAgent none"
    fails "a user certificate" libssh2 'certificate .*certified-cert.pub, which libssh2 does not follow'
    costs "a user certificate" 0
    mv "$TMPDIR/certified-cert.pub" "$TMPDIR/elsewhere"
    config "IdentityFile $TMPDIR/certified" "CertificateFile $TMPDIR/elsewhere" "IdentityAgent none"
    costs "a CertificateFile" 0
    mkdir "$TMPDIR/two words"
    mv "$TMPDIR/certified" "$TMPDIR/two words/key"
    mv "$TMPDIR/elsewhere" "$TMPDIR/two words/key-cert.pub"
    config "IdentityFile \"$TMPDIR/two words/key\"" "IdentityAgent none"
    costs "a certificate in a folder whose name has a space" 0
    printf '@cert-authority * %s\n' "$(cat "$TMPDIR/ca.pub")" >"$NODE/known_hosts"
    config "IdentityFile $NODE/user_key" "IdentityAgent none"
    fails "a host known by its authority" libssh2 'unknown host key'
    works "a host known by its authority" auto openssh
    rm "$NODE/sshd_extra.conf"
    node_restart
}

jump_hosts() {
    local jump
    for jump in 'ProxyJump loopback' "ProxyJump loopback,$(id -un)@also:$PORT" \
        "ProxyCommand ssh -F $CONFIG -W %h:%p loopback"; do
        config "IdentityFile $NODE/user_key" "IdentityAgent none" "$jump"
        printf 'Host also\n    HostName 127.0.0.1\n    IdentityFile %s\n    UserKnownHostsFile %s\n' \
            "$NODE/user_key" "$NODE/known_hosts" >>"$CONFIG"
        works "$jump" libssh2
        works "$jump" openssh
    done
    config "IdentityFile $NODE/user_key" "ProxyJump nowhere"
    printf 'Host nowhere\n    HostName 127.0.0.1\n    Port 1\n' >>"$CONFIG"
    fails "a jump host that is not there" libssh2 'jump host nowhere'
    fails "a jump host that is not there" openssh 'cannot connect'
}

scenario "user keys of each kind" keys_of_each_kind
scenario "an encrypted user key" encrypted_keys
scenario "keys of an agent" agent
scenario "an RSA user key" rsa
scenario "an RSA host key" rsa_host
scenario "a host key stored where there is no known_hosts file" trusting
scenario "jump hosts" jump_hosts
scenario "certificates" certificates
scenario "keys in the order of ssh, and the one that worked" order_of_keys
scenario "public keys whose private ones the agent has" public_keys
scenario "what only ssh expands, and settings of its process" only_ssh
scenario "a host known by its plain name" plain_name
done_testing
