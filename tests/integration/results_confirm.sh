#!/usr/bin/env bash
# run --confirm and noise, on a node whose speed the test sets: a fluke, slower sources, a slower node.
# unsanitized: hundreds of starts of the command; integration/nightly confirms, too
. tests/lib.sh
. tests/store.sh

# sweep [OPTION...]
sweep() {
    ks run "$TMPDIR/plan.json" --artifacts "$TMPDIR/artifacts" --baseline gold "$@"
}

# set_speed SOURCE NODE: seconds that the sources take, and a factor of the node's.
set_speed() {
    echo "$1" >"$TMPDIR/src/seconds"
    echo "$2" >"$TMPDIR/node_factor"
    rm -f "$TMPDIR/fluke" "$TMPDIR/slow"
}

mkdir -p "$TMPDIR/src"
cat >"$TMPDIR/src/work.sh" <<'SH'
#!/bin/sh
# Claims to have taken as long as the sources, the node, and a passing mood of it say.
read -r seconds <"$1/seconds"
read -r factor <"$2/node_factor"
fluke=1
if [ -s "$2/fluke" ]; then
    fluke=1.3
    read -r left <"$2/fluke"
    left=$((left - 1))
    if [ "$left" -gt 0 ]; then echo "$left" >"$2/fluke"; else rm "$2/fluke"; fi
fi
grep -qsx "$5$3" "$2/slow" && fluke=1.3
if [ -s "$2/fail" ]; then # "8 12": after eight tests, twelve fail
    read -r wait fail <"$2/fail"
    if [ "$wait" -gt 0 ]; then echo "$((wait - 1)) $fail" >"$2/fail"; else
        if [ "$fail" -gt 1 ]; then echo "0 $((fail - 1))" >"$2/fail"; else rm "$2/fail"; fi
        exit 1
    fi
fi
echo "Prompt tokens: $3"
exec awk -v s="$seconds" -v slower="${SLOWER:-1}" -v f="$factor" -v k="$fluke" -v r="$4" -v c="$3" \
    'BEGIN { printf "[PERF_TIMING] {\"prefill_s\": %.6f, \"attn_impl\": \"fake\"}\n", s * slower * f * k * (c / 64) * (1 + 0.001 * r) }'
SH
chmod +x "$TMPDIR/src/work.sh"
cat >"$TMPDIR/plan.json" <<EOT
{
  "schema": "kernsweep.plan/1", "clock": "simulated", "ticket": "confirm", "node": "local", "workdir": "$TMPDIR/work",
  "source": {"dir": "$TMPDIR/src"},
  "variants": [
    {"name": "a", "attn_impl": "fake", "run": ["{src}/work.sh", "{src}", "$TMPDIR", "{context}", "{repetition}", "a"]},
    {"name": "b", "attn_impl": "fake", "run": ["{src}/work.sh", "{src}", "$TMPDIR", "{context}", "{repetition}", "b"]}
  ],
  "contexts": [64, 128], "repetitions": 2, "order": "grouped", "timeouts": {"default": 30},
  "threshold": {"regression": 0.05}
}
EOT

