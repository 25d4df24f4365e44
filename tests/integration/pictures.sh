#!/usr/bin/env bash
# README's recording of a terminal and its picture of a report show what the programs print now. `make pictures` makes them again.
# unsanitized: what it runs is run by other tests
. tests/lib.sh

command -v tmux >/dev/null || skip_all "no tmux (scripts/install-deps test)"

recording() {
    passes "the session can be recorded again" scripts/record-demo "$KERNSWEEP" "$TMPDIR/demo.svg"
    is "docs/demo.svg has the same commands and, but for numbers, the same last screen (else: make pictures)" \
        "$(scripts/record-demo --words docs/demo.svg)" "$(scripts/record-demo --words "$TMPDIR/demo.svg")"
    like "the last screen has the regression" "$(scripts/record-demo --words docs/demo.svg)" '^N rows .* regressed$'
    unlike "no path of the machine is in it" "$(cat docs/demo.svg)" '/tmp/|/root/'
}

# What a change of the output would look like: the comparison must see it.
changed_recording() {
    sed 's/regressed/slower than before/g' docs/demo.svg >"$TMPDIR/changed.svg"
    is "another word is seen" "$([ "$(scripts/record-demo --words docs/demo.svg)" != "$(scripts/record-demo --words "$TMPDIR/changed.svg")" ] && echo seen)" seen
    sed 's/--node node-a/--nodes node-a/g' docs/demo.svg >"$TMPDIR/changed.svg"
    is "another command is seen" "$([ "$(scripts/record-demo --words docs/demo.svg)" != "$(scripts/record-demo --words "$TMPDIR/changed.svg")" ] && echo seen)" seen
}

# On a machine that was busy during one of the two runs only, `columns` may look changed, which is no news; `rows` may not.
busy_recording() {
    local other
    for other in improved regressed; do
        sed -E "/> +[0-9]+  columns .*%/s/(unchanged|inconclusive|improved|regressed) +n = /$other  n = /
            s/>[0-9]+ [a-z]+(, [0-9]+ [a-z]+)+</>6 $other</" docs/demo.svg >"$TMPDIR/busy.svg"
        is "the recording has rows of columns that are $other" "$(grep -c "columns .*%.*$other" "$TMPDIR/busy.svg")" "$(grep -c 'columns .*%' docs/demo.svg)"
        is "columns that are $other are no other words" "$(scripts/record-demo --words "$TMPDIR/busy.svg")" "$(scripts/record-demo --words docs/demo.svg)"
    done
    sed -E 's/( skipped in )[0-9.]+ s/\11 min 05 s/' docs/demo.svg >"$TMPDIR/busy.svg"
    is "nor is a run of more than a minute" "$(scripts/record-demo --words "$TMPDIR/busy.svg")" "$(scripts/record-demo --words docs/demo.svg)"
    for other in unchanged inconclusive improved; do
        sed -E "0,/> +1024  rows .*regressed/s/(> +1024  rows .*)regressed/\1$other/" docs/demo.svg >"$TMPDIR/busy.svg"
        is "a row of rows that is $other is seen" "$([ "$(scripts/record-demo --words docs/demo.svg)" != "$(scripts/record-demo --words "$TMPDIR/busy.svg")" ] && echo seen)" seen
    done
}

report() {
    command -v gnuplot >/dev/null || { skip "docs/report.png" "no gnuplot (scripts/install-deps report)" && return; }
    is "docs/report.png was taken of a summary with these words (else: make pictures)" "$(scripts/picture-report --text-of docs/report.png)" \
        "$(scripts/picture-report --text "$KERNSWEEP")"
    like "it is that of the H100 run" "$(scripts/picture-report --text-of docs/report.png)" 'v5 is 2[.]07-2[.]71x faster'
}

scenario "README's recording" recording
scenario "README's recording, changed" changed_recording
scenario "README's recording, on a busy machine" busy_recording
scenario "README's picture of a report" report
done_testing
