#!/usr/bin/env bash
# watch: a run as a screen in tmux over a private sshd: matrix, running test, resize, a link that is cut, text of a
# workload and a node that must not reach the terminal; plain lines where there is none.
. tests/lib.sh
. tests/line.sh
. tests/terminal.sh

command -v tmux >/dev/null || skip_all "no tmux: scripts/install-deps test"
node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
export KERNSWEEP_DB=$TMPDIR/results.db
finish() {
    tm kill-server 2>/dev/null
    node_stop
}
trap finish EXIT
tm new-session -d -s keep "exec cat" # a server without sessions would end

# The link to the node goes through a proxy, so that it can be cut.
line

# Tests wait for a file each: nothing here depends on how fast a machine is. The second variant says hostile things.
mkdir "$TMPDIR/go"
jq -n --arg dir "$TMPDIR" '
    def work($fail): ["sh", "-c", "echo \"loading $2\"; while [ ! -e \"$1/go/$2\" ]; do sleep 0.05; done; \($fail)
        echo \"Prompt tokens: $2\"; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.5, \\\"attn_impl\\\": \\\"x\\\"}\"", "sh", $dir, "{context}"];
    {schema: "kernsweep.plan/1", clock: "simulated", ticket: "watched", node: "loopback", workdir: ($dir + "/work"),
    variants: [{name: "plain", run: work("")},
        {name: "hostile", build: [["sh", "-c", "printf \"\\\\033]0;owned\\\\007\\\\033[2J broken\\\\n\" >&2; exit 1"]], run: work("")}],
    contexts: [16, 32, 64], order: "grouped", timeouts: {default: 200}, connect: {timeout_s: 5, patience_s: 60}}' >"$TMPDIR/plan.json"
SSH=(--ssh-config "$CONFIG")

