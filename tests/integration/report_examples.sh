#!/usr/bin/env bash
# The example reports of reports/examples are what the command writes today, byte for byte.
. tests/lib.sh

command -v gnuplot >/dev/null || skip_all "no gnuplot (scripts/install-deps report)"

passes "the examples are generated" reports/examples/generate "$KERNSWEEP" "$TMPDIR/examples"
passes "they are those that are committed (else: make examples)" \
    diff -r -x generate -x README.md reports/examples "$TMPDIR/examples"
unlike "no path of this machine is in them" "$(cat "$TMPDIR"/examples/*.md)" "$TMPDIR|$PWD"
done_testing
