#!/usr/bin/env bash
# A node that cannot be trusted or reached: exit 3, one line that says what to do, and the pending command.
. tests/lib.sh
. tests/pipeline.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
PLAN_NODE=loopback
KS_OPTIONS=(--ssh-config "$NODE/ssh_config")
pipeline_setup
cp "$NODE/known_hosts" "$TMPDIR/known_hosts.good"

# healthy: known hosts and key as they should be, whatever a scenario did to them
healthy() {
    cp "$TMPDIR/known_hosts.good" "$NODE/known_hosts"
    cp "$TMPDIR/user_key.good" "$NODE/user_key"
}

# blocked PATTERN: a run now is blocked, and the message matches.
blocked() {
    exits "run exits 3" 3 ks_run "$TMPDIR/plan.json" --variants good
    like "run says what is wrong" "$ERR" "$1"
    like "run prints the pending command" "$ERR" '^pending command: .*run.*--variants.*good'
}

# A host key that is not the node's.
other_key() {
    ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/other_key"
}

fingerprint() {
    ssh-keygen -lf "$NODE/host_key.pub" | cut -d ' ' -f 2
}

unknown_key() {
    local fingerprint
    : >"$NODE/known_hosts"
    blocked 'SHA256:.*kernsweep nodes trust'
    fingerprint=$(fingerprint)
    like "run shows the host's fingerprint" "$ERR" "${fingerprint//+/\\+}"
    exits "nodes trust with another fingerprint exits 2" 2 ks nodes trust loopback --fingerprint SHA256:nonsense
    is "nodes trust with another fingerprint stores nothing" "$(cat "$NODE/known_hosts")" ""
    passes "nodes trust with the host's fingerprint exits 0" ks nodes trust loopback --fingerprint "$fingerprint"
    passes "and once more" ks nodes trust loopback --fingerprint "$fingerprint"
    exits "with another fingerprint it exits 2, though the key is stored now" 2 ks nodes trust loopback --fingerprint SHA256:nonsense
    like "and names both" "$ERR" "shows ${fingerprint//+/\\+}, not SHA256:nonsense"
    exits "nodes trust of this machine exits 2" 2 ks nodes trust local
    like "and says why" "$ERR" 'local is this machine'
    exits "run exits 0 once the host is trusted" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 32 --tag trusted
    healthy
}

changed_key() {
    needs other_key
    printf '%s %s\n' "$(cut -d ' ' -f 1 "$TMPDIR/known_hosts.good")" "$(cut -d ' ' -f 1,2 "$TMPDIR/other_key.pub")" \
        >"$NODE/known_hosts"
    cp "$NODE/known_hosts" "$TMPDIR/before"
    blocked 'CHANGED'
    exits "nodes trust exits 3" 3 ks nodes trust loopback --fingerprint "$(fingerprint)"
    passes "nodes trust leaves known_hosts alone" cmp "$NODE/known_hosts" "$TMPDIR/before"
    healthy
}

wrong_user_key() {
    needs other_key
    cp "$TMPDIR/other_key" "$NODE/user_key"
    blocked "login refused.*user_key"
    healthy
}

refused_port() {
    local pending before
    before=$(find "$TMPDIR/work/runs" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
    scripts/loopback-node stop "$NODE" >/dev/null
    blocked '[Rr]efused'
    pending=$(sed -n 's/^pending command: //p' <<<"$ERR")
    scripts/loopback-node start "$NODE" >/dev/null
    exits "the pending command exits 0 once the node is back" 0 sh -c "$pending"
    is "the blocked run left nothing on the node" "$(find "$TMPDIR/work/runs" -mindepth 1 -maxdepth 1 | wc -l)" $((before + 1))
}

cp "$NODE/user_key" "$TMPDIR/user_key.good"
scenario "an unknown host key" unknown_key
scenario "a changed host key" changed_key
scenario "a user key that the node does not accept" wrong_user_key
scenario "a node whose sshd is not running" refused_port
done_testing
