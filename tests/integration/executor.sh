#!/usr/bin/env bash
# The executor by itself: what it makes of a job, without a harness.
. tests/lib.sh
. tests/executor.sh

timing='echo Prompt tokens: {context}; echo "[PERF_TIMING] {\"prefill_s\": 0.5, \"attn_impl\": \"k\"}"'

check_words() {
    is "version tells the protocol" "$(x version | jq .protocol)" 1
    is "probe tells the node's facts" "$(x probe | jq -r .schema)" kernsweep.node/1
    exits "an unknown option is a usage error" 2 x status --nonsense
    one_line "told in one line" "$ERR"
    exits "so is a missing one" 2 x follow
    exits "so is a command that is not there" 2 "$KERNSWEEP_EXECUTOR" nonsense
    exits "a run that is not there" 2 x follow --run nothing
    one_line "is told in one line" "$ERR"
    exits "a run id that climbs" 2 x pack --run ../../etc
    is "status without runs is an empty array" "$(x status)" "[]"
}

check_ok() {
    job ok "$(jq -nc --arg t "$timing" '{secrets: ["TOKEN"], env: {TOKEN: "s3cr3t-value"},
        variants: [{name: "v", attn_impl: "k", build: [["sh", "-c", "echo made > {build}/made; echo $TOKEN"]],
                    gates: [{kind: "command", run: ["test", "-f", "{build}/made"]}],
                    run: ["sh", "-c", "\($t); cat {build}/made; echo $KERNSWEEP_VARIANT $KERNSWEEP_CONTEXT; pwd; echo $TOKEN >&2; echo x > extra; sleep 0.1"]}],
        tests: [{variant: "v", warmup: true}, {variant: "v", repetition: 2}, {variant: "v", context: 128}]}')"
    passes "a job runs" run ok
    is "it is COMPLETE" "$(summary ok .status)" COMPLETE
    is "with its counts" "$(summary ok '[.counts.total, .counts.ok] | join(" ")')" "3 3"
    is "a test is OK" "$(perf ok .exit_status)" OK
    is "its timings are the workload's" "$(perf ok .timings.prefill_s)" 0.5
    is "a warm-up is marked" "$(perf ok .warmup)" true
    is "prompt tokens are read" "$(perf ok .prompt_tokens)" 64
    is "everything it started is gone" "$(perf ok .cleanup.group_gone)" true
    like "memory was sampled" "$(cat "$(bundle ok)"/v/ctx_64_run1/vram_samples.jsonl)" '"rss":[1-9]'
    like "the log has both streams" "$(cat "$(bundle ok)/v/ctx_64_run1/run.log")" '^\*\*\*$'
    like "the build was seen by the test" "$(cat "$(bundle ok)/v/ctx_64_run1/run.log")" '^made$'
    like "the test knows what it is" "$(cat "$(bundle ok)/v/ctx_64_run1/run.log")" '^v 64$'
    like "and runs in its folder" "$(cat "$(bundle ok)/v/ctx_64_run1/run.log")" '/v/ctx_64_run1$'
    is "no artifact has the secret" "$(grep -rl s3cr3t "$(bundle ok)" | wc -l)" 0
    is "events are numbered" "$(events ok '[.[].seq] == [range(1; length + 1)]')" true
    is "in order" "$(events ok 'map(.event) | map(select(. != "HEARTBEAT")) | join(" ")')" \
        "SUITE_START NODE BUILD_START BUILD_END GATE TEST_START TEST_END TEST_START TEST_END TEST_START TEST_END SUITE_END"
    is "follow sent the journal as it is" "$(grep -v '^$' "$TMPDIR/ok.events" | cmp - "$(bundle ok)/events.jsonl" && echo same)" same
    is "files are the owner's only" "$(find "$(bundle ok)" -type f ! -perm 600 | wc -l)" 0
    is "so are folders" "$(find "$(bundle ok)" -type d ! -perm 700 | wc -l)" 0
    passes "the manifest's hashes are right" sh -c "cd '$(bundle ok)' && jq -r '.files[] | \"\(.sha256)  \(.path)\"' manifest.json | sha256sum -c --quiet"
    is "it lists what the workload left" "$(jq '[.files[].path] | index("v/ctx_64_run1/extra") != null' "$(bundle ok)/manifest.json")" true
    is "submit of a complete run says so" "$(x submit <"$TMPDIR/ok.json" | jq -r .state)" complete
    is "its status" "$(x status --run ok | jq -r '.[0] | [.state, .status, .tests_done] | join(" ")')" "complete COMPLETE 3"
    mkdir "$TMPDIR/out" && x pack --run ok | tar -x -C "$TMPDIR/out" -f -
    is "pack sends what the manifest lists" \
        "$(cd "$TMPDIR/out" && find . -type f | sed 's,^\./,,' | grep -vx manifest.json | LC_ALL=C sort)" \
        "$(jq -r '.files[].path' "$(bundle ok)/manifest.json" | LC_ALL=C sort)"
}

