#!/usr/bin/env bash
# Whole runs while the network is away for 20 s, in the push, in a test and in the pull: the link down, and a firewall that
# drops every packet.
# unsanitized: waits for the most part; faults/pipeline_libssh2 breaks the line at as many places
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
        scenario "a sweep over $BACKEND with $1 for 20 s in the test" over_backend "$BACKEND" in_test "$2" "$2-$BACKEND"
    done
    scenario "a sweep over libssh2 with $1 for 20 s in the push" over_backend libssh2 in_push "$2" "$2-push"
    scenario "a sweep over openssh with $1 for 20 s in the pull" over_backend openssh in_pull "$2" "$2-pull"
}

over_backend() {
    BACKEND=$1
    shift
    "$@"
}

pipeline_setup
through_it "the link down" link_down
if [ -n "$no_drops" ]; then
    skip_scenario "a sweep with a firewall that drops all" "no nft rules here: $no_drops"
else
    through_it "a firewall that drops all" dropped
fi
done_testing
