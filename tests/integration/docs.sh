#!/usr/bin/env bash
# The documentation as a book (scripts/docs-book, docs/SUMMARY.md): every page is listed, every link leads somewhere, and
# what would break that is reported.
# unsanitized: exercises no C code
. tests/lib.sh

command -v cmark-gfm >/dev/null || skip_all "no cmark-gfm (scripts/install-deps docs)"
out=$TMPDIR/book

render() {
    try_once render scripts/docs-book "$out"
}

rendered() {
    render
    exited "it is rendered" 0
    is "without complaints" "$ERR" ""
    is "every docs/*.md is a page" "$(find docs -name '*.md' ! -name SUMMARY.md | sort)" "$(scripts/docs-book --pages | grep '^docs/' | sort)"
    is "every page has the contents and a title" "$(find "$out" -name '*.html' ! -path '*/files/*' -exec grep -L -e 'aria-label="Contents"' {} +)" ""
}

# Independent of how docs-book resolves links: what the written pages refer to exists.
links() {
    local page link file
    render
    find "$out" -name '*.html' ! -path '*/files/*' | while read -r page; do
        grep -oE '(href|src)="[^"]*"' "$page" | sed 's/^[a-z]*="//; s/"$//; s/&amp;/\&/g' | grep -vE '^(https?|mailto):' | sort -u | while read -r link; do
            file=${link%%#*}
            if [ -n "$file" ]; then file=${page%/*}/$file; else file=$page; fi
            if [ ! -f "$file" ]; then
                echo "${page#"$out"/}: $link"
            elif [[ $link == *#* ]] && ! grep -qF "id=\"${link#*#}\"" "$file"; then
                echo "${page#"$out"/}: no heading $link"
            fi
        done
    done >"$TMPDIR/broken"
    is "every link of every page leads somewhere" "$(cat "$TMPDIR/broken")" ""
    like "a link to a heading of another page is among them" "$(cat "$out/first-night.html")" 'href="reference.html#exit-codes"'
}

order() {
    local pages page previous='' wrong=''
    render
    mapfile -t pages < <(scripts/docs-book --pages)
    is "the first page is README" "${pages[0]}" README.md
    for page in "${pages[@]:1}"; do
        page=${page#docs/} page=${page%.md}.html page=${page#../}
        grep -q 'rel="prev"' "$out/$page" || wrong="$wrong $page"
        previous=$page
    done
    is "every other page leads to the one before" "$wrong" ""
    unlike "the last page leads no further" "$(cat "$out/$previous")" 'rel="next"'
    like "the first leads to the tutorial" "$(grep 'rel="next"' "$out/index.html")" 'href="tutorial.html"'
}

# broken TITLE PATTERN: docs-book on the copy in $TMPDIR/copy reports PATTERN.
broken() {
    exits "$1 fails" 1 scripts/docs-book "$TMPDIR/book2" "$TMPDIR/copy"
    like "$1 is reported" "$ERR" "$2"
}

mistakes() {
    local copy=$TMPDIR/copy
    mkdir -p "$copy/docs/book"
    cp docs/book/* "$copy/docs/book/"
    printf '# A\n\n[b](docs/b.md#part)\n' >"$copy/README.md"
    printf '# B\n\n## Part\n' >"$copy/docs/b.md"
    printf '## Start\n- [A?](../README.md)\n- [B?](b.md)\n' >"$copy/docs/SUMMARY.md"
    exits "a small book is rendered" 0 scripts/docs-book "$TMPDIR/book2" "$copy"
    printf '[x](docs/b.md#other)\n' >>"$copy/README.md"
    broken "a link to a heading that is not there" 'README.md: docs/b.md has no heading #other'
    printf '# A\n[x](docs/c.md)\n' >"$copy/README.md"
    broken "a link to a page that is not there" 'README.md: no such file: docs/c.md'
    printf '# A\n' >"$copy/README.md"
    printf '# C\n' >"$copy/docs/c.md"
    broken "a page that is not listed" 'SUMMARY.md: docs/c.md is not listed'
    printf '%s\n' '- [C?](c.md)' '- [D?](d.md)' >>"$copy/docs/SUMMARY.md"
    broken "a listed page that is not there" 'SUMMARY.md:5: no such page: d.md'
}

scenario "the book" rendered
scenario "the book's links" links
scenario "the order of the book's pages" order
scenario "mistakes in a book" mistakes
done_testing
