#!/bin/sh
# openssh-client 1:9.2p1-2+deb12u10 (Debian 12), seen on 2026-11-28.
#
# `ssh -G HOST` only prints the configuration that HOST would get. Where that has ForkAfterAuthentication yes, it prints none:
#
#   Cannot fork into background without a command to execute.      (exit status 255)
#
# With any command behind the host, which -G never runs, it prints the configuration. Guessed: that -G, which connects to nothing,
# checks nothing that only a connection needs.
set -eu
version=1:9.2p1-2+deb12u10
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
apt-get download -q "openssh-client=$version" >/dev/null
dpkg-deb -x openssh-client_*.deb ssh
ssh=$tmp/ssh/usr/bin/ssh

"$ssh" -V
printf 'Host night\n    ForkAfterAuthentication yes\n' >config
alone=0 command=0
"$ssh" -F config -G night >alone 2>said || alone=$?
"$ssh" -F config -G night true >with 2>&1 || command=$?
cat said
echo "exit status: $alone without a command, $command with one, and then $(grep -c . with) lines"
[ "$alone" = 255 ] && [ "$command" = 0 ] && [ ! -s alone ] && grep -q '^forkafterauthentication yes' with
