#!/usr/bin/env bash
# Each build has sources of its own: what one leaves in {src} no other finds, and what tests change there is noticed.
. tests/lib.sh
. tests/executor.sh

# shellcheck disable=SC2016 # for the workloads' shells
time='echo "[PERF_TIMING] {\"prefill_s\": $(cat "$1/value" 2>/dev/null || echo 9)}"'

# The tree of the jobs.
tree() {
    mkdir -p "$TMPDIR/tree/sub"
    echo 1 >"$TMPDIR/tree/number"
    echo keep >"$TMPDIR/tree/sub/file"
    printf '#!/bin/sh\ntrue\n' >"$TMPDIR/tree/tool"
    chmod 755 "$TMPDIR/tree/tool"
    tar -c -C "$TMPDIR/tree" -f "$TMPDIR/tree.tar" number sub tool
}

staged() {
    needs tree
    SHA=$(sha256sum <"$TMPDIR/tree.tar" | cut -d ' ' -f 1)
    x stage --sha256 "$SHA" <"$TMPDIR/tree.tar" >/dev/null
}

# sweep ID VARIANTS [MORE]: one test of each variant, in order
sweep() {
    staged
    job "$1" "$(jq -nc --argjson v "$2" --arg s "$SHA" --argjson more "${3:-"{}"}" \
        '{source: {sha256: $s}, variants: $v, tests: ($v | map({variant: .name}))} + $more')"
    run "$1"
}

# builds NAME NUMBER: a variant whose build leaves value in {src}, if no other has
builds() {
    jq -nc --arg n "$1" --arg v "$2" --arg t "$time" '{name: $n,
        build: [["sh", "-c", "[ -e \"$1/value\" ] || echo $2 >\"$1/value\"; echo $2 >\"$3/built\"", "sh", "{src}", $v, "{build}"]],
        run: ["sh", "-c", $t, "sh", "{src}"]}'
}

values() {
    perf "$1" .timings.prefill_s a | cut -d . -f 1
    perf "$1" .timings.prefill_s b | cut -d . -f 1
}

statuses() {
    events "$1" '[.[] | select(.event == "BUILD_END") | .status] | join(" ")'
}

own_copies() {
    sweep own "[$(builds a 3), $(builds b 4)]"
    is "each variant has what its own build left" "$(values own | xargs)" "3 4"
    is "the staged tree has nothing of it" "$(cd "$WORK/src/$SHA" && echo *)" "number sub tool"
    is "the copies are read-only" "$(find "$WORK"/tree -mindepth 1 -perm /222 | wc -l)" 0
    is "the staged tree is read-only" "$(find "$WORK/src/$SHA" -perm /222 | wc -l)" 0
    is "modes are kept apart from that" "$(stat -c %a "$WORK"/tree/*/tool | sort -u)" 555
}

warm() {
    local before
    sweep cold "[$(builds a 3), $(builds b 4)]"
    before=$(find "$WORK/tree" -mindepth 2 -printf '%p %i %C@\n' | sort | sha256sum)
    sweep warm "[$(builds a 3), $(builds b 4)]"
    is "the builds are CACHED" "$(statuses warm)" "CACHED CACHED"
    is "no copy is made, and none is touched" "$(find "$WORK/tree" -mindepth 2 -printf '%p %i %C@\n' | sort | sha256sum)" "$before"
    is "the tests find what the builds left" "$(values warm | xargs)" "3 4"
}

shared() {
    sweep shared "$(jq -nc "[$(builds a 3), $(builds b 4)] | map(. + {in_tree: true})")"
    is "they share what the first one left" "$(values shared | xargs)" "3 3"
    like "the journal says so" "$(messages shared)" 'a: in_tree: its sources are shared'
    is "the summary says so" "$(summary shared '[.variants[].in_tree] | join(" ")')" "true true"
    is "the staged tree has nothing of it" "$(cd "$WORK/src/$SHA" && echo *)" "number sub tool"
    rm -rf "$WORK/build"
    sweep shared2 "$(jq -nc "[$(builds a 5), $(builds b 4)] | map(. + {in_tree: true})")"
    is "a later run finds it" "$(values shared2 | xargs)" "3 3"
    sweep apart "[$(builds a 6), $(builds b 4)]"
    is "a variant without it does not" "$(values apart | xargs)" "6 4"
}

