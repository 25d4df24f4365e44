#!/usr/bin/env bash
# A node that cannot be trusted or reached: exit 3, one line that says what to do, and the pending command.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
PLAN_NODE=loopback
KS_OPTIONS=(--ssh-config "$NODE/ssh_config")
pipeline_setup
cp "$NODE/known_hosts" "$TMPDIR/known_hosts.good"

# blocked NAME PATTERN: a run now is blocked, and the message matches.
blocked() {
    exits "$1: exit 3" 3 ks_run "$TMPDIR/plan.json" --variants good
    like "$1: says what is wrong" "$ERR" "$2"
    like "$1: prints the pending command" "$ERR" '^pending command: .*run.*--variants.*good'
}

: >"$NODE/known_hosts"
blocked "an unknown host key" 'SHA256:.*kernsweep nodes trust'
fingerprint=$(ssh-keygen -lf "$NODE/host_key.pub" | cut -d ' ' -f 2)
like "an unknown host key: the fingerprint shown is the host's" "$ERR" "${fingerprint//+/\\+}"
exits "nodes trust refuses another fingerprint" 2 ks nodes trust loopback --fingerprint SHA256:nonsense
is "and stores nothing" "$(cat "$NODE/known_hosts")" ""
passes "nodes trust remembers the right one" ks nodes trust loopback --fingerprint "$fingerprint"
exits "and then it runs" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 32 --tag trusted

ssh-keygen -q -t ed25519 -N '' -f "$TMPDIR/other_key"
printf '%s %s\n' "$(cut -d ' ' -f 1 "$TMPDIR/known_hosts.good")" "$(cut -d ' ' -f 1,2 "$TMPDIR/other_key.pub")" \
    >"$NODE/known_hosts"
blocked "a changed host key" 'CHANGED'
cp "$NODE/known_hosts" "$TMPDIR/before"
exits "nodes trust refuses it too" 3 ks nodes trust loopback --fingerprint "$fingerprint"
is "nodes trust does not replace a key that changed" "$(cat "$NODE/known_hosts")" "$(cat "$TMPDIR/before")"
cp "$TMPDIR/known_hosts.good" "$NODE/known_hosts"

mv "$NODE/user_key" "$NODE/user_key.good"
cp "$TMPDIR/other_key" "$NODE/user_key"
blocked "a key that the node does not know" '(key|login|authenticat)'
mv "$NODE/user_key.good" "$NODE/user_key"

scripts/loopback-node stop "$NODE" >/dev/null
blocked "a refused port" '[Rr]efused'
pending=$(sed -n 's/^pending command: //p' <<<"$ERR")
scripts/loopback-node start "$NODE" >/dev/null
exits "the pending command can be pasted, later" 0 sh -c "$pending"
is "what was blocked left nothing on the node" "$(find "$TMPDIR/work/runs" -mindepth 1 -maxdepth 1 | wc -l)" 2
done_testing
