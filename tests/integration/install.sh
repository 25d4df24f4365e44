#!/usr/bin/env bash
# make install into a folder: the command runs there without the checkout; manual pages, completions, the tarball and
# the removal.
# unsanitized: what it runs is run by other tests
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

make_install() {
    rm -rf "$BUILD/man" "$BUILD/completions"
    try_once install build install
    [ "$RC" = 0 ]
}

# Columns of the installed program's commands (C) and options (O).
command_table() {
    scripts/command-table "$KERNSWEEP" >"$TMPDIR/table"
    COMMANDS=$(awk -F '\t' '$1 == "C" { print $2 }' "$TMPDIR/table")
}

installed_program() {
    needs make_install
    try_once install build install
    exited "make install exits 0" 0
    is "--version prints that of VERSION" "$(bare "$root/bin/kernsweep" --version)" "kernsweep $(cat VERSION)"
    exits "run --dry-run finds the standard plan from another folder" 0 bare "$root/bin/kernsweep" run local --dry-run
    like "the standard plan is the installed one" "$OUT" "^plan $root/bin/../share/kernsweep/harness/plans/prefill.json, node local"
    exits "init writes a plan there" 0 bare "$root/bin/kernsweep" init -o "$TMPDIR/first.yaml" -- true
    is "which names the installed schema" "$(sed -n '1s/.*schema=//p' "$TMPDIR/first.yaml")" "$(realpath "$root/share/kernsweep/schemas/plan.schema.json")"
}

installed_files() {
    needs make_install
    is "all tools that the kernels' Makefile calls are there" "$(grep -oE '\<tools/[a-z_.-]+' kernels/Makefile | sort -u | while read -r tool; do
        [ ! -f "kernels/$tool" ] || [ -f "$root/share/kernsweep/kernels/$tool" ] || echo "$tool"
    done)" ""
    is "resources.py is the only Python program" "$(find "$root" -type f -exec grep -lIE '^#!.*python' {} + | sed 's,.*/,,')" resources.py
}

installed_sweep() {
    needs make_install
    cat >"$TMPDIR/plan.json" <<EOT
{"schema": "kernsweep.plan/1", "clock": "simulated", "ticket": "installed", "node": "local", "workdir": "$TMPDIR/work",
 "variants": [{"name": "a", "run": ["sh", "-c",
   "echo 'Prompt tokens: 16'; echo '[PERF_TIMING] {\"prefill_s\": 0.25, \"attn_impl\": \"x\"}'"]}],
 "contexts": [16], "timeouts": {"default": 20}}
EOT
    exits "run exits 0" 0 bare "$root/bin/kernsweep" run "$TMPDIR/plan.json" --db "$TMPDIR/r.db" --artifacts "$TMPDIR/artifacts"
    like "the run is COMPLETE" "$ERR" "run COMPLETE"
    exits "db check finds the store sound" 0 bare "$root/bin/kernsweep" db check --db "$TMPDIR/r.db"
    bare "$root/bin/kernsweep" report latest --db "$TMPDIR/r.db" --format html -o "$TMPDIR/r.html"
    like "the report's page has its style" "$(cat "$TMPDIR/r.html")" "<style>"
}

manual_pages() {
    local man=$root/share/man/man1 command
    needs make_install
    needs command_table
    for command in $COMMANDS; do printf 'kernsweep-%s.1\n' "$command"; done >"$TMPDIR/want"
    echo kernsweep.1 >>"$TMPDIR/want"
    is "there is one for every command and one for all" "$(ls "$man")" "$(sort "$TMPDIR/want")"
    for command in $COMMANDS; do [ -f "docs/man/$command.mdoc" ] || echo "$command"; done >"$TMPDIR/undescribed"
    is "every command has a written description, docs/man/COMMAND.mdoc" "$(cat "$TMPDIR/undescribed")" ""
    awk -F '\t' '$1 == "O" { n = split($3, names, ","); print $2, names[n] }' "$TMPDIR/table" |
        while read -r command option; do
            sed 's/\\//g' "$man/kernsweep-$command.1" | grep -qE "^\.It.* Fl ${option#-}( |$)" || echo "$command $option"
        done >"$TMPDIR/lacking"
    is "every option is in the page of its command" "$(cat "$TMPDIR/lacking")" ""
    is "every page that another refers to exists" "$(sed -n 's/^\.\(It \)\{0,1\}Xr \(kernsweep[^ ]*\) 1.*/\2.1/p' "$man"/*.1 | sort -u |
        while read -r page; do [ -f "$man/$page" ] || echo "$page"; done)" ""
}

