#!/usr/bin/env bash
# The whole pipeline through a real sshd, with libssh2 and with the OpenSSH client.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

openssh_client() {
    exits "exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --tag openssh --transport openssh
    passes "the manifest has every file with its hash" manifest_holds "$(bundle_of openssh)"
}

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
PLAN_NODE=loopback
KS_OPTIONS=(--ssh-config "$NODE/ssh_config")
pipeline_setup
pipeline_scenarios
scenario "a sweep through the OpenSSH client" openssh_client
done_testing