# damaged HOW REASON: what somebody did to the copy of a's build
damaged() {
    local id=damaged-$TESTS tree
    rm -rf "$WORK"
    sweep "$id" "[$(builds a 3)]"
    tree=$(echo "$WORK"/tree/*)
    chmod -R u+w "$tree"
    (cd "$tree" && eval "$1")
    sweep "$id-2" "[$(builds a 3)]"
    is "the build is made again" "$(statuses "$id-2")" OK
    like "the journal says why" "$(messages "$id-2")" "the cached build of a is made again: $2"
    is "it measures what was built" "$(perf "$id-2" '.timings.prefill_s | floor' a)" 3
}

# A staged tree that is not as it was sent is sent again, not used.
changed_stage() {
    staged
    chmod u+w "$WORK/src/$SHA/number"
    echo 7 >"$WORK/src/$SHA/number"
    job changed "$(jq -nc --arg s "$SHA" '{source: {sha256: $s}, variants: [{name: "a", run: ["true"]}], tests: [{variant: "a"}]}')"
    run changed
    is "a run on it is BLOCKED" "$(summary changed .status)" BLOCKED
    like "the reason names the file" "$(summary changed .reason)" 'number has changed.*start the run again to resend them'
    staged
    is "staging replaces it" "$(cat "$WORK/src/$SHA/number")" 1
    job again "$(jq -nc --arg s "$SHA" '{source: {sha256: $s}, variants: [{name: "a", run: ["cat", "{src}/number"]}], tests: [{variant: "a"}]}')"
    run again
    is "and the next run is COMPLETE" "$(summary again .status)" COMPLETE
}

failed_build() {
    sweep fails "$(jq -nc '[{name: "a", build: [["sh", "-c", "echo x >\"$1/half\"; exit 3", "sh", "{src}"]], run: ["true"]}]')"
    is "it is BUILD_FAILED" "$(summary fails '.variants[0].status')" BUILD_FAILED
    sweep fails2 "$(jq -nc '[{name: "a", build: [["sh", "-c", "ls \"$1\"; exit 3", "sh", "{src}"]], run: ["true"]}]')"
    sweep fails3 "$(jq -nc '[{name: "a", build: [["sh", "-c", "echo x >\"$1/half\"; exit 3", "sh", "{src}"]], run: ["true"]}]')"
    unlike "the next attempt begins with clean sources" "$(cat "$(bundle fails2)/a/build.log")" '^half$'
}

odd_files() {
    rm -rf "$WORK"
    # shellcheck disable=SC2016 # for the build's shell
    local odd='cd "$1" && for i in $(seq 200); do mkdir d && cd d || exit; done; cd "$1"; touch "$(printf "bad\\377")" "$(printf "two\\nlines")"; mkfifo f; ln -s / l; ln -s nowhere m; mkdir -m 0 closed'
    local build="for d in \"\$1\" \"\$2\"; do ( set -- \"\$d\"; $odd ) || exit; done; echo 3 >\"\$1/value\""
    sweep odd "$(jq -nc --arg b "$build" --arg t "$time" '[{name: "a", build: [["sh", "-c", $b, "sh", "{src}", "{build}"]], run: ["sh", "-c", $t, "sh", "{src}"]}]')"
    is "the run is COMPLETE" "$(summary odd '.status + " " + (.counts.ok | tostring)')" "COMPLETE 1"
    sweep odd2 "$(jq -c '.job.variants' "$TMPDIR/odd.json")"
    is "the next run uses the build" "$(statuses odd2)" CACHED
    printf 9 >"$(echo "$WORK"/tree/*/bad*)"
    sweep odd3 "$(jq -c '.job.variants' "$TMPDIR/odd.json")"
    like "an odd name is told as text" "$(messages odd3)" 'made again: bad.* has changed in its sources'
}

pruned() {
    rm -rf "$WORK"
    sweep old "[$(builds a 3)]"
    rm -rf "$(bundle old)"
    find "$WORK" -mindepth 2 -maxdepth 2 -type d -exec touch -h -d '10 days ago' {} +
    is "the copy goes with its build" "$(x prune --days 3 | jq -c .removed)" '{"bin":0,"build":1,"compiled":1,"patched":0,"src":1,"tree":1}'
    is "no seal is left" "$(find "$WORK/seals" -type f | wc -l)" 0
}

scenario "two variants that build in {src}" own_copies
scenario "a second night of in-tree builds" warm
scenario "two variants with in_tree" shared
scenario "a copy with a changed file" damaged 'echo 8 >value' 'value has changed in its sources'
scenario "a copy with a changed file of the same size and times" damaged 'touch -r value ../t; printf 8 | dd of=value conv=notrunc status=none; touch -r ../t value; rm ../t' \
    'value has changed in its sources'
scenario "a copy with a file that was added" damaged 'echo 1 >sub/shadow' 'sub/shadow was added in its sources'
scenario "a copy without a file" damaged 'rm value' 'value is gone in its sources'
scenario "a copy with a link instead of a file" damaged 'rm value; ln -s number value' 'value has changed in its sources'
scenario "a copy that is cut to nothing" damaged ': >value' 'value has changed in its sources'
scenario "a copy whose seal is damaged" damaged 'truncate -s -5 ../../seals/tree-*' 'the seal is damaged in its sources'
scenario "staged sources that somebody changed" changed_stage
scenario "a build that fails half-way" failed_build
scenario "a build that leaves odd files and folders" odd_files
scenario "copies that are no longer used" pruned
done_testing