mandoc_reads_them() {
    local man=$root/share/man/man1
    needs make_install
    is "mandoc -Tlint finds nothing" "$(mandoc -Tlint "$man"/*.1 | grep -v -e 'referenced manual not found' -e 'operating system explicitly specified')" ""
    unlike "no page says BSD" "$(mandoc -Tutf8 "$man/kernsweep-run.1" | tail -n 1)" 'BSD'
    like "mandoc shows an option of run" "$(mandoc -Tutf8 "$man/kernsweep-run.1" | sed 's/.\x08//g')" "--contexts LIST"
}

# complete_bash WORD...: what bash offers for the last word.
complete_bash() {
    # shellcheck disable=SC2016 # for the inner shell
    env -i PATH="$root/bin:$PATH" KERNSWEEP_DB="$TMPDIR/names.db" bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kernsweep; printf "%s\n" "${COMPREPLY[@]}"' \
        sh "$root/share/bash-completion/completions/kernsweep" "$@"
}

bash_completion() {
    needs make_install
    needs command_table
    is "it offers the commands" "$(complete_bash kernsweep "" | sort | xargs)" "$(printf '%s\n' "$COMMANDS" help | sort | xargs)"
    is "it offers the options of a command" "$(complete_bash kernsweep run --con | xargs)" "--contexts --confirm"
    is "it offers files for an option that takes one" "$(cd / && complete_bash kernsweep run --plan /etc/host)" "$(compgen -f -- /etc/host)"
}

# A store with names to offer.
names_to_offer() {
    "$KERNSWEEP" ingest --node mi300x tests/fixtures/b3_89_2026-02-12 tests/fixtures/b3_90_2026-02-14 --db "$TMPDIR/names.db" >"$TMPDIR/names.log" 2>&1 &&
        "$KERNSWEEP" baseline set main 20260212 --db "$TMPDIR/names.db" >>"$TMPDIR/names.log" 2>&1
}

# offers TITLE WANT WORD...: what bash offers for the last word.
offers() {
    local title=$1 want=$2
    shift 2
    is "$title" "$(complete_bash "$@" | sort | xargs)" "$want"
}

bash_names() {
    local runs
    needs make_install
    needs names_to_offer
    runs=$("$KERNSWEEP" runs --json --db "$TMPDIR/names.db" | jq -r '.. | .run_id? // empty' | sort | xargs)
    like "the store has two runs" "$runs" '^20260212[^ ]* 20260214[^ ]*$'
    offers "runs where a command takes a run" "$runs latest" kernsweep show ""
    offers "runs for an option that takes one" "${runs% *}" kernsweep report latest --against 20260212
    offers "baselines" main kernsweep compare latest --baseline m
    offers "variants" "baseline v3 v4" kernsweep history --variant ""
    offers "the next variant of a list" "baseline,v3 baseline,v4" kernsweep run plan.json --variants baseline,v
    offers "contexts" "16384 4096 8192" kernsweep history --context ""
    offers "metrics" "joules joules_per_token" kernsweep compare --metric jou
    offers "nodes" mi300x kernsweep run plan.json --node ""
    offers "tickets" "$("$KERNSWEEP" complete ticket --db "$TMPDIR/names.db" | xargs)" kernsweep history --ticket ""
    offers "the words that an option takes" "csv github junit md text" kernsweep compare A B --format ""
    offers "subcommands" "backup check path vacuum" kernsweep db ""
    offers "commands after help" "sql" kernsweep help sq
    offers "the names of the store given by --db" "" kernsweep compare --db "$TMPDIR/none.db" --baseline ""
    is "a store that is not there is not created" "$([ ! -e "$TMPDIR/none.db" ] || echo created)" ""
}

# list_zsh TEXT UNTIL: what an interactive zsh shows when it lists the choices for TEXT, read until a line has UNTIL.
list_zsh() {
    cat >"$TMPDIR/complete.zsh" <<'EOT'
zmodload zsh/zpty
zpty z "env TERM=dumb zsh -f -i"
zpty -w z "PROMPT='' ; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^T' list-choices; echo rea''dy"
while zpty -r z line && [[ $line != *ready* ]]; do :; done
zpty -w -n z "$2"$'\x14'
while zpty -r z line; do print -r -- "$line"; [[ $line != *$3* ]] || break; done
zpty -w z $'\x15'"echo do''ne"
while zpty -r z line && [[ $line != *done$'\r'* ]]; do print -r -- "$line"; done
zpty -d z
EOT
    PATH=$root/bin:$PATH KERNSWEEP_DB=$TMPDIR/names.db timeout 30 zsh -f "$TMPDIR/complete.zsh" "$root/share/zsh/site-functions" "$1" "$2"
}

