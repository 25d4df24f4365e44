#!/usr/bin/env bash
# docs/reference.md has the keys of the schemas and no others, and the names that the programs use; docs/troubleshooting.md
# has every message about nodes and runs that is in the sources, and no others.
# shellcheck disable=SC2016 # backquotes are Markdown's
. tests/lib.sh

# keys_of NAME: docs/reference.md's table of the schema
keys_of() {
    awk -v start="<!-- keys of $1 -->" '$0 == start { on = 1; next } /^<!-- end -->$/ { on = 0 } on && /^\| `/' docs/reference.md >"$TMPDIR/rows"
    is "it has the keys that scripts/schema-keys $1 prints" \
        "$(diff <(sed 's/^| `\([^`]*\)`.*/\1/' "$TMPDIR/rows" | sort) <(scripts/schema-keys "$1" | cut -f 1 | sort))" ""
    is "every key has a meaning" "$(grep -E '^\| `[^`]*` \| *\|$' "$TMPDIR/rows")" ""
}

reference() {
    is "every artifact's schema has a table" \
        "$(sed -n 's/^<!-- keys of \(.*\) -->$/\1/p' docs/reference.md | sort | xargs)" \
        "$(find schemas -name '*.schema.json' -printf '%f\n' | sed 's/\.schema\.json//' | grep -vx plan | sort | xargs)"
    is "every status of a test is named" "$(jq -r '.properties.exit_status.enum[]' schemas/perf.schema.json |
        while read -r status; do grep -q "\`$status\`" docs/reference.md || echo "$status"; done)" ""
    is "every event has rows" "$(jq -r '.properties.event.enum[]' schemas/event.schema.json |
        while read -r event; do grep -q "^| \`$event\." docs/reference.md || echo "$event"; done)" ""
}

exit_codes() {
    local codes page
    codes=$(sed -n 's/^ *EXIT_[A-Z_]* = \([0-9]*\).*/\1/p' common/contract/proto.h | sort -n | xargs)
    like "common/contract/proto.h defines them" "$codes" "^0 1 2 3"
    for page in docs/reference.md docs/troubleshooting.md; do
        is "$page has a row for each" "$(sed -n 's/^| \([0-9][0-9]*\) |.*/\1/p' "$page" | sort -n | xargs)" "$codes"
    done
}

# documented HEADING: the first column of the table below it
documented() {
    sed -n "/^## $1/,/^## /{/^## $1/d; p}" docs/troubleshooting.md | grep -E '^\| `' |
        sed -E 's/^\| (`` (.*) ``|`([^`]*)`) \| .*/\2\3/; s/\\\|/|/g' | sort
}

messages() {
    scripts/messages >"$TMPDIR/messages"
    is "scripts/messages finds every error of a node in the sources" \
        "$(find harness executor -name '*.c' -exec cat {} + | tr -d ' \n' | grep -oE 'err_set(_errno)?\([^;"]*,ERR_NODE,[^;"]*"' | wc -l)" \
        "$(grep -c . <(scripts/messages --all))"
    is "docs/troubleshooting.md has a row for each and no other" \
        "$(diff <(documented 'Messages about nodes and runs') <(sort "$TMPDIR/messages"))" ""
}

reasons() {
    is "scripts/messages --reasons finds some that the executor has" "$(grep -c . <(scripts/messages --reasons | grep -E 'time-out of|is dirty|refuses the jobs'))" 6
    is "docs/troubleshooting.md has a row for each and no other" \
        "$(diff <(documented 'Reasons of tests, variants and runs') <(scripts/messages --reasons | sort))" ""
}

nightly_plan() {
    awk '/^```json$/ { on = 1; next } /^```$/ { on = 0 } on' docs/first-night.md |
        jq --arg root "$PWD" '.source.dir = $root' >"$TMPDIR/night.json"
    exits "run --dry-run accepts it" 0 "$KERNSWEEP" run "$TMPDIR/night.json" --dry-run --db "$TMPDIR/db"
}

documented_commands() {
    scripts/command-table "$KERNSWEEP" >"$TMPDIR/table"
    is "each command exists and has the options that it is given" "$(sed ':a; /\\$/ { N; s/\\\n//; ba }' README.md docs/*.md |
        awk '/^```/ { code = !code; next } !code { sub(/^kernsweep/, "") } { print }' | # prose may begin with the name
        grep -oE '^kernsweep [a-z]+.*|`kernsweep [a-z]+[^`]*`' | tr -d '`' | sed 's/#.*//' | while read -r _ command rest; do
        [ "$command" != help ] || continue
        grep -q "^C	$command	" "$TMPDIR/table" || echo "no command $command"
        for word in $rest; do
            [ "$word" != -- ] || break # what follows is another program's
            case $word in --*) grep -qE "^O	$command	([^	]*,)?$word	" "$TMPDIR/table" || echo "$command has no $word" ;; esac
        done
    done)" ""
}

