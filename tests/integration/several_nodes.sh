#!/usr/bin/env bash
# A plan that names several nodes: two private sshds, each with a home of its own, and nodes that cannot be reached. One
# command sweeps them at once, a run each; an unreachable one is blocked alone.
# shellcheck disable=SC2016 # backticks of Markdown, and a shell that a plan names
. tests/lib.sh
. tests/store.sh
. tests/terminal.sh
. tests/tree.sh

node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
export KERNSWEEP_DB=$TMPDIR/results.db
OTHER=$TMPDIR/other
both_stop() {
    scripts/loopback-node stop "$OTHER" >/dev/null 2>&1
    node_stop
}
trap both_stop EXIT

# The same account with another home, so with kernsweep's folder, locks and caches of its own: as another machine.
mkdir -p "$OTHER" "$TMPDIR/home"
lay_tree "$TMPDIR/fake" tests/fixtures/mi300x/well_tuned
printf '%s\n' "SetEnv HOME=$TMPDIR/home KERNSWEEP_FAKE_ROOT=$TMPDIR/fake" "$CHEAP_KEX" >"$OTHER/sshd_extra.conf"
touch "$TMPDIR/home/slow"
scripts/loopback-node start "$OTHER" >"$TMPDIR/other.log" 2>&1 || skip_all "no second sshd: $(tail -n 1 "$TMPDIR/other.log")"
sed 's/^Host loopback$/Host other/' "$OTHER/ssh_config" | cat "$NODE/ssh_config" - >"$TMPDIR/ssh_config"
# Nothing listens on that port: it belongs to the first node, on an address of loopback on which it does not listen.
printf 'Host gone\n    HostName 127.0.0.2\n    Port %s\n' "$(cat "$NODE/port")" >>"$TMPDIR/ssh_config"
SSH=(--ssh-config "$TMPDIR/ssh_config")
BOTH='["loopback", "other"]'

# A workload that waits for a file, for what has to be watched or interrupted, and that is slower on the other node.
plan() {
    jq -n --arg dir "$TMPDIR" --argjson nodes "$1" '
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "several", nodes: $nodes,
         variants: [{name: "v1", run: ["sh", "-c", "while [ ! -e \"$1/go\" ]; do sleep 0.05; done; t=0.5; [ ! -e \"$HOME/slow\" ] || t=0.6; echo \"[PERF_TIMING] {\\\"prefill_s\\\": $t}\"", "sh", $dir]}],
         contexts: [16, 32], repetitions: {default: 2}, timeouts: {default: 100}, connect: {timeout_s: 5, patience_s: 0}}
        | '"${2:-.}" >"$TMPDIR/plan.json"
}

ks_run() {
    "$KERNSWEEP" run "$TMPDIR/plan.json" "${SSH[@]}" --artifacts "$TMPDIR/artifacts" "$@"
}

two_nodes() {
    local sweep
    touch "$TMPDIR/go"
    plan "$BOTH"
    exits "exits 0" 0 ks_run
    like "names the node before each of its lines" "$ERR" "^other     \[1/4\] v1 ctx 16 run 1  OK"
    like "shows the other node too" "$ERR" "^loopback  run COMPLETE  4 ok, 0 failed, 0 skipped"
    is "has a run on each node" "$(sql "SELECT node, status FROM run ORDER BY 1")" $'loopback|COMPLETE\nother|COMPLETE'
    is "the runs share a sweep" "$(sql "SELECT count(DISTINCT sweep), count(sweep) FROM run")" "1|2"
    sweep=$(sql "SELECT DISTINCT sweep FROM run")
    is "the job says so" "$(jq -r .sweep "$TMPDIR"/artifacts/*/*/job.json | sort -u)" "$sweep"
    like "the table has the nodes side by side" "$OUT" "Context +Variant +loopback, .* +other"
    like "the table has the ratio" "$OUT" "16 +v1 +0\.5000? +0\.6000? \(1\.20x"
    like "says where the report is" "$OUT" "^report  .*/$sweep\.md"
    like "the report has both nodes" "$(cat "$TMPDIR"/artifacts/*/"$sweep".md)" '^\| `other` .*COMPLETE .*1\.20x'
    like "the report has the facts that differ" "$(cat "$TMPDIR"/artifacts/*/"$sweep".md)" '^\| `gpus0.*\| - +\| `'
    exits "report SWEEP exits 0" 0 "$KERNSWEEP" report "$sweep"
    like "report SWEEP puts them side by side" "$OUT" "^# several: 2 nodes side by side"
    exits "report latest exits 0" 0 "$KERNSWEEP" report latest --lang es
    like "report latest of such a plan does too, in Spanish" "$OUT" "^# several: 2 nodos comparados"
    exits "a run's own report exits 0" 0 "$KERNSWEEP" report "$(sql "SELECT run_id FROM run WHERE node = 'other'")"
    like "a run's own report is that of one node" "$OUT" "^# several: .* on .other."
}