quiet_sweep() {
    sweep --fail-on none "$@" >/dev/null 2>&1
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
    exits "a sweep against a baseline that is not set exits 0" 0 sweep
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

# The node became slower for each variant at another context: neither is measured at that of the other.
diagonal() {
    store diagonal
    printf "a64\nb128\n" >"$TMPDIR/slow"
    sweep --confirm >/dev/null 2>&1
    is "confirming takes four runs" "$(sql "SELECT count(*) FROM run WHERE purpose = 'confirm'")" 4
    is "each of them measures both suspects three times, and nothing else" "$(sql "SELECT DISTINCT group_concat(cell) FROM (
        SELECT r.id AS run, s.variant || s.context_len || 'x' || count(*) AS cell FROM run r JOIN test t ON t.run_id = r.id
            JOIN series s ON s.id = t.series_id WHERE r.purpose = 'confirm' GROUP BY 1, s.id ORDER BY 1, s.variant) GROUP BY run")" "a64x3,b128x3"
    is "the node's change is told from the code's" "$(outcomes)" "node|2"
}

# Every test of the first round fails: nothing is decided until the second.
rounds() {
    store rounds
    echo 2 >"$TMPDIR/fluke"
    echo "8 12" >"$TMPDIR/fail"
    exits "a suspect that the first round leaves undecided is measured again, and falls" 0 sweep --confirm
    like "the command says which round it is" "$ERR" "round 2 of at most 3"
    unlike "there is no third round" "$ERR" "round 3"
    is "each round takes four runs" "$(sql "SELECT count(*) FROM run WHERE purpose = 'confirm'")" 8
    is "what the last round found is stored" "$(outcomes)" "refuted|1"
    store one_round
    jq '.confirm = {rounds: 1}' "$TMPDIR/plan.json" >"$TMPDIR/once.json"
    echo 2 >"$TMPDIR/fluke"
    echo "8 12" >"$TMPDIR/fail"
    exits "with confirm.rounds of 1 it stays a regression" 4 ks run "$TMPDIR/once.json" --artifacts "$TMPDIR/artifacts" --baseline gold --confirm
    is "with confirm.rounds of 1 it is undecided" "$(outcomes)" "undecided|1"
}

# The sources are as fast as they were; the plan gives one variant a variable that slows it.
other_plan() {
    store other_plan
    jq '.variants[0].env = {SLOWER: "1.3"}' "$TMPDIR/plan.json" >"$TMPDIR/slower.json"
    exits "a variant that the plan slows down stays regressed" 4 ks run "$TMPDIR/slower.json" --artifacts "$TMPDIR/artifacts" --baseline gold --confirm
    is "nothing is measured again with the plan of now on both sides" "$(sql "SELECT count(*) FROM run WHERE purpose = 'confirm'")" 0
    like "the command says why" "$ERR" "not confirming 2 suspects: the plan differs there from the base's"
    unlike "the node is not blamed" "$OUT" "the node"
    like "the variable is named" "$OUT" "SLOWER unset -> 1.3"
}

# The plan has no sources: the program that it runs, which lies elsewhere, is replaced by a slower one. Both sides run it.
no_sources() {
    DB=$TMPDIR/no_sources.db
    jq --arg program "$TMPDIR/src" 'del(.source) | .variants[].run[:2] = [$program + "/work.sh", $program]' "$TMPDIR/plan.json" >"$TMPDIR/program.json"
    again() { ks run "$TMPDIR/program.json" --artifacts "$TMPDIR/artifacts" --baseline gold "$@"; }
    set_speed 1.0 1
    again --fail-on none >/dev/null 2>&1
    ks baseline set gold latest >/dev/null 2>&1
    echo 2 >"$TMPDIR/fluke"
    exits "a fluke of a plan without sources is refuted" 0 again --confirm
    is "it is no longer slower" "$(outcomes)" "refuted|1"
    set_speed 1.08 1
    exits "a program that became 8 % slower stays regressed" 4 again --confirm
    is "nothing tells whether it is the node or the program" "$(outcomes)" "refuted|1 undecided|4"
    unlike "there is no second round, which could not tell either" "$ERR" "round 2"
    set_speed 1.3 1
    exits "and so does one that became 30 % slower" 4 again --confirm
    unlike "the node is not blamed" "$OUT" "the node"
    like "a later compare says why it is not settled" "$(ks compare "$(latest_sweep)" --baseline gold --json | jq -r '.cells[0].reason')" \
        "the base's build could not be made again"
    unlike "nor does a later report advise more rounds" "$(ks report "$(latest_sweep)" --baseline gold)" 'in more rounds'
}

# The sources are the same, and what they include from elsewhere on the node is not: the base's build cannot be made again.
other_build() {
    DB=$TMPDIR/other_build.db
    rm -rf "$TMPDIR/work"
    jq --arg elsewhere "$TMPDIR/src_elsewhere" '.variants[] += {build: [["sh", "-c", "cp " + $elsewhere + "/seconds {src}/work.sh {build}/"]]} |
        .variants[].run[:2] = ["{build}/work.sh", "{build}"]' "$TMPDIR/plan.json" >"$TMPDIR/built.json"
    again() { ks run "$TMPDIR/built.json" --artifacts "$TMPDIR/artifacts" --baseline gold --fresh "$@"; }
    set_speed 1.0 1
    mkdir -p "$TMPDIR/src_elsewhere"
    echo 1.0 >"$TMPDIR/src_elsewhere/seconds"
    again --fail-on none >/dev/null 2>&1
    ks baseline set gold latest >/dev/null 2>&1
    echo 1.08 >"$TMPDIR/src_elsewhere/seconds"
    exits "code that became slower with the same sources stays regressed" 4 again --confirm
    is "the base's sources, built again, do not clear it" "$(outcomes)" "undecided|4"
    like "the code is named" "$OUT" "changed build output"
    echo 1.0 >"$TMPDIR/src_elsewhere/seconds"
    set_speed 1.0 1.3
    exits "where the base's build is the same, the node is found" 4 again --confirm
    is "in all four cells" "$(outcomes)" "node|4 undecided|4"
}

# All cells have the code of the base, and a variable of the plan slows them: they tell nothing of the node.
same_code_otherwise() {
    local day
    DB=$TMPDIR/otherwise.db
    rm -rf "$TMPDIR/work"
    jq '.variants[] += {build: [["cp", "{src}/work.sh", "{src}/seconds", "{build}/"]]} | .variants[].run[:2] = ["{build}/work.sh", "{build}"] |
        .contexts = [64, 128, 256]' "$TMPDIR/plan.json" >"$TMPDIR/built.json"
    jq '.env = {SLOWER: "1.2"}' "$TMPDIR/built.json" >"$TMPDIR/variable.json"
    again() { ks run "$@" --artifacts "$TMPDIR/artifacts" --baseline gold; }
    set_speed 1.0 1
    again "$TMPDIR/built.json" >/dev/null 2>&1
    ks baseline set gold latest >/dev/null 2>&1
    exits "what the plan made slower exits 4" 4 again "$TMPDIR/variable.json"
    like "all cells are slower" "$OUT" "All cells are 20 % slower together"
    unlike "the node is not blamed" "$OUT" "The node is|because of the node"
    like "the variable is named" "$OUT" "all cells: coincides with .*SLOWER unset -> 1.2"
    set_speed 1.0 1.2
    exits "a slower node exits 4" 4 again "$TMPDIR/built.json"
    like "and is blamed" "$OUT" "The node is 20 % slower tonight"
    DB=$TMPDIR/otherwise_nights.db
    set_speed 1.0 1
    for day in {10..19}; do again "$TMPDIR/built.json" --date "2026-01-$day" >/dev/null 2>&1; done
    for day in 20 21; do again "$TMPDIR/variable.json" --date "2026-01-$day" >/dev/null 2>&1; done
    exits "so does the second night with the variable, judged by nights" 4 ks compare latest
    like "its cells are slower together, too" "$OUT" "All cells are 20 % slower together"
}

# Two runs of fast sources and the newest one of slow ones: whose build is the base's?
mixed_baseline() {
    store mixed
    quiet_sweep
    ks baseline set gold latest --add >/dev/null 2>&1
    set_speed 1.2 1
    quiet_sweep
    ks baseline set gold latest --add >/dev/null 2>&1
    exits "a baseline of several sources is not measured again" 4 sweep --confirm
    is "no run confirms" "$(sql "SELECT count(*) FROM run WHERE purpose = 'confirm'")" 0
    like "the command says why" "$ERR" "not confirming 4 suspects: the runs of the baseline were built from different sources"
    unlike "the node is not blamed" "$OUT" "the node"
}

slower_sources() {
    store sources
    set_speed 1.2 1
    exits "the sweep exits 4" 4 sweep --confirm
    is "all four cells are confirmed" "$(outcomes)" "confirmed|4"
    like "the table says regressed" "$OUT" "regressed"
    is "the baseline's sources and the new ones take turns" "$(sql "SELECT count(DISTINCT source_sha256) FROM (SELECT source_sha256 FROM run
        WHERE tag = 'confirm' ORDER BY id DESC LIMIT 4)")" 2
    is "the code is stored as the cause of each, and nothing else" \
        "$(sql "SELECT kind, certainty, json_extract(evidence, '\$.by'), count(*) FROM cause GROUP BY 1, 2, 3")" "code|established|sources|4"
    like "the terminal says why" "$OUT" "  a at 64, 128: because of changed sources"
    is "compare --json has the cause beside the verdict" "$(ks compare "$(latest_sweep)" --baseline gold --json |
        jq -c '[.cells[] | [.verdict, .causes[0].kind, .causes[0].certainty]] | unique')" '[["regressed","code","established"]]'
}

