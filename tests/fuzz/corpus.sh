# shellcheck shell=bash
# tests/fuzz/corpus.sh: the inputs from which each fuzz target starts: tests/fuzz/corpus/NAME.tar.xz.

corpus_archive() {
    printf 'tests/fuzz/corpus/%s.tar.xz\n' "$1"
}

# unpack_corpus NAME FOLDER: a target without an archive starts from its seeds only.
unpack_corpus() {
    mkdir -p "$2"
    [ ! -e "$(corpus_archive "$1")" ] || tar -xJf "$(corpus_archive "$1")" -C "$2"
}

# pack_corpus NAME FOLDER: the same files give the same bytes.
pack_corpus() {
    local archive
    archive=$(corpus_archive "$1")
    tar -c --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$2" . | xz -9e >"$archive.part" && mv "$archive.part" "$archive"
}