one_gone() {
    touch "$TMPDIR/go"
    plan '["gone", "loopback", "other"]'
    exits "exits 3" 3 ks_run --json
    is "the others have results" "$(jq -c '[.nodes[] | [.node, .exit_code, .status // "none"]]' <<<"$OUT")" \
        '[["gone",3,"none"],["loopback",0,"COMPLETE"],["other",0,"COMPLETE"]]'
    is "the exit code is in the object" "$(jq .exit_code <<<"$OUT")" 3
    like "says which node and why" "$(jq -r '.nodes[0].failure' <<<"$OUT")" "127\.0\.0\.2"
    like "the report has the node as blocked" "$(cat "$(jq -r .report <<<"$OUT")")" '^\| `gone` .* \*\*BLOCKED'
}

# Another run has the other node.
one_blocked() {
    local report waits
    plan "$BOTH" '.variants[0].run = ["sleep", "90"]'
    exits "another run begins" 0 ks_run --node other --detach
    waits=$(grep -o '[^ ]*-several-[^ ]*' <<<"$OUT" | head -n 1)
    touch "$TMPDIR/go"
    plan "$BOTH" '.baseline = "good"'
    exits "exits 3" 3 ks_run --json --tag blocked
    report=$(cat "$(jq -r .report <<<"$OUT")")
    like "it has the node's run" "$report" '^\| `other` +\| `[^`]+` +\| \*\*BLOCKED'
    like "but counts results" "$report" '^- 1 of 2 nodes have results\.'
    like "says why it has none" "$report" '^- `other` has no results: `.*lock'
    like "and compares nothing with it" "$report" '^There is nothing to compare'
    is "a blocked run is nobody's baseline" "$(grep -c 'baseline set good' <<<"$ERR")" 1
    exits "the other run ends" 0 "$KERNSWEEP" cancel "$waits" "${SSH[@]}"
}

none_there() {
    plan '["gone", "nowhere.invalid"]'
    exits "exits 3" 3 ks_run
    like "says why of each" "$ERR" "^nowhere.invalid  "
    like "the table says it too" "$OUT" "^gone +[0-9]{8}T[^ ]+ +BLOCKED"
}

one_chosen() {
    touch "$TMPDIR/go"
    plan "$BOTH"
    exits "--node exits 0" 0 ks_run --node other --tag chosen
    is "--node makes one run, of no sweep" "$(sql "SELECT node, sweep IS NULL FROM run WHERE tag = 'chosen'")" "other|1"
    exits "commands that use one node exit 2" 2 "$KERNSWEEP" noise "$TMPDIR/plan.json"
    like "commands that use one node ask for it" "$ERR" "names 2 nodes: choose one with --node"
    exits "--dry-run exits 0" 0 ks_run --dry-run
    like "--dry-run names them" "$OUT" "node loopback and 1 more: 1 variant x 2 contexts"
}

# started: a detached sweep of both nodes that waits; its id in SWEEP.
started() {
    rm -f "$TMPDIR/go"
    plan "$BOTH"
    exits "--detach exits 0" 0 ks_run --detach "$@"
    SWEEP=$(sed -n 's/.*sweep \(sweep-[^ ]*\) have not all ended.*/\1/p' <<<"$ERR")
    is "--detach prints a run for each node" "$(grep -c several <<<"$OUT")" 2
}

detached() {
    started --tag detached
    exits "status SWEEP exits 0" 0 "$KERNSWEEP" status "$SWEEP" "${SSH[@]}" --json
    is "status SWEEP has both runs" "$(jq -c '[.[] | [.node, .state]] | sort' <<<"$OUT")" '[["loopback","running"],["other","running"]]'
    touch "$TMPDIR/go"
    exits "attach latest exits 0" 0 "$KERNSWEEP" attach latest "${SSH[@]}" --artifacts "$TMPDIR/artifacts"
    like "attach latest follows all" "$OUT" "^other +[^ ]+several[^ ]+ +COMPLETE"
    exits "attach SWEEP of stored runs exits 0" 0 "$KERNSWEEP" attach "$SWEEP" "${SSH[@]}" --artifacts "$TMPDIR/artifacts"
    is "each run is stored once" "$(sql "SELECT count(*), count(DISTINCT node) FROM run WHERE tag = 'detached'")" "2|2"
}

