#!/usr/bin/env bash
# Tests that write to what is not theirs: to a build, to sources, to the results of other tests. What was measured after it
# is not believed, and the run says which file.
# shellcheck disable=SC2016 # for the workloads' shells
. tests/lib.sh
. tests/executor.sh

# three ID SCRIPT [VARIANT_JSON]: the variant v with a build and sources of its own has three tests, w one at the end; the
# second of v runs the script, too. $B is the build, $S the sources, $R the run's folder.
EACH=0.1
three() {
    if [ ! -e "$TMPDIR/tree.tar" ]; then
        mkdir -p "$TMPDIR/tree/sub"
        echo 1 >"$TMPDIR/tree/number"
        tar -c -C "$TMPDIR/tree" -f "$TMPDIR/tree.tar" number sub
    fi
    SHA=$(sha256sum <"$TMPDIR/tree.tar" | cut -d ' ' -f 1)
    x stage --sha256 "$SHA" <"$TMPDIR/tree.tar" >/dev/null
    job "$1" "$(jq -nc --arg s "$SHA" --arg script "$2" --arg each "$EACH" --argjson more "${3:-"{}"}" '
        def work: ["sh", "-c", "export B=$1 S=$2 R=$3/../..; [ $4 != 2 ] || [ $5 = w ] || { \($script)\n}; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1, \\\"rate\\\": 7}\"; sleep \($each)",
            "sh", "{build}", "{src}", "{out}", "{repetition}", "{variant}"];
        def v($name): {name: $name, build: [["sh", "-c", "echo 1 >\"$1/prog\"; echo \($name) >\"$1/name\"", "sh", "{build}"]], run: work} + $more;
        {source: {sha256: $s}, variants: [v("v"), v("w")],
         metrics: [{name: "rate", unit: "GB/s", better: "more"}],
         tests: [({variant: "v"} + ({repetition: (1, 2, 3)})), {variant: "w"}]}')"
    run "$1"
}

reason_of() {
    jq -r .reason "$(bundle "$1")/$2/perf.json"
}

# changed SCRIPT WHAT: it changes what the third test of v uses. Looks may take a fiftieth of the time: tests are so long that each
# is looked at, under sanitizers on a busy machine, too.
changed() {
    local id=changed-$TESTS EACH=0.5
    three "$id" "$1"
    is "the tests after it are INVALID, those before it and of others OK" "$(statuses "$id")" "OK OK INVALID OK"
    like "the reason names the file, and what to do" "$(reason_of "$id" v/ctx_64_run3)" "$2 .if that is intended: .in_tree.."
    like "the journal names it" "$(messages "$id")" "build and sources of v: $2"
    is "the last TEST_END is what counts" \
        "$(events "$id" '[.[] | select(.event == "TEST_END" and .test_index == 3)] | map(.exit_status) | join(" ")')" "INVALID"
    is "the record is the one that the journal seals" "$(sha256sum <"$(bundle "$id")/v/ctx_64_run3/perf.json" | cut -d ' ' -f 1)" \
        "$(summary "$id" '.tests[2].perf_sha256')"
    is "the run is closed" "$(summary "$id" '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    three "$id-2" true
    is "the next run makes the build again, and believes it" "$(statuses "$id-2")" "OK OK OK OK"
    like "and says why" "$(messages "$id-2")" 'the cached build of v is made again'
}

# several SCRIPT OUTCOMES TITLE: five tests of v; the second changes the build, the third again, the fourth restores it or changes it once
# more.
several() {
    local id=several-$TESTS
    three "$id" true # to have sources
    job "$id-5" "$(jq -c --arg s "$1" '.job | del(.run_id) | .variants |= .[:1]
        | .variants[0].run[2] = "B=$1 S=$2; case $4 in 1) touch -r $B/prog $B/../then; cp -p $B/prog $B/../was;; 2) echo 2 >$B/prog;; 3) echo 3 >$B/prog;; 4) \($s);; esac; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1, \\\"rate\\\": 7}\"; sleep 0.5"
        | .tests = [range(1; 6) | {index: ., variant: "v", context: 64, repetition: ., timeout_s: 20}]' "$TMPDIR/$id.json")"
    run "$id-5"
    is "$3" "$(statuses "$id-5")" "$2"
    like "the reason names the file" "$(reason_of "$id-5" v/ctx_64_run3)" "prog has changed"
    like "that of the next does, too" "$(reason_of "$id-5" v/ctx_64_run4)" "prog has changed"
    is "the run is closed" "$(summary "$id-5" .status)" COMPLETE
}

