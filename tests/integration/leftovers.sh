#!/usr/bin/env bash
# What killed commands left goes with the next command that sees it, and SIGTERM ends a command that waits.
. tests/lib.sh
. tests/store.sh
. tests/executor.sh

# A number that no process has.
gone() {
    sh -c 'echo $$'
}

stored() {
    mkdir -p "$TMPDIR/in/2026-01-01/load/v/ctx_1_run0"
    echo '{"ticket": "load", "context_len": 1, "wall_time_sec": 2, "exit_status": "OK", "timings": {"prefill_s": 0.5}}' \
        >"$TMPDIR/in/2026-01-01/load/v/ctx_1_run0/perf.json"
    ks ingest "$TMPDIR/in/2026-01-01/load" >/dev/null 2>&1
}

beside_the_store() {
    local pid
    needs stored
    pid=$(gone)
    mkdir -p "$TMPDIR/trees/tree.tmp.$pid/files" "$TMPDIR/trees/tree.tmp.$$" "$TMPDIR/runs"
    echo half | tee "$TMPDIR/runs/a.json.tmp.$pid" "$TMPDIR/copy.db.tmp.$pid" >"$TMPDIR/copy.db.tmp.$pid-journal"
    exits "db check finds the store sound" 0 ks db check
    is "what it sweeps is gone" "$(find "$TMPDIR/trees" "$TMPDIR/runs" -name "*.tmp.$pid*")" ""
    passes "what a living command has is there" test -d "$TMPDIR/trees/tree.tmp.$$"
    exits "db backup works" 0 ks db backup "$TMPDIR/copy.db"
    is "what was left of the same copy is gone" "$(find "$TMPDIR" -maxdepth 1 -name 'copy.db.tmp*')" ""
}

of_another_user() {
    local left
    needs stored
    left=$TMPDIR/runs/b.json.tmp.$(gone)
    mkdir -p "$TMPDIR/runs"
    echo half >"$left"
    if [ "$(id -u)" != 0 ] || ! chown 64001 "$left"; then
        skip "what belongs to another user" "not root"
        return
    fi
    exits "db check finds the store sound" 0 ks db check
    like "it names the file" "$ERR" "b.json.tmp.[0-9]+: a killed command left it, and it cannot be removed"
    is "--json has it" "$(ks db check --json | jq -r '.left[]')" "$left"
    passes "it is there" test -e "$left"
    rm "$left"
    is "afterwards nothing is left" "$(ks db check --json | jq -c .left)" "[]"
}

killed_report() {
    local report=$TMPDIR/report.md left
    needs stored
    left=$report.tmp.$(gone)
    echo half >"$left"
    exits "the next report works" 0 ks report latest --output "$report"
    passes "what was left of it is gone" test ! -e "$left"
}

on_the_node() {
    local pid left
    pid=$(gone)
    mkdir -p "$WORK"/{src,patched,tree}/".tmp.$pid/tree" "$WORK/src/.tmp.$$" "$WORK/bin/0123"
    echo half >"$WORK/bin/0123/kernsweep-executor.tmp.$pid"
    is "the next look at the node finds nothing left" "$(x probe | jq -c .unfinished)" null
    is "only what a living command has is there" "$(find "$WORK" -name '*.tmp.*')" "$WORK/src/.tmp.$$"
    [ "$(id -u)" = 0 ] || return
    left=$WORK/src/.tmp.$pid
    mkdir "$left"
    chown 64001 "$left"
    is "what another user left is told" "$(x probe | jq -r '.unfinished[]')" "$left"
    jq -n --arg work "$WORK" '{schema: "kernsweep.plan/1", ticket: "left", node: "local", workdir: $work, clock: "simulated",
        variants: [{name: "a", run: ["true"]}], contexts: [1], timeouts: {default: 30}}' >"$TMPDIR/left.json"
    try ks check "$TMPDIR/left.json"
    like "check says so" "$OUT" "1 source tree of killed commands could not be removed, the first is .*/src/.tmp.$pid"
    rmdir "$left"
}

# ends COMMAND...: starts it, asks it to end (after a second, or when there is a file `mark`), and prints its exit status and
# whether it was quick.
ends() {
    local pid began
    "$@" >"$TMPDIR/ends.log" 2>&1 &
    pid=$!
    if [ -n "${mark:-}" ]; then until_true 60 test -e "$mark"; else sleep 1; fi
    began=$SECONDS
    kill -TERM "$pid" 2>/dev/null
    wait "$pid"
    echo "$? $((SECONDS - began < 5 ? 0 : SECONDS - began))"
}

locked_store() {
    needs stored
    ks ingest "$TMPDIR/in/2026-01-01/load" >/dev/null 2>&1
    sqlite3 "$DB" 'PRAGMA journal_mode = delete' >/dev/null
    chmod 644 "$DB"
    mkfifo "$TMPDIR/release"
    sqlite3 -batch "$DB" <"$TMPDIR/release" &
    exec 9>"$TMPDIR/release"
    echo 'BEGIN EXCLUSIVE; UPDATE run SET tag = tag;' >&9
    sleep 0.5
    is "a command that reads ends" "$(ends "$KERNSWEEP" runs --db "$DB")" "130 0"
    is "it says that it was interrupted" "$(cat "$TMPDIR/ends.log")" "kernsweep: interrupted"
    is "a command that writes ends" "$(ends "$KERNSWEEP" ingest "$TMPDIR/in/2026-01-01/load" --db "$DB")" "130 0"
    is "db check ends" "$(ends "$KERNSWEEP" db check --db "$DB")" "130 0"
    exec 9>&-
    wait
    exits "afterwards the store can be read" 0 ks runs
}

