#!/usr/bin/env bash
# Whole runs while the network is away for 20 s, in the push, in a test and in the pull: the link down, and a firewall that
# drops every packet.
# timeout: 900
. tests/network.sh
network_own "$0" "$@"
. tests/lib.sh
. tests/pipeline.sh
. tests/pipeline_faults.sh

network_up
NODE=$TMPDIR/node
PLAN_NODE=loopback
no_drops=$(drops_work) && no_drops=

# In the place of a proxy: the cable itself is as slow, so that the sockets meet the fault.
over_line() {
    KS_OPTIONS=(--ssh-config "$NODE/ssh_config" --transport "$BACKEND")
    cable_rate "${2:-125000000}"
}

link_down() {
    for_20_s link
}

dropped() {
    for_20_s drops
}

# through_it WHAT FAULT: over each transport.
through_it() {
    for BACKEND in libssh2 openssh; do
        over_line
        in_test "$1 for 20 s in the test" "$2" "$2-$BACKEND"
    done
    BACKEND=libssh2
    in_push "$1 for 20 s in the push" "$2" "$2-push"
    BACKEND=openssh
    in_pull "$1 for 20 s in the pull" "$2" "$2-pull"
}

pipeline_setup
patient_plan .
through_it "the link down" link_down
if [ -n "$no_drops" ]; then
    skip "a firewall that drops all" "no nft rules here: $no_drops"
else
    through_it "a firewall that drops all" dropped
fi
done_testing