# What is kernsweep's own in the folder of a test, which the test makes unusable.
own_files() {
    local id=own-$TESTS
    three "$id" "$1" # the second test's folder is its working folder
    is "the run is COMPLETE with all results" "$(summary "$id" .status) $(statuses "$id")" "COMPLETE OK OK OK OK"
    is "its log and record are files" "$(stat -c %F "$(bundle "$id")"/v/ctx_64_run2/{run.log,perf.json,vram_samples.jsonl} | sort -u)" "regular file"
    like "the log is what it printed" "$(cat "$(bundle "$id")/v/ctx_64_run2/run.log")" PERF_TIMING
}

seal_damaged() {
    local id=scribbled
    three "$id" 'echo x >>$B/.complete; echo 2 >$B/prog'
    is "the tests after it are INVALID" "$(statuses "$id")" "OK OK INVALID OK"
    like "the reason names the seal" "$(reason_of "$id" v/ctx_64_run3)" "the seal is damaged"
}

linked_elsewhere() {
    local id=linked-$TESTS
    three "$id" "$1" '{"build": [["sh", "-c", "echo 1 >\"$1/prog\"; ln -s prog \"$1/link\"; [ -e \"$2\" ] || echo 1 >\"$2\"; ln -s \"$2\" \"$1/out\"", "sh", "{build}", "'"$TMPDIR"'/outside"]]}'
    is "the tests after it are INVALID" "$(statuses "$id" | cut -d ' ' -f -3)" "OK OK INVALID"
    like "the reason names the link" "$(reason_of "$id" v/ctx_64_run3)" "$2 has changed"
    rm -f "$TMPDIR/outside"
}

added() {
    three added 'echo 1 >$S/shadow; echo 1 >$B/cache'
    is "all results stand" "$(statuses added)" "OK OK OK OK"
    like "what is new in the sources is told" "$(messages added)" "build and sources of v: shadow was added"
    unlike "what is new in a build is not" "$(messages added)" ' cache '
}

bytecode() {
    three bytecode 'mkdir -p $S/sub/__pycache__; echo 1 >$S/sub/__pycache__/x.pyc'
    is "all results stand" "$(statuses bytecode)" "OK OK OK OK"
    unlike "it is not told" "$(messages bytecode)" pyc
}

unsealed() {
    local id=unsealed-$TESTS
    three "$id" "$1"
    is "the tests after it are INVALID" "$(statuses "$id")" "OK OK INVALID OK"
    like "the reason names the seal" "$(reason_of "$id" v/ctx_64_run3)" "$2"
    is "the run is closed" "$(summary "$id" .status)" COMPLETE
}

# unread SCRIPT OUTCOMES: test 2 of v makes its seal a file whose reading fails with EIO, test 3 runs the script
unread() {
    local id=unread-$TESTS
    three "$id" true # to have sources
    job "$id-2" "$(jq -c --arg s "$1" '.job | del(.run_id) | .variants |= .[:1]
        | .variants[0].run[2] = "B=$1; case $4 in 2) mv $B/.complete $B/../seal; ln -s /proc/self/mem $B/.complete;; 3) \($s);; esac; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1, \\\"rate\\\": 7}\"; sleep 0.1"
        | .tests = [range(1; 5) | {index: ., variant: "v", context: 64, repetition: ., timeout_s: 20}]' "$TMPDIR/$id.json")"
    run "$id-2"
    is "only what nothing vouches for is INVALID" "$(statuses "$id-2")" "$2"
    like "the journal says that it could not be read" "$(messages "$id-2")" \
        'build and sources of v: the seal could not be read .Input/output error.; it is tried again'
    is "nothing has changed" "$(messages "$id-2" | grep -c "has changed\|cannot be read\|is gone")" 0
    is "the run is closed" "$(summary "$id-2" .status)" COMPLETE
}

unread_once() {
    unread 'rm $B/.complete; mv $B/../seal $B/.complete' "OK OK OK OK"
}

