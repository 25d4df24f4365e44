#!/usr/bin/env bash
# nightly is killed at every point at which it makes something durable (each rename of a finished file), and in the
# middle of telling people and of confirming: the next start ends the same night, with one report and no test twice.
# timeout: 300
. tests/lib.sh

trace() {
    strace -qq -o /dev/null -e trace=none "$@"
}
trace true 2>/dev/null || skip_all "no strace, or it may not trace here"

# The leak finder of a sanitizer build traces, too, and a process has one tracer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

mkdir -p "$TMPDIR/src"
db=$TMPDIR/results.db
told=$TMPDIR/told
# A workload whose claims a file sets; it counts its starts, and kills what a file names, once.
cat >"$TMPDIR/src/work.sh" <<'SH'
#!/bin/sh
echo "$KERNSWEEP_RUN_ID $2" >>"$1/starts"
if [ -s "$1/kill_at_confirm" ] && grep -q '"tag": *"confirm"' ../../job.json; then
    kill -9 "$(cat "$1/kill_at_confirm")"
    rm -f "$1/kill_at_confirm"
fi
echo "Prompt tokens: $2"
echo "[PERF_TIMING] {\"prefill_s\": $(cat "$1/seconds"), \"attn_impl\": \"x\"}"
SH
chmod +x "$TMPDIR/src/work.sh"
echo 0.5 >"$TMPDIR/seconds"
jq -n --arg dir "$TMPDIR" '{
    schema: "kernsweep.plan/1", ticket: "cut", node: "local", workdir: ($dir + "/work"), baseline: "main",
    source: {dir: ($dir + "/src")},
    variants: [{name: "a", run: ["{src}/work.sh", $dir, "{context}"]}], contexts: [16, 32], repetitions: 1,
    timeouts: {default: 20}, threshold: {regression: 0.2}, lock_wait_s: 20,
    notify: [{on: ["always"], run: ["sh", "-c", "echo told >>\"$1/told\"; [ ! -e \"$1/kill_at_notify\" ] || { rm \"$1/kill_at_notify\"; kill -9 $PPID; }", "sh", $dir]}]
}' >"$TMPDIR/plan.json"
night=("$KERNSWEEP" nightly "$TMPDIR/plan.json" --db "$db" --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/nights")

runs() {
    sqlite3 "$db" "SELECT count(*) FROM run WHERE tag = ''"
}
reports() {
    find "$TMPDIR/nights" -name report.html | wc -l
}
index() {
    grep -c 'report.md)' "$TMPDIR/nights/index.md"
}
# What must hold after any number of cuts: N nights, each with its two tests, started once each.
whole() {
    local nights=$1 bad
    [ "$(runs)" = "$nights" ] && [ "$(reports)" = "$nights" ] && [ "$(index)" = "$nights" ] || return 1
    bad=$(sqlite3 "$db" "SELECT run_id FROM test GROUP BY run_id HAVING count(*) <> 2")
    [ -z "$bad" ] && [ -z "$(sort "$TMPDIR/starts" | uniq -d)" ]
}
state() {
    echo "runs $(runs), reports $(reports), index $(index), told $(wc -l <"$told"), twice: $(sort "$TMPDIR/starts" | uniq -d | xargs)"
}

exits "the first night" 0 "${night[@]}"
passes "is whole" whole 1

nights=1
killed=0
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
    ok "killed at rename $point, the next start ends that night" $? "exit $RC; $(state)"$'\n'"$ERR" || break
done
ok "a night has more than five such points, and one without a kill ended them" $((killed > 5 && RC == 0 ? 0 : 1)) "$killed, exit $RC"
passes "all nights are whole" whole "$nights"

# The node lost power while it took the job: what is there of the run can never be started.
half=99991231T000000Z-cut-half
newest=$(find "$TMPDIR/runs" -name '*.json' | sort | tail -n 1)
jq --arg id "$half" '.run_id = $id | .state = "running" | .bundle += "-half"' "$newest" >"$TMPDIR/runs/$half.json"
mkdir "$TMPDIR/work/runs/$half"
echo '{}' >"$TMPDIR/work/runs/$half/plan.json"
exits "a node that was cut while it took the job" 0 "${night[@]}"
like "does not know that run" "$ERR" "does not know run .*: starting anew"
rm "$TMPDIR/runs/$half.json"
nights=$((nights + 1))
ok "and gets a new one" "$(whole "$nights"; echo $?)" "$(state)"

touch "$TMPDIR/kill_at_notify"
before=$(wc -l <"$told")
exits "killed while people are told" 137 "${night[@]}"
exits "the next start ends that night" 0 "${night[@]}"
nights=$((nights + 1))
ok "with one report" "$(whole "$nights"; echo $?)" "$(state)"
is "people are told again, since nobody knows whether they were" "$(wc -l <"$told")" $((before + 2))

# Slower sources: the suspects are confirmed, and the harness dies meanwhile.
echo 0.9 >"$TMPDIR/seconds"
echo "# slower" >>"$TMPDIR/src/work.sh"
"${night[@]}" >"$TMPDIR/confirm.out" 2>&1 &
first=$!
echo "$first" >"$TMPDIR/kill_at_confirm"
wait "$first" 2>/dev/null
is "killed while suspects are confirmed" $? 137
exits "the next start ends that night with its verdict" 4 "${night[@]}"
nights=$((nights + 1))
is "measured once" "$(runs)" "$nights"
is "with one report" "$(reports)" "$nights"
like "the suspects were measured again in turns" "$ERR" "confirming 2 suspects"
is "that says what confirming found" "$(sqlite3 "$db" "SELECT DISTINCT outcome FROM confirmation")" node
exits "the store is whole" 0 "$KERNSWEEP" db check --db "$db"
done_testing
