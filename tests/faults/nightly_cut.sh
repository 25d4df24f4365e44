#!/usr/bin/env bash
# nightly is killed at every point at which it makes something durable (each rename of a finished file), and in the
# middle of telling people and of confirming: the next start ends the same night, with one report and no test twice.
# unsanitized: hundreds of starts of the command; integration/nightly runs the same code
. tests/lib.sh

trace() {
    strace -qq -o /dev/null -e trace=none "$@"
}
trace true 2>/dev/null || skip_all "no strace, or it may not trace here"

# The leak finder of a sanitizer build traces, too, and a process has one tracer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# history NAME: plan, sources, store and folders of a scenario's own nights, with one night; `night` is the command.
history() {
    dir=$TMPDIR/$1
    db=$dir/results.db
    told=$dir/told
    nights=1
    mkdir -p "$dir/src"
    # A workload whose claims a file sets; it counts its starts, and kills what a file names, once.
    cat >"$dir/src/work.sh" <<'SH'
#!/bin/sh
echo "$KERNSWEEP_RUN_ID $2" >>"$1/starts"
if [ -s "$1/kill_at_confirm" ] && grep -q '"tag": *"confirm"' ../../job.json; then
    kill -9 "$(cat "$1/kill_at_confirm")"
    rm -f "$1/kill_at_confirm"
fi
echo "Prompt tokens: $2"
echo "[PERF_TIMING] {\"prefill_s\": $(cat "$1/seconds"), \"attn_impl\": \"x\"}"
SH
    chmod +x "$dir/src/work.sh"
    echo 0.5 >"$dir/seconds"
    jq -n --arg dir "$dir" '{
        schema: "kernsweep.plan/1", clock: "simulated", ticket: "cut", node: "local", workdir: ($dir + "/work"), baseline: "main",
        source: {dir: ($dir + "/src")},
        variants: [{name: "a", run: ["{src}/work.sh", $dir, "{context}"]}], contexts: [16, 32], repetitions: 1,
        timeouts: {default: 20}, threshold: {regression: 0.2}, lock_wait_s: 20,
        notify: [{on: ["always"], run: ["sh", "-c", "echo told >>\"$1/told\"; [ ! -e \"$1/kill_at_notify\" ] || { rm \"$1/kill_at_notify\"; kill -9 $PPID; }", "sh", $dir]}]
    }' >"$dir/plan.json"
    night=("$KERNSWEEP" nightly "$dir/plan.json" --db "$db" --artifacts "$dir/artifacts" --reports "$dir/nights")
    try "${night[@]}"
}

runs() {
    sqlite3 "$db" "SELECT count(*) FROM run WHERE tag = ''"
}
reports() {
    find "$dir/nights" -name report.html | wc -l
}
index() {
    grep -c 'report.md)' "$dir/nights/index.md"
}
# What must hold after any number of cuts: N nights, each with its two tests, started once each.
whole() {
    local nights=$1 bad
    [ "$(runs)" = "$nights" ] && [ "$(reports)" = "$nights" ] && [ "$(index)" = "$nights" ] || return 1
    bad=$(sqlite3 "$db" "SELECT run_id FROM test GROUP BY run_id HAVING count(*) <> 2")
    [ -z "$bad" ] && [ -z "$(sort "$dir/starts" | uniq -d)" ]
}
state() {
    echo "runs $(runs), reports $(reports), index $(index), told $(wc -l <"$told"), twice: $(sort "$dir/starts" | uniq -d | xargs)"
}

undisturbed() {
    history undisturbed
    exited "exits 0" 0
    passes "leaves one run, one report and one row of the index" whole 1
}

