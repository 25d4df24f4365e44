#!/usr/bin/env bash
# Notes about runs and tickets, runs that their node never got, and the report of a ticket over its dates.
# touches: harness/commands/store/note.c reports/ticket_report.c
# shellcheck disable=SC2016 # backquotes are Markdown's
. tests/lib.sh

export KERNSWEEP_DB=$TMPDIR/results.db

ks() {
    "$KERNSWEEP" "$@"
}

# typed TEXT ARGUMENT...: `note` with that text (printf's) on its standard input
typed() {
    printf '%b' "$1" | "$KERNSWEEP" note "${@:2}" --file -
}

# night DATE VALUE: a run of one cell; prints its id
night() {
    printf 'kernel,n,time\nbaseline,4096,%s\nv3,4096,%s\n' "$2" "$2" >"$TMPDIR/$1.csv"
    ks import --map "$TMPDIR/map.json" --date "$1" --node 192.0.2.10 "$TMPDIR/$1.csv" >/dev/null
    ks runs --json | jq -r --arg date "$1" '.[] | select(.date == $date and .status == "COMPLETE").run_id'
}

# blocked DATE: a run of a node that does not exist
blocked() {
    (cd "$TMPDIR" && exec "$KERNSWEEP" run plan.json --date "$1" --variants v3 --artifacts "$TMPDIR/artifacts_remote")
}

# Five dates, two of them blocked.
ticket() {
    cat >"$TMPDIR/map.json" <<'MAP'
{"schema": "kernsweep.map/1", "input": "csv", "rows": "/*", "run": {"ticket": {"const": "lds"}},
 "test": {"variant": "/kernel", "context": "/n", "prefill_s": {"at": "/time", "unit": "s"}}}
MAP
    cat >"$TMPDIR/plan.json" <<'PLAN'
{"schema": "kernsweep.plan/1", "ticket": "lds", "node": "nowhere.invalid", "timeouts": {"default": 60},
 "variants": [{"name": "baseline", "run": ["true"]}, {"name": "v3", "run": ["true"]}], "contexts": [4096, 8192],
 "env": {"TOKEN": "hush"}, "secrets": ["TOKEN"]}
PLAN
    FIRST=$(night 2026-02-10 22.768)
    night 2026-02-12 22.771 >/dev/null
    LAST=$(night 2026-02-14 80.652)
    blocked 2026-02-11 2>"$TMPDIR/blocked"
    echo $? >"$TMPDIR/blocked.code"
    blocked 2026-02-13 2>/dev/null
    printf '%s\n' 'La `baseline` tarda **3,5** veces más.' '' '- <script>alert(1)</script> | a' '- # no' >"$TMPDIR/es.md"
}

blocked_is_kept() {
    needs ticket
    is "the command exits 3" "$(cat "$TMPDIR/blocked.code")" 3
    like "it says that the run is kept" "$(cat "$TMPDIR/blocked")" '^kept as BLOCKED: run [0-9T]+Z-lds-'
    is "the runs are in the store" "$(ks runs --json | jq -r '[.[] | select(.status == "BLOCKED").date] | sort | join(" ")')" \
        "2026-02-11 2026-02-13"
    is "without results" "$(ks runs --json | jq '[.[] | select(.status == "BLOCKED").counts.ok] | add')" 0
    like "the latest run is none of them" "$(ks show latest)" "run $LAST "
    like "nor is the ticket's" "$(ks show lds)" "run $LAST "
    is "no secret is kept" "$(grep -rl hush "$TMPDIR/artifacts_remote")" ""
    exits "none is a baseline" 2 ks baseline set main "$(ks runs --json | jq -r '[.[] | select(.status == "BLOCKED").run_id][0]')"
    exits "its report exits 0" 0 ks report "$(ks runs --json | jq -r '[.[] | select(.status == "BLOCKED").run_id][0]')"
    like "it has the reason" "$OUT" 'cannot resolve nowhere\.invalid'
    like "it has the pending command" "$OUT" 'run plan\.json --date 2026-02-1[13] --variants v3'
    exits "its bundle is ingested again" 0 ks ingest "$TMPDIR"/artifacts_remote/2026-02-11/lds_blocked --db "$TMPDIR/other.db"
    is "without a warning" "$ERR" ""
}

