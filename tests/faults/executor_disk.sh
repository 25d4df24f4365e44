#!/usr/bin/env bash
# The node's disk is full: a clear status, nothing corrupt, and the run goes on when there is room again.
. tests/lib.sh
. tests/executor.sh

mkdir "$WORK"
mount -t tmpfs -o size=8m tmpfs "$WORK" 2>/dev/null || skip_all "mounting a tmpfs is not permitted here"
trap 'umount -l "$WORK"' EXIT

full_disk() {
    local rc=0
    job full "$(jq -nc --arg g "$good" --arg s "[ -e $TMPDIR/room ] || head -c 64M /dev/zero >big; $good" \
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

scenario "a run on a disk that becomes full" full_disk
done_testing
