#!/usr/bin/env bash
# make install into a folder: the command runs there without the checkout; manual pages, completions, the tarball and
# the removal.
# timeout: 300
. tests/lib.sh

dest=$TMPDIR/dest
root=$dest/opt/ks
# What is built stays as it is: this script may run beside others, and with any compiler.
build() {
    make -s -o all -o "$BUILD/kernsweep" -o "$BUILD/kernsweep-executor" BUILD="$BUILD" PREFIX=/opt/ks DESTDIR="$dest" "$@"
}
# An environment without any hint of the checkout; sanitizer builds report where they are told to.
bare() {
    (cd / && env -i PATH=/usr/bin:/bin HOME="$HOME" TMPDIR="$TMPDIR" LC_ALL=C.UTF-8 ASAN_OPTIONS="${ASAN_OPTIONS:-}" \
        UBSAN_OPTIONS="${UBSAN_OPTIONS:-}" "$@")
}

rm -rf "$BUILD/man" "$BUILD/completions"
exits "make install" 0 build install
is "says the version of the one file" "$(bare "$root/bin/kernsweep" --version)" "kernsweep $(cat VERSION)"
exits "finds the standard plan and its sources, from another folder" 0 bare "$root/bin/kernsweep" run local --dry-run
like "the installed ones" "$OUT" "^plan $root/bin/../share/kernsweep/harness/plans/prefill.json, node local"

is "all tools that the kernels' Makefile calls came along" "$(grep -oE '\<tools/[a-z_.-]+' kernels/Makefile | sort -u | while read -r tool; do
    [ ! -f "kernels/$tool" ] || [ -f "$root/share/kernsweep/kernels/$tool" ] || echo "$tool"
done)" ""
is "no other Python did" "$(find "$root" -type f -exec grep -lIE '^#!.*python' {} + | sed 's,.*/,,')" resources.py

cat >"$TMPDIR/plan.json" <<EOT
{"schema": "kernsweep.plan/1", "ticket": "installed", "node": "local", "workdir": "$TMPDIR/work",
 "variants": [{"name": "a", "run": ["sh", "-c",
   "echo 'Prompt tokens: 16'; echo '[PERF_TIMING] {\"prefill_s\": 0.25, \"attn_impl\": \"x\"}'"]}],
 "contexts": [16], "timeouts": {"default": 20}}
EOT
exits "runs a plan with the installed executor" 0 bare "$root/bin/kernsweep" run "$TMPDIR/plan.json" \
    --db "$TMPDIR/r.db" --artifacts "$TMPDIR/artifacts"
like "to its end" "$ERR" "run COMPLETE"
exits "into a store that is whole" 0 bare "$root/bin/kernsweep" db check --db "$TMPDIR/r.db"
bare "$root/bin/kernsweep" report latest --db "$TMPDIR/r.db" --format html -o "$TMPDIR/r.html"
like "with the page's style" "$(cat "$TMPDIR/r.html")" "<style>"

scripts/command-table "$KERNSWEEP" >"$TMPDIR/table"
commands=$(awk -F '\t' '$1 == "C" { print $2 }' "$TMPDIR/table")
man=$root/share/man/man1
for command in $commands; do printf 'kernsweep-%s.1\n' "$command"; done >"$TMPDIR/want"
echo kernsweep.1 >>"$TMPDIR/want"
is "a manual page for every command and one for all" "$(ls "$man")" "$(sort "$TMPDIR/want")"
for command in $commands; do [ -f "docs/man/$command.mdoc" ] || echo "$command"; done >"$TMPDIR/undescribed"
is "each with a description by hand: docs/man/COMMAND.mdoc" "$(cat "$TMPDIR/undescribed")" ""
awk -F '\t' '$1 == "O" { n = split($3, names, ","); print $2, names[n] }' "$TMPDIR/table" |
    while read -r command option; do
        sed 's/\\//g' "$man/kernsweep-$command.1" | grep -qE "^\.It.* Fl ${option#-}( |$)" || echo "$command $option"
    done >"$TMPDIR/lacking"
is "every option is in its page" "$(cat "$TMPDIR/lacking")" ""
is "they refer to pages that exist" "$(sed -n 's/^\.\(It \)\{0,1\}Xr \(kernsweep[^ ]*\) 1.*/\2.1/p' "$man"/*.1 | sort -u |
    while read -r page; do [ -f "$man/$page" ] || echo "$page"; done)" ""
if command -v mandoc >/dev/null; then
    is "mandoc finds nothing wrong with them" "$(mandoc -Tlint "$man"/*.1 | grep -v 'referenced manual not found')" ""
    like "and shows them" "$(mandoc -Tutf8 "$man/kernsweep-run.1" | sed 's/.\x08//g')" "--contexts LIST"
