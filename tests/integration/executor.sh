#!/usr/bin/env bash
# The executor by itself: what it makes of a job, without a harness.
. tests/lib.sh
. tests/executor.sh

TIMING='echo Prompt tokens: {context}; echo "[PERF_TIMING] {\"prefill_s\": 0.5, \"attn_impl\": \"k\"}"'

commands() {
    is "version prints the protocol's number" "$(x version | jq .protocol)" 1
    is "probe prints the node's facts" "$(x probe | jq -r .schema)" kernsweep.node/1
    is "status without runs prints an empty array" "$(x status)" "[]"
}

# A journal with tests on three lanes: one ended, one resumed with another test.
in_flight() {
    mkdir -p "$WORK/runs/flight"
    job flight "$(one '{"run": ["true"]}')"
    jq .job "$TMPDIR/flight.json" >"$WORK/runs/flight/job.json"
    jq -nc 'def on($event; $lane; $rep; $more): {event: $event, variant: "v", ctx: 64, run_idx: $rep, lane: $lane} + $more;
        on("TEST_START"; 0; 1; {}), on("TEST_START"; 1; 2; {}), on("HEARTBEAT"; 1; 2; {elapsed_s: 7, suite_eta_s: 90}), on("TEST_START"; 2; 3; {}),
        {event: "TEST_END", variant: "v", ctx: 64, run_idx: 1, exit_status: "OK"}' >"$WORK/runs/flight/events.jsonl"
    is "it counts those in flight and names the longest" "$(x status --run flight | jq -c '.[0] | [.in_flight, .current.repetition, .eta_s]')" "[2,2,90]"
    echo '{"event":"SUITE_START"}' >>"$WORK/runs/flight/events.jsonl"
    is "none is in flight when a run resumes" "$(x status --run flight | jq -c '.[0] | [.in_flight, .current]')" "[0,null]"
}

# misused CODE COMMAND...: one line on stderr.
misused() {
    exits "exits $1" "$1" "${@:2}"
    one_line "the error is one line" "$ERR"
}

# A job with everything in it, and the bundle that it leaves.
full_job() {
    job ok "$(jq -nc --arg t "$TIMING" '{sample_interval_ms: 20, secrets: ["TOKEN"], env: {TOKEN: "s3cr3t-value"},
        variants: [{name: "v", attn_impl: "k", build: [["sh", "-c", "echo made > {build}/made; echo $TOKEN"]],
                    gates: [{kind: "command", run: ["test", "-f", "{build}/made"]}],
                    run: ["sh", "-c", "\($t); cat {build}/made; echo $KERNSWEEP_VARIANT $KERNSWEEP_CONTEXT; pwd; echo $TOKEN >&2; echo x > extra; sleep 0.1"]}],
        tests: [{variant: "v", warmup: true}, {variant: "v", repetition: 2}, {variant: "v", context: 128}]}')"
    run ok
}

