#!/usr/bin/env bash
# `lint-keys` gives a file a new key when something that it is checked with changes, and only then.
# unsanitized: a Python script
# touches: scripts/lint-keys
. tests/lib.sh

# a.c includes a.h, which includes b.h; other.c includes nothing.
repo=$TMPDIR/repo
mkdir -p "$repo"/{scripts,app}
cp scripts/lint-keys "$repo/scripts/"
printf '#include "app/a.h"\n#include <stdio.h>\n' >"$repo/app/a.c"
printf '  #  include "app/b.h"\n#include "app/a.h"\n#include "app/generated.h"\n' >"$repo/app/a.h"

write_rest() {
    printf 'int b;\n' >"$repo/app/b.h"
    printf 'int n;\n' >"$repo/app/other.c"
    : >"$repo/app/unused.h"
    : >"$repo/scripts/lint-model.h"
}

# keys [OTHER]: the lines of lint-keys
keys() {
    (cd "$repo" && scripts/lint-keys app <<<"${1:-version 1}")
}

key_of() {
    sed -n "s,^\([0-9a-f]\{64\}\) app/$1$,\1,p"
}

# changes FILE TEXT KEYS: KEYS are the files whose keys differ once TEXT stands at the end of FILE.
changes() {
    local before after file differ=()
    write_rest
    before=$(keys)
    printf '%s\n' "$2" >>"$repo/$1"
    after=$(keys)
    for file in a.c other.c; do
        [ "$(key_of "$file" <<<"$before")" = "$(key_of "$file" <<<"$after")" ] || differ+=("$file")
    done
    is "the files with a new key" "${differ[*]}" "$3"
}

other_input() {
    write_rest
    is "no key stays" "$(comm -12 <(keys 'version 1' | sort) <(keys 'version 2' | sort))" ''
    is "there is a key for each file" "$(keys | wc -l)" 2
}

scenario 'a change of the file' changes app/other.c 'int m;' other.c
scenario 'a change of a header that another header includes' changes app/b.h 'int m;' a.c
scenario 'a change of a header that nothing includes' changes app/unused.h 'int m;' ''
scenario "a change of the analyzer's model" changes scripts/lint-model.h 'int m;' 'a.c other.c'
scenario 'another version of clang-tidy' other_input
done_testing
