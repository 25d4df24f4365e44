#!/bin/sh
# bash 5.2.15-2+b13 (Debian 12), seen on 2026-11-29.
#
# `bash -c COMMAND` reads ~/.bashrc if its standard input is a socket and SHLVL is unset or below 1, as in a service or under cron: it
# takes itself for the shell of a remote login. With SHLVL=1, as under any shell, or another input, it does not. So what a supervisor
# starts with a socketpair as input (an ssh client that runs a LocalCommand, a job of an agent) runs the user's ~/.bashrc by day, or by
# night only, and may hang in it.
#
# Guessed: that `bash -c` reads no start-up file but $BASH_ENV, whatever its input is.
set -eu
version=5.2.15-2+b13
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
apt-get download -q "bash=$version" >/dev/null
dpkg-deb -x bash_*.deb root
mkdir home
echo 'echo read' >home/.bashrc

# said INPUT [NAME=VALUE]: what `bash -c true` prints with a socket or a file as its input
said() {
    input=$1 && shift
    python3 - "$input" "$@" <<'PROGRAM'
import socket, subprocess, sys
ours, theirs = socket.socketpair()
given = theirs if sys.argv[1] == "socket" else open("/dev/null")
env = {"HOME": "home", "PATH": "/usr/bin:/bin", **dict(word.split("=") for word in sys.argv[2:])}
print(subprocess.run(["root/bin/bash", "-c", "true"], stdin=given, stdout=subprocess.PIPE, env=env, text=True).stdout.strip() or "nothing")
PROGRAM
}
root/bin/bash --version | head -n 1
seen="socket $(said socket), SHLVL=0 $(said socket SHLVL=0), SHLVL=1 $(said socket SHLVL=1), file $(said file)"
echo "$seen"
[ "$seen" = "socket read, SHLVL=0 read, SHLVL=1 nothing, file nothing" ]