a_job() {
    local log
    needs full_job
    log=$(bundle ok)/v/ctx_64_run1/run.log
    is "the run is COMPLETE" "$(summary ok .status)" COMPLETE
    is "the summary counts its tests" "$(summary ok '[.counts.total, .counts.ok] | join(" ")')" "3 3"
    is "its first test is OK" "$(perf ok .exit_status)" OK
    is "the timings are those that the workload printed" "$(perf ok .timings.prefill_s)" 0.5
    is "the warm-up is marked" "$(perf ok .warmup)" true
    is "the prompt's tokens are read" "$(perf ok .prompt_tokens)" 64
    is "no process of its test is left" "$(perf ok .cleanup.group_gone)" true
    like "memory was sampled" "$(cat "${log%/*}/vram_samples.jsonl")" '"rss":[1-9]'
    like "run.log has what the test printed on stderr, the secret blotted out" "$(cat "$log")" '^\*\*\*$'
    like "the test sees what the build left" "$(cat "$log")" '^made$'
    like "the test's environment names variant and context" "$(cat "$log")" '^v 64$'
    like "the test runs in its own folder" "$(cat "$log")" '/v/ctx_64_run1$'
    is "no artifact has the secret" "$(grep -rl s3cr3t "$(bundle ok)" | wc -l)" 0
}

journal() {
    needs full_job
    is "events are numbered without a gap" "$(events ok '[.[].seq] == [range(1; length + 1)]')" true
    is "events come in the order of the work" "$(events ok 'map(.event) | map(select(. != "HEARTBEAT")) | join(" ")')" \
        "SUITE_START NODE BUILD_START BUILD_END GATE TEST_START TEST_END TEST_START TEST_END TEST_START TEST_END SUITE_END"
    grep -v '^$' "$TMPDIR/ok.events" | cmp - "$(bundle ok)/events.jsonl"
    ok "follow prints the journal as it is" $?
}

bundle_files() {
    needs full_job
    is "files are readable by their owner only" "$(find "$(bundle ok)" -type f ! -perm 600 | wc -l)" 0
    is "folders are open to their owner only" "$(find "$(bundle ok)" -type d ! -perm 700 | wc -l)" 0
    passes "the manifest's hashes are right" sh -c "cd '$(bundle ok)' && jq -r '.files[] | \"\(.sha256)  \(.path)\"' manifest.json | sha256sum -c --quiet"
    is "the manifest lists a file that the workload left" "$(jq '[.files[].path] | index("v/ctx_64_run1/extra") != null' "$(bundle ok)/manifest.json")" true
    mkdir "$TMPDIR/out" && x pack --run ok | tar -x -C "$TMPDIR/out" -f -
    is "pack sends the files that the manifest lists" \
        "$(cd "$TMPDIR/out" && find . -type f | sed 's,^\./,,' | grep -vx manifest.json | LC_ALL=C sort)" \
        "$(jq -r '.files[].path' "$(bundle ok)/manifest.json" | LC_ALL=C sort)"
}

complete_run() {
    needs full_job
    is "submit reports it complete" "$(x submit <"$TMPDIR/ok.json" | jq -r .state)" complete
    is "status prints its state, its status and its tests" \
        "$(x status --run ok | jq -r '.[0] | [.state, .status, .tests_done] | join(" ")')" "complete COMPLETE 3"
}

cached_build() {
    needs full_job
    job again "$(jq -c .job <"$TMPDIR/ok.json" | jq -c 'del(.schema, .run_id)')"
    run again
    is "the build's end is CACHED" "$(events again '[.[] | select(.event == "BUILD_END")][0].status')" CACHED
    like "the log of the first build is in the bundle" "$(cat "$(bundle again)/v/build.log")" 'echo made'
}

# As after a power cut, or a test that writes to its build.
damaged_build() {
    local prog
    job sound "$(one '{"build": [["sh", "-c", "printf %s \"echo \\\\\"[PERF_TIMING] {\\\\\\\"prefill_s\\\\\\\": 0.25}\\\\\"\" >prog"]], "run": ["sh", "{build}/prog"]}')"
    run sound
    is "the test of the sound build is OK" "$(perf sound .exit_status)" OK || diag "$(cat "$(bundle sound)/v/ctx_64_run1/run.log")"
    prog=$(echo "$TMPDIR"/work/build/*/prog)
    : >"$prog"
    job mended "$(jq -c .job <"$TMPDIR/sound.json" | jq -c 'del(.schema, .run_id)')"
    run mended
    is "a build with an emptied file is made again" "$(events mended '[.[] | select(.event == "BUILD_END")][0].status')" OK
    is "its test is OK" "$(perf mended .exit_status)" OK
    like "an event says which file has changed" "$(events mended '[.[] | select(.event == "NODE") | .message] | join(" ")')" \
        'cached build of v is made again: prog has changed'
    : >"$(dirname "$prog")/added-by-a-test"
    job added "$(jq -c .job <"$TMPDIR/sound.json" | jq -c 'del(.schema, .run_id)')"
    run added
    is "a file that was added does not matter" "$(events added '[.[] | select(.event == "BUILD_END")][0].status')" CACHED
}