# detached OPTION...: a run that goes on by itself; its id in RUN.
detached() {
    rm -f "$TMPDIR"/go/*
    RUN=$("$KERNSWEEP" run "$TMPDIR/plan.json" "${SSH[@]}" --artifacts "$TMPDIR/artifacts" --detach "$@" 2>"$TMPDIR/detached.err")
    [ -n "$RUN" ]
}

# ended_run: one that is closed, for what watches it afterwards
ended_run() {
    detached && touch "$TMPDIR"/go/{16,32,64} && "$KERNSWEEP" attach "$RUN" "${SSH[@]}" >/dev/null 2>&1
    ENDED=$RUN
}

# watching WIDTHxHEIGHT WORD: watch in a terminal of that size
watching() {
    terminal "$1" "env LC_ALL=C.UTF-8 KERNSWEEP_EXECUTOR='${WATCH_EXECUTOR:-$KERNSWEEP_EXECUTOR}' '$KERNSWEEP' watch '$2' --ssh-config '$CONFIG'"
}

full_screen() {
    detached
    ok "run --detach starts the run" $? "$(cat "$TMPDIR/detached.err")"
    watching 100x30 "$RUN"
    sees "it shows the run and its node" "^$RUN on loopback"
    sees "it shows the contexts as columns" "variant +16 +32 +64"
    sees "it shows the running test in its cell" "plain +(OK)? +run +- +-"
    sees "it shows the running test with its time-out" "plain ctx 16 run 1 .* of 3 min 20 s, left"
    sees "it shows how many tests have ended" "^0 of 6 tests"
    sees "it shows what the test prints" "^  loading 16"
    sees "it shows the key that quits" "q: quit; the run continues"
    touch "$TMPDIR/go/16"
    sees "it shows the ended test and the next one in their cells" "plain +(OK)? +500 ms +run"
    sees "it shows what the next test prints" "^  loading 32"
    sees "it shows the ended test's line of the log" "\[1/6\] plain ctx 16 run 1  OK"
    say cut
    sees "it says that the connection is cut" "connection lost"
    touch "$TMPDIR/go/32"
    sees "it connects again and shows the next event" "plain +(OK)? +500 ms +500 ms +run"
    tm resize-window -t w -x 44 -y 14
    sees "it keeps the running test's column on a narrower screen" "variant +< 32 +64"
    is "it prints no line wider than the screen" "$(screen | awk 'length($0) > 44' | wc -l)" 0
    tm resize-window -t w -x 120 -y 40
    sees "it shows the whole matrix on a wider screen" "variant +16 +32 +64"
    touch "$TMPDIR/go/64"
    sees "it shows a failed build" "hostile +BUILD"
    sees "it shows the skipped cells of the failed build" "SKIPPED +SKIPPED +SKIPPED"
    sees "it shows escape sequences of a build as text" '\\x1b\]0;owned'
    is "it leaves the terminal's title alone" "$(tm display-message -p -t w '#{pane_title}' | grep -c owned)" 0
    sees "it shows the counts at the end" "6 of 6 tests  ok 3  failed 0  skipped 3  COMPLETE"
    sees "it stays open when the run has ended" "the run has ended; q: quit"
    tm send-keys -t w q
    sees "q ends it and restores the terminal" "^ended 0"
    is "no process of it is left" "$(pgrep -f "kernsweep watch $RUN" | wc -l)" 0
    tm kill-session -t w
}

no_terminal() {
    needs ended_run
    exits "exits 0" 0 "$KERNSWEEP" watch "$ENDED" "${SSH[@]}"
    like "prints a line for each test" "$OUT" "^\[1/6\] plain ctx 16 run 1  OK"
    like "prints the end" "$OUT" "^run COMPLETE  3 ok, 0 failed, 3 skipped"
    unlike "prints no escape sequence" "$OUT" $'\x1b'
}

# named WORD...: how watch can be told which run
named() {
    needs ended_run
    exits "exits 0" 0 "$KERNSWEEP" watch "$@" "${SSH[@]}"
    like "shows the newest run" "$OUT" "^$ENDED on loopback"
}

no_run() {
    exits "exits 2" 2 "$KERNSWEEP" watch /etc/nothing.json
    one_line "prints one line" "$ERR"
    exits "latest without any run exits 2" 2 "$KERNSWEEP" watch latest --db "$TMPDIR/none/results.db"
    like "and is not taken for a node" "$ERR" '^kernsweep: no run or ticket "latest" was started from here: '
}

quit_early() {
    detached --variants plain
    ok "run --detach starts the run" $? "$(cat "$TMPDIR/detached.err")"
    watching 80x24 latest
    sees "it shows the running test" "plain +run +- +-"
    tm send-keys -t w q
    sees "q ends it" "^ended 0"
    is "the run goes on" "$("$KERNSWEEP" status "$RUN" --json | jq -r '.[0].state')" running
    touch "$TMPDIR"/go/{16,32,64}
    exits "attach follows the run to its end" 0 "$KERNSWEEP" attach "$RUN" "${SSH[@]}"
    tm kill-session -t w
}

# Many variants with long names: the running one is in view, whatever its place, until the user scrolls.
many_variants() {
    jq '.variants = [.variants[0] as $v | range(40) | $v + {name: "variant_with_a_long_name_\(. + 100)"}] | .contexts = [16]
        | .variants[:39][].run = ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.001, \\\"attn_impl\\\": \\\"x\\\"}\"; echo Prompt tokens: 16"]' \
        "$TMPDIR/plan.json" >"$TMPDIR/many.json"
    rm -f "$TMPDIR"/go/*
    RUN=$("$KERNSWEEP" run "$TMPDIR/many.json" "${SSH[@]}" --artifacts "$TMPDIR/artifacts" --detach 2>"$TMPDIR/detached.err")
    watching 200x24 "$RUN"
    sees "it shows the running row, the last of forty" "variant_with_a_long_name_139 +(OK)? +run"
    is "it does not show the first row" "$(screen | grep -c 'name_100')" 0
    tm send-keys -t w PPage PPage PPage PPage PPage PPage PPage PPage PPage PPage
    sees "pages scroll to the first row" "variant_with_a_long_name_100 +(OK)? +1 ms"
    tm send-keys -t w Home
    sees "Home returns to the running row" "variant_with_a_long_name_139 +(OK)? +run"
    tm send-keys -t w C-c
    sees "Ctrl-C ends it with 130" "^ended 130"
    is "it says so in plain text" "$(screen | grep '^kernsweep:')" "kernsweep: interrupted; the run continues"
    touch "$TMPDIR"/go/16
    tm kill-session -t w
    exits "the run ends" 0 "$KERNSWEEP" attach "$RUN" "${SSH[@]}"
}

# journal N: a run with a test on each of N GPUs, the third of which has been taken out
journal() {
    jq -nc --argjson n "$1" '
        def id: "GPU-0a1b2c3d-5e6f-4711-8000-0000000000\(10 + .)";
        def test: {variant: "attention_variant_\(. % 6 + 1)", ctx: ([4096, 8192, 16384, 32768][. % 4]), run_idx: (. % 3 + 1), lane: ., gpus: [id]};
        {event: "SUITE_START", total_tests: 72, variants: [range(6) | "attention_variant_\(. + 1)"], contexts: [4096, 8192, 16384, 32768]},
        (range(6) | {event: "BUILD_END", variant: "attention_variant_\(. + 1)", status: "CACHED", wall_s: 0}),
        (range(4) | {event: "TEST_END", variant: "attention_variant_\(. + 1)", ctx: 4096, run_idx: 4, exit_status: "OK", wall_s: (1.25 * (. + 1)), suite_eta_s: 4000}),
        (range($n) | test + {event: "TEST_START", timeout_s: 1200}),
        (range(40) as $i | range($n) | test + {event: "HEARTBEAT", timeout_s: 1200, elapsed_s: (30 * . + $i), gpu_use: ((. * 13 + $i * 7) % 101), vram_used: (20e9 + . * 1e9), suite_eta_s: 3600, log_tail: "layer \($i)"}),
        {event: "NODE", gpu_out: (2 | id), message: "GPU-...12 hangs: no more tests go there; what was left moves to the others"}'
}

# eight_gpus SIZE: the node's journal is that of GPUS tests in flight
eight_gpus() {
    local real=$KERNSWEEP_EXECUTOR rows=${1#*x}
    detached --variants plain
    journal "$2" >"$TMPDIR/journal"
    # shellcheck disable=SC2016 # for the node's shell
    printf '#!/bin/sh\n[ "$1" = follow ] || exec "%s" "$@"\ncat "%s"\nwhile :; do echo; sleep 1; done\n' "$real" "$TMPDIR/journal" >"$TMPDIR/executor"
    chmod 755 "$TMPDIR/executor"
    WATCH_EXECUTOR=$TMPDIR/executor watching "$1" "$RUN"
    sees "it says how many tests run" "^GPUs: $(($2 - 1)) running"
    sees "it has a row per GPU, with its test and its time" "^1 +[^ ]*11 attention_variant[^ ]* ctx 8192 run 2 +1:09 of 20:00"
    sees "a GPU that is out says why" "^2 +[^ ]*12 out: GPU-...12 hangs"
    sees "the matrix has what runs and what ended" "attention_variant_2 +CACHED +2.5 s +run"
    [ "${1%x*}" -lt 160 ] ||
        sees "names, ids, bars and samples are whole where there is room" "^3 +GPU-0a1b2c3d-5e6f-4711-8000-000000000013 attention_variant_4 ctx 32768 run 1 .*\[##\.+\] .*▅"
    sees "the log is below it" "^\[4/72\] attention_variant_4 ctx 4096 run 4  OK"
    passes "no line is wider than the screen" test "$(screen | LC_ALL=C.UTF-8 wc -L)" -le "${1%x*}"
    is "the footer is on the last line" "$(screen | awk 'NF { n = NR } END { print n }')" "$rows"
    if [ "$2" -gt 8 ]; then
        sees "GPUs that do not fit are counted" "GPUs: .* of $2: \[ and \] scroll"
        tm send-keys -t w ']' ']' ']'
        sees "brackets scroll the GPUs" "^GPUs: .* 3 to .* of $2"
    fi
    tm send-keys -t w k k k k
    sees "k scrolls the log back" "^(build attention_variant_6|\[1/72\])"
    tm send-keys -t w C-c
    sees "Ctrl-C ends it with 130" "^ended 130"
    is "Ctrl-C leaves its one line and nothing else" "$(screen | grep -vc '^kernsweep: interrupted; the run continues$\|^ended 130$\|^$')" 0
    tm kill-session -t w
    touch "$TMPDIR"/go/{16,32,64}
    exits "the run ends" 0 "$KERNSWEEP" attach "$RUN" "${SSH[@]}"
}

# The node's journal is what a run on eight GPUs wrote (tests/fixtures/watch), up to the moment when six tests are in flight.
recorded() {
    local real=$KERNSWEEP_EXECUTOR
    detached --variants plain
    head -n 72 tests/fixtures/watch/eight_gpus.jsonl >"$TMPDIR/journal"
    # shellcheck disable=SC2016 # for the node's shell
    printf '#!/bin/sh\n[ "$1" = follow ] || exec "%s" "$@"\ncat "%s"\nwhile :; do echo; sleep 1; done\n' "$real" "$TMPDIR/journal" >"$TMPDIR/executor"
    chmod 755 "$TMPDIR/executor"
    WATCH_EXECUTOR=$TMPDIR/executor watching 170x40 "$RUN"
    sees "it says how many tests run" "^GPUs: 6 running"
    sees "a GPU with a test that has just begun" "^0 +[^ ]*a0 baseline ctx 4096 run 3 +0:00 of 1:00"
    sees "a GPU that has nothing left to do is idle" "^1 +[^ ]*a1 idle"
    sees "a GPU with its test, its time and its memory" "^3 +[^ ]*a3 flash ctx 8192 run 3 +0:01 of 1:00 .*4.2 GiB +0 %"
    sees "a GPU that was taken out says why" "^5 +[^ ]*a5 out: GPU 1d0fbe6a2a1c00a5 takes no more tests: .*GPU memory stays at 1200 MiB"
    sees "the last GPU" "^7 +[^ ]*a7 flash ctx 32768 run 2 +0:00 of 1:00"
    sees "the matrix has what runs and what ended" "^flash +(OK)? +50 ms x3 +run +50 ms x2 +run"
    tm kill-session -t w
    touch "$TMPDIR"/go/{16,32,64}
    exits "the run ends" 0 "$KERNSWEEP" attach "$RUN" "${SSH[@]}"
}

as_json() {
    needs ended_run
    exits "exits 0" 0 "$KERNSWEEP" watch "$ENDED" --json "${SSH[@]}"
    is "prints the journal's events" "$(jq -rs '[.[0], .[-1]] | map(.event) | join(" ")' <<<"$OUT")" "SUITE_START SUITE_END"
}

scenario "watch without a terminal" no_terminal
scenario "watch --json" as_json
scenario "watch of a plan" named "$TMPDIR/plan.json"
scenario "watch of a node and a workdir" named loopback --workdir "$TMPDIR/work"
scenario "watch of a plan without runs" no_run
scenario "watch in a terminal" full_screen
scenario "watch that is quit while the run goes on" quit_early
scenario "watch of forty variants" many_variants
scenario "a recorded run on eight GPUs" recorded
scenario "watch of eight GPUs" eight_gpus 80x24 8
scenario "watch of eight GPUs on a large screen" eight_gpus 200x50 8
scenario "watch of forty GPUs" eight_gpus 80x24 40
line_end
done_testing