unread_for_good() {
    unread true "OK OK INVALID INVALID"
    like "its reason says so" "$(jq -r .reason "$WORK"/runs/unread-*-2/v/ctx_64_run3/perf.json)" \
        'it cannot be shown that its build and sources were unchanged when it began: the seal could not be read .Input/output error. when the run ended'
}

in_tree() {
    three in_tree 'echo 2 >$S/number; echo 2 >$B/prog' '{"in_tree": true}'
    is "all results stand" "$(statuses in_tree)" "OK OK OK OK"
    like "the journal says that nothing was checked" "$(messages in_tree)" 'v: in_tree: its sources are shared.*not checked'
}

without_build() {
    three unbuilt 'echo 2 >$S/number' '{"build": []}'
    is "the tests after it are INVALID, whatever their variant" "$(statuses unbuilt)" "OK OK INVALID INVALID"
    like "the reason names the file" "$(reason_of unbuilt w/ctx_64_run1)" "number has changed"
    three unbuilt2 true '{"build": []}'
    is "staging makes the sources anew" "$(statuses unbuilt2)" "OK OK OK OK"
}

# record SCRIPT [NUMBERS]: what the second test does to the record of the first
record() {
    local id=record-$TESTS
    three "$id" "cd \$R/v/ctx_64_run1; $1"
    is "only that test is INVALID" "$(statuses "$id")" "INVALID OK OK OK"
    like "the reason names the file, and both numbers" "$(reason_of "$id" v/ctx_64_run1)" \
        "perf.json was changed after it had ended${2:-}.*; tests may write to .out. only"
    is "the run is closed" "$(summary "$id" '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "its folder is one" "$(stat -c %F "$(bundle "$id")/v/ctx_64_run1")" directory
}

gate_writes() {
    three gated true '{"gates": [{"kind": "command", "name": "g", "run": ["sh", "-c", "echo 5 >\"$1/prog\"; echo 5 >\"$2/number\"", "sh", "{build}", "{src}"]}]}'
    is "all results stand: they had the same build" "$(statuses gated)" "OK OK OK OK" ||
        diag "$(find "$(bundle gated)" -name perf.json -exec cat {} + | jq -r .reason)" "$(messages gated)"
    like "it is told" "$(messages gated)" 'build and sources of v: prog has changed while builds and gates ran'
}

# journal SCRIPT: what a test does to it
journal() {
    local id=journal-$TESTS
    three "$id" "cd \$R; $1"
    is "the run is COMPLETE" "$(summary "$id" '.status + " " + (.counts.ok | tostring)')" "COMPLETE 4"
    like "the journal says that it is not all ours" "$(jq -rR 'fromjson? | .message // ""' "$(bundle "$id")/events.jsonl")" 'events.jsonl was changed by another process'
    is "it has the end of the run" "$(jq -rR 'fromjson? | select(.event == "SUITE_END") | .status' "$(bundle "$id")/events.jsonl")" COMPLETE
}

folder_in_the_way() {
    three obstacle 'mkdir -p $R/summary.json/x $R/w/code.json'
    is "the run is COMPLETE" "$(summary obstacle '.status + " " + (.counts.ok | tostring)')" "COMPLETE 4"
}

# The executor dies after the change; the next one finds it before it makes the build again.
resumed() {
    three resumed "echo 2 >\$B/prog" # to have sources
    job cut "$(jq -c --arg m "$TMPDIR/cut" '.job | del(.run_id) | .variants[0].run[2] |= sub("sleep 0.1"; "[ $4 != 3 ] || [ -e \($m) ] || { touch \($m); exec sleep 833; }; sleep 0.1")
        | .tests += [{variant: "v", context: 64, repetition: 4, timeout_s: 20, index: 5}]
        | .variants[0].run[2] |= sub("= 2 \\|\\|"; "= 2 ||")' "$TMPDIR/resumed.json")"
    submit cut
    until_true 20 test -e "$TMPDIR/cut"
    kill -9 "$(supervisor cut)"
    until_true 20 sh -c "! pgrep -f '[s]leep 833'"
    run cut
    is "all tests are OK: those before the change, and those of the new build" "$(statuses cut)" "OK OK OK OK OK"
    like "the build is made again" "$(messages cut)" 'the cached build of v is made again: prog has changed'
}

