#!/usr/bin/env bash
# The node's disk is full: a clear status, nothing corrupt, and the run goes on when there is room again.
. tests/lib.sh
. tests/executor.sh

mkdir "$WORK"
mount -t tmpfs -o size=8m tmpfs "$WORK" 2>/dev/null || skip_all "mounting a tmpfs is not permitted here"
trap 'umount -l "$WORK"' EXIT

good='echo "[PERF_TIMING] {\"prefill_s\": 1}"'
job full "$(jq -nc --arg g "$good" --arg s "[ -e $TMPDIR/room ] || head -c 64M /dev/zero >big; $good" \
    '{variants: [{name: "a", run: ["sh", "-c", $g]}, {name: "v", run: ["sh", "-c", $s]}],
      tests: [{variant: "a"}, {variant: "v"}, {variant: "a", repetition: 2}]}')"
submit full
rc=0
x follow --run full >"$TMPDIR/events" 2>"$TMPDIR/err" || rc=$?
is "the run is left open" "$rc" 75
like "   for lack of space, as follow says" "$(cat "$TMPDIR/err")" 'No space left'
like "   and status" "$(x status --run full | jq -r '.[0] | .state + " " + .error')" '^dead .*No space left'
is "no artifact is half written" "$(find "$WORK/runs/full" -name '*.json' -exec jq -e . {} + >/dev/null && echo whole)" whole
is "the journal reads" "$(events full '[.[].seq] == [range(1; length + 1)]')" true
x submit <"$TMPDIR/full.json" >/dev/null 2>"$TMPDIR/err"
is "submit says no while there is no room" "$?" 3
like "   and why" "$(cat "$TMPDIR/err")" 'bytes of disk are free'
rm "$WORK/runs/full/v/ctx_64_run1/big"
touch "$TMPDIR/room"
run full
is "with room it goes on to the end" "$(summary full '.status + " " + (.counts.ok | tostring)')" "COMPLETE 3"
is "   the first test was not run again" "$(perf full .attempt a)" 1
is "   no leavings" "$(find "$WORK/runs/full" -name '.*.part' -o -name .error -o -name .reserve | wc -l)" 0
done_testing
