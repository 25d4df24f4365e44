#!/bin/sh
# git 1:2.39.5-0+deb12u3 (Debian 12), seen on 2026-11-28.
#
# `git check-ignore` takes paths. With GIT_LITERAL_PATHSPECS=1, or --literal-pathspecs, under which every argument of git's commands
# is a path and no pattern, it refuses all of them:
#
#   fatal: build/x: pathspec magic not supported by this command: 'literal'      (exit status 128)
#
# Guessed: that it changes nothing, since there is no pattern to be taken literally.
set -eu
version=1:2.39.5-0+deb12u3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
apt-get download -q "git=$version" >/dev/null
dpkg-deb -x git_*.deb git
git() { PATH="$tmp/git/usr/lib/git-core:$tmp/git/usr/bin:$PATH" GIT_EXEC_PATH="$tmp/git/usr/lib/git-core" "$tmp/git/usr/bin/git" "$@"; }

git --version
git init -q tree
echo build/ >tree/.gitignore
plain=0 literal=0
git -C tree check-ignore build/x || plain=$?
GIT_LITERAL_PATHSPECS=1 git -C tree check-ignore build/x 2>said || literal=$?
cat said
echo "exit status: $plain as it is, $literal with GIT_LITERAL_PATHSPECS=1"
[ "$plain" = 0 ] && [ "$literal" = 128 ] && grep -q "not supported by this command: 'literal'" said
