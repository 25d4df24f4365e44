#!/usr/bin/env bash
# The example reports of reports/examples are what the command writes today: the documents byte for byte, the pictures
# by what they show, as gnuplot may write the same picture differently.
. tests/lib.sh

command -v gnuplot >/dev/null || skip_all "no gnuplot (scripts/install-deps report)"
command -v python3 >/dev/null || skip_all "no python3"
root=$PWD
committed=reports/examples
made=$TMPDIR/examples

names() {
    (cd "$1" && find . -type f ! -name generate ! -name README.md | sort)
}

# The page without its pictures, which are the files beside the Markdown.
page() {
    sed -E 's/(data:image\/svg\+xml;base64,)[^"]*/\1/' "$1"
}

outlines() {
    (cd "$1" && find . -name '*.svg' | sort | xargs "$root/tests/tools/svg-outline")
}

# What pictures show. The committed ones are gnuplot 5's; later ones write texts in another order, and may draw the end of a line
# as a mark.
contents() {
    if [[ $(gnuplot --version) == "gnuplot 5."* ]]; then
        outlines "$1"
    else
        outlines "$1" | sed 's/\( series \).*/\1/' | awk '/^[^ ]/ { picture = $0 } { print picture, $0 }' | sort
    fi
}

passes "the examples are generated" $committed/generate "$KERNSWEEP" "$made"
is "the committed examples have the same files (else: make examples)" "$(names $committed)" "$(names "$made")"
for document in "$made"/*.md; do
    name=${document##*/}
    passes "$name is what is committed (else: make examples)" diff $committed/"$name" "$document"
done
is "b3_90.html is what is committed, but for the bytes of its pictures" \
    "$(page $committed/b3_90.html | sha256sum)" "$(page "$made"/b3_90.html | sha256sum)"
passes "every picture is well-formed XML" outlines "$made"
is "every picture has the texts, lines, marks and bars of the committed one" \
    "$(contents $committed)" "$(contents "$made")"
unlike "no path of this machine is in them" "$(cat "$made"/*.md)" "$TMPDIR|$PWD"
done_testing