# ends_as STATUS REASON VARIANT_JSON [TEST_JSON]: a job whose test ends so.
# As when a compiler is killed and its driver says nothing of it: v is built with w, whose program is missing.
built_nothing() {
    local variants
    variants=$(jq -nc --arg made "$TMPDIR/made" '["v", "w"] | map({name: ., build_as: "v", run: ["{build}/\(.).prog"],
        build: [["sh", "-c", "for p in v \(["$(cat " + $made + ")"] | .[0]); do echo \"#!/bin/sh\" >{build}/$p.prog; chmod +x {build}/$p.prog; done"]]})')
    echo >"$TMPDIR/made"
    job first "{\"variants\": $variants, \"tests\": [{\"variant\": \"v\"}, {\"variant\": \"w\"}]}"
    run first
    is "neither is built" "$(events first '[.[] | select(.event == "BUILD_END") | .status] | join(" ")')" "BUILD_FAILED BUILD_FAILED"
    echo w >"$TMPDIR/made"
    job second "{\"variants\": $variants, \"tests\": [{\"variant\": \"v\"}, {\"variant\": \"w\"}]}"
    run second
    is "the next run builds again" "$(events second '[.[] | select(.event == "BUILD_END") | .status] | join(" ")')" "OK CACHED"
}

ends_as() {
    local id=case-$TESTS
    job "$id" "$(jq -nc --argjson v "$3" --argjson t "${4:-"{}"}" \
        '{variants: [{name: "v"} + $v], tests: [{variant: "v"} + $t]}')"
    run "$id"
    is "the test is $1" "$(perf "$id" .exit_status)" "$1"
    like "perf.json has the reason" "$(perf "$id" .reason)" "$2"
    like "diag.txt begins with the reason" "$(head -n 1 "$(bundle "$id")/v/ctx_64_run1/diag.txt")" "$2"
}

timings_by_json() {
    job json "$(one '{"run": ["sh", "-c", "echo {; echo \"\\\"a\\\": [{\\\"ms\\\": 250}]}\""]}' |
        jq -c '. + {timings: {kind: "json", unit: "ms", map: {prefill_s: "$.a[0].ms"}}}')"
    run json
    is "a value in a document of several lines is found" "$(perf json .timings.prefill_s)" 0.25
}

timings_by_regex() {
    job regex "$(one '{"run": ["echo", "prefill took 1.5 s (kernel k)"]}' |
        jq -c '. + {timings: {kind: "regex", pattern: "took (?<prefill_s>\\d+\\.\\d+) s \\(kernel (?<attn_impl>[a-z]+)"}}')"
    run regex
    is "named groups become timings" "$(perf regex '"\(.timings.prefill_s) \(.timings.attn_impl)"')" "1.5 k"
}

plain_job() {
    job plain "$(one '{"run": ["echo", "[PERF_TIMING] {\"prefill_s\": 1}"]}')"
}

# refused_job FILTER: a good job, changed by the filter.
refused_job() {
    needs plain_job
    jq "$1" "$TMPDIR/plain.json" >"$TMPDIR/bad.json"
    RC=0
    ERR=$(x submit <"$TMPDIR/bad.json" 2>&1) || RC=$?
    exited "submit exits 2" 2
    one_line "the error is one line" "$ERR"
}

other_job_same_id() {
    job taken "$(one '{"run": ["echo", "[PERF_TIMING] {\"prefill_s\": 1}"]}')"
    run taken
    jq '.job.tests[0].timeout_s = 3' "$TMPDIR/taken.json" | x submit >/dev/null 2>"$TMPDIR/err"
    is "submit refuses it" "${PIPESTATUS[1]}" 2
    like "the error says to take another id" "$(cat "$TMPDIR/err")" 'use a new one'
}

# A source tree as a tar file; SHA is its hash.
source_tree() {
    mkdir -p "$TMPDIR/tree/sub" && echo hello >"$TMPDIR/tree/sub/file"
    tar -c -C "$TMPDIR/tree" -f "$TMPDIR/tree.tar" .
    SHA=$(sha256sum <"$TMPDIR/tree.tar" | cut -d' ' -f1)
}

half_staged() {
    needs source_tree
    exits "has exits 1 for a tree that was never sent" 1 x has --sha256 "$SHA"
    head -c 1000 "$TMPDIR/tree.tar" | x stage --sha256 "$SHA" >/dev/null 2>&1
    exits "has exits 1 after half a stream" 1 x has --sha256 "$SHA"
    is "half a stream leaves no file" "$(ls -A "$WORK/src")" ""
}

