#!/usr/bin/env bash
# run --confirm and noise, on a node whose speed the test sets: a fluke, slower sources, a slower node.
# timeout: 600
. tests/lib.sh

ks() {
    "$KERNSWEEP" "$@" --db "$TMPDIR/results.db"
}

sweep() {
    ks run "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" --baseline gold "$@"
}

sql() {
    sqlite3 -batch -noheader "$TMPDIR/results.db" "$1"
}

# set_speed SOURCE NODE: seconds that the sources take, and a factor of the node's.
set_speed() {
    echo "$1" >"$TMPDIR/src/seconds"
    echo "$2" >"$TMPDIR/node_factor"
    rm -f "$TMPDIR/fluke"
}

mkdir -p "$TMPDIR/src"
cat >"$TMPDIR/src/work.sh" <<'SH'
#!/bin/sh
# Claims to have taken as long as the sources, the node, and a passing mood of it say.
seconds=$(cat "$1/seconds")
factor=$(cat "$2/node_factor")
fluke=1
if [ -s "$2/fluke" ]; then
    fluke=1.3
    left=$(($(cat "$2/fluke") - 1))
    if [ "$left" -gt 0 ]; then echo "$left" >"$2/fluke"; else rm "$2/fluke"; fi
fi
echo "Prompt tokens: $3"
awk -v s="$seconds" -v f="$factor" -v k="$fluke" -v r="$4" -v c="$3" \
    'BEGIN { printf "[PERF_TIMING] {\"prefill_s\": %.6f, \"attn_impl\": \"fake\"}\n", s * f * k * (c / 64) * (1 + 0.001 * r) }'
SH
chmod +x "$TMPDIR/src/work.sh"
cat >"$TMPDIR/plan.json" <<EOT
{
  "schema": "kernsweep.plan/1", "ticket": "confirm", "node": "local", "workdir": "$TMPDIR/work",
  "source": {"dir": "$TMPDIR/src"},
  "variants": [
    {"name": "a", "attn_impl": "fake", "run": ["{src}/work.sh", "{src}", "$TMPDIR", "{context}", "{repetition}"]},
    {"name": "b", "attn_impl": "fake", "run": ["{src}/work.sh", "{src}", "$TMPDIR", "{context}", "{repetition}"]}
  ],
  "contexts": [64, 128], "repetitions": 2, "order": "grouped", "timeouts": {"default": 30},
  "threshold": {"regression": 0.05}
}
EOT

set_speed 1.0 1
exits "the first run" 2 sweep
exits "becomes the baseline" 0 ks baseline set gold latest

# The first cell, and it alone, is slow for two tests.
echo 2 >"$TMPDIR/fluke"
exits "a fluke is called regressed when nobody looks twice" 4 sweep
echo 2 >"$TMPDIR/fluke"
exits "and is none when its cell is measured again in turns" 0 sweep --confirm
like "the cell is then inconclusive, and the table says why" "$OUT" "inconclusive"
run=$(sql "SELECT run_id FROM run WHERE tag = '' ORDER BY id DESC LIMIT 1")
is "four runs took turns" "$(sql "SELECT count(*) FROM run WHERE tag = 'confirm'")" 4
is "of the suspect's cell only" "$(sql "SELECT DISTINCT s.variant || s.context_len FROM run r JOIN test t ON t.run_id = r.id
    JOIN series s ON s.id = t.series_id WHERE r.tag = 'confirm'")" a64
is "three repetitions each" "$(sql "SELECT count(*) FROM run r JOIN test t ON t.run_id = r.id WHERE r.tag = 'confirm'")" 12
exits "a later comparison of the two says the same" 0 ks compare "$run" --baseline gold --json
is "and that it was confirmed that way" "$(jq -r '.cells[] | select(.variant == "a" and .context == 64) | .confirmation' <<<"$OUT")" refuted

set_speed 1.2 1
exits "slower sources are confirmed" 4 sweep --confirm
like "in turns with the old ones" "$(sql "SELECT outcome, count(*) FROM confirmation GROUP BY 1")" "confirmed\|4"
like "the report says so too" "$OUT" "regressed"
is "base's sources and these took turns" "$(sql "SELECT count(DISTINCT source_sha256) FROM (SELECT source_sha256 FROM run
    WHERE tag = 'confirm' ORDER BY id DESC LIMIT 4)")" 2

set_speed 1.0 3
exits "a node that is three times slower is no fluke" 4 sweep --confirm
is "it is called what it is" "$(sql "SELECT outcome, count(*) FROM confirmation GROUP BY 1 ORDER BY 1" | xargs)" \
    "confirmed|4 node|4 refuted|1"
run=$(sql "SELECT run_id FROM run WHERE tag = '' ORDER BY id DESC LIMIT 1")
ks compare "$run" --baseline gold --json >"$TMPDIR/node.json" 2>&1
like "in the reason" "$(jq -r '.cells[0].reason' "$TMPDIR/node.json")" "the node, not the sources"

rm -rf "$TMPDIR/work/src"
set_speed 1.2 1
exits "when the node has lost the base's tree, the suspect stays one" 4 sweep --confirm
like "and why is said" "$ERR" "suspects not confirmed: .*no longer has the sources"

set_speed 1.0 1
exits "noise runs the same build again and again" 0 ks noise "$TMPDIR/plan.json" --runs 3 --artifacts "$TMPDIR/artifacts" --json
is "and finds none where there is none" "$(jq -c '[.alarms, .comparisons, .cells[0].runs]' <<<"$OUT")" "[0,24,3]"
is "its runs are no nights" "$(ks history --variant a --context 64 --json | jq '[.points[] | select(.tag != "")] | length')" 0
is "the noise floor of every cell is stored" "$(sql "SELECT count(*) FROM noise WHERE metric = 'prefill_s'")" 4
mapfile -t same < <(sql "SELECT run_id FROM run WHERE tag = 'noise'")
mapfile -t other < <(sql "SELECT run_id FROM run WHERE tag = '' ORDER BY id LIMIT 4")
exits "and can be taken from stored runs" 0 ks noise --stored "${same[@]}"
like "as a table" "$OUT" "0 false alarms in 24 comparisons"
exits "runs of different sources are refused" 2 ks noise --stored "${other[@]}"
like "by name" "$ERR" "different sources"
done_testing