check_cache() {
    job again "$(jq -c .job <"$TMPDIR/ok.json" | jq -c 'del(.schema, .run_id)')"
    run again
    is "the same build is not built again" "$(events again '[.[] | select(.event == "BUILD_END")][0].status')" CACHED
    like "its log is there all the same" "$(cat "$(bundle again)/v/build.log")" 'echo made'
}

# what STATUS VARIANT_JSON REASON [TEST_JSON]
what() {
    local id
    id=$(tr '[:upper:]_' '[:lower:]-' <<<"$1")-$TESTS
    job "$id" "$(jq -nc --argjson v "$2" --argjson t "${4:-"{}"}" \
        '{variants: [{name: "v"} + $v], tests: [{variant: "v"} + $t]}')"
    run "$id"
    is "$1: $3" "$(perf "$id" .exit_status)" "$1"
    like "   the reason" "$(perf "$id" .reason)" "$3"
    like "   diag.txt begins with it" "$(head -n 1 "$(bundle "$id")/v/ctx_64_run1/diag.txt")" "$3"
}

check_statuses() {
    what FAIL '{"run": ["sh", "-c", "exit 3"]}' 'exit code 3'
    what FAIL '{"run": ["/nowhere/at/all"]}' 'cannot start /nowhere/at/all'
    what CRASH '{"run": ["sh", "-c", "kill -SEGV $$"]}' 'signal 11 \(SIGSEGV'
    what TIMEOUT '{"run": ["sleep", "1000"]}' 'time-out of 0.2 s' '{"timeout_s": 0.2}'
    what SKIPPED '{"run": ["sh", "-c", "echo SKIP: no GPU here; exit 77"]}' 'no GPU here'
    what INVALID '{"run": ["true"]}' 'no timings'
    what INVALID '{"run": ["echo", "[PERF_TIMING] {\"prefill_s\": 0}"]}' 'prefill_s is 0'
    what INVALID '{"run": ["echo", "[PERF_TIMING] {\"prefill_s\": NaN}"]}' 'not a JSON object'
    what INVALID '{"run": ["echo", "Prompt tokens: 63\n[PERF_TIMING] {\"prefill_s\": 1}"]}' '63 prompt tokens'
    what INVALID '{"attn_impl": "k", "run": ["echo", "[PERF_TIMING] {\"prefill_s\": 1, \"attn_impl\": \"other\"}"]}' "attn_impl is 'other'"
    what SKIPPED '{"build": [["sh", "-c", "echo no such header; exit 1"]], "run": ["true"]}' 'BUILD_FAILED'
    what SKIPPED '{"gates": [{"kind": "command", "run": ["false"]}], "run": ["true"]}' 'GATE_FAILED'
}

check_rules() {
    job json "$(one '{"run": ["sh", "-c", "echo {; echo \"\\\"a\\\": [{\\\"ms\\\": 250}]}\""]}' |
        jq -c '. + {timings: {kind: "json", unit: "ms", map: {prefill_s: "$.a[0].ms"}}}')"
    run json
    is "timings by JSON path, over several lines" "$(perf json .timings.prefill_s)" 0.25
    job regex "$(one '{"run": ["echo", "prefill took 1.5 s (kernel k)"]}' |
        jq -c '. + {timings: {kind: "regex", pattern: "took (?<prefill_s>\\d+\\.\\d+) s \\(kernel (?<attn_impl>[a-z]+)"}}')"
    run regex
    is "timings by regular expression" "$(perf regex '"\(.timings.prefill_s) \(.timings.attn_impl)"')" "1.5 k"
}

check_bad_jobs() {
    local bad
    for bad in '.job.variants[0].name = "../x"' '.job.tests[0].timeout_s = -1' '.job.tests[0].index = 2' \
        '.job.variants[0].run = ["{nonsense}"]' '.job.extra = 1' '.job.run_id = "a b"' '.job.schema = "x"' \
        '.job.variants[0].build = [["echo", "{context}"]]' '.job.tests += .job.tests' 'del(.plan)' \
        '.job.secrets = ["S"] | .job.env.S = "ab"' '.job.timings = {kind: "regex", pattern: "("}'; do
        jq "$bad" "$TMPDIR/json.json" >"$TMPDIR/bad.json"
        RC=0
        ERR=$(x submit <"$TMPDIR/bad.json" 2>&1) || RC=$?
        is "refused: $bad" "$RC" 2
        one_line "   in one line" "$ERR"
    done
    jq '.job.tests[0].timeout_s = 3' "$TMPDIR/json.json" | x submit >/dev/null 2>"$TMPDIR/err"
    like "another job under a run's id is refused" "$(cat "$TMPDIR/err")" 'take a new run id'
}

