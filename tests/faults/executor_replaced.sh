#!/usr/bin/env bash
# A test that puts something else where the executor keeps results: a file, a link or a folder of another name in the place of its
# variant's folder, folders and fifos with names that the executor writes. Tests whose results were touched are INVALID, the others
# keep theirs, and the run is whole.
# shellcheck disable=SC2016 # the scripts that are tests expand their own variables
. tests/lib.sh
. tests/executor.sh

NAMESPACE=()

# among ID SCRIPT: test 2 of 4 runs the script, in which $v is its variant's folder and $run the run's
among() {
    job "$1" "$(jq -nc --arg s "v=\${KERNSWEEP_OUT%/*}; run=\${v%/*}; $2; $good" --arg g "$good" '
        {variants: [{name: "v", run: ["sh", "-c", ("if [ $1 = 2 ]; then " + $s + "; else " + $g + "; fi"), "sh", "{context}"]},
                    {name: "w", run: ["sh", "-c", $g]}],
         tests: [{variant: "v", context: 1}, {variant: "v", context: 2}, {variant: "v", context: 3}, {variant: "w", context: 1}]}')"
    "${NAMESPACE[@]}" "$KERNSWEEP_EXECUTOR" submit --workdir "$WORK" <"$TMPDIR/$1.json" >"$TMPDIR/$1.submitted"
    timeout 60 "$KERNSWEEP_EXECUTOR" follow --workdir "$WORK" --run "$1" --offset 0 >"$TMPDIR/$1.events"
}

# is_whole ID: the run is closed, and its manifest names every result
is_whole() {
    is "the run is COMPLETE" "$(x status --run "$1" | jq -r '.[0] | "\(.state) \(.status)"')" "complete COMPLETE"
    is "its manifest names all results" "$(jq -r '[.files[].path | select(test("^[vw]/[^/]*/perf.json$"))] | join(" ")' "$(bundle "$1")/manifest.json")" \
        "v/ctx_1_run1/perf.json v/ctx_2_run1/perf.json v/ctx_3_run1/perf.json w/ctx_1_run1/perf.json"
}

why='INVALID: the folder of its results was replaced while it ran'

second() {
    jq -r '"\(.exit_status): \(.reason)"' "$(bundle "$1")/v/ctx_2_run1/perf.json"
}

lost='INVALID: its perf.json was changed after it had ended; tests may write to {out} only'

# by ID SCRIPT: it moves or removes the variant's folder
by() {
    among "$1" "$2"
    is_whole "$1"
    is "it and the test whose results were there are INVALID" "$(statuses "$1")" "INVALID INVALID OK OK"
    like "its reason says what happened" "$(second "$1")" "^$why"
    is "so does that of the other" "$(jq -r '"\(.exit_status): \(.reason)"' "$(bundle "$1")/v/ctx_1_run1/perf.json")" "$lost"
    like "the journal says so, and what to do" "$(messages "$1")" \
        'the folder v was replaced while tests ran: what was in it is lost; tests may write to {out} only'
    is "its folder is one" "$(stat -c %F "$(bundle "$1")/v")" directory
}

by_what_stays() {
    among stays 'mv $v $run/t; mkdir $v; echo x >$v/it; chattr +i $v/it'
    find "$(bundle stays)" -name it -exec chattr -i {} +
    is_whole stays
    is "tests whose results were there are INVALID" "$(statuses stays)" "INVALID INVALID OK OK"
    like "the journal says where it is, and what to do" "$(messages stays)" \
        'what stood in the place of v cannot be removed: .*/\.v\.replaced-1: cannot remove: Operation not permitted; remove it by hand'
}

in_a_later_tests_place() {
    among later 'mkdir $v/ctx_3_run1; echo x >$v/ctx_3_run1/it; chattr +i $v/ctx_3_run1/it'
    find "$(bundle later)" -name it -exec chattr -i {} +
    is_whole later
    is "all tests are OK" "$(statuses later)" "OK OK OK OK"
    like "the journal says where it is, and what to do" "$(messages later)" \
        'what stood in the place of v/ctx_3_run1 cannot be removed: .*/v/\.ctx_3_run1\.replaced-1: cannot remove: Operation not permitted; remove it by hand'
}

in_a_skipped_tests_place() {
    job skipped "$(one '{"run": ["true"], "build": [["sh", "-c", "mkdir $1/ctx_64_run1; echo x >$1/ctx_64_run1/it; chattr +i $1/ctx_64_run1/it; exit 1", "sh", "'"$(bundle skipped)"'/v"]]}')"
    run skipped
    find "$(bundle skipped)" -name it -exec chattr -i {} +
    is "the run is COMPLETE" "$(x status --run skipped | jq -r '.[0] | "\(.state) \(.status)"')" "complete COMPLETE"
    is "its test is SKIPPED" "$(statuses skipped)" "SKIPPED"
}

by_what_cannot_be_moved() {
    among stuck 'mv $v $run/t; mkdir $v; chattr +i $v'
    chattr -i "$(bundle stuck)/v"
    is "the run is PARTIAL" "$(x status --run stuck | jq -r '.[0] | "\(.state) \(.status)"')" "complete PARTIAL"
    is "tests of the other variant are OK" "$(statuses stuck)" "INVALID INVALID SKIPPED OK"
    like "the journal says why, and what to do" "$(messages stuck)" \
        'v takes no more tests: its folder was replaced and cannot be put back: .*/v: cannot move.*Operation not permitted; remove it by hand'
}

own_that_cannot_be_moved() {
    among ownstuck 'cd /; rm -rf $KERNSWEEP_OUT; echo x >$KERNSWEEP_OUT; chattr +i $KERNSWEEP_OUT'
    chattr -i "$(bundle ownstuck)/v/ctx_2_run1"
    is "the run is PARTIAL" "$(x status --run ownstuck | jq -r '.[0] | "\(.state) \(.status)"')" "complete PARTIAL"
    is "only that test is INVALID" "$(statuses ownstuck)" "OK INVALID OK OK"
    like "the summary says why" "$(summary ownstuck '.tests[1].reason')" \
        '^the folder of its results cannot be put back: .*Operation not permitted'
}

by_mount() {
    local NAMESPACE=(unshare --mount)
    among mounted 'mkdir $run/other; echo x >$run/other/it; mount --bind $run/other $v'
    is "the run is PARTIAL" "$(x status --run mounted | jq -r '.[0] | "\(.state) \(.status)"')" "complete PARTIAL"
    is "tests of the other variant are OK" "$(statuses mounted)" "INVALID INVALID SKIPPED OK"
    ok "what is mounted there is not removed" "$([ -e "$(bundle mounted)/other/it" ] && echo 0 || echo 1)"
}

another_variant() {
    among other 'mv $run/w $run/elsewhere; echo x >$run/w'
    is_whole other
    is "all tests that have their results are OK" "$(statuses other)" "OK OK OK OK"
    like "the journal says so" "$(messages other)" 'the folder w was replaced while tests ran'
}

own_folder() {
    among own 'cd /; rm -rf $KERNSWEEP_OUT; echo x >$KERNSWEEP_OUT'
    is_whole own
    is "only that test is INVALID" "$(statuses own)" "OK INVALID OK OK"
    like "its reason says what happened" "$(second own)" "^$why"
}

own_link() {
    among ownlink 'mkdir $run/elsewhere; cd /; rm -rf $KERNSWEEP_OUT; ln -s $run/elsewhere $KERNSWEEP_OUT'
    is_whole ownlink
    is "only that test is INVALID" "$(statuses ownlink)" "OK INVALID OK OK"
}

manifest_folder() {
    among closed 'mkdir -p $run/manifest.json/x; echo x >$run/manifest.json/x/y; sleep 1'
    is_whole closed
    is "all tests are OK" "$(statuses closed)" "OK OK OK OK"
    like "the journal says so" "$(messages closed)" 'manifest.json was made by a test or build, and is removed'
}

manifest_file() {
    among forged 'echo "{}" >$run/manifest.json; sleep 1'
    is_whole forged
    is "all tests are OK" "$(statuses forged)" "OK OK OK OK"
}

odd_names() {
    among odd 'mkfifo perf.json .perf.json.part vram_samples.jsonl $run/summary.json; mkdir .diag.txt.part $run/.summary.json.part run.log; rm .run.log.part .vram_samples.jsonl.part; echo said'
    is_whole odd
    is "all tests are OK" "$(statuses odd)" "OK OK OK OK"
    like "its log is whole" "$(cat "$(bundle odd)/v/ctx_2_run1/run.log")" '^said$'
}

# closed ID SCRIPT: it takes permissions away, as a user whom they bind; root is none.
closed() {
    local KERNSWEEP_EXECUTOR=$KERNSWEEP_EXECUTOR WORK=$WORK NAMESPACE=()
    if [ "$(id -u)" = 0 ]; then
        place=${place:-$(mktemp -d /tmp/kernsweep-closed.XXXXXX)}
        install -m 755 "$KERNSWEEP_EXECUTOR" "$place/executor"
        chown 64001 "$place"
        chmod 755 "$place"
        NAMESPACE=(setpriv --reuid=64001 --regid=64001 --clear-groups env HOME="$place")
        KERNSWEEP_EXECUTOR=$place/executor WORK=$place/work
    fi
    among "$1" "$2"
    is_whole "$1"
    is "all tests are OK" "$(statuses "$1")" "OK OK OK OK"
}

closed_before_the_next() {
    closed shut-all 'chmod 000 ${run%/*/*}/[a-z]*'
    closed after-all :
}

place=
trap '[ -z "$place" ] || rm -rf "$place"' EXIT
if [ "$(id -u)" != 0 ] || setpriv --reuid=64001 --regid=64001 --clear-groups true 2>/dev/null; then
    scenario "a test that closes its own folder" closed shut-out 'chmod 000 $KERNSWEEP_OUT'
    scenario "a test that closes all variants' folders" closed shut-variants 'chmod 000 $v $run/w'
    scenario "a test that closes the run's folder" closed shut-run 'chmod 500 $run'
    scenario "a test that closes the folder of all runs" closed shut-runs 'chmod 000 ${run%/*}'
    scenario "a test that closes the workdir" closed shut-workdir 'chmod 000 ${run%/*/*}'
    scenario "a test that closes all that is in the workdir" closed_before_the_next
else
    skip_scenario "a test that closes its own folder" "root cannot be another user here"
fi
scenario "a file in the place of the variant's folder" by file 'mv $v $run/elsewhere; echo x >$v'
scenario "a link in the place of the variant's folder" by link 'mv $v $run/elsewhere; ln -s elsewhere $v'
scenario "a folder in the place of the variant's folder, which is in it" by around 'mv $v $run/t; mkdir $v; mv $run/t $v/old'
scenario "folders in the places of two variants' folders, which are in each other's" by others \
    'mv $run/w $run/u; mv $v $run/t; mkdir $v $run/w; mv $run/u $v/old; mv $run/t $run/w/old'
scenario "a variant's folder that is removed" by gone 'cd /; rm -rf $v; echo x >$v'
: >"$TMPDIR/immutable"
if chattr +i "$TMPDIR/immutable" 2>/dev/null; then
    chattr -i "$TMPDIR/immutable"
    scenario "a folder in the place of the variant's that cannot be removed" by_what_stays
    scenario "a folder in the place of the variant's that cannot be moved" by_what_cannot_be_moved
    scenario "a file in the place of the test's folder that cannot be moved" own_that_cannot_be_moved
    scenario "what cannot be removed in the place of a later test's folder" in_a_later_tests_place
    scenario "what cannot be removed in the place of the folder of a test that is skipped" in_a_skipped_tests_place
else
    skip_scenario "a folder in the place of the variant's that cannot be removed" "no file can be made immutable here"
fi
if unshare --mount sh -c 'mount --bind / /mnt' 2>/dev/null; then
    scenario "something mounted over the variant's folder" by_mount
else
    skip_scenario "something mounted over the variant's folder" "mount namespaces are not permitted here"
fi
scenario "a file in the place of another variant's folder" another_variant
scenario "a file in the place of the test's folder" own_folder
scenario "a link in the place of the test's folder" own_link
scenario "a folder with the name of the manifest" manifest_folder
scenario "a file with the name of the manifest" manifest_file
scenario "fifos and folders with names that the executor writes" odd_names
done_testing