# The renames of finished files, one after another: each makes something durable.
each_rename() {
    local killed=0 point
    history renames
    for ((point = 1; point <= 60; point++)); do
        RC=0
        strace -qq -o "$TMPDIR/trace" -e trace=rename,renameat,renameat2 \
            -e inject=rename,renameat,renameat2:signal=KILL:when="$point" "${night[@]}" >"$TMPDIR/.out" 2>&1 || RC=$?
        nights=$((nights + 1))
        [ "$RC" = 137 ] || break
        killed=$((killed + 1))
        try "${night[@]}"
        [ "$RC" = 0 ] && whole "$nights"
        # Cut before it was written down that there is a run: nothing was lost, and the next start is the night itself.
        ok "killed at rename $point, it is ended by the next start" $? "exit $RC; $(state)"$'\n'"$ERR" || break
    done
    ok "has more than five renames, and ends when none kills it" $((killed > 5 && RC == 0 ? 0 : 1)) "$killed, exit $RC"
    passes "leaves every night whole" whole "$nights"
}

# The node lost power while it took the job: what is there of the run can never be started.
half_submitted() {
    local half=99991231T000000Z-cut-half newest
    history half
    newest=$(find "$dir/runs" -name '*.json' | sort | tail -n 1)
    jq --arg id "$half" '.run_id = $id | .state = "running" | .bundle += "-half"' "$newest" >"$dir/runs/$half.json"
    mkdir "$dir/work/runs/$half"
    echo '{}' >"$dir/work/runs/$half/plan.json"
    exits "lets the next start exit 0" 0 "${night[@]}"
    like "is unknown to the node, which the next start says" "$ERR" "does not know run .*: starting a new one"
    rm "$dir/runs/$half.json"
    nights=2
    ok "is replaced by a new run" "$(whole "$nights"; echo $?)" "$(state)"
}

killed_at_notify() {
    local before
    history notify
    touch "$dir/kill_at_notify"
    before=$(wc -l <"$told")
    exits "is killed" 137 "${night[@]}"
    exits "lets the next start exit 0" 0 "${night[@]}"
    nights=2
    ok "has one report" "$(whole "$nights"; echo $?)" "$(state)"
    is "notifies again, since nobody knows whether it had" "$(wc -l <"$told")" $((before + 2))
}

# A night that is ended by the next start, with nothing left to do on the node, has no connection to prune it.
node_pruned_later() {
    history unpruned
    jq '.retention = {keep_bundles: 1}' "$dir/plan.json" >"$dir/plan.new" && mv "$dir/plan.new" "$dir/plan.json"
    try "${night[@]}"
    touch "$dir/kill_at_notify"
    exits "is killed" 137 "${night[@]}"
    exits "lets the next start exit 0" 0 "${night[@]}"
    exits "lets the night after it exit 0" 0 "${night[@]}"
    is "leaves the bundles of the baseline and the newest night here" "$(find "$dir/artifacts" -name manifest.json | wc -l)" 2
    is "leaves those two on the node" "$(find "$dir/work/runs" -mindepth 1 -maxdepth 1 | wc -l)" 2
}

# Slower sources: the suspects are confirmed, and the harness dies meanwhile.
killed_at_confirm() {
    local first
    history confirm
    echo 0.9 >"$dir/seconds"
    echo "# slower" >>"$dir/src/work.sh"
    "${night[@]}" >"$TMPDIR/confirm.out" 2>&1 &
    first=$!
    echo "$first" >"$dir/kill_at_confirm"
    wait "$first" 2>/dev/null
    is "is killed" $? 137
    exits "lets the next start exit 4" 4 "${night[@]}"
    is "is measured once" "$(runs)" 2
    is "has one report" "$(reports)" 2
    like "has its suspects confirmed by the next start" "$ERR" "confirming 2 suspects"
    is "has what confirming found in the store" "$(sqlite3 "$db" "SELECT DISTINCT outcome FROM confirmation")" node
    exits "leaves a store that db check finds sound" 0 "$KERNSWEEP" db check --db "$db"
}

scenario "a night that nothing disturbs" undisturbed
scenario "a night killed at each of its renames" each_rename
scenario "a night whose node lost power while it took the job" half_submitted
scenario "a night killed while it notifies" killed_at_notify
scenario "a night killed while it notifies that has runs to remove" node_pruned_later
scenario "a night killed while it confirms suspects" killed_at_confirm
done_testing