stage_tree() {
    needs source_tree
    [ "$(x stage --sha256 "$SHA" <"$TMPDIR/tree.tar" | jq -r .path)" = "$WORK/src/$SHA" ] &&
        job staged "$(one '{"run": ["sh", "-c", "cat {src}/sub/file; exit 9"]}' | jq -c --arg s "$SHA" '. + {source: {sha256: $s}}')" &&
        run staged
}

staged() {
    needs stage_tree
    exits "has exits 0" 0 x has --sha256 "$SHA"
    passes "staging it again is harmless" x stage --sha256 "$SHA" </dev/null
    is "{src} is the tree" "$(cat "$(bundle staged)/v/ctx_64_run1/run.log")" hello
}

unstaged() {
    job unstaged "$(one '{"run": ["true"]}' | jq -c '. + {source: {sha256: ("0" * 64)}}')"
    ERR=$(x submit <"$TMPDIR/unstaged.json" 2>&1)
    like "submit refuses it and says to stage the tree" "$ERR" 'stage it first'
}

removed_by() {
    x prune --days "$1" | jq -c .removed
}

# What nobody has used for days goes, except what a run's folder refers to.
prune() {
    local other key nothing='{"bin":0,"build":0,"compiled":0,"patched":0,"src":0,"tree":0}'
    needs full_job
    needs stage_tree
    other=$(printf '1%.0s' {1..64})
    key=$(summary ok '.variants[0].build_key')
    mkdir -p "$WORK"/{src,build,compiled,patched,bin}/"$other" "$WORK/build/${other/1/2}" "$WORK/src/.tmp.1/half"
    mkdir -p "$WORK/runs/.gone-half/v"
    touch -d '5 days ago' "$WORK/runs/.gone-half" "$WORK"/{src,build,compiled,patched,bin}/"$other" "$WORK/src/$SHA" "$WORK/build/$key" "$WORK/src/.tmp.1"
    exits "without --days it exits 2" 2 x prune
    is "entries younger than --days stay" "$(removed_by 6)" "$nothing"
    touch -d '5 days ago' "$WORK/src/$SHA"
    is "entries unused for longer than --days are removed" "$(removed_by 3)" '{"bin":1,"build":1,"compiled":1,"patched":1,"src":1,"tree":0}'
    is "a half-staged tree is removed" "$(ls -A "$WORK/src")" "$SHA"
    is "a half-removed run is removed, and no other" "$(compgen -G "$WORK/runs/.*")$(summary ok .run_id)" ok
    passes "the build of a run that is there stays" test -d "$WORK/build/$key"
    passes "a new build stays" test -d "$WORK/build/${other/1/2}"
    is "a second prune removes nothing" "$(removed_by 3)" "$nothing"
    x forget --run staged >/dev/null
    x has --sha256 "$SHA"
    is "a tree without a run that was just asked for stays" "$(removed_by 3 | jq .src)" 0
    touch -d '5 days ago' "$WORK/src/$SHA"
    is "a tree without a run is removed when it is old" "$(removed_by 3 | jq .src)" 1
}

# A run whose daemon is deaf to TERM, then cancelled and forgotten.
cancel() {
    job cancelled "$(jq -nc --arg s "(setsid sh -c \"trap '' TERM; while :; do sleep 4243; done\" &); exec sleep 4242" \
        '{variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "w", run: ["true"]}],
          tests: [{variant: "v"}, {variant: "w"}]}')"
    submit cancelled
    until_true 20 alive 'sleep 4243'
    is "status prints running and the variant" "$(x status --run cancelled | jq -r '.[0] | [.state, .current.variant] | join(" ")')" "running v"
    is "submit reports it running" "$(x submit <"$TMPDIR/cancelled.json" | jq -r .state)" running
    exits "forget refuses it" 2 x forget --run cancelled
    mkdir -p "$WORK/build/idle"
    touch -d '5 days ago' "$WORK/build/idle"
    is "prune removes nothing while it runs" "$(x prune --days 1 | jq -r '"\(.running) \(.removed.build)"')" "cancelled 0"
    passes "cancel exits 0" x cancel --run cancelled
    is "cancel closes the run as CANCELLED" "$(summary cancelled .status)" CANCELLED
    is "cancel ends its test as CANCELLED" "$(perf cancelled .exit_status)" CANCELLED
    is "the test that did not run is CANCELLED in the summary" "$(summary cancelled '.tests[1].exit_status')" CANCELLED
    ok "cancel ends the test and its daemon that ignores TERM" "$(alive 'sleep 424[23]' >/dev/null && echo 1 || echo 0)"
    passes "a second cancel exits 0" x cancel --run cancelled
    is "prune removes old builds once it has ended" "$(x prune --days 1 | jq -r '"\(.running) \(.removed.build)"')" "null 1"
    passes "forget exits 0 once it has ended" x forget --run cancelled
    is "forget removes all its files" "$(find "$TMPDIR" -name '*cancelled' -path '*/runs/*' | wc -l)" 0
    passes "a second forget exits 0" x forget --run cancelled
}