else
    skip "mandoc's opinion" "no mandoc"
fi

bashcomp=$root/share/bash-completion/completions/kernsweep
# complete_bash WORD...: what bash offers for the last word.
complete_bash() {
    # shellcheck disable=SC2016 # for the inner shell
    env -i PATH="$PATH" bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kernsweep; printf "%s\n" "${COMPREPLY[@]}"' \
        sh "$bashcomp" "$@"
}
is "bash offers the commands" "$(complete_bash kernsweep "" | sort | xargs)" "$(printf '%s\n' "$commands" help | sort | xargs)"
is "and the options of a command" "$(complete_bash kernsweep run --con | xargs)" "--contexts --confirm"
is "and files after those that take one" "$(cd / && complete_bash kernsweep run --plan /etc/host)" "$(compgen -f -- /etc/host)"
# complete_zsh DIR TEXT: the list that an interactive zsh shows for what stands on its line.
cat >"$TMPDIR/complete.zsh" <<'EOT'
zmodload zsh/zpty
zpty z "env TERM=dumb zsh -f -i"
zpty -w z "PROMPT='' ; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^T' list-choices; echo rea''dy"
while zpty -r z line && [[ $line != *ready* ]]; do :; done
zpty -w -n z "$2"$'\x14'
while zpty -r z line; do print -r -- "$line"; [[ $line != *' -- '* ]] || break; done
zpty -w z $'\x15'"echo do''ne"
while zpty -r z line && [[ $line != *done$'\r'* ]]; do print -r -- "$line"; done
zpty -d z
EOT
complete_zsh() {
    timeout 60 zsh -f "$TMPDIR/complete.zsh" "$root/share/zsh/site-functions" "$1" | sed -n 's/^\([a-z-]*\)  *-- .*/\1/p' | sort | xargs
}
if command -v zsh >/dev/null; then
    passes "zsh reads its own" zsh -n "$root/share/zsh/site-functions/_kernsweep"
    is "zsh offers the options of a command" "$(complete_zsh 'kernsweep run --con')" "--confirm --contexts"
    is "and the commands" "$(complete_zsh 'kernsweep ba')" baseline
else
    skip "what zsh offers" "no zsh"
fi
if command -v fish >/dev/null; then
    is "fish offers the options of a command" \
        "$(fish -N -c "source '$root/share/fish/vendor_completions.d/kernsweep.fish'; complete -C 'kernsweep run --con'" | cut -f 1 | sort | xargs)" \
        "--confirm --contexts"
else
    skip "fish offers the options of a command" "no fish"
fi
# shellcheck disable=SC2016 # for the inner shell
exits "the generators refuse a description of no command" 1 env -C "$TMPDIR" sh -c \
    'mkdir -p t/docs && cp "$1/VERSION" t && cp -r "$1/docs/man" t/docs && cp -r "$1/scripts" t && echo x >t/docs/man/none.mdoc && t/scripts/man-pages "$2" pages' \
    sh "$PWD" "$KERNSWEEP"
like "naming it" "$ERR" "none.mdoc describes no command"

echo kept >"$root/share/kernsweep/of-the-user"
exits "make uninstall" 0 build uninstall
is "takes away what was installed, and nothing else" "$(find "$dest" -type f)" "$root/share/kernsweep/of-the-user"
exits "twice is said" 2 build uninstall
like "in one line" "$ERR" "nothing is installed here"

exits "the tarball" 0 packaging/make-dist kernsweep-x 1700000000 "$TMPDIR/one.tar.gz"
exits "again" 0 packaging/make-dist kernsweep-x 1700000000 "$TMPDIR/two.tar.gz"
is "is the same bytes" "$(cksum <"$TMPDIR/one.tar.gz")" "$(cksum <"$TMPDIR/two.tar.gz")"
tar -xzf "$TMPDIR/one.tar.gz" -C "$TMPDIR"
exits "and from its own sources" 0 env -C "$TMPDIR/kernsweep-x" packaging/make-dist kernsweep-x 1700000000 "$TMPDIR/three.tar.gz"
is "the same again" "$(cksum <"$TMPDIR/three.tar.gz")" "$(cksum <"$TMPDIR/one.tar.gz")"
is "with no owner and one date" "$(tar -tvzf "$TMPDIR/one.tar.gz" --numeric-owner --full-time --utc | awk '{ print $2, $4 }' | sort -u)" "0/0 2023-11-14"
done_testing
