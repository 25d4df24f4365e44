#!/usr/bin/env bash
# Whole runs over a line that breaks, with the OpenSSH client.
# unsanitized: its client is another program; faults/pipeline_libssh2 runs the same on ours
. tests/lib.sh
. tests/pipeline.sh
. tests/line.sh
. tests/pipeline_faults.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
trap 'line_end; node_stop' EXIT
PLAN_NODE=loopback
BACKEND=openssh
pipeline_faults
done_testing
