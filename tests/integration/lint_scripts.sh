#!/usr/bin/env bash
# `lint scripts` gives shellcheck, played by a script, every shell script of the tree but those that git ignores.
# unsanitized: a shell script
. tests/lib.sh

mkdir -p "$TMPDIR/bin" "$TMPDIR/repo/scripts" "$TMPDIR/repo/tests"
cp scripts/lint "$TMPDIR/repo/scripts/"
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >>"%s"\n' "$TMPDIR/seen" >"$TMPDIR/bin/shellcheck"
chmod +x "$TMPDIR/bin/shellcheck"
printf '#!/bin/sh\ntrue\n' | tee "$TMPDIR/repo/ours" "$TMPDIR/repo/mine" >"$TMPDIR/repo/tests/new one.sh"
printf '/mine\n' >"$TMPDIR/repo/.gitignore"

# seen WANT: the scripts that are looked at
seen() {
    : >"$TMPDIR/seen"
    PATH=$TMPDIR/bin:$PATH exits "exits 0" 0 "$TMPDIR/repo/scripts/lint" scripts
    is "those are looked at" "$(grep '^\./' "$TMPDIR/seen" | LC_ALL=C sort | paste -sd ,)" "$1"
}

in_git() {
    git -C "$TMPDIR/repo" init -q
    seen './ours,./scripts/lint,./tests/new one.sh'
    rm -rf "$TMPDIR/repo/.git"
}

scenario "scripts of a git work tree" in_git
scenario "scripts of a tree without git" seen './mine,./ours,./scripts/lint,./tests/new one.sh'
done_testing