scenario "the executor's commands" commands
scenario "status with an unknown option" misused 2 x status --nonsense
scenario "follow without --run" misused 2 x follow
scenario "an unknown command of the executor" exits "exits 2" 2 "$KERNSWEEP_EXECUTOR" nonsense
scenario "follow of a run that does not exist" misused 2 x follow --run nothing
scenario "pack of a run id that climbs" misused 2 x pack --run ../../etc

# What a workload can write with a secret in it, and in which form: everything that comes home is searched.
secrets_everywhere() {
    local secret=$'p\"q\\r \303\244-s3cr3t-value' form
    job planted "$(jq -nc --arg s "$secret" '{secrets: ["TOKEN"], env: {TOKEN: $s},
        variants: [
            {name: "file", run: ["sh", "-c", "env > env.txt; mkdir d; printf \u0027a\\0%s\\0b\u0027 \"$TOKEN\" > d/binary; seq 100000 | tr -d \u0027\\n\u0027 > large; printf %s \"$TOKEN\" >> large; seq 9 >> large"]},
            {name: "name", run: ["sh", "-c", "echo x > \"named-$TOKEN\""]},
            {name: "skip", run: ["python3", "-c", "import os, sys; print(\"SKIP: \" + 190 * \"x\" + os.environ[\"TOKEN\"]); sys.exit(77)"]},
            {name: "key", run: ["python3", "-c", "import os, json; print(\"[PERF_TIMING] \" + json.dumps({\"prefill_s\": 0.0001, os.environ[\"TOKEN\"]: 1, \"attn_impl\": os.environ[\"TOKEN\"]}))"]},
            {name: "ascii", run: ["python3", "-c", "import os, json; print(json.dumps(dict(os.environ)))"]},
            {name: "utf8", run: ["python3", "-c", "import os, json; print(json.dumps(dict(os.environ), ensure_ascii=False))"]}],
        tests: [{variant: "file"}, {variant: "name"}, {variant: "skip"}, {variant: "key"}, {variant: "ascii"}, {variant: "utf8"}]}')"
    run planted
    is "the run is COMPLETE" "$(summary planted .status)" COMPLETE
    for form in s3cr3t-value 'p"q' 'p\"q' 'p\\"q'; do
        is "nothing that comes home has $form" \
            "$(x pack --run planted | tar -xOf - | grep -caF -- "$form")" 0
        is "no name has $form" "$(x pack --run planted | tar -tf - | grep -cF -- "$form")" 0
    done
    is "files that hold it are left out, and named without it" \
        "$(jq -r '[.left_out[] | "\(.path): \(.reason)"] | join("; ")' "$(bundle planted)/manifest.json")" \
        "file/ctx_64_run1/d/binary: it holds a secret; file/ctx_64_run1/env.txt: it holds a secret; file/ctx_64_run1/large: it holds a secret; name/ctx_64_run1/named-***: its name is not plain text"
}

# parts SECRET: its pieces of ten bytes, for a search of what a cut may have left of it.
parts() {
    python3 -c 'import sys
s = sys.argv[1].encode("utf-8", "surrogateescape")
sys.stdout.buffer.write(b"\n".join({s[i:i + 10] for i in range(len(s) - 9) if b"\n" not in s[i:i + 10]}) + b"\n")' "$1"
}

