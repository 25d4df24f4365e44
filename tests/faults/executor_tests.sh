#!/usr/bin/env bash
# Tests that misbehave: whatever a test does, it gets its status, the sweep goes on, and nothing of it is left.
# shellcheck disable=SC2016 # the scripts that are tests expand their own variables
. tests/lib.sh
. tests/executor.sh

good='echo "[PERF_TIMING] {\"prefill_s\": 1}"'

# after ID SCRIPT [TEST_JSON [JOB_JSON]]: runs the shell script as the test, then one that is well.
after() {
    job "$1" "$(jq -nc --arg s "$2" --arg g "$good" --argjson t "${3:-"{}"}" --argjson j "${4:-"{}"}" \
        '{variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "next", run: ["sh", "-c", $g]}],
          tests: [{variant: "v"} + $t, {variant: "next"}]} + $j')"
    run "$1"
    is "$1: the sweep went on" "$(summary "$1" '.status + " " + .tests[1].exit_status')" "COMPLETE OK"
    is "$1: all is gone, as perf.json says" "$(perf "$1" .cleanup.group_gone)" true
}

gone() {
    ok "$1: really" "$(alive "$2" >/dev/null && echo 1 || echo 0)"
}

after ignores-term "trap '' TERM; while :; do sleep 71; done" '{"timeout_s": 0.3}'
is "a test that ignores TERM: TIMEOUT" "$(perf ignores-term .exit_status)" TIMEOUT
is "   by KILL" "$(perf ignores-term .signal)" 9
like "   diag.txt shows what it did" "$(cat "$(bundle ignores-term)/v/ctx_64_run1/diag.txt")" '^== process [0-9]+ when it was stopped'
gone ignores-term 'sleep 71'

after heeds-term "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done" '{"timeout_s": 0.3}'
is "a test that heeds TERM is a TIMEOUT all the same" "$(perf heeds-term .exit_status)" TIMEOUT
is "   its last words are kept" "$(tail -n 1 "$(bundle heeds-term)/v/ctx_64_run1/run.log")" bye

after stopped "kill -STOP \$\$" '{"timeout_s": 0.3}'
is "a stopped test: TIMEOUT" "$(perf stopped .exit_status)" TIMEOUT

after daemon "$good; (setsid sh -c \"trap '' TERM; while :; do sleep 72; done\" >/dev/null 2>&1 &)"
is "a test that leaves a daemon is OK" "$(perf daemon .exit_status)" OK
is "   the daemon is noted" "$(perf daemon '.cleanup.leftovers > 0')" true
gone daemon 'sleep 72'

after daemon-with-pipe "$good; (setsid sleep 73 &)"
is "a daemon that holds the output does not hold up the run" "$(perf daemon-with-pipe .exit_status)" OK
gone daemon-with-pipe 'sleep 73'

after zombie "sleep 0.01 & exec sleep 74" '{"timeout_s": 0.3}'
is "a test with a zombie: TIMEOUT" "$(perf zombie .exit_status)" TIMEOUT
gone zombie 'sleep 74'

after forks 'i=0; while [ $i -lt 40 ]; do i=$((i + 1)); (setsid sh -c "trap \"\" TERM; while :; do sleep 75; done" &); done; sleep 1000' \
    '{"timeout_s": 0.5}'
gone forks 'sleep 75'

after closes 'exec >&- 2>&- <&-; sleep 0.2; exit 5'
is "a test that closes its descriptors is waited for" "$(perf closes '"\(.exit_code) \(.wall_time_sec >= 0.2)"')" "5 true"

after binary 'head -c 300000 /dev/urandom; printf "\n[PERF_TIMING] {\"prefill_s\": 2}\n"'
is "binary output does no harm" "$(perf binary '"\(.exit_status) \(.timings.prefill_s)"')" "OK 2"

after flood 'head -c 2147483648 /dev/zero; printf "\n[PERF_TIMING] {\"prefill_s\": 3}\n"' '{"timeout_s": 200}' '{"log_limit_bytes": 65536}'
is "2 GiB of output: the timings at their end are read" "$(perf flood '"\(.exit_status) \(.timings.prefill_s)"')" "OK 3"
is "   all of it is counted" "$(perf flood '.log.bytes > 2147483648 and .log.bytes - .log.dropped_bytes == 65536')" true
is "   the log keeps to its limit" "$(($(wc -c <"$(bundle flood)/v/ctx_64_run1/run.log") < 66000))" 1
like "   and says what is missing" "$(tr -d '\0' <"$(bundle flood)/v/ctx_64_run1/run.log")" 'bytes dropped here'

after silent "echo one; sleep 1.2; $good" '{}' '{"no_output_timeout_s": 0.3, "hang_after_s": 0.3}'
is "without a GPU nobody is stopped for being silent" "$(perf silent .exit_status)" OK

after fills-its-folder 'mkdir -p a/b; ln -s /etc/passwd link; mkfifo fifo; echo x > "bad
name"; '"$good"
is "what a test leaves behind is listed, but links, pipes and wild names are not" \
    "$(jq -r '[.files[].path | select(startswith("v/ctx"))] | map(split("/")[2]) | join(" ")' "$(bundle fills-its-folder)/manifest.json")" \
    "perf.json run.log vram_samples.jsonl"

job limits "$(one '{"run": ["sh", "-c", "ulimit -c; cat /proc/self/oom_score_adj; ls /proc/self/fd | wc -l; exit 1"]}')"
run limits
is "a test: no core dumps, the OOM killer's first choice, only its three descriptors" \
    "$(tr '\n' ' ' <"$(bundle limits)/v/ctx_64_run1/run.log")" "0 500 4 "
done_testing
