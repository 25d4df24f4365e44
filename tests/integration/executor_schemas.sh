#!/usr/bin/env bash
# What the executor writes is what schemas/ says: every artifact of runs that end in every way.
. tests/lib.sh
. tests/executor.sh
. tests/tree.sh
. tests/amdgpu.sh

/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip_all "python3-jsonschema is not installed"

# conforms SCHEMA FILE...: each file, or each line of a .jsonl file
conforms() {
    passes "${2##*/} conforms to schemas/$1.schema.json" /usr/bin/python3 - "$1" "${@:2}" <<'END'
import json, sys
from jsonschema import Draft202012Validator
schema = json.load(open("schemas/%s.schema.json" % sys.argv[1]))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
bad = 0
if not sys.argv[2:]:
    sys.exit("no file")
for name in sys.argv[2:]:
    text = open(name).read()
    for doc in text.splitlines() if name.endswith(".jsonl") else [text]:
        for error in validator.iter_errors(json.loads(doc)):
            print("%s: %s: %s" % (name, "/".join(map(str, error.absolute_path)), error.message))
            bad = 1
sys.exit(bad)
END
}

# all_of ID: every artifact of the bundle
all_of() {
    conforms job "$(bundle "$1")/job.json"
    conforms node "$(bundle "$1")/node.json"
    conforms event "$(bundle "$1")/events.jsonl"
    conforms summary "$(bundle "$1")/summary.json"
    conforms manifest "$(bundle "$1")/manifest.json"
    # shellcheck disable=SC2046 # our own names
    [ -z "$(find "$(bundle "$1")" -name code.json)" ] || conforms code $(find "$(bundle "$1")" -name code.json)
    # shellcheck disable=SC2046
    conforms perf $(find "$(bundle "$1")" -name perf.json)
}

every_ending() {
    job every "$(jq -nc '{env: {A: "b"}, sample_interval_ms: 20,
        variants: [{name: "ok", attn_impl: "k", build: [["true"]], gates: [{kind: "command", run: ["true"]}],
                    run: ["sh", "-c", "echo Prompt tokens: {context}; echo \"[PERF_TIMING] {\\\"prefill_s\\\": 0.5, \\\"attn_impl\\\": \\\"k\\\"}\"; sleep 1.2"]},
                   {name: "fails", run: ["false"]}, {name: "dies", run: ["sh", "-c", "kill -9 $$"]},
                   {name: "nothing", run: ["/nowhere"]}, {name: "hangs", run: ["sleep", "1000"]},
                   {name: "unbuilt", build: [["false"]], run: ["true"]},
                   {name: "gated", gates: [{kind: "command", run: ["/nowhere"]}], run: ["true"]}],
        tests: [{variant: "ok"}, {variant: "fails"}, {variant: "dies"}, {variant: "nothing"},
                {variant: "hangs", timeout_s: 0.2}, {variant: "unbuilt"}, {variant: "gated"}]}')"
    run every
    is "a heartbeat is among the events" "$(events every 'any(.[]; .event == "HEARTBEAT")')" true
    all_of every
}

# A run that holds clocks on an MI300X, and the facts of a node where one was killed.
clocks_held() {
    (
        amdgpu_node "$TMPDIR/node"
        amdgpu_start
        trap amdgpu_stop EXIT
        clocked clocks determinism 1900 "sleep 0.2; $good" '{"clocks_unverified": "warn"}'
        follow clocks
        jq -nc --argjson user "$(id -u)" --arg boot "$(cat "$ROOT/proc/sys/kernel/random/boot_id")" '{gpu: "1d0fbe6a2a1c0000", run_id: "gone", boot_id: $boot,
            since: "2026-02-14T03:15:00.000Z", user: $user, mode: "fixed", mhz: 1400, before: {level: "auto", min_mhz: 500, max_mhz: 2100}}' \
            >"$ROOT/sys/kernsweep-gpu-1d0fbe6a2a1c0000.clocks.$(id -u)"
        set_state manual 1400 1400
        x probe >"$TMPDIR/left.json"
    )
    is "summary.json has the clocks" "$(summary clocks .clocks.mode)" determinism
    is "the facts have clocks that were left" "$(jq '.clocks_left | length' "$TMPDIR/left.json")" 1
    conforms node "$TMPDIR/left.json"
    all_of clocks
}

cancelled() {
    job stopped '{"variants": [{"name": "v", "run": ["sleep", "1000"]}], "tests": [{"variant": "v"}, {"variant": "v", "repetition": 2}]}'
    submit stopped
    waits stopped '.event == "TEST_START"'
    x cancel --run stopped >/dev/null
    all_of stopped
}

probe() {
    x probe >"$TMPDIR/node.json"
    conforms node "$TMPDIR/node.json"
}

scenario "a run that holds clocks" clocks_held
scenario "a bundle with a test that ends in each way" every_ending
scenario "the bundle of a cancelled run" cancelled
scenario "the output of probe" probe
done_testing