notes_are_kept() {
    needs ticket
    exits "from a file" 0 ks note lds --lang es --section decision --by ada --file "$TMPDIR/es.md"
    like "says what it noted" "$ERR" '^noted: ticket lds, decision, es, by ada$'
    exits "from standard input" 0 typed 'slower | than' "$LAST" --section findings --by eve
    exits "the list exits 0" 0 ks note
    like "it has a line for a note" "$OUT" '^lds  decision es, by ada on [0-9-]{10}: La `baseline`'
    like "and one for a run's" "$OUT" "^$LAST  findings en, by eve on"
    exits "--json exits 0" 0 ks note --json
    is "it has the text" "$(jq -r '.[] | select(.section == "decision").text' <<<"$OUT")" "$(cat "$TMPDIR/es.md")"
    printf 'anew\n' | ks note lds --lang es --section decision --by ada --file - 2>/dev/null
    is "the next one replaces it" "$(ks note --json | jq -r '[.[] | select(.section == "decision").text] | join(",")')" anew
    ks export --format sql >"$TMPDIR/dump.sql"
    like "the dump has it" "$(cat "$TMPDIR/dump.sql")" "INSERT INTO note VALUES\\('lds','','decision','es','ada',"
    exits "--remove exits 0" 0 ks note lds --remove --section decision
    like "it says so" "$ERR" '^1 note of lds removed$'
    exits "removing what is none exits 2" 2 ks note lds --remove
    exits "of the run as well" 0 ks note latest --remove
    is "none is left" "$(ks note --json | jq length)" 0
}

# An editor that appends a line to what it is given.
notes_by_editor() {
    needs ticket
    printf '#!/bin/sh\ncat "$2" >"%s"\necho "$1" >>"$2"\n' "$TMPDIR/seen" >"$TMPDIR/editor"
    chmod +x "$TMPDIR/editor"
    printf 'before\n' | ks note "$FIRST" --file - 2>/dev/null
    exits "with a terminal it opens" 0 env VISUAL="$TMPDIR/editor --after" script -qec "'$KERNSWEEP' note '$FIRST'" /dev/null
    is "on what was noted" "$(cat "$TMPDIR/seen")" before
    is "and what it leaves is kept" "$(ks note --json | jq -r '.[0].text')" 'before--after'
    exits "without one it is refused" 2 ks note "$FIRST" </dev/null
    like "and says how" "$ERR" 'no terminal.*--file'
    exits "an editor that fails changes nothing" 2 env VISUAL=false script -qec "'$KERNSWEEP' note '$FIRST'" /dev/null
    is "the note stays" "$(ks note --json | jq -r '.[0].text')" 'before--after'
    ks note "$FIRST" --remove 2>/dev/null
}

hostile_notes() {
    needs ticket
    head -c 1048576 /dev/zero | tr '\0' x >"$TMPDIR/big"
    exits "1 MiB exits 2" 2 ks note lds --file "$TMPDIR/big"
    like "it names the limit" "$ERR" '16384 bytes'
    exits "as standard input, too" 2 typed "$(head -c 100000 "$TMPDIR/big")" lds
    exits "invalid UTF-8 exits 2" 2 typed 'a\xff' lds
    like "it says so" "$ERR" 'standard input: is not UTF-8'
    exits "an escape sequence exits 2" 2 typed 'fine\n\e[31mred' lds
    like "it names the line" "$ERR" 'line 2 has a control character'
    exits "a NUL exits 2" 2 typed 'a\0000b' lds
    exits "nothing exits 2" 2 ks note lds --file /dev/null
    exits "blanks exit 2" 2 typed '   ' lds
    exits "an unknown ticket exits 2" 2 typed x nobody
    exits "an unknown section exits 2" 2 typed x lds --section x
    exits "an unknown language exits 2" 2 typed x lds --lang fr
    exits "options without a run exit 2" 2 ks note --section decision
    exits "--remove with a text exits 2" 2 ks note lds --remove --file x
    is "nothing was kept" "$(ks note --json | jq length)" 0
}