slow_git() {
    local repo=$TMPDIR/repo
    mkdir -p "$repo/src" "$TMPDIR/bin"
    echo 1 >"$repo/src/a"
    git -C "$repo" -c init.defaultBranch=main init -q
    git -C "$repo" add -A
    git -C "$repo" -c user.name=A -c user.email=a@example.org commit -qm one
    jq -n --arg work "$WORK" '{schema: "kernsweep.plan/1", ticket: "slow", node: "local", workdir: $work, clock: "simulated",
        source: {dir: "src"}, variants: [{name: "a", run: ["true"]}], contexts: [1], timeouts: {default: 30}}' >"$repo/plan.json"
    printf '#!/bin/sh\nexec sleep 50\n' >"$TMPDIR/bin/git"
    chmod 755 "$TMPDIR/bin/git"
    is "ab ends" "$(PATH=$TMPDIR/bin:$PATH ends "$KERNSWEEP" ab "$repo/plan.json" --base HEAD --db "$DB")" "130 0"
    is "run ends" "$(PATH=$TMPDIR/bin:$PATH ends "$KERNSWEEP" run "$repo/plan.json" --db "$DB")" "130 0"
}

# ended_again NAME: nights of a plan, of which one waits for a program NAME; the next start ends it.
ended_again() {
    local dir=$TMPDIR/$1 night mark=$TMPDIR/$1/mark
    mkdir -p "$dir/bin"
    jq -n --arg dir "$dir" '{schema: "kernsweep.plan/1", ticket: "waits", node: "local", workdir: "\($dir)/work", clock: "simulated",
        variants: [{name: "a", run: ["echo", "[PERF_TIMING] {\"prefill_s\": 0.5}"]}], contexts: [1, 2], timeouts: {default: 30},
        baseline: "main", notify: [{on: ["always"], run: ["tell", "\($dir)/told"]}]}' >"$dir/plan.json"
    night=("$KERNSWEEP" nightly "$dir/plan.json" --db "$dir/results.db" --artifacts "$dir/artifacts" --reports "$dir/reports")
    # shellcheck disable=SC2016 # the other shell's
    printf '#!/bin/sh\necho >>"$1"\n' >"$dir/bin/tell"
    chmod 755 "$dir/bin/tell"
    cp "$dir/bin/tell" "$dir/tell"
    printf '#!/bin/sh\ntouch "%s"\nexec sleep 50\n' "$mark" >"$dir/bin/$1"
    chmod 755 "$dir/bin/$1"
    is "the night ends" "$(PATH=$dir/bin:$PATH ends "${night[@]}")" "130 0"
    like "it says that it was interrupted" "$(tail -n 1 "$TMPDIR/ends.log")" '^kernsweep: interrupted$'
    rm -f "$dir/bin/gnuplot"
    cp "$dir/tell" "$dir/bin/tell"
    PATH=$dir/bin:$PATH try "${night[@]}"
    is "the next start ends it" "$RC" 0
    is "it was measured once" "$(sqlite3 "$dir/results.db" 'SELECT count(*) FROM run')" 1
    is "and told once" "$(wc -l <"$dir/told")" 1
    is "there is one report" "$(find "$dir/reports" -name report.html | wc -l)" 1
    ! grep -q 'could not be drawn\|interrupted' "$dir"/reports/*/*/report.html
    ok "with its plots" $? "$(grep -o '.\{60\}interrupted.\{60\}' "$dir"/reports/*/*/report.html)"
}

# The run goes on without its command.
interrupted_ab() {
    local repo=$TMPDIR/left pid
    mkdir -p "$repo/src"
    git -C "$repo" -c init.defaultBranch=main init -q
    for n in 1 2; do
        echo $n >"$repo/src/a"
        git -C "$repo" add -A
        git -C "$repo" -c user.name=A -c user.email=a@example.org commit -qm $n
    done
    jq -n --arg work "$WORK" '{schema: "kernsweep.plan/1", ticket: "left", node: "local", workdir: $work, clock: "simulated",
        source: {dir: "src"}, variants: [{name: "a", build: [["sleep", "20"]], run: ["true"]}], contexts: [1], timeouts: {default: 30}}' >"$repo/plan.json"
    "$KERNSWEEP" ab "$repo/plan.json" --base HEAD~1 --head HEAD --db "$DB" --artifacts "$repo/artifacts" >"$TMPDIR/ab.log" 2>&1 &
    pid=$!
    for _ in {1..100}; do
        grep -q started "$TMPDIR/ab.log" && break
        sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid"
    is "it ends with 130" $? 130
    # shellcheck disable=SC2016 # quotes of the message
    like "it says that the run goes on, and what to do" "$(cat "$TMPDIR/ab.log")" '^run .* has not ended on local: `kernsweep attach .*` follows it, `kernsweep cancel .*` cancels it$'
    is "no sources are left" "$(find "$TMPDIR/trees" -name "*.tmp.$pid*" 2>/dev/null)" ""
    ks cancel latest >/dev/null 2>&1 || ks cancel "$(sed -n 's/^run \([^ ]*\) started$/\1/p' "$TMPDIR/ab.log")" >/dev/null 2>&1
}

scenario "beside the store" beside_the_store
scenario "a file that another user left" of_another_user
scenario "a killed report" killed_report
scenario "on the node" on_the_node
scenario "SIGTERM while another process has the store" locked_store
scenario "SIGTERM while git does not answer" slow_git
scenario "SIGTERM while gnuplot draws" ended_again gnuplot
scenario "SIGTERM while people are told" ended_again tell
scenario "ab that is interrupted" interrupted_ab
done_testing