scenario "a test that changes {build}" changed 'echo 2 >$B/prog' 'prog has changed'
scenario "a test that changes {build} and puts the times back" changed 'touch -r $B/prog t; echo 2 >$B/prog; touch -r t $B/prog' 'prog has changed'
scenario "a test that replaces a file of {build}" changed 'echo 2 >n; mv n $B/prog' 'prog has changed'
scenario "a test that removes a file of {build}" changed 'rm $B/prog' 'prog is gone'
scenario "a test that replaces a file of {build} by a link" changed 'rm $B/prog; ln -s /etc/passwd $B/prog' 'prog has changed'
scenario "a test that changes the sources of its build" changed 'chmod u+w $S/number; echo 2 >$S/number' 'number has changed'
scenario "a test that writes to {build}/.." changed 'for d in $B/../*; do [ $(cat $d/name) = w ] || echo 2 >$d/prog; done' 'prog has changed'
for how in 'rm -f vram_samples.jsonl; mkdir -p vram_samples.jsonl/x' 'mkfifo .perf.json.part .diag.txt.part' 'mkdir .perf.json.part' \
    'rm .run.log.part; mkfifo .run.log.part' 'rm .run.log.part .vram_samples.jsonl.part' 'rm .run.log.part; echo forged >.run.log.part' \
    'mkdir perf.json diag.txt run.log' 'chmod 0 .'; do
    scenario "a test that in its own folder does: $how" own_files "$how"
done
scenario "tests that change {build} again and again" several 'echo 4 >$B/prog' "OK OK INVALID INVALID INVALID" "all after the first are INVALID"
scenario "a test that restores {build} that others have changed" several 'cat $B/../was >$B/prog; touch -r $B/../then $B/prog' "OK OK INVALID INVALID INVALID" "all after the first are INVALID"
scenario "a test that damages the seal of {build}" seal_damaged
scenario "a test that redirects a link of {build}" linked_elsewhere 'ln -sf /etc/passwd $B/link' link
scenario "a test that changes what a link of {build} leads to" linked_elsewhere 'echo 2 >$B/out; echo 22 >$B/out' out
scenario "a test that adds files" added
scenario "a test that lets Python compile" bytecode
scenario "tests that may write to their sources" in_tree
scenario "a test that changes sources without a build" without_build
fast='sed -i "s/\"prefill_s\": *1[.0]*/\"prefill_s\":0.001/" perf.json'
scenario "a test that edits the record of another" record "$fast" ": prefill_s is 0.001 and was 1"
scenario "a test that edits a metric in the record of another" record 'sed -i "s/\"rate\": *7[.0]*/\"rate\":70000/" perf.json' ": rate is 70000 and was 7"
scenario "a test that edits the record of another and puts the times back" record "touch -r perf.json t; $fast; touch -r t perf.json; rm t" ": prefill_s is 0.001 and was 1"
scenario "a test that removes the record of another" record 'rm perf.json'
scenario "a test that empties the record of another" record ': >perf.json'
scenario "a test that makes the record of another a fifo" record 'rm perf.json; mkfifo perf.json'
scenario "a test that makes the record of another a link" record 'cp perf.json ../copy; rm perf.json; ln -s ../copy perf.json'
scenario "a test that makes the record of another huge" record 'truncate -s 2G perf.json'
scenario "a test that removes the folder of another" record 'rm -r "$PWD"'
scenario "a test that puts a link in place of the folder of another" record 'mv "$PWD" ../../moved; ln -s ../moved "$R/v/ctx_64_run1"'
scenario "a test that makes the build anew, without its seal" unsealed 'rm "$B/.complete"; echo 2 >"$B/prog"' "its seal is gone"
scenario "a seal that cannot be read for a while" unread_once
scenario "a seal that cannot be read any more" unread_for_good
scenario "a test that puts a folder in the place of the seal" unsealed 'rm "$B/.complete"; mkdir "$B/.complete"' "its seal cannot be read"
scenario "a gate that writes to build and sources" gate_writes
scenario "a test that writes to the journal" journal 'echo "{\"event\": \"TEST_END\"}" >>events.jsonl'
scenario "a test that cuts the journal" journal ': >events.jsonl'
scenario "a test that removes the journal" journal 'rm events.jsonl'
scenario "a test that puts a fifo in place of the journal" journal 'rm events.jsonl; mkfifo events.jsonl'
scenario "a test that makes folders where files are to be" folder_in_the_way
scenario "a change that the executor did not live to see" resumed
done_testing
