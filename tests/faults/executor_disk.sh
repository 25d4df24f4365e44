#!/usr/bin/env bash
# The node's disk is full: a clear status, nothing corrupt, and the run goes on when there is room again.
. tests/lib.sh
. tests/executor.sh

mkdir "$WORK"
mount -t tmpfs -o size=100m tmpfs "$WORK" 2>/dev/null || skip_all "mounting a tmpfs is not permitted here"
trap 'umount -l "$WORK"' EXIT

full_disk() {
    local rc=0
    job full "$(jq -nc --arg g "$good" --arg s "[ -e $TMPDIR/room ] || head -c 200M /dev/zero >big; $good" \
        '{variants: [{name: "a", run: ["sh", "-c", $g]}, {name: "v", run: ["sh", "-c", $s]}],
          tests: [{variant: "a"}, {variant: "v"}, {variant: "a", repetition: 2}]}')"
    submit full
    x follow --run full >"$TMPDIR/events" 2>"$TMPDIR/err" || rc=$?
    is "follow exits 75, for the run is open" "$rc" 75
    like "follow says that there is no space" "$(cat "$TMPDIR/err")" 'No space left'
    like "status says dead, and that there is no space" "$(x status --run full | jq -r '.[0] | .state + " " + .error')" '^dead .*No space left'
    is "every JSON file is whole" "$(find "$WORK/runs/full" -name '*.json' -exec cat {} + | jq -e . >/dev/null && echo whole)" whole
    is "the journal is numbered without a gap" "$(events full '[.[].seq] == [range(1; length + 1)]')" true
    x submit <"$TMPDIR/full.json" >/dev/null 2>"$TMPDIR/err"
    is "submit exits 3 while there is no room" "$?" 3
    like "submit says how much is free" "$(cat "$TMPDIR/err")" 'bytes of disk are free'
    rm "$WORK/runs/full/v/ctx_64_run1/big"
    touch "$TMPDIR/room"
    run full
    is "with room again, the run ends COMPLETE" "$(summary full '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
    is "the test that had ended is not run again" "$(perf full .attempt a)" 1
    is "no temporary file is left" "$(find "$WORK/runs/full" -name '.*.part' -o -name .error -o -name .reserve | wc -l)" 0
}

# built ID SCRIPT: the build of v runs the script, that of w makes nothing; both have a copy of the sources.
built() {
    rm -f "$TMPDIR/room"
    echo 1 >"$TMPDIR/number"
    tar -c -C "$TMPDIR" -f "$TMPDIR/tree.tar" number
    local sha
    sha=$(sha256sum <"$TMPDIR/tree.tar" | cut -d ' ' -f 1)
    x stage --sha256 "$sha" <"$TMPDIR/tree.tar" >/dev/null
    job "$1" "$(jq -nc --arg sha "$sha" --arg g "$good" --arg s "$2" 'def v($n; $s): {name: $n, build: [["sh", "-c", $s, "sh", "{build}"]], run: ["sh", "-c", $g]};
        {source: {sha256: $sha}, variants: [v("v"; $s), v("w"; "true")], tests: [{variant: "v"}, {variant: "w"}]}')"
    submit "$1"
}

# A variant is not broken because somebody filled the disk: its build is left to when there is room again.
prevented() {
    is "follow exits 75, for the run is open" "$(rc=0 && x follow --run "$1" >/dev/null 2>"$TMPDIR/err" || rc=$? && echo "$rc")" 75
    like "follow says how much is free and what to do" "$(cat "$TMPDIR/err")" 'only [0-9]+ MiB are free, and 64 are needed: free some'
    is "no build failed" "$(events "$1" 'any(.[]; .event == "BUILD_END" and .status == "BUILD_FAILED")')" false
    rm "$WORK/filler"
    touch "$TMPDIR/room"
    run "$1"
    is "with room again, the run ends COMPLETE" "$(summary "$1" '.status + " " + (.counts.ok | tostring)')" "COMPLETE 2"
}

no_room_for_copy() {
    fallocate -l 60M "$WORK/filler"
    built copy true
    prevented copy
}

no_room_for_build() {
    built build "[ -e $TMPDIR/room ] || { fallocate -l 60M $WORK/filler; false; }"
    prevented build
}

greedy_build() {
    # shellcheck disable=SC2016 # sh's
    built greedy 'fallocate -l 60M "$1/big"; exit 1'
    follow greedy
    is "it alone is not measured" "$(statuses greedy)" "SKIPPED OK"
    like "its reason says so" "$(perf greedy .reason)" 'BUILD_FAILED: the build used up the free space'
    is "it leaves nothing" "$(find "$WORK" -name big)" ""
}

scenario "a run on a disk that becomes full" full_disk
scenario "no room for a copy of the sources" no_room_for_copy
scenario "a disk that becomes full while a variant is built" no_room_for_build
scenario "a build that fills the disk" greedy_build
done_testing
