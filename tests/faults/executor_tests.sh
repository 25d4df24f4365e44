#!/usr/bin/env bash
# Tests that misbehave: whatever a test does, it gets its status, the sweep goes on, and nothing of it is left.
# shellcheck disable=SC2016 # the scripts that are tests expand their own variables
. tests/lib.sh
. tests/executor.sh

# after ID SCRIPT [TEST_JSON [JOB_JSON]]: runs the shell script as the test, then one that is well.
after() {
    job "$1" "$(shell_and_next "$2" "${4:-}" "${3:-}")"
    run "$1"
    is "the next test runs and the run is COMPLETE" "$(summary "$1" '.status + " " + .tests[1].exit_status')" "COMPLETE OK"
    is "perf.json says that no process is left" "$(perf "$1" .cleanup.group_gone)" true
}

# gone PATTERN: of a command line
gone() {
    ok "no process of it is left" "$(alive "$1" >/dev/null && echo 1 || echo 0)"
}

status_is() {
    is "its status is $2" "$(perf "$1" .exit_status)" "$2"
}

ignores_term() {
    after ignores-term "trap '' TERM; while :; do sleep 71.$OWN; done" '{"timeout_s": 0.3}'
    status_is ignores-term TIMEOUT
    is "it is ended by KILL" "$(perf ignores-term .signal)" 9
    like "diag.txt has its processes" "$(cat "$(bundle ignores-term)/v/ctx_64_run1/diag.txt")" '^== process [0-9]+ when it was stopped'
    gone "sleep 71.$OWN"
}

heeds_term() {
    after heeds-term "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done" '{"timeout_s": 0.3}'
    status_is heeds-term TIMEOUT
    is "run.log has what it printed last" "$(tail -n 1 "$(bundle heeds-term)/v/ctx_64_run1/run.log")" bye
}

stopped() {
    after stopped "kill -STOP \$\$" '{"timeout_s": 0.3}'
    status_is stopped TIMEOUT
}

leaves_daemon() {
    after daemon "$good; (setsid sh -c \"trap '' TERM; while :; do sleep 72.$OWN; done\" >/dev/null 2>&1 &)"
    status_is daemon OK
    is "perf.json counts the daemon as a leftover" "$(perf daemon '.cleanup.leftovers > 0')" true
    gone "sleep 72.$OWN"
}

leaves_daemon_with_pipe() {
    after daemon-with-pipe "$good; (setsid sleep 73.$OWN &)"
    status_is daemon-with-pipe OK
    gone "sleep 73.$OWN"
}

zombie() {
    after zombie "sleep 0.01 & exec sleep 74.$OWN" '{"timeout_s": 0.3}'
    status_is zombie TIMEOUT
    gone "sleep 74.$OWN"
}

forks() {
    after forks 'i=0; while [ $i -lt 40 ]; do i=$((i + 1)); (setsid sh -c "trap \"\" TERM; while :; do sleep 75.'"$OWN"'; done" &); done; sleep 1000' \
        '{"timeout_s": 0.5}'
    gone "sleep 75.$OWN"
}

closes_descriptors() {
    after closes 'exec >&- 2>&- <&-; sleep 0.2; exit 5'
    is "the executor waits for its end" "$(perf closes '"\(.exit_code) \(.wall_time_sec >= 0.2)"')" "5 true"
}

binary_output() {
    after binary 'head -c 300000 /dev/urandom; printf "\n[PERF_TIMING] {\"prefill_s\": 2}\n"'
    is "the timings after it are read" "$(perf binary '"\(.exit_status) \(.timings.prefill_s)"')" "OK 2"
}

flood() {
    after flood 'head -c 2147483648 /dev/zero; printf "\n[PERF_TIMING] {\"prefill_s\": 3}\n"' '{"timeout_s": 200}' '{"log_limit_bytes": 65536}'
    is "the timings at its end are read" "$(perf flood '"\(.exit_status) \(.timings.prefill_s)"')" "OK 3"
    is "perf.json counts all of it" "$(perf flood '.log.bytes > 2147483648 and .log.bytes - .log.dropped_bytes == 65536')" true
    is "run.log keeps to its limit" "$(($(wc -c <"$(bundle flood)/v/ctx_64_run1/run.log") < 66000))" 1
    like "run.log says what is missing" "$(tr -d '\0' <"$(bundle flood)/v/ctx_64_run1/run.log")" 'bytes dropped here'
}

silent() {
    after silent "echo one; sleep 1.2; $good" '{}' '{"no_output_timeout_s": 0.3, "hang_after_s": 0.3}'
    status_is silent OK
}