readme_commands() {
    scripts/command-table "$KERNSWEEP" >"$TMPDIR/table"
    is "its table has every command" "$(awk -F '\t' '$1 == "C" && $2 != "version" { print $2 }' "$TMPDIR/table" | while read -r command; do
        grep '^| `' README.md | cut -d '|' -f 2,3 | grep -q "\`${command}[\` ]" || echo "$command"
    done)" ""
}

# The notifiers of docs/nightly.md, with stand-ins for msmtp and curl.
notifiers() {
    local name
    mkdir -p "$TMPDIR/bin" "$HOME/.config/kernsweep"
    for name in mail-night:'### By e-mail' post-night:'### To a webhook'; do
        awk -v head="${name#*:}" 'index($0, head) == 1 { on = 1 } on && /^```$/ { exit } on && code; on && /^```sh$/ { code = 1 }' \
            docs/nightly.md >"$TMPDIR/bin/${name%%:*}"
    done
    printf '#!/bin/sh\necho "$@" >"$TMPDIR/msmtp.args"\nexec cat >"$TMPDIR/mail"\n' >"$TMPDIR/bin/msmtp"
    printf '#!/bin/sh\nfor w in "$@"; do echo "$w"; done >"$TMPDIR/curl.args"\nexec cat >"$TMPDIR/post"\n' >"$TMPDIR/bin/curl"
    chmod +x "$TMPDIR"/bin/*
    echo https://example.org/hook >"$HOME/.config/kernsweep/hook"
    echo '# Report' >"$TMPDIR/report.md"
    jq -n '{ticket: "t", node: "n", news: "regression", headline: "3 of 4 tests ok", lines: ["a 16: regressed +80.0 %", "say \"hi\""]}' \
        >"$TMPDIR/summary.json"
}

notify() {
    PATH=$TMPDIR/bin:$PATH KERNSWEEP_REPORT=$TMPDIR/report.md "$@" <"$TMPDIR/summary.json"
}

mail() {
    needs notifiers
    exits "exits 0" 0 notify mail-night perf@example.org
    is "sends to the address that it is given" "$(cat "$TMPDIR/msmtp.args")" perf@example.org
    is "sends subject, lines and report" "$(cat "$TMPDIR/mail")" "To: perf@example.org
Subject: kernsweep: regression: 3 of 4 tests ok

a 16: regressed +80.0 %
say \"hi\"

# Report"
}

webhook() {
    needs notifiers
    exits "exits 0" 0 notify post-night
    is "posts JSON" "$(jq -r .text "$TMPDIR/post")" "kernsweep t on n: 3 of 4 tests ok
a 16: regressed +80.0 %
say \"hi\""
    is "posts to the address in the file" "$(tail -n 1 "$TMPDIR/curl.args")" https://example.org/hook
}

# excerpt REPORT: the lines that README shows of it
excerpt() {
    awk -v start="<!-- excerpt of $1 -->" '$0 == start { on = 1; next } /^<!-- end -->$/ { on = 0 } on && !/^```$/' README.md >"$TMPDIR/excerpt"
    passes "it is not empty" test -s "$TMPDIR/excerpt"
    is "its lines are in the report" "$(grep -vxFf "$1" "$TMPDIR/excerpt")" ""
}

excerpts() {
    is "there is one" "$(grep -c '^<!-- excerpt of ' README.md)" 1
}

readme_plan() {
    awk '/^```json$/ { on = 1; next } /^```$/ { on = 0 } on' README.md >"$TMPDIR/saxpy.json"
    : >"$TMPDIR/saxpy.hip"
    is "it has ten lines at most" "$(($(grep -c . "$TMPDIR/saxpy.json") <= 10))" 1
    exits "run --dry-run accepts it" 0 "$KERNSWEEP" run "$TMPDIR/saxpy.json" --dry-run --db "$TMPDIR/db"
    like "it has the tests that README says" "$OUT" '30 tests'
}

scenario "README's excerpts of reports" excerpts
scenario "README's plan" readme_plan
while IFS= read -r report; do
    scenario "README's excerpt of $report" excerpt "$report"
done < <(sed -n 's/^<!-- excerpt of \(.*\) -->$/\1/p' README.md)
for name in summary perf node event job manifest resources; do
    scenario "docs/reference.md's table of schemas/$name.schema.json" keys_of $name
done
scenario "docs/reference.md" reference
scenario "exit codes" exit_codes
scenario "messages about nodes and runs" messages
scenario "reasons of tests, variants and runs" reasons
scenario "the plan of docs/first-night.md" nightly_plan
scenario "the commands of README and docs" documented_commands
scenario "README's commands" readme_commands
scenario "the mail notifier of docs/nightly.md" mail
scenario "the webhook notifier of docs/nightly.md" webhook
done_testing
