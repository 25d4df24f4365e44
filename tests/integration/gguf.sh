#!/usr/bin/env bash
# kernsweep gguf: a model's metadata shown, a scalar set in place, and files that are not what they say refused by offset.
. tests/lib.sh

gguf() {
    "$KERNSWEEP" gguf "$@"
}
SEEDS=tests/fuzz/seeds/gguf
MODEL=$TMPDIR/m.gguf
LIMIT=llama.context_length

# the bytes in which two files differ
changed() {
    cmp -l "$1" "$2" | wc -l
}

fresh_model() {
    cp "$SEEDS/${1:-v3}" "$MODEL"
}

value_of() {
    gguf show "$MODEL" "$1" | awk '{ print $3 }'
}

# refused FILE KEY VALUE [--backup]: set exits 2 and leaves the file alone.
refused() {
    local before
    before=$(sha256sum <"$1")
    exits "set exits 2" 2 gguf set "$@"
    one_line "the error is one line" "$ERR"
    is "the file is unchanged" "$(sha256sum <"$1")" "$before"
}

# refused_value KEY VALUE
refused_value() {
    fresh_model
    refused "$MODEL" "$@"
}

shown() {
    fresh_model "$1"
    exits "show exits 0" 0 gguf show "$MODEL"
    like "show prints the version" "$OUT" "^GGUF $1, "
    like "show prints a scalar with its type" "$OUT" "^$LIMIT +u32 +4096$"
    is "show --json has type and value" "$(gguf show "$MODEL" --json | jq -c ".\"$LIMIT\"")" '{"type":"u32","value":"4096"}'
}

set_in_place() {
    fresh_model "$1"
    exits "set exits 0" 0 gguf set "$MODEL" "$LIMIT" 8192
    like "set prints the old and the new value" "$ERR" "$LIMIT 4096 -> 8192"
    is "show prints the new value" "$(gguf show "$MODEL" "$LIMIT" | xargs)" "$LIMIT u32 8192"
    is "one byte of the file is changed, and its size is not" "$(changed "$SEEDS/$1" "$MODEL") $(stat -c %s "$MODEL")" \
        "1 $(stat -c %s "$SEEDS/$1")"
    is "no other file is left beside it" "$(find "$TMPDIR" -name 'm.gguf?*')" ""
}

# set_type KEY VALUE
set_type() {
    fresh_model
    exits "set exits 0" 0 gguf set "$MODEL" "$1" "$2"
    is "show prints the value" "$(value_of "$1")" "$2"
}

backup() {
    fresh_model
    rm -f "$MODEL.bak"
    exits "set exits 0" 0 gguf set "$MODEL" "$LIMIT" 16384 --backup
    passes "the copy has the former bytes" cmp "$SEEDS/v3" "$MODEL.bak"
    is "the copy is readable by its owner only" "$(stat -c %a "$MODEL.bak")" 600
    is "the file has the new value" "$(value_of "$LIMIT")" 16384
    exits "a second set --backup exits 5, since the copy exists" 5 gguf set "$MODEL" "$LIMIT" 1 --backup
    one_line "the error of the second set is one line" "$ERR"
    passes "the second set leaves the copy alone" cmp "$SEEDS/v3" "$MODEL.bak"
    is "the second set leaves the file alone" "$(value_of "$LIMIT")" 16384
    rm "$MODEL.bak"
}

refused_backup() {
    rm -f "$MODEL.bak"
    fresh_model
    refused "$MODEL" "$LIMIT" many --backup
    is "no copy is left" "$(find "$TMPDIR" -name '*.bak')" ""
}

# Cut at every length: refused with the offset, never shown.
cut_anywhere() {
    local n size silent='' shown=0
    size=$(stat -c %s "$SEEDS/v3")
    for ((n = 0; n < size; n += 7)); do
        head -c "$n" "$SEEDS/v3" >"$TMPDIR/cut.gguf"
        try gguf show "$TMPDIR/cut.gguf"
        [ "$RC" != 0 ] || shown=$((shown + 1))
        [ "$RC" = 2 ] && [ "$(grep -cE 'offset [0-9]+|not a GGUF' <<<"$ERR")" = 1 ] || silent="$silent $n:$RC:$ERR"
    done
    is "show refuses each length" "$shown" 0
    is "each error has the offset" "$silent" ""
}

cut_behind_the_value() {
    head -c 100 "$SEEDS/v3" >"$TMPDIR/cut.gguf"
    refused "$TMPDIR/cut.gguf" "$LIMIT" 1
    like "the error has the offset" "$ERR" 'cut.gguf: offset [0-9]+: '
}

huge_count() {
    cp "$SEEDS/v3" "$TMPDIR/bad.gguf"
    printf '\377\377\377\377\377\377\377\177' | dd of="$TMPDIR/bad.gguf" bs=1 seek=16 conv=notrunc 2>/dev/null
    refused "$TMPDIR/bad.gguf" "$LIMIT" 1
    like "the error has the offset" "$ERR" 'bad.gguf: offset [0-9]+: '
}

no_gguf() {
    printf 'nothing of the kind' >"$TMPDIR/text.gguf"
    refused "$TMPDIR/text.gguf" "$LIMIT" 1
}

for version in v2 v3; do
    scenario "a GGUF file of $version" shown $version
    scenario "a scalar set in a GGUF file of $version" set_in_place $version
done
for pair in a.f32=2.5 a.bool=false a.u64=18446744073709551615; do
    scenario "the scalar ${pair%=*} set to ${pair#*=}" set_type "${pair%=*}" "${pair#*=}"
done
scenario "set --backup" backup
scenario "set --backup of a word for a number" refused_backup
scenario "a number that the type cannot hold" refused_value "$LIMIT" 4294967296
scenario "a negative number for an unsigned type" refused_value "$LIMIT" -1
scenario "a value for a string" refused_value general.architecture qwen
scenario "a value for an array" refused_value a.list 1
scenario "a key that does not exist" refused_value no.such.key 1
scenario "a GGUF file cut at any length" cut_anywhere
scenario "a GGUF file cut behind the value to set" cut_behind_the_value
scenario "a GGUF file with an impossible count" huge_count
scenario "a text file in the place of a GGUF file" no_gguf
done_testing