cancelled() {
    started --tag cancelled
    exits "cancel SWEEP exits 0" 0 "$KERNSWEEP" cancel "$SWEEP" "${SSH[@]}" --json
    is "both are cancelled" "$(jq -c '[.[].status]' <<<"$OUT")" '["CANCELLED","CANCELLED"]'
    exits "attach exits 1" 1 "$KERNSWEEP" attach "$SWEEP" "${SSH[@]}" --artifacts "$TMPDIR/artifacts"
    exits "cancel of ended runs exits 2" 2 "$KERNSWEEP" cancel "$SWEEP" "${SSH[@]}"
    one_line "cancel of ended runs says so in one line" "$ERR"
}

# both_wait NAME: a test of each node is in flight, say the notes in NAME.err
both_wait() {
    [ "$(grep -c "run .* started" "$TMPDIR/$1.err")" = 2 ]
}

none_left() {
    ! pgrep -f "kernsweep run $TMPDIR/plan.json"
}

interrupted() {
    local pid rc=0
    rm -f "$TMPDIR/go"
    plan "$BOTH"
    "$KERNSWEEP" run "$TMPDIR/plan.json" "${SSH[@]}" --artifacts "$TMPDIR/artifacts" --tag interrupted \
        >"$TMPDIR/interrupted.out" 2>"$TMPDIR/interrupted.err" </dev/null &
    pid=$!
    until_true 60 both_wait interrupted
    ok "the runs start" $? "$(cat "$TMPDIR/interrupted.err")"
    kill -TERM "$pid"
    wait "$pid" || rc=$?
    is "SIGTERM ends it with 130" "$rc" 130
    like "it says how to go on" "$(cat "$TMPDIR/interrupted.err")" "^the runs of sweep .*.kernsweep attach sweep-"
    passes "no process of it is left" none_left
    touch "$TMPDIR/go"
    exits "attach brings both to their end" 0 "$KERNSWEEP" attach latest "${SSH[@]}" --artifacts "$TMPDIR/artifacts"
    is "each test ran once" "$(sql "SELECT count(*) FROM test t JOIN run r ON r.id = t.run_id WHERE r.tag = 'interrupted'")" 8
}

# A command that is killed leaves the runs going on, and nothing of it behind.
killed() {
    local pid
    rm -f "$TMPDIR/go"
    plan "$BOTH"
    "$KERNSWEEP" run "$TMPDIR/plan.json" "${SSH[@]}" --artifacts "$TMPDIR/artifacts" --tag killed \
        >"$TMPDIR/killed.out" 2>"$TMPDIR/killed.err" </dev/null &
    pid=$!
    until_true 60 both_wait killed
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    until_true 60 none_left
    ok "kill -9 leaves no process" $?
    touch "$TMPDIR/go"
    exits "attach brings both to their end" 0 "$KERNSWEEP" attach latest "${SSH[@]}" --artifacts "$TMPDIR/artifacts"
    is "both runs are stored" "$(sql "SELECT count(*) FROM run WHERE tag = 'killed'")" 2
}

night() {
    "$KERNSWEEP" nightly "$TMPDIR/plan.json" "${SSH[@]}" --artifacts "$TMPDIR/artifacts" --reports "$TMPDIR/nights"
}

nights() {
    touch "$TMPDIR/go"
    plan "$BOTH" '.ticket = "nights" | .baseline = "nightly" | .notify = [{on: ["always"], run: ["sh", "-c", "cat >>\"$1\"; echo >>\"$1\"", "sh", ($dir + "/told")]}]'
    exits "the first night exits 0" 0 night
    exits "the second night exits 0" 0 night
    is "each node is its own baseline" "$(sql "SELECT node, count(*) FROM baseline WHERE ticket = 'nights' GROUP BY 1")" $'loopback|1\nother|1'
    is "each node has two nights" "$(sql "SELECT node, count(*) FROM run WHERE ticket = 'nights' GROUP BY 1")" $'loopback|2\nother|2'
    is "the index has them all" "$(grep -c '^| 20.*nights' "$TMPDIR/nights/index.md")" 4
    scripts/loopback-node stop "$OTHER" >/dev/null
    rm -f "$TMPDIR/told"
    exits "a night with a node that is gone exits 3" 3 night
    scripts/loopback-node start "$OTHER" >/dev/null
    like "the notification names the node that is blocked" "$(jq -rs '.[] | select(.news | test("blocked")) | .node' "$TMPDIR/told")" '^other$'
    is "the other node has its night" "$(sql "SELECT count(*) FROM run WHERE ticket = 'nights' AND node = 'loopback'")" 3
}