# Where a secret may be cut, escaped or split before it is hidden: no part of it may come home, or be in what people are told.
secrets_in_parts() {
    local secret long
    secret="Zk9$(head -c 18 /dev/urandom | base64 | tr -d '/+=')"$'\t"\303\251\\\''"$(head -c 12 /dev/urandom | base64 | tr -d '/+=')"
    long=$(head -c 1500 /dev/urandom | base64 | tr -d '/+=\n' | head -c 1800)
    job parts "$(jq -nc --arg s "$secret" --arg l "$long" '
        def sh($script): ["sh", "-c", $script];
        def py($script): ["python3", "-c", ("import os, sys, time\ns = os.environ[\"TOKEN\"]; l = os.environ[\"LONG\"]\n" + $script)];
        {secrets: ["TOKEN", "LONG"], env: {TOKEN: $s, LONG: $l}, log_limit_bytes: 4096,
        variants: [
            {name: "split", run: py("for i in range(0, len(s), 5): (sys.stdout, sys.stderr)[i % 2].write(s[i:i + 5]); sys.stdout.flush(); sys.stderr.flush()")},
            {name: "reads", run: py("sys.stdout.write((256 * 1024 - 7) * \"x\" + s + (1 << 20) * \"y\" + l); sys.stdout.flush(); sys.exit(3)")},
            {name: "limit", run: py("for n in range(3000, 5200, 17): print(n * \"z\" + s + l)")},
            {name: "names", run: sh("mkdir \"d-$TOKEN\"; echo 1 >\"d-$TOKEN/f\"; ln -s \"$TOKEN\" \"l-$TOKEN\"; mkfifo \"p-$TOKEN\"; ln -s \"$TOKEN\" plain; mkdir -p k/k; echo 1 >\"k/k/$(seq -s - 1 25)-$TOKEN\"")},
            {name: "after", run: sh("for f in ../../names/ctx_64_run1/k/k/*; do echo 2 >>\"$f\"; done")},
            {name: "stopped", run: (py("print(1, flush = True); time.sleep(20)") + [range(200) | $s])},
            {name: "skip", run: py("print(\"SKIP: \" + 480 * \"x\" + s + l); sys.exit(77)")},
            {name: "attn", attn_impl: "a", run: py("print(\"[PERF_TIMING] {\\\"prefill_s\\\": 1, \\\"attn_impl\\\": \\\"\" + 20 * \"q\" + l + \"\\\"}\")")},
            {name: "program", run: [("/nowhere/" + 150 * "d" + $s), $l]},
            {name: "built", build: [py("print(s, l); print(s[:20], end = \"\", flush = True); print(s[20:], file = sys.stderr); sys.exit(4)") + [$s]], run: ["true"]},
            {name: "gated", gates: [{kind: "command", name: "g", run: py("print(190 * \"g\" + s + l); sys.exit(5)")}], run: ["true"]}],
        tests: ["split", "reads", "limit", "names", "after", "stopped", "skip", "attn", "program", "built", "gated" | {variant: .} + (if . == "stopped" then {timeout_s: 0.7} else {} end)]}')"
    run parts
    is "the run is COMPLETE" "$(summary parts .status)" COMPLETE
    { parts "$secret"; parts "$long"; } >"$TMPDIR/pieces"
    mkdir -p "$TMPDIR/home"
    x pack --run parts | tar -xf - -C "$TMPDIR/home"
    is "no part of one comes home" "$(grep -raoFf "$TMPDIR/pieces" "$TMPDIR/home" | head -n 5)" ""
    is "no part of one is in a name" "$(x pack --run parts | tar -tf - | grep -aoFf "$TMPDIR/pieces" | head -n 5)" ""
    is "no part of one is in what is followed" "$(grep -aoFf "$TMPDIR/pieces" "$TMPDIR/parts.events" | head -n 5)" ""
    is "nor in what the workdir keeps, but for files of tests" "$(grep -raoFf "$TMPDIR/pieces" "$WORK" --exclude-dir=k | grep -v '/names/ctx' | head -n 5)" ""
}