fills_its_folder() {
    after fills-its-folder 'mkdir -p a/b; ln -s /etc/passwd link; mkfifo fifo; echo x > "bad
name"; '"$good"
    is "the manifest names what it leaves out, with the reason" \
        "$(jq -r '[.left_out[] | "\(.path | split("/")[-1]): \(.reason)"] | join("; ")' "$(bundle fills-its-folder)/manifest.json")" \
        'bad\x0aname: its name is not plain text; fifo: neither a file nor a folder; link: neither a file nor a folder'
    is "the manifest lists no link, pipe or wild name" \
        "$(jq -r '[.files[].path | select(startswith("v/ctx"))] | map(split("/")[2]) | join(" ")' "$(bundle fills-its-folder)/manifest.json")" \
        "perf.json run.log vram_samples.jsonl"
}

# Names and folders that a tar of 1988 or JSON cannot name.
leaves_odd_names() {
    local long deep wide
    long=$(printf 'n%.0s' {1..200})
    wide=$(printf 'w%.0s' {1..90})
    deep=$(printf 'd/%.0s' {1..90})
    after odd-names "echo 1 >$long; mkdir -p $wide/$wide/$wide; echo 2 >$wide/$wide/$wide/file; mkdir -p $deep; echo 3 >$deep/file
        echo 4 >\"\$(printf 'bad\\377')\"; $good"
    status_is odd-names OK
    is "what pax can name is in the bundle" "$(cat "$(bundle odd-names)/v/ctx_64_run1/$long" "$(bundle odd-names)/v/ctx_64_run1/$wide/$wide/$wide/file" | tr '\n' ' ')" "1 2 "
    is "the rest is named in the manifest" "$(jq -r '[.left_out[].reason] | sort | join("; ")' "$(bundle odd-names)/manifest.json")" \
        "its folders are nested too deeply; its name is not plain text"
    is "pack gives the same files" "$("$KERNSWEEP_EXECUTOR" pack --workdir "$WORK" --run odd-names | tar -tf - | sort | sha256sum)" \
        "$(jq -r '.files[].path, "manifest.json"' "$(bundle odd-names)/manifest.json" | sort | sha256sum)"
}

leaves_too_many() {
    after too-many "mkdir a; cd a; seq 50150 | xargs touch; $good"
    is "the bundle has 50,000 of them, and the records of all tests" \
        "$(jq -r '"\([.files[].path | select(contains("/a/"))] | length) \([.files[].path | select(endswith("perf.json"))] | length)"' \
            "$(bundle too-many)/manifest.json")" "50000 2"
    is "the manifest names a hundred of the others and counts the rest" \
        "$(jq -r '"\(.left_out | length) \(.left_out_others) \(.left_out[0].reason)"' "$(bundle too-many)/manifest.json")" \
        "100 50 the bundle has too many files"
}

limits() {
    job limits "$(shell "ulimit -c; cat /proc/self/oom_score_adj; ls /proc/self/fd | wc -l; exit 1")"
    run limits
    is "no core dumps, the OOM killer's first choice, three open descriptors" \
        "$(tr '\n' ' ' <"$(bundle limits)/v/ctx_64_run1/run.log")" "0 500 4 "
}

# Its main process asks to be traced by its parent, as anti-debugging code and some crash handlers do.
traced() {
    after traced "exec python3 -c 'import ctypes, os, signal
signal.signal(signal.SIGUSR1, lambda *a: print(\"seen\", flush=True))
assert ctypes.CDLL(None).ptrace(0, 0, 0, 0) == 0
os.kill(os.getpid(), signal.SIGUSR1)
print(\"[PERF_TIMING] {\\\"prefill_s\\\": 0.0001}\")'"
    status_is traced OK
    like "the signal at which it stopped reaches it" "$(cat "$(bundle traced)/v/ctx_64_run1/run.log")" '^seen$'
}

scenario "a test that ignores TERM" ignores_term
scenario "a test that exits 0 on TERM" heeds_term
scenario "a test that stops itself" stopped
scenario "a test that leaves a daemon" leaves_daemon
scenario "a test that leaves a daemon with its output open" leaves_daemon_with_pipe
scenario "a test with a zombie" zombie
scenario "a test that forks forty daemons" forks
scenario "a test that closes its descriptors" closes_descriptors
scenario "a test that asks to be traced" traced
scenario "a test with binary output" binary_output
scenario "a test with 2 GiB of output" flood
scenario "a silent test on a node without a GPU" silent
scenario "a test that leaves links, pipes and wild names" fills_its_folder
scenario "a test that leaves long names, deep folders and bytes that are no text" leaves_odd_names
scenario "a test that leaves 50,150 files" leaves_too_many
scenario "what a test is started with" limits
done_testing
