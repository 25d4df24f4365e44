#!/usr/bin/env bash
# What an executor did not write is no result: results that others put in place, changed, cut, swapped or linked while no
# executor watched.
. tests/lib.sh
. tests/executor.sh

# cut_short ID: a run of three tests whose executor is killed in the second; the first is OK.
cut_short() {
    job "$1" "$(jq -nc --arg g "$good" --arg s "if [ -e $TMPDIR/$1.mark ]; then $good; else touch $TMPDIR/$1.mark; exec sleep 831; fi" '
        {variants: [{name: "a", run: ["sh", "-c", $g]}, {name: "v", run: ["sh", "-c", $s]}, {name: "z", run: ["sh", "-c", $g]}],
         tests: [{variant: "a"}, {variant: "v"}, {variant: "z"}]}')"
    submit "$1"
    until_true 20 test -e "$TMPDIR/$1.mark"
    kill_executor "$1"
    until_true 20 sh -c "! pgrep -f '[s]leep 831'"
}

# fast FROM TO: a record with another time
fast() {
    jq '.timings.prefill_s = 0.001' "$1" >"$TMPDIR/fast"
    cp "$TMPDIR/fast" "$2"
}

# Each gets the folder of the first test, which is OK, and leaves it as no executor would.
edited() { fast "$1/perf.json" "$1/perf.json"; }
with_old_times() {
    touch -r "$1/perf.json" "$TMPDIR/times"
    sed -i 's/"prefill_s": *1.0/"prefill_s":9.0/' "$1/perf.json"
    touch -r "$TMPDIR/times" "$1/perf.json"
}
cut_off() { truncate -s 100 "$1/perf.json"; }
emptied() { : >"$1/perf.json"; }
removed() { rm "$1/perf.json"; }
without_folder() { rm -r "$1"; }
linked() {
    mv "$1/perf.json" "$TMPDIR/elsewhere.json"
    ln -s "$TMPDIR/elsewhere.json" "$1/perf.json"
}
folder_linked() {
    rm -rf "$TMPDIR/elsewhere"
    mv "$1" "$TMPDIR/elsewhere"
    ln -s "$TMPDIR/elsewhere" "$1"
}
fifo() {
    rm "$1/perf.json"
    mkfifo "$1/perf.json"
}
huge() { truncate -s 2G "$1/perf.json"; }
folder() {
    rm "$1/perf.json"
    mkdir "$1/perf.json"
}
# of the same cell, in an earlier run
older() {
    cut_short "older-$TESTS"
    run "older-$TESTS"
    jq --arg id "$(jq -r .run_id "$1/perf.json")" '.run_id = $id | .timings.prefill_s = 0.001' \
        "$(bundle "older-$TESTS")/a/ctx_64_run1/perf.json" >"$TMPDIR/fast"
    cp "$TMPDIR/fast" "$1/perf.json"
}
# with a hash of its own in it
hashed() {
    fast "$1/perf.json" "$1/perf.json"
    jq --arg h "$(sha256sum <"$1/perf.json" | cut -d ' ' -f 1)" '.perf_sha256 = $h' "$1/perf.json" >"$TMPDIR/fast"
    cp "$TMPDIR/fast" "$1/perf.json"
}

refused() {
    local id="$1"
    cut_short "$id"
    "$1" "$(bundle "$id")/a/ctx_64_run1"
    run "$id"
    is "the run ends COMPLETE with all tests" "$(summary "$id" '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the test is run again, and what it measured stands" "$(perf "$id" '"\(.timings.prefill_s * 1000 | floor) \(.attempt)"' a)" "1000 2"
    is "the folder is one of the bundle's own" "$(stat -c %F "$(bundle "$id")/a/ctx_64_run1")" directory
    like "the journal says so" "$(events "$id" '.[] | .message // ""')" 'a/ctx_64_run1/perf.json is not what the executor wrote there: test 1 is repeated'
    is "the witness is the hash of the file" "$(events "$id" '[.[] | select(.event == "TEST_END" and .test_index == 1)] | last | .perf_sha256')" \
        "$(sha256sum <"$(bundle "$id")/a/ctx_64_run1/perf.json" | cut -d ' ' -f 1)"
}

# A record for the test that was running when the executor was killed, or for one that never began.
forged() {
    local id=forged-$1
    cut_short "$id"
    mkdir -p "$(bundle "$id")/$1/ctx_64_run1"
    jq --arg v "$1" --argjson i "$2" '.variant = $v | .test_index = $i | .timings.prefill_s = 0.001' \
        "$(bundle "$id")/a/ctx_64_run1/perf.json" >"$(bundle "$id")/$1/ctx_64_run1/perf.json"
    run "$id"
    is "the run ends COMPLETE with all tests" "$(summary "$id" '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the test's own time stands" "$(perf "$id" ".timings.prefill_s * 1000 | floor" "$1")" 1000
}

swapped() {
    local dir
    job swapped "$(jq -nc --arg g "$good" --arg s "if [ -e $TMPDIR/swapped.mark ]; then $good; else touch $TMPDIR/swapped.mark; exec sleep 832; fi" '
        {variants: [{name: "a", run: ["sh", "-c", $g]}, {name: "b", run: ["sh", "-c", ($g | sub("1}"; "2}"))]}, {name: "v", run: ["sh", "-c", $s]}],
         tests: [{variant: "a"}, {variant: "b"}, {variant: "v"}]}')"
    submit swapped
    until_true 20 test -e "$TMPDIR/swapped.mark"
    kill -9 "$(supervisor swapped)"
    until_true 20 sh -c "! pgrep -f '[s]leep 832'"
    dir=$(bundle swapped)
    mv "$dir/a/ctx_64_run1" "$dir/swap"
    mv "$dir/b/ctx_64_run1" "$dir/a/ctx_64_run1"
    mv "$dir/swap" "$dir/b/ctx_64_run1"
    run swapped
    is "each test has its own time" "$(perf swapped ".timings.prefill_s | floor" a) $(perf swapped ".timings.prefill_s | floor" b)" "1 2"
    is "both are run again" "$(perf swapped .attempt a) $(perf swapped .attempt b)" "2 2"
}

untouched() {
    cut_short untouched
    ln "$(bundle untouched)/a/ctx_64_run1/perf.json" "$TMPDIR/second-name"
    run untouched
    is "the run ends COMPLETE with all tests" "$(summary untouched '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the test that had ended is not run again" "$(perf untouched .attempt a)" 1
}

scenario "a result that is as the executor left it" untouched
for how in edited with_old_times cut_off emptied removed without_folder linked folder_linked fifo huge folder older hashed; do
    scenario "a result of a dead executor's run that is $how" refused "$how"
done
scenario "a result that a test forges for itself before it kills the executor" forged v 2
scenario "a result of a test that has not begun" forged z 3
scenario "two results that change places" swapped
done_testing