# complete_zsh TEXT: the choices that have descriptions.
complete_zsh() {
    list_zsh "$1" ' -- ' | sed -n 's/^\([a-z-]*\)  *-- .*/\1/p' | sort | xargs
}

zsh_completion() {
    needs make_install
    passes "zsh -n reads it" zsh -n "$root/share/zsh/site-functions/_kernsweep"
    is "it offers the options of a command" "$(complete_zsh 'kernsweep run --con')" "--confirm --contexts"
    is "it offers the commands" "$(complete_zsh 'kernsweep ba')" baseline
    needs names_to_offer
    like "it offers the store's names" "$(list_zsh 'kernsweep history --variant ' baseline)" '^baseline +v3'
}

fish_completion() {
    needs make_install
    is "it offers the options of a command" \
        "$(fish -N -c "source '$root/share/fish/vendor_completions.d/kernsweep.fish'; complete -C 'kernsweep run --con'" | cut -f 1 | sort | xargs)" \
        "--confirm --contexts"
    needs names_to_offer
    is "it offers the store's names" \
        "$(PATH=$root/bin:$PATH KERNSWEEP_DB=$TMPDIR/names.db fish -N -c "source '$root/share/fish/vendor_completions.d/kernsweep.fish'; complete -C 'kernsweep history --variant '" | cut -f 1 | sort | xargs)" \
        "baseline v3 v4"
}

# optional PROGRAM TITLE FUNCTION: a scenario that needs a program.
optional() {
    if command -v "$1" >/dev/null; then scenario "$2" "$3"; else skip_scenario "$2" "no $1"; fi
}

stray_description() {
    # shellcheck disable=SC2016 # for the inner shell
    exits "man-pages exits 1" 1 env -C "$TMPDIR" sh -c \
        'mkdir -p t/docs && cp "$1/VERSION" t && cp -r "$1/docs/man" t/docs && cp -r "$1/scripts" t && echo x >t/docs/man/none.mdoc && t/scripts/man-pages "$2" pages' \
        sh "$PWD" "$KERNSWEEP"
    like "the error names the file" "$ERR" "none.mdoc describes no command"
}

uninstalled() {
    try build install
    echo kept >"$root/share/kernsweep/of-the-user"
    exits "make uninstall exits 0" 0 build uninstall
    is "it removes what was installed and nothing else" "$(find "$dest" -type f)" "$root/share/kernsweep/of-the-user"
    exits "a second make uninstall exits 2" 2 build uninstall
    like "the second says that nothing is installed" "$ERR" "nothing is installed here"
}

tarball() {
    exits "make-dist exits 0" 0 packaging/make-dist kernsweep-x 1700000000 "$TMPDIR/one.tar.gz"
    exits "make-dist exits 0 a second time" 0 packaging/make-dist kernsweep-x 1700000000 "$TMPDIR/two.tar.gz"
    is "both times give the same bytes" "$(cksum <"$TMPDIR/one.tar.gz")" "$(cksum <"$TMPDIR/two.tar.gz")"
    tar -xzf "$TMPDIR/one.tar.gz" -C "$TMPDIR"
    exits "make-dist exits 0 in the unpacked sources" 0 env -C "$TMPDIR/kernsweep-x" packaging/make-dist kernsweep-x 1700000000 "$TMPDIR/three.tar.gz"
    is "the unpacked sources give the same bytes" "$(cksum <"$TMPDIR/three.tar.gz")" "$(cksum <"$TMPDIR/one.tar.gz")"
    is "entries have no owner and one date" "$(tar -tvzf "$TMPDIR/one.tar.gz" --numeric-owner --full-time --utc | awk '{ print $2, $4 }' | sort -u)" "0/0 2023-11-14"
}

scenario "the installed program" installed_program
scenario "the installed files" installed_files
scenario "a sweep by the installed program and executor" installed_sweep
scenario "the manual pages" manual_pages
optional mandoc "the manual pages for mandoc" mandoc_reads_them
scenario "the completion for bash" bash_completion
scenario "the names that the completion for bash offers" bash_names
optional zsh "the completion for zsh" zsh_completion
optional fish "the completion for fish" fish_completion
scenario "a manual page's description without a command" stray_description
scenario "the source tarball" tarball
scenario "make uninstall" uninstalled
done_testing
