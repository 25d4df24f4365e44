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

refused() {
    local before
    before=$(sha256sum <"$2")
    exits "$1: refused" 2 gguf set "${@:2}"
    one_line "   in one line" "$ERR"
    is "   and the file is as it was" "$(sha256sum <"$2")" "$before"
}

for version in v2 v3; do
    cp "$SEEDS/$version" "$MODEL"
    exits "$version is shown" 0 gguf show "$MODEL"
    like "   with its version" "$OUT" "^GGUF $version, "
    like "   and its scalars" "$OUT" "^$LIMIT +u32 +4096$"
    is "   as JSON, too" "$(gguf show "$MODEL" --json | jq -c ".\"$LIMIT\"")" '{"type":"u32","value":"4096"}'
    exits "$version: a scalar is set" 0 gguf set "$MODEL" "$LIMIT" 8192
    like "   and what became of it is told" "$ERR" "$LIMIT 4096 -> 8192"
    is "   it is what is read now" "$(gguf show "$MODEL" "$LIMIT" | xargs)" "$LIMIT u32 8192"
    is "   in place: nothing else changed" "$(changed "$SEEDS/$version" "$MODEL") $(stat -c %s "$MODEL")" \
        "1 $(stat -c %s "$SEEDS/$version")"
    is "   and nothing lies beside it" "$(find "$TMPDIR" -name 'm.gguf?*')" ""
done

cp "$SEEDS/v3" "$MODEL"
for pair in a.f32=2.5 a.bool=false a.u64=18446744073709551615; do
    exits "${pair%=*} is set" 0 gguf set "$MODEL" "${pair%=*}" "${pair#*=}"
    is "   to ${pair#*=}" "$(gguf show "$MODEL" "${pair%=*}" | awk '{ print $3 }')" "${pair#*=}"
done

cp "$SEEDS/v3" "$MODEL"
exits "with --backup" 0 gguf set "$MODEL" "$LIMIT" 16384 --backup
passes "   the copy is the file before" cmp "$SEEDS/v3" "$MODEL.bak"
is "   for its owner only" "$(stat -c %a "$MODEL.bak")" 600
is "   and the file is changed" "$(gguf show "$MODEL" "$LIMIT" | awk '{ print $3 }')" 16384
exits "a copy that is there already is not written over" 5 gguf set "$MODEL" "$LIMIT" 1 --backup
one_line "   which is said in one line" "$ERR"
passes "   and stays" cmp "$SEEDS/v3" "$MODEL.bak"
is "   as does the file" "$(gguf show "$MODEL" "$LIMIT" | awk '{ print $3 }')" 16384
rm "$MODEL.bak"
refused "a word for a number, with --backup" "$MODEL" "$LIMIT" many --backup
is "   no copy is left of it" "$(find "$TMPDIR" -name '*.bak')" ""

refused "a number that the type cannot hold" "$MODEL" "$LIMIT" 4294967296
refused "a negative one of an unsigned type" "$MODEL" "$LIMIT" -1
refused "a string" "$MODEL" general.architecture qwen
refused "an array" "$MODEL" a.list 1
refused "a key that is not there" "$MODEL" no.such.key 1

# Cut at every length: whole, or refused with the offset.
size=$(stat -c %s "$SEEDS/v3")
silent='' shown=0
for ((n = 0; n < size; n += 7)); do
    head -c "$n" "$SEEDS/v3" >"$TMPDIR/cut.gguf"
    try gguf show "$TMPDIR/cut.gguf"
    [ "$RC" != 0 ] || shown=$((shown + 1))
    [ "$RC" = 2 ] && [ "$(grep -cE 'offset [0-9]+|not a GGUF' <<<"$ERR")" = 1 ] || silent="$silent $n:$RC:$ERR"
done
is "a file cut anywhere is refused, with the offset" "$shown$silent" 0
head -c 100 "$SEEDS/v3" >"$TMPDIR/cut.gguf" # behind the value
refused "setting a value of a file that is cut" "$TMPDIR/cut.gguf" "$LIMIT" 1
like "   names the offset" "$ERR" 'cut.gguf: offset [0-9]+: '
cp "$SEEDS/v3" "$TMPDIR/bad.gguf"
printf '\377\377\377\377\377\377\377\177' | dd of="$TMPDIR/bad.gguf" bs=1 seek=16 conv=notrunc 2>/dev/null
refused "a count beyond all reason" "$TMPDIR/bad.gguf" "$LIMIT" 1
like "   names the offset" "$ERR" 'bad.gguf: offset [0-9]+: '
printf 'nothing of the kind' >"$TMPDIR/text.gguf"
refused "another kind of file" "$TMPDIR/text.gguf" "$LIMIT" 1
done_testing
