#!/usr/bin/env bash
# The fuzz targets over their seeds, among them every input that once was a finding. `make fuzz` looks for more.
. tests/lib.sh

for folder in tests/fuzz/seeds/*/; do
    name=$(basename "$folder")
    passes "$name: $(find "$folder" -mindepth 1 | wc -l) seeds" "$BUILD/tests/fuzz_$name" "$folder"*
done
for target in tests/fuzz/fuzz_*.c*; do
    name=${target##*/fuzz_}
    [ -n "$(ls -A "tests/fuzz/seeds/${name%.c*}" 2>/dev/null)" ]
    ok "${name%.c*} has seeds" $?
done
done_testing