checked() {
    plan '["loopback", "gone"]'
    like "validate names all of them" "$("$KERNSWEEP" validate "$TMPDIR/plan.json")" 'valid: .* 4 tests on each of 2 nodes'
    exits "exits 3" 3 "$KERNSWEEP" check "$TMPDIR/plan.json" "${SSH[@]}"
    like "checks the node that is there" "$OUT" "^ok +reachable .*libssh2"
    like "says which is not" "$ERR" "127\.0\.0\.2"
    exits "--json exits 3" 3 "$KERNSWEEP" check "$TMPDIR/plan.json" "${SSH[@]}" --json
    is "--json has both" "$(jq -c '[.[] | [.name, .exit_code]]' <<<"$OUT")" '[["loopback",0],["gone",3]]'
}

watched() {
    command -v tmux >/dev/null || { skip "all of it" "no tmux: scripts/install-deps test" && return; }
    started --tag watched
    tm new-session -d -s keep "exec cat"
    terminal 100x24 "env LC_ALL=C.UTF-8 '$KERNSWEEP' watch '$SWEEP' --ssh-config '$TMPDIR/ssh_config'"
    sees "it shows a node" " on (loopback|other)$"
    first=$(screen | sed -n '1s/.* on //p')
    sees "it names the key for the next" "Tab: next node"
    tm send-keys -t w Tab
    sees "Tab shows the other node" " on $([ "$first" = other ] && echo loopback || echo other)$"
    tm send-keys -t w C-c
    sees "Ctrl-C ends it with 130" "^ended 130"
    like "it says that the runs continue" "$(screen)" "^kernsweep: interrupted; the runs continue"
    tm kill-server
    touch "$TMPDIR/go"
    exits "without a terminal it exits 0" 0 "$KERNSWEEP" watch "$SWEEP" "${SSH[@]}"
    like "without a terminal it prints the lines of one node" "$OUT" "^other +run COMPLETE"
    like "without a terminal it prints the lines of the other" "$OUT" "^loopback +run COMPLETE"
    exits "attach exits 0" 0 "$KERNSWEEP" attach "$SWEEP" "${SSH[@]}" --artifacts "$TMPDIR/artifacts"
}

# A terminal has a line for each node, and keeps none of them.
on_a_terminal() {
    command -v tmux >/dev/null || { skip "all of it" "no tmux: scripts/install-deps test" && return; }
    rm -f "$TMPDIR/go"
    plan '["loopback", "other", "gone"]'
    tm new-session -d -s keep "exec cat"
    terminal 160x40 "env KERNSWEEP_DB='$KERNSWEEP_DB' '$KERNSWEEP' run '$TMPDIR/plan.json' --ssh-config '$TMPDIR/ssh_config' --artifacts '$TMPDIR/artifacts' --tag seen"
    sees "it has a line for a node" "^loopback  \[0/4\] v1 ctx 16 run 1 .* of 1 min 40 s"
    sees "it has a line for the other" "^other     \[0/4\] v1 ctx 16 run 1 .* of 1 min 40 s"
    is "the line of the node that is gone says why" "$(screen | grep -c '^gone .*cannot connect')" 2
    touch "$TMPDIR/go"
    sees "it ends with the worst exit code" "^ended 3"
    is "no line of a node's progress is left" "$(screen | grep -c 'ctx 16 run 1 .* of 1 min 40 s')" 0
    sees "the table is there" "^gone .*BLOCKED"
    tm kill-server
}

scenario "a sweep of two nodes" two_nodes
scenario "a sweep with an unreachable node" one_gone
scenario "a sweep with a blocked node" one_blocked
scenario "a sweep of unreachable nodes" none_there
scenario "one of several nodes" one_chosen
scenario "a detached sweep" detached
scenario "a cancelled sweep" cancelled
scenario "an interrupted sweep" interrupted
scenario "a killed sweep" killed
scenario "check of several nodes" checked
scenario "watch of a sweep" watched
scenario "a sweep on a terminal" on_a_terminal
scenario "nights of two nodes" nights
done_testing