check_stage() {
    local sha
    mkdir -p "$TMPDIR/tree/sub" && echo hello >"$TMPDIR/tree/sub/file"
    tar -c -C "$TMPDIR/tree" -f "$TMPDIR/tree.tar" .
    sha=$(sha256sum <"$TMPDIR/tree.tar" | cut -d' ' -f1)
    exits "a tree that is not there" 1 x has --sha256 "$sha"
    head -c 1000 "$TMPDIR/tree.tar" | x stage --sha256 "$sha" >/dev/null 2>&1
    exits "half a stream leaves nothing" 1 x has --sha256 "$sha"
    is "no leavings" "$(ls -A "$WORK/src")" ""
    is "a whole one is staged" "$(x stage --sha256 "$sha" <"$TMPDIR/tree.tar" | jq -r .path)" "$WORK/src/$sha"
    exits "then it is there" 0 x has --sha256 "$sha"
    passes "staging it again is fine" x stage --sha256 "$sha" </dev/null
    job staged "$(one '{"run": ["sh", "-c", "cat {src}/sub/file; exit 9"]}' | jq -c --arg s "$sha" '. + {source: {sha256: $s}}')"
    run staged
    is "{src} is the tree" "$(cat "$(bundle staged)/v/ctx_64_run1/run.log")" hello
    job unstaged "$(one '{"run": ["true"]}' | jq -c '. + {source: {sha256: ("0" * 64)}}')"
    ERR=$(x submit <"$TMPDIR/unstaged.json" 2>&1)
    like "a job without its tree is refused" "$ERR" 'stage it first'
}

# Old is what nobody has used for days; of that all goes but what a run's folder refers to.
check_prune() {
    local other key sha
    other=$(printf '1%.0s' {1..64})
    sha=$(sha256sum <"$TMPDIR/tree.tar" | cut -d" " -f1)
    key=$(summary ok '.variants[0].build_key')
    mkdir -p "$WORK"/{src,build,patched,bin}/"$other" "$WORK/build/${other/1/2}" "$WORK/src/.tmp.1/half"
    touch -d '5 days ago' "$WORK"/{src,build,patched,bin}/"$other" "$WORK/src/$sha" "$WORK/build/$key" "$WORK/src/.tmp.1"
    exits "pruning needs its days" 2 x prune
    is "what is younger stays" "$(x prune --days 6 | jq -c .removed)" '{"bin":0,"build":0,"patched":0,"src":0}'
    touch -d '5 days ago' "$WORK/src/$sha"
    is "what nobody used for long goes" "$(x prune --days 3 | jq -c .removed)" '{"bin":1,"build":1,"patched":1,"src":1}'
    is "with what was left half-staged" "$(ls -A "$WORK/src")" "$sha"
    passes "but not what a run refers to" test -d "$WORK/build/$key"
    passes "nor what is new" test -d "$WORK/build/${other/1/2}"
    is "a second pruning does nothing" "$(x prune --days 3 | jq -c .removed)" '{"bin":0,"build":0,"patched":0,"src":0}'
    x forget --run staged >/dev/null
    x has --sha256 "$sha"
    is "what was just asked for stays without a run, too" "$(x prune --days 3 | jq .removed.src)" 0
    touch -d '5 days ago' "$WORK/src/$sha"
    is "and goes when it is old" "$(x prune --days 3 | jq .removed.src)" 1
}

check_cancel() {
    job cancelled "$(jq -nc --arg s "(setsid sh -c \"trap '' TERM; while :; do sleep 4243; done\" &); exec sleep 4242" \
        '{variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "w", run: ["true"]}],
          tests: [{variant: "v"}, {variant: "w"}]}')"
    submit cancelled
    until_true 20 alive 'sleep 4243'
    is "a running run's status" "$(x status --run cancelled | jq -r '.[0] | [.state, .current.variant] | join(" ")')" "running v"
    is "submit of a running run says so" "$(x submit <"$TMPDIR/cancelled.json" | jq -r .state)" running
    exits "a running run is not forgotten" 2 x forget --run cancelled
    mkdir -p "$WORK/build/idle"
    touch -d '5 days ago' "$WORK/build/idle"
    is "while a run goes on nothing is pruned" "$(x prune --days 1 | jq -r '"\(.running) \(.removed.build)"')" "cancelled 0"
    passes "cancel" x cancel --run cancelled
    is "closes the run" "$(summary cancelled .status)" CANCELLED
    is "and the test" "$(perf cancelled .exit_status)" CANCELLED
    is "the tests that did not run are told" "$(summary cancelled '.tests[1].exit_status')" CANCELLED
    ok "nothing runs any more, nor its daemon that is deaf to TERM" "$(alive 'sleep 424[23]' >/dev/null && echo 1 || echo 0)"
    passes "cancelling it again is fine" x cancel --run cancelled
    is "then it is" "$(x prune --days 1 | jq -r '"\(.running) \(.removed.build)"')" "null 1"
    passes "a closed run is forgotten" x forget --run cancelled
    is "nothing of it is left" "$(find "$TMPDIR" -name '*cancelled' -path '*/runs/*' | wc -l)" 0
    passes "again is fine" x forget --run cancelled
}

check_words
check_ok
check_cache
check_statuses
check_rules
check_bad_jobs
check_stage
check_prune
check_cancel
done_testing