slower_node() {
    store node
    set_speed 1.0 3
    exits "the sweep exits 4" 4 sweep --confirm
    is "all four cells are put down to the node" "$(outcomes)" "node|4"
    ks compare "$(latest_sweep)" --baseline gold --json >"$TMPDIR/node.json" 2>&1
    like "the reason names the node, not the sources" "$(jq -r '.cells[0].reason' "$TMPDIR/node.json")" "the node, not by the sources"
    like "JUnit counts them as failures, as the exit code does" "$(ks compare "$(latest_sweep)" --baseline gold --format junit)" 'tests="4" failures="4"'
    is "the node is the cause of each cell" "$(jq -c '[.cells[] | [.causes[0].kind, .causes[0].certainty]] | unique' "$TMPDIR/node.json")" \
        '[["node","established"]]'
}

# Nobody made the faster sources the baseline; tonight's lose half of what they had gained. The base's build is slow, as it always was.
older_baseline() {
    local day
    store older
    for day in {10..24}; do
        set_speed "0.80$((day % 4))" 1
        quiet_sweep --date "2026-01-$day"
    done
    set_speed 0.92 1
    exits "the first sweep exits 0" 0 sweep --confirm --date 2026-01-25
    is "no cell is put down to the node or cleared" "$(outcomes)" "undecided|4"
    like "the table says suspected, and why measuring again does not settle it" "$OUT" "suspected .*the base's build is older than the level"
    unlike "there is no second round, which could not settle it either" "$ERR" "round 2"
    exits "compare exits 4 for who wants the first night" 4 ks compare "$(latest_sweep)" --baseline gold --json --fail-on suspected
    like "the reason says what the base's build cannot tell" "$(jq -r '.cells[0].reason' <<<"$OUT")" "older than the level of the newest nights"
    is "the sources only coincide" "$(jq -c '[.cells[].causes[0] | [.kind, .certainty]] | unique' <<<"$OUT")" '[["code","coincides"]]'
    exits "a second sweep that is as slow exits 4" 4 sweep
    like "it has regressed since the first" "$OUT" "regressed .*open since"
}

