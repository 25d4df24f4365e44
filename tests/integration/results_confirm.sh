#!/usr/bin/env bash
# run --confirm and noise, on a node whose speed the test sets: a fluke, slower sources, a slower node.
# timeout: 600
. tests/lib.sh

ks() {
    "$KERNSWEEP" "$@" --db "$DB"
}

# sweep [OPTION...]
sweep() {
    ks run "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" --baseline gold "$@"
}

sql() {
    sqlite3 -batch -noheader "$DB" "$1"
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
  "schema": "kernsweep.plan/1", "clock": "simulated", "ticket": "confirm", "node": "local", "workdir": "$TMPDIR/work",
  "source": {"dir": "$TMPDIR/src"},
  "variants": [
    {"name": "a", "attn_impl": "fake", "run": ["{src}/work.sh", "{src}", "$TMPDIR", "{context}", "{repetition}"]},
    {"name": "b", "attn_impl": "fake", "run": ["{src}/work.sh", "{src}", "$TMPDIR", "{context}", "{repetition}"]}
  ],
  "contexts": [64, 128], "repetitions": 2, "order": "grouped", "timeouts": {"default": 30},
  "threshold": {"regression": 0.05}
}
EOT

quiet_sweep() {
    sweep --fail-on none >/dev/null 2>&1
}

# store NAME: a store of the scenario's own, with a baseline of a node and sources of normal speed.
store() {
    DB=$TMPDIR/$1.db
    rm -rf "$TMPDIR/work"
    set_speed 1.0 1
    quiet_sweep
    ks baseline set gold latest >/dev/null 2>&1
}

latest_sweep() {
    sql "SELECT run_id FROM run WHERE tag = '' ORDER BY id DESC LIMIT 1"
}

outcomes() {
    sql "SELECT outcome, count(*) FROM confirmation GROUP BY 1 ORDER BY 1" | xargs
}

first_run() {
    DB=$TMPDIR/first.db
    set_speed 1.0 1
    exits "a sweep against a baseline that is not set exits 2" 2 sweep
    exits "its run can be set as the baseline" 0 ks baseline set gold latest
}

# The first cell, and it alone, is slow for two tests.
fluke() {
    local run
    store fluke
    echo 2 >"$TMPDIR/fluke"
    exits "a sweep without --confirm exits 4" 4 sweep
    echo 2 >"$TMPDIR/fluke"
    exits "a sweep with --confirm exits 0" 0 sweep --confirm
    like "a sweep with --confirm calls the cell inconclusive" "$OUT" "inconclusive"
    run=$(latest_sweep)
    is "confirming takes four runs" "$(sql "SELECT count(*) FROM run WHERE tag = 'confirm'")" 4
    is "confirming measures the suspect's cell only" "$(sql "SELECT DISTINCT s.variant || s.context_len FROM run r JOIN test t ON t.run_id = r.id
        JOIN series s ON s.id = t.series_id WHERE r.tag = 'confirm'")" a64
    is "confirming measures it three times in each run" "$(sql "SELECT count(*) FROM run r JOIN test t ON t.run_id = r.id WHERE r.tag = 'confirm'")" 12
    exits "a later compare of the two runs exits 0" 0 ks compare "$run" --baseline gold --json
    is "a later compare has the suspicion as refuted" "$(jq -r '.cells[] | select(.variant == "a" and .context == 64) | .confirmation' <<<"$OUT")" refuted
}

slower_sources() {
    store sources
    set_speed 1.2 1
    exits "the sweep exits 4" 4 sweep --confirm
    is "all four cells are confirmed" "$(outcomes)" "confirmed|4"
    like "the table says regressed" "$OUT" "regressed"
    is "the baseline's sources and the new ones take turns" "$(sql "SELECT count(DISTINCT source_sha256) FROM (SELECT source_sha256 FROM run
        WHERE tag = 'confirm' ORDER BY id DESC LIMIT 4)")" 2
}

slower_node() {
    store node
    set_speed 1.0 3
    exits "the sweep exits 4" 4 sweep --confirm
    is "all four cells are put down to the node" "$(outcomes)" "node|4"
    ks compare "$(latest_sweep)" --baseline gold --json >"$TMPDIR/node.json" 2>&1
    like "the reason names the node, not the sources" "$(jq -r '.cells[0].reason' "$TMPDIR/node.json")" "the node, not the sources"
}

lost_tree() {
    store lost
    rm -rf "$TMPDIR/work/src"
    set_speed 1.2 1
    exits "the sweep exits 4" 4 sweep --confirm
    like "the sweep says why nothing was confirmed" "$ERR" "suspects not confirmed: .*no longer has the sources"
}

noise() {
    store noise
    exits "exits 0" 0 ks noise "$TMPDIR/plan.json" --runs 3 --artifacts "$TMPDIR/artifacts" --json
    is "finds no false alarm on a quiet node" "$(jq -c '[.alarms, .comparisons, .cells[0].runs]' <<<"$OUT")" "[0,24,3]"
    is "keeps its runs out of the history" "$(ks history --variant a --context 64 --json | jq '[.points[] | select(.tag != "")] | length')" 0
    is "stores the noise floor of every cell" "$(sql "SELECT count(*) FROM noise WHERE metric = 'prefill_s'")" 4
}

noise_stored() {
    local same other
    store stored
    for _ in 1 2; do quiet_sweep; done
    mapfile -t same < <(sql "SELECT run_id FROM run WHERE tag = ''")
    exits "exits 0" 0 ks noise --stored "${same[@]}"
    like "prints the count of false alarms" "$OUT" "0 false alarms in 24 comparisons"
    set_speed 1.2 1
    quiet_sweep
    mapfile -t other < <(sql "SELECT run_id FROM run WHERE tag = ''")
    exits "exits 2 for runs of different sources" 2 ks noise --stored "${other[@]}"
    like "says that the sources are different" "$ERR" "different sources"
}

scenario "the first run of a plan" first_run
scenario "a cell that is slow once" fluke
scenario "slower sources with --confirm" slower_sources
scenario "a slower node with --confirm" slower_node
scenario "slower sources with --confirm on a node that lost the baseline's" lost_tree
scenario "noise" noise
scenario "noise --stored" noise_stored
done_testing
