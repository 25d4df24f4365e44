#!/usr/bin/env bash
# The whole pipeline through a real sshd, with libssh2 and with the OpenSSH client.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
PLAN_NODE=loopback
KS_OPTIONS=(--ssh-config "$NODE/ssh_config")
pipeline_setup
check_clean_run
check_second_run_builds_nothing
check_statuses
check_timeout
check_compare
check_interrupt
check_cancel
check_detach
exits "the OpenSSH client is a transport too" 0 \
    ks_run "$TMPDIR/plan.json" --variants good --tag openssh --transport openssh
passes "with the same bundle" manifest_holds "$(bundle_of openssh)"
done_testing
