#!/usr/bin/env bash
# The fuzz targets over their seeds, among them every input that was once a finding. `make fuzz` looks for more.
. tests/lib.sh

# target NAME: has seeds and survives them.
target() {
    local folder=tests/fuzz/seeds/$1
    passes "has seeds" test -n "$(ls -A "$folder" 2>/dev/null)"
    passes "survives its $(find "$folder" -mindepth 1 | wc -l) seeds" "$BUILD/tests/fuzz_$1" "$folder"/*
}

for source in tests/fuzz/fuzz_*.c*; do
    name=${source##*/fuzz_}
    scenario "fuzz target ${name%.c*}" target "${name%.c*}"
done
done_testing