report_of_ticket() {
    local before after
    needs ticket
    before=$(ks compare "$LAST" --against "$FIRST" --json 2>/dev/null)
    ks note lds --lang es --section decision --by ada --file "$TMPDIR/es.md" 2>/dev/null
    ks note "$LAST" --lang es --section findings --by ada --file - <<<'de | la noche' 2>/dev/null
    after=$(ks compare "$LAST" --against "$FIRST" --json 2>/dev/null)
    is "no verdict depends on notes" "$after" "$before"
    exits "exits 0" 0 ks report lds --kind ticket --lang es,en
    like "has its dates" "$OUT" 'del 2026-02-10 al 2026-02-14.* 5$'
    like "counts its runs" "$OUT" 'resultados: 3 de 5; bloqueadas: 2'
    like "says what the baseline did" "$OUT" '^- `baseline` at context 4096: 22\.77 s on 2026-02-10, 80\.65 s on 2026-02-14 \(\+254\.2 %\)\.'
    like "has the decision" "$OUT" '^La `baseline` tarda \\\*\\\*3,5'
    like "which stays text" "$OUT" '^- \\<script\\>alert\(1\)\\</script\\> \\\| a$'
    like "in English it says its language" "$OUT" '^By `ada`, [0-9-]+; in Spanish\.$'
    like "a blocked run is in the table" "$OUT" '^\| 2026-02-11 .*\*\*BLOCKED'
    like "with its pending command" "$OUT" 'run plan\.json --date 2026-02-13 --variants v3'
    like "and its reason" "$OUT" '^2026-02-13, `[^`]*` en `nowhere\.invalid`: `.*cannot resolve'
    like "each run has its verdict" "$OUT" '^\| 2026-02-14 .*regresión: 2 +\| 2026-02-12 '
    like "notes of runs are there" "$OUT" '^### 2026-02-14: '
    exits "of a run's word it is the same" 0 ks report latest --kind ticket --lang es,en
    exits "as a page it exits 0" 0 ks report lds --kind ticket --format html --lang es -o "$TMPDIR/t.html"
    is "no script of a note is in it" "$(grep -c 'alert(1)</script>' "$TMPDIR/t.html")" 0
    like "its text is" "$(cat "$TMPDIR/t.html")" '&lt;script&gt;alert\(1\)&lt;/script&gt; \| a'
    exits "--against exits 2" 2 ks report lds --kind ticket --against latest
    exits "a ticket that is none exits 2" 2 ks report nobody --kind ticket
    exits "the report of a run exits 0" 0 ks report "$LAST" --lang es
    like "has its notes" "$OUT" '^de \\\| la noche$'
    unlike "and not the ticket's" "$OUT" '3,5'
}

code_in_notes() {
    needs ticket
    typed 'Before.\n\n```sh\n## not a section\n# nor this\n```\n\nAfter.\n' "$LAST" --lang en --section remarks 2>/dev/null
    exits "a page with code exits 0" 0 ks report "$LAST" --format html --lang en -o "$TMPDIR/code.html"
    is "the code is whole" "$(grep -c '<code[^>]*>## not a section$' "$TMPDIR/code.html") $(grep -c '^# nor this$' "$TMPDIR/code.html")" "1 1"
    is "and in no list of contents" "$(grep -c 'not a section</a>' "$TMPDIR/code.html")" 0
}

ticket_with_a_baseline() {
    jq -n --arg work "$TMPDIR/work" '{schema: "kernsweep.plan/1", ticket: "based", workdir: $work, baseline: "gold",
        variants: [{name: "v", run: ["true"]}], contexts: [1], timeouts: {default: 60}}' >"$TMPDIR/based.json"
    ks run "$TMPDIR/based.json" --artifacts "$TMPDIR/artifacts_remote" >/dev/null 2>&1
    ks baseline set gold latest >/dev/null 2>&1
    ks run "$TMPDIR/based.json" --artifacts "$TMPDIR/artifacts_remote" --fail-on none >/dev/null 2>&1
    like "names the baseline that its plan's runs are compared with" "$(ks report based --kind ticket)" '^\| [0-9-]+ \| 1 [a-z]+ +\| `gold` '
}

scenario "a run that its node never got" blocked_is_kept
scenario "code in notes" code_in_notes
scenario "notes" notes_are_kept
scenario "notes by an editor" notes_by_editor
scenario "hostile notes" hostile_notes
scenario "the report of a ticket" report_of_ticket
scenario "the report of a ticket with a baseline" ticket_with_a_baseline
done_testing
