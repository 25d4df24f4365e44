#!/usr/bin/env bash
# watch: a run as a screen in tmux over a private sshd: matrix, running test, resize, a link that is cut, text of a
# workload and a node that must not reach the terminal; plain lines where there is none.
# timeout: 240
. tests/lib.sh

command -v tmux >/dev/null || skip_all "no tmux: scripts/install-deps test"
node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
export KERNSWEEP_DB=$TMPDIR/results.db
# A server of its own, that ends with its sessions. UTF-8, and a terminal type that every Debian has.
tm() {
    TMUX='' tmux -L "ks-$$" -f /dev/null "$@"
}
finish() {
    tm kill-server 2>/dev/null
    node_stop
}
trap finish EXIT

# The link to the node goes through a proxy, so that it can be cut.
mkfifo "$TMPDIR/control"
"$BUILD/tests/faultproxy" --to "127.0.0.1:$(cat "$NODE/port")" --port-file "$TMPDIR/port" --control "$TMPDIR/control" &
proxy=$!
until_true 30 test -s "$TMPDIR/port"
port=$(cat "$TMPDIR/port")
sed -e "s/^\( *Port\) .*/\1 $port/" -e "s|^\( *UserKnownHostsFile\) .*|\1 $TMPDIR/known|" "$NODE/ssh_config" >"$TMPDIR/ssh_config"
sed "s/^\[127.0.0.1\]:[0-9]*/[127.0.0.1]:$port/" "$NODE/known_hosts" >"$TMPDIR/known"

# Tests wait for a file each: nothing here depends on how fast a machine is. The second variant says hostile things.
mkdir "$TMPDIR/go"
jq -n --arg dir "$TMPDIR" '
    def work($fail): ["sh", "-c", "echo \"loading $2\"; while [ ! -e \"$1/go/$2\" ]; do sleep 0.05; done; \($fail)
        echo \"Prompt tokens: $2\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.5, \\\"attn_impl\\\": \\\"x\\\"}\"", "sh", $dir, "{context}"];
    {schema: "kernsweep.plan/1", ticket: "watched", node: "loopback", workdir: ($dir + "/work"),
    variants: [{name: "plain", run: work("")},
        {name: "hostile", build: [["sh", "-c", "printf \"\\\\033]0;owned\\\\007\\\\033[2J broken\\\\n\" >&2; exit 1"]], run: work("")}],
    contexts: [16, 32, 64], order: "grouped", timeouts: {default: 200}, connect: {timeout_s: 5, patience_s: 60}}' >"$TMPDIR/plan.json"
exits "a run is started" 0 "$KERNSWEEP" run "$TMPDIR/plan.json" --ssh-config "$TMPDIR/ssh_config" --artifacts "$TMPDIR/artifacts" --detach
run=$OUT

screen() { tm capture-pane -p -t w; }
shows() { screen | grep -Eq -- "$1"; }
# sees NAME PATTERN: soon.
sees() {
    until_true 40 shows "$2"
    ok "$1" $? "the screen does not show: $2"$'\n'"$(screen)"
}

tm new-session -d -s w -x 100 -y 30 "env LC_ALL=C.UTF-8 '$KERNSWEEP' watch '$run' --ssh-config '$TMPDIR/ssh_config'; echo ended \$?; exec cat"
sees "the run and its node" "^$run on loopback"
sees "the matrix: contexts" "variant +16 +32 +64"
sees "the test that runs" "plain +(OK)? +run +- +-"
sees "with its time-out" "plain ctx 16 run 1 .* of 3 min 20 s, left"
sees "how many are done" "^0 of 6 tests"
sees "and what it has printed so far" "^  loading 16"
sees "a way out" "q: quit; the run continues"
touch "$TMPDIR/go/16"
sees "a test that is done, and the next" "plain +(OK)? +ok 1 +run"
sees "what the next one prints" "^  loading 32"
sees "the log's end" "\[1/6\] plain ctx 16 run 1  OK"

echo cut >"$TMPDIR/control"
sees "a cut link is told of" "connection lost"
touch "$TMPDIR/go/32"
sees "and made again: the next event arrives" "plain +(OK)? +ok 1 +ok 1 +run"

tm resize-window -t w -x 44 -y 14
sees "after a resize the matrix is cut to fit" "variant +16 +32( |>|$)"
is "no line is wider than the screen" "$(screen | awk 'length($0) > 44' | wc -l)" 0
tm resize-window -t w -x 120 -y 40
sees "and whole again" "variant +16 +32 +64"

touch "$TMPDIR/go/64"
sees "a failed build is a state" "hostile +BUILD"
sees "its cells are skipped" "SKIPPED +SKIPPED +SKIPPED"
sees "what the build said is shown, not done" '\\x1b\]0;owned'
is "the terminal's title is its own" "$(tm display-message -p -t w '#{pane_title}' | grep -c owned)" 0
sees "the run's end" "6 of 6 tests  ok 3  failed 0  skipped 3  COMPLETE"
sees "is told, and the screen stays" "the run is closed; q: quit"
tm send-keys -t w q
sees "q ends it, and the terminal is back" "^ended 0"
is "nothing of it is left" "$(pgrep -f "kernsweep watch $run" | wc -l)" 0

exits "without a terminal: plain lines on stdout" 0 "$KERNSWEEP" watch "$run" --ssh-config "$TMPDIR/ssh_config"
like "the tests" "$OUT" "^\[1/6\] plain ctx 16 run 1  OK"
like "to the end" "$OUT" "^run COMPLETE  3 ok, 0 failed, 3 skipped"
unlike "no escape sequence" "$OUT" $'\x1b'
exits "by its plan" 0 "$KERNSWEEP" watch "$TMPDIR/plan.json" --ssh-config "$TMPDIR/ssh_config"
like "the same run" "$OUT" "^$run on loopback"
exits "by its node" 0 "$KERNSWEEP" watch loopback --workdir "$TMPDIR/work" --ssh-config "$TMPDIR/ssh_config"
like "the newest there" "$OUT" "^$run on loopback"
exits "a plan that nothing was run of" 2 "$KERNSWEEP" watch /etc/nothing.json
one_line "in one line" "$ERR"

# q while the test runs: the run does not notice.
rm -f "$TMPDIR"/go/*
exits "another run" 0 "$KERNSWEEP" run "$TMPDIR/plan.json" --variants plain --ssh-config "$TMPDIR/ssh_config" --artifacts "$TMPDIR/artifacts" --detach
run=$OUT
tm kill-session -t w
tm new-session -d -s w -x 80 -y 24 "'$KERNSWEEP' watch latest --ssh-config '$TMPDIR/ssh_config'; echo ended \$?; exec cat"
sees "is watched" "plain +run +- +-"
tm send-keys -t w q
sees "and left" "^ended 0"
is "it still runs" "$("$KERNSWEEP" status "$run" --json | jq -r '.[0].state')" running
touch "$TMPDIR/go/16" "$TMPDIR/go/32" "$TMPDIR/go/64"
exits "to its end" 0 "$KERNSWEEP" attach "$run" --ssh-config "$TMPDIR/ssh_config"
echo quit >"$TMPDIR/control"
wait "$proxy"
done_testing