scenario "secrets wherever a workload can write" secrets_everywhere
scenario "secrets that are cut, split or escaped" secrets_in_parts
scenario "a job with builds, gates, warm-ups and secrets" a_job
scenario "the journal of a job" journal
scenario "the files of a bundle" bundle_files
scenario "a complete run" complete_run
scenario "a job whose build is cached" cached_build
scenario "a job whose cached build is damaged" damaged_build

scenario "a test that exits 3" ends_as FAIL 'exit code 3' '{"run": ["sh", "-c", "exit 3"]}'
scenario "a test whose program does not exist" ends_as FAIL 'cannot start /nowhere/at/all' '{"run": ["/nowhere/at/all"]}'
scenario "a test that dies of SIGSEGV" ends_as CRASH 'signal 11 \(SIGSEGV' '{"run": ["sh", "-c", "kill -SEGV $$"]}'
scenario "a test that outlasts its time-out" ends_as TIMEOUT 'time-out of 0.2 s' '{"run": ["sleep", "1000"]}' '{"timeout_s": 0.2}'
scenario "a test that skips itself" ends_as SKIPPED 'no GPU here' '{"run": ["sh", "-c", "echo SKIP: no GPU here; exit 77"]}'
scenario "a test without timings" ends_as INVALID 'no line has .PERF_TIMING.: nothing was printed' '{"attn_impl": "k", "run": ["true"]}'
scenario "a test with a prefill time of 0" ends_as INVALID 'prefill_s is 0' '{"run": ["echo", "[PERF_TIMING] {\"prefill_s\": 0}"]}'
scenario "a test whose timings are not JSON" ends_as INVALID 'not a JSON object' '{"run": ["echo", "[PERF_TIMING] {\"prefill_s\": NaN}"]}'
scenario "a test with too short a prompt" ends_as INVALID '63 prompt tokens' '{"run": ["echo", "Prompt tokens: 63\n[PERF_TIMING] {\"prefill_s\": 1}"]}'
scenario "a test that ran another kernel" ends_as INVALID "attn_impl is 'other'" \
    '{"attn_impl": "k", "run": ["echo", "[PERF_TIMING] {\"prefill_s\": 1, \"attn_impl\": \"other\"}"]}'
scenario "a test whose build fails" ends_as SKIPPED 'BUILD_FAILED.*exit code 1: no such header' '{"build": [["sh", "-c", "echo no such header; exit 1"]], "run": ["true"]}'
scenario "a test whose program was not built" ends_as SKIPPED 'BUILD_FAILED.*without .build./.variant..prog' '{"build": [["true"]], "run": ["{build}/{variant}.prog", "{context}"]}'
scenario "a launcher's program that was not built" ends_as SKIPPED 'BUILD_FAILED.*without .build./prog' '{"build": [["true"]], "run": ["env", "A=1", "{build}/prog"]}'
scenario "a file of the build that the test may write" ends_as FAIL 'exit code 3' '{"build": [["true"]], "run": ["sh", "-c", "exit 3", "--out", "{build}/log"]}'
scenario "a build that left no program" built_nothing
scenario "a test whose gate fails" ends_as SKIPPED 'GATE_FAILED.*exit code 3: row 7 is wrong' '{"gates": [{"kind": "command", "run": ["sh", "-c", "echo checking; echo row 7 is wrong >&2; exit 3"]}], "run": ["true"]}'
scenario "timings by JSON path" timings_by_json
scenario "timings by regular expression" timings_by_regex

for bad in '.job.variants[0].name = "../x"' '.job.tests[0].timeout_s = -1' '.job.tests[0].index = 2' \
    '.job.variants[0].run = ["{nonsense}"]' '.job.extra = 1' '.job.run_id = "a b"' '.job.schema = "x"' \
    '.job.variants[0].build = [["echo", "{context}"]]' '.job.tests += .job.tests' 'del(.plan)' \
    '.job.secrets = ["S"] | .job.env.S = "ab"' '.job.timings = {kind: "regex", pattern: "("}'; do
    scenario "a job with $bad" refused_job "$bad"
done
scenario "another job under the id of a run" other_job_same_id

scenario "a source tree sent by half" half_staged
scenario "a staged source tree" staged
scenario "a job whose source tree was not staged" unstaged
scenario "prune" prune
scenario "a running run and its cancelling" cancel
scenario "status of a journal with several tests in flight" in_flight
done_testing
