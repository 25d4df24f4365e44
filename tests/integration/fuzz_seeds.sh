#!/usr/bin/env bash
# The fuzz targets over their seeds, among them every input that was once a finding, and over what earlier fuzzing learned.
# `make fuzz` looks for more.
. tests/lib.sh
. tests/fuzz/corpus.sh

# target NAME: has seeds and learned inputs, and survives them.
target() {
    local folder=tests/fuzz/seeds/$1 learned=$TMPDIR/learned
    passes "has seeds" test -n "$(ls -A "$folder" 2>/dev/null)"
    passes "survives its $(find "$folder" -mindepth 1 | wc -l) seeds" "$BUILD/tests/fuzz_$1" "$folder"/*
    unpack_corpus "$1" "$learned/$1"
    passes "has learned inputs (else: make fuzz-keep)" test -n "$(ls -A "$learned/$1")"
    passes "survives its $(find "$learned/$1" -type f | wc -l) learned inputs" "$BUILD/tests/fuzz_$1" "$learned/$1"/*
}

for source in tests/fuzz/fuzz_*.c*; do
    name=${source##*/fuzz_}
    scenario "fuzz target ${name%.c*}" target "${name%.c*}"
done
done_testing