# Nobody measured alternately: two cells of one variant are slower, and what differs is a variable of theirs.
causes() {
    store causes
    jq '.variants[0].env = {SLOWER: "1.2"}' "$TMPDIR/plan.json" >"$TMPDIR/variable.json"
    exits "the sweep exits 4" 4 ks run "$TMPDIR/variable.json" --artifacts "$TMPDIR/artifacts" --baseline gold
    like "the terminal names the variable" "$OUT" "^  a at 64, 128: coincides with a different environment: env.a.SLOWER unset -> 1.2"
    is "the store has it for both cells" "$(sql "SELECT variant, kind, certainty, json_extract(evidence, '\$.changes[0].now') FROM cause" | xargs)" \
        "a|environment|coincides|1.2 a|environment|coincides|1.2"
    is "the report of the night has it" "$(ks report latest --baseline gold --kind nightly | grep -c 'a different environment: env.a.SLOWER')" 1
    exits "an unchanged sweep exits 0" 0 sweep
    unlike "an unchanged sweep has no causes" "$OUT" "Why"
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
    ks noise remove --ticket confirm >/dev/null 2>&1
    exits "exits 2 for the same run twice, which never differs from itself" 2 ks noise --stored "${same[0]}" "${same[0]}"
    like "says which" "$ERR" "run ${same[0]} is named twice"
    is "and stores no noise" "$(sql "SELECT count(*) FROM noise")" 0
    exits "best does not count its tests twice either" 2 ks best "${same[0]}" "${same[0]}"
    exits "options that it would ignore exit 2" 2 ks noise --stored "${same[@]}" --runs 3
    exits "those of list, too" 2 ks noise list --runs 3
    set_speed 1.2 1
    quiet_sweep
    mapfile -t other < <(sql "SELECT run_id FROM run WHERE tag = ''")
    exits "exits 2 for runs of different sources" 2 ks noise --stored "${other[@]}"
    like "says that the sources are different" "$ERR" "different sources"
}

