#!/usr/bin/env bash
# docs/reference.md has the keys of the schemas and no others, and the names that the programs use; docs/troubleshooting.md
# has every message about nodes and runs that is in the sources, and no others.
# shellcheck disable=SC2016 # backquotes are Markdown's
. tests/lib.sh

for name in summary perf node event job manifest resources; do
    awk -v start="<!-- keys of $name -->" '$0 == start { on = 1; next } /^<!-- end -->$/ { on = 0 } on && /^\| `/' docs/reference.md >"$TMPDIR/rows"
    is "docs/reference.md has the keys of schemas/$name.schema.json (scripts/schema-keys $name)" \
        "$(diff <(sed 's/^| `\([^`]*\)`.*/\1/' "$TMPDIR/rows" | sort) <(scripts/schema-keys "$name" | cut -f 1 | sort))" ""
    is "each with its meaning" "$(grep -E '^\| `[^`]*` \| *\|$' "$TMPDIR/rows")" ""
done
is "every artifact's schema has a table" \
    "$(sed -n 's/^<!-- keys of \(.*\) -->$/\1/p' docs/reference.md | sort | xargs)" \
    "$(find schemas -name '*.schema.json' -printf '%f\n' | sed 's/\.schema\.json//' | grep -vx plan | sort | xargs)"

is "every status of a test is named" "$(jq -r '.properties.exit_status.enum[]' schemas/perf.schema.json |
    while read -r status; do grep -q "\`$status\`" docs/reference.md || echo "$status"; done)" ""
is "every event has rows" "$(jq -r '.properties.event.enum[]' schemas/event.schema.json |
    while read -r event; do grep -q "^| \`$event\." docs/reference.md || echo "$event"; done)" ""
codes=$(sed -n 's/^ *EXIT_[A-Z_]* = \([0-9]*\).*/\1/p' common/contract/proto.h | sort -n | xargs)
like "common/contract/proto.h has exit codes" "$codes" "^0 1 2 3"
for page in docs/reference.md docs/troubleshooting.md; do
    is "$page has those" "$(sed -n 's/^| \([0-9][0-9]*\) |.*/\1/p' "$page" | sort -n | xargs)" "$codes"
done

scripts/messages >"$TMPDIR/messages"
is "scripts/messages finds all there are" "$(find harness executor -name '*.c' -exec cat {} + | tr -d ' \n' | grep -oE 'err_set(_errno)?\([^;"]*,ERR_NODE,[^;"]*"' | wc -l)" \
    "$(grep -c . <(scripts/messages --all))"
# documented HEADING: the first column of the table below it
documented() {
    sed -n "/^## $1/,/^## /{/^## $1/d; p}" docs/troubleshooting.md | grep -E '^\| `' |
        sed -E 's/^\| (`` (.*) ``|`([^`]*)`) \| .*/\2\3/; s/\\\|/|/g' | sort
}
is "docs/troubleshooting.md has every message, and none that is not there any more" \
    "$(diff <(documented 'Messages about nodes and runs') <(sort "$TMPDIR/messages"))" ""
is "scripts/messages --reasons finds those that the executor has" "$(grep -c . <(scripts/messages --reasons | grep -E 'time-out of|node is dirty|refuses the jobs'))" 5
is "docs/troubleshooting.md has every reason, too" \
    "$(diff <(documented 'Reasons of tests, variants and runs') <(scripts/messages --reasons | sort))" ""
# README's excerpts of example reports are verbatim.
sed -n 's/^<!-- excerpt of \(.*\) -->$/\1/p' README.md >"$TMPDIR/excerpts"
is "README has excerpts of reports" "$(wc -l <"$TMPDIR/excerpts")" 2
while read -r report; do
    awk -v start="<!-- excerpt of $report -->" '$0 == start { on = 1; next } /^<!-- end -->$/ { on = 0 } on && !/^```$/' README.md >"$TMPDIR/excerpt"
    is "README's excerpt of $report is in it" "$([ -s "$TMPDIR/excerpt" ] || echo empty; grep -vxFf "$report" "$TMPDIR/excerpt")" ""
done <"$TMPDIR/excerpts"
# The tutorial's plan is one, and its commands and options exist.
awk '/^```json$/ { on = 1; next } /^```$/ { on = 0 } on' docs/tutorial.md |
    jq --arg root "$PWD" '.source.dir = $root' >"$TMPDIR/tutorial.json"
exits "the tutorial's plan is taken" 0 "$KERNSWEEP" run "$TMPDIR/tutorial.json" --dry-run --db "$TMPDIR/db"
scripts/command-table "$KERNSWEEP" >"$TMPDIR/table"
is "its commands have the options that it gives them" "$(sed ':a; /\\$/ { N; s/\\\n//; ba }' docs/tutorial.md docs/nightly.md |
    grep -oE '^kernsweep [a-z]+.*|`kernsweep [a-z]+[^`]*`' | tr -d '`' | sed 's/#.*//' | while read -r _ command rest; do
    grep -q "^C	$command	" "$TMPDIR/table" || echo "no command $command"
    for word in $rest; do
        case $word in --*) grep -qE "^O	$command	([^	]*,)?$word	" "$TMPDIR/table" || echo "$command has no $word" ;; esac
    done
done)" ""
# The notifiers that docs/nightly.md shows do what it says, with stand-ins for msmtp and curl.
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
notify() {
    PATH=$TMPDIR/bin:$PATH KERNSWEEP_REPORT=$TMPDIR/report.md "$@" <"$TMPDIR/summary.json"
}
exits "docs/nightly.md: the mail" 0 notify mail-night perf@example.org
is "goes to whom it shall" "$(cat "$TMPDIR/msmtp.args")" perf@example.org
is "has a subject, the lines and the report" "$(cat "$TMPDIR/mail")" "To: perf@example.org
Subject: kernsweep: regression: 3 of 4 tests ok

a 16: regressed +80.0 %
say \"hi\"

# Report"
exits "docs/nightly.md: the webhook" 0 notify post-night
is "gets JSON" "$(jq -r .text "$TMPDIR/post")" "kernsweep t on n: 3 of 4 tests ok
a 16: regressed +80.0 %
say \"hi\""
is "at the address in the file" "$(tail -n 1 "$TMPDIR/curl.args")" https://example.org/hook
done_testing