# The confirm runs are newer than the night, and the last of them measured the old sources.
latest_after_confirming() {
    local night bundle
    store latest
    sleep 1 # the ids of the records are of different seconds
    set_speed 1.2 1
    exits "the sweep exits 4" 4 sweep --confirm
    night=$(sql "SELECT run_id FROM run WHERE purpose = 'sweep' ORDER BY id DESC LIMIT 1")
    unlike "the night is not the newest run" "$night" "$(sql "SELECT run_id FROM run ORDER BY id DESC LIMIT 1")"
    exits "report latest exits 0" 0 ks report latest --baseline gold
    like "report latest is of the night" "$OUT" "$night"
    exits "compare latest exits 4" 4 ks compare latest --baseline gold --json
    is "compare latest has all four regressions" "$(jq '[.cells[] | select(.verdict == "regressed")] | length' <<<"$OUT")" 4
    exits "show latest exits 0" 0 ks show latest --json
    is "show latest is of the night, and says what it was for" "$(jq -r '.run_id + " " + .purpose' <<<"$OUT")" "$night sweep"
    is "runs --purpose lists the confirm runs alone" "$(ks runs --purpose confirm --json | jq -c '[length, ([.[].purpose] | unique)]')" '[4,["confirm"]]'
    exits "status exits 0" 0 ks status
    like "status begins with a header" "$(head -n 1 <<<"$OUT")" "^RUN +NODE +PURPOSE +STATE +TESTS"
    is "status lists five runs that have ended, and the header" "$(wc -l <<<"$OUT")" 6
    is "status lists the newest first" "$(sed 1d <<<"$OUT" | cut -c 1-16)" "$(sed 1d <<<"$OUT" | cut -c 1-16 | sort -r)"
    like "status says how to see the others" "$ERR" "^1 older run is not shown: --all"
    is "status --all lists every run" "$(ks status --all --json | jq length)" 6
    exits "attach latest exits 4" 4 ks attach latest
    like "attach latest is of the night" "$OUT" "$(sql "SELECT bundle FROM run WHERE run_id = '$night'")"
    exits "baseline set main latest exits 0" 0 ks baseline set main latest
    is "baseline set main latest takes the night" "$(ks baseline list --json | jq -r '.[] | select(.name == "main") | .run_id')" "$night"
    quiet_sweep
    exits "the accepted change does not regress again" 0 ks compare latest --baseline main
    exits "a confirm run can be made a baseline by its id" 0 ks baseline set odd "$(sql "SELECT run_id FROM run WHERE purpose = 'confirm' LIMIT 1")"
    like "which a note points out" "$ERR" "^note: run .* was made to confirm suspects"
}

# The first night is bad, the second is good.
rejecting() {
    local bad bundle
    store rejected
    set_speed 1.5 1
    quiet_sweep
    bad=$(latest_sweep)
    exits "remove with a filter exits 2" 2 ks runs remove "$bad" --ticket confirm
    exits "reject without a reason exits 2" 2 ks runs reject "$bad"
    like "reject without a reason asks for one" "$ERR" "--why"
    exits "reject exits 0" 0 ks runs reject "$bad" --why "the cooling had failed"
    like "runs shows it as rejected, and why" "$(ks runs)" "^$bad .* rejected: the cooling had failed"
    like "runs has a header" "$(ks runs | head -n 1)" "^RUN +DATE +NODE"
    like "show says that it is rejected" "$(ks show "$bad")" "^rejected, never compared: the cooling had failed"
    unlike "latest is another run" "$(ks show latest)" "$bad"
    exits "compare with it exits 2" 2 ks compare latest "$bad"
    exits "compare --within of it exits 2" 2 ks compare "$bad" --within
    like "compare names the reason and unreject" "$ERR" "rejected .the cooling had failed.*kernsweep runs unreject $bad"
    exits "baseline set of it exits 2" 2 ks baseline set worse "$bad"
    exits "a report of it exits 0" 0 ks report "$bad"
    like "the report says first that it is rejected, and why" "$(ks report "$bad" | grep -m 1 '^- ')" \
        "^- .*This run is rejected and is never compared\..* The reason: .the cooling had failed."
    is "history does not have it" "$(ks history --variant a --context 64 --json | jq '.points | length')" 1
    exits "unreject exits 0" 0 ks runs unreject "$bad"
    is "history has it again" "$(ks history --variant a --context 64 --json | jq '.points | length')" 2
    exits "remove of a baseline's run exits 2" 2 ks runs remove "$bad" "$(ks baseline list --json | jq -r '.[0].run_id')"
    like "remove of a baseline's run says what to do" "$ERR" "kernsweep baseline set gold RUN"
    is "remove of a baseline's run removes none of the others" "$(sql "SELECT count(*) FROM run WHERE run_id = '$bad'")" 1
    store removed
    quiet_sweep
    bad=$(latest_sweep)
    bundle=$(sql "SELECT bundle FROM run WHERE run_id = '$bad'")
    exits "remove exits 0" 0 ks runs remove "$bad"
    like "remove says that the bundle stays" "$ERR" "bundle stays in $bundle"
    passes "the bundle is there" test -e "$bundle/manifest.json"
    is "the store has lost the run" "$(sql "SELECT count(*) FROM run WHERE run_id = '$bad'")" 0
    exits "ingest of the bundle stores it again" 0 ks ingest "$bundle"
}

# The first of four runs is slower; the others are alike.
noise_outlier() {
    local bad alike
    store noise_outlier
    echo 8 >"$TMPDIR/fluke" # as many tests as a run has
    exits "exits 0" 0 ks noise "$TMPDIR/plan.json" --runs 4 --artifacts "$TMPDIR/artifacts" --json
    bad=$(sql "SELECT run_id FROM run WHERE purpose = 'noise' ORDER BY id LIMIT 1")
    is "finds the run" "$(jq -r '.outlier | .run_id + " " + (.cells | tostring)' <<<"$OUT")" "$bad 4"
    like "warns of it and says what to do" "$ERR" "^warning: run $bad is far from the others .*\\+30 %; 4 cells in all.*kernsweep runs reject $bad"
    is "the noise floor leaves it out, the false alarms do not" \
        "$(jq -c '[([.cells[] | select(.metric == "prefill_s").spread] | max < 0.05), .alarms]' <<<"$OUT")" "[true,24]"
    mapfile -t alike < <(sql "SELECT run_id FROM run WHERE run_id <> '$bad'")
    exits "a session of runs that are alike exits 0" 0 ks noise --stored --json "${alike[@]}"
    is "a session of runs that are alike has none" "$(jq .outlier <<<"$OUT")" null
    ks runs reject "$bad" --why "the node was in use" >/dev/null 2>&1
    exits "noise --stored of a rejected run exits 2" 2 ks noise --stored "$bad" "$(latest_sweep)"
}

# Two cells are measured again in a second session.
noise_list() {
    local second
    store noise_list
    ks noise "$TMPDIR/plan.json" --runs 2 --artifacts "$TMPDIR/artifacts" >/dev/null 2>&1
    sleep 1
    jq '.variants = [.variants[0]]' "$TMPDIR/plan.json" >"$TMPDIR/a.json"
    ks noise "$TMPDIR/a.json" --runs 2 --artifacts "$TMPDIR/artifacts" >/dev/null 2>&1
    exits "list exits 0" 0 ks noise list
    like "list has a header" "$(head -n 1 <<<"$OUT")" "^SESSION +NODE +TICKET"
    is "list shows four cells" "$(grep -c ' prefill_s ' <<<"$OUT")" 4
    is "on a narrow terminal, it fits" \
        "$(script -qec "stty cols 70; '$KERNSWEEP' noise list --db '$DB'" /dev/null </dev/null | tr -d '\r' | awk 'length > 70' | wc -l)" 0
    read -r second _ <<<"$(ks noise list | sed -n 2p)"
    is "list --json tells the sessions of the cells" \
        "$(ks noise list --json | jq -c '[.[] | select(.metric == "prefill_s") | [.variant, .context, .runs]]')" \
        '[["a",64,2],["a",128,2],["b",64,2],["b",128,2]]'
    exits "remove without a choice exits 2" 2 ks noise remove
    exits "remove of a session that is not there exits 2" 2 ks noise remove --session 2020-01-01T00:00:00Z
    exits "remove of a session exits 0" 0 ks noise remove --session "$second"
    like "remove says how many cells lost their noise floor" "$ERR" "noise floor of 2 cells"
    is "remove of a session leaves the other" "$(ks noise list --variant a --json | jq length)" 0
    exits "remove by variant and ticket exits 0" 0 ks noise remove --variant b --ticket confirm
    is "nothing is left" "$(sql "SELECT count(*) FROM noise")" 0
    is "runs of a noise session are not latest" "$(ks show latest --json | jq -r .purpose)" sweep
}

scenario "the first run of a plan" first_run
scenario "latest after confirming" latest_after_confirming
scenario "a rejected and a removed run" rejecting
scenario "a cell that is slow once" fluke
scenario "two suspects on a diagonal" diagonal
scenario "rounds of confirming" rounds
scenario "a plan that runs a variant otherwise" other_plan
scenario "a plan without sources" no_sources
scenario "a build that cannot be made again" other_build
scenario "code that the plan runs otherwise" same_code_otherwise
scenario "a baseline of different sources" mixed_baseline
scenario "slower sources with --confirm" slower_sources
scenario "a slower node with --confirm" slower_node
scenario "a baseline older than an improvement, with --confirm" older_baseline
scenario "causes without measuring again" causes
scenario "slower sources with --confirm on a node that lost the baseline's" lost_tree
scenario "noise" noise
scenario "noise --stored" noise_stored
scenario "noise with one run that is far from the others" noise_outlier
scenario "noise list and remove" noise_list
done_testing
