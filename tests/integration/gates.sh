#!/usr/bin/env bash
# Numeric gates, through the whole pipeline: what the build says of its kernels, and what a check prints, is held
# against the plan's limits. The kernels are compiled for an MI300X by clang-19, on this machine, without one.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

PLAN_NODE=local

# gate_of BUNDLE VARIANT FILTER: of its last gate in the summary.
gate_of() {
    jq -r --arg v "$2" ".variants[] | select(.name == \$v) | .gates[-1] | $3" "$1/summary.json"
}

status_in_store() {
    sql "SELECT name || ':' || v.status FROM variant v JOIN run r ON r.id = v.run_id WHERE r.tag = '$1' ORDER BY position" | xargs
}

# A workload that needs no GPU; the gates are what is tested.
jq -n --arg src "$PWD" --arg work "$TMPDIR/work" '
    def timing: ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\""];
    def prints($text): ["sh", "-c", "printf \"%s\\n\" \"$1\"", "sh", $text];
    def gated($name; $build; $gates): {name: $name, build: [$build], run: timing, gates: $gates};
    def compiled: ["make", "-s", "-C", "{src}/kernels", "PLATFORM=amd", "ARCH=gfx942", "VARIANT={variant}", "BUILD={build}", "resources"];
    def wrote($json): ["sh", "-c", "printf %s \"$1\" >{build}/resources.json", "sh", $json];
    def error_of($text): [{kind: "max_rel_l2", limit: 1e-5, run: prints($text)}];
    {schema: "kernsweep.plan/1", ticket: "gates", workdir: $work, source: {dir: $src, include: ["kernels"]}, contexts: [16],
     timeouts: {default: 60}, variants: [
        (["baseline", "v1", "v3", "v4"][] | gated(.; compiled; [{kind: "scratch_bytes", name: "no_spill", limit: 0}])),
        gated("line"; ["true"]; error_of("[PERF_TIMING] {\"prefill_s\": 1, \"rel_l2\": 4e-7}")),
        gated("json"; ["true"]; error_of("{\"variant\": \"v3\", \"rel_l2\": 4e-7}")),
        gated("wrong"; ["true"]; error_of("[PERF_TIMING] {\"prefill_s\": 1, \"rel_l2\": 0.02}")),
        gated("mute"; ["true"]; error_of("all is well")),
        gated("crash"; ["true"]; [{kind: "max_rel_l2", limit: 1, run: ["sh", "-c", "echo \"{\\\"rel_l2\\\": 0}\"; exit 1"]}]),
        gated("nobuild"; ["true"]; [{kind: "scratch_bytes", limit: 0}]),
        gated("partial"; wrote("{\"kernels\": [{\"name\": \"k\", \"vgprs\": 8}]}"); [{kind: "vgprs", limit: 8}, {kind: "lds_bytes", limit: 65536}]),
        gated("foreign"; wrote("[1]"); []),
        gated("both"; wrote("{\"kernels\": [{\"name\": \"a\", \"vgprs\": 8, \"occupancy\": {\"waves\": 8}}, {\"name\": \"b\", \"vgprs\": 250, \"occupancy\": {\"waves\": 2}}]}");
              [{kind: "vgprs", limit: 256}, {kind: "min_occupancy", limit: 2}, {kind: "min_occupancy", name: "four", limit: 4}])
     ]}' >"$TMPDIR/plan.json"

check_limits() {
    local bundle
    exits "a sweep with failed gates exits 1" 1 ks_run "$TMPDIR/plan.json" --tag limits --fail-on failure \
        --variants line,json,wrong,mute,crash,nobuild,partial,foreign,both
    bundle=$(bundle_of limits)
    is "each gate stops its variant alone" "$(status_in_store limits)" \
        "line:OK json:OK wrong:GATE_FAILED mute:GATE_FAILED crash:GATE_FAILED nobuild:GATE_FAILED partial:GATE_FAILED foreign:BUILD_FAILED both:GATE_FAILED"
    is "a passed gate has its numbers" "$(gate_of "$bundle" line .reason)" "max_rel_l2 4e-07, at most 1e-05"
    is "so has a failed one" "$(gate_of "$bundle" wrong .reason)" "max_rel_l2 0.02, more than 1e-05"
    is "as numbers too" "$(gate_of "$bundle" wrong '[.number, .limit] | @csv')" "0.02,1e-05"
    is "a check that prints no number has failed" "$(gate_of "$bundle" mute .reason)" "no number: the command printed no rel_l2"
    like "so has one that exits 1, whatever it prints" "$(gate_of "$bundle" crash .reason)" "exit"
    is "so has a build that tells nothing" "$(gate_of "$bundle" nobuild .reason)" "no number: the build left no resources.json"
    is "so has one that tells less" "$(gate_of "$bundle" partial .reason)" \
        "no number: resources.json has no lds_static_bytes of the kernel k"
    like "a file that is no object fails the build" "$(jq -r '.variants[] | select(.name == "foreign").reason' "$bundle/summary.json")" \
        "resources.json"
    is "the worst kernel counts" "$(gate_of "$bundle" both .reason)" "min_occupancy 2 of b, less than 4"
    is "the journal says the same" \
        "$(jq -c 'select(.event == "GATE" and .gate == "four") | [.status, .number, .limit]' "$bundle/events.jsonl")" '["GATE_FAILED",2,4]'
    like "so does the gate's log" "$(cat "$bundle/both/gate.log")" "^vgprs 250 of b, at most 256$"
    like "so does the report" "$(ks report "$bundle")" '^\| .mute. +\| .max_rel_l2. +\| .*GATE_FAILED.* \| .no number: '
}

# What the facts measured: 528 and 1040 bytes of scratch a lane, and none.
check_spills() {
    local bundle
    exits "the variants that spill are not timed" 1 ks_run "$TMPDIR/plan.json" --tag spill --fail-on failure \
        --variants baseline,v1,v3,v4
    bundle=$(bundle_of spill)
    is "no_spill fails baseline and v1, and passes v3 and v4" "$(status_in_store spill)" \
        "baseline:GATE_FAILED v1:GATE_FAILED v3:OK v4:OK"
    is "with the numbers" "$(for v in baseline v1 v3 v4; do gate_of "$bundle" $v .number; done | xargs)" "528 1040 0 0"
    is "in the store" "$(sql "SELECT reason FROM gate WHERE name = 'no_spill' AND status = 'GATE_FAILED' ORDER BY variant" | xargs)" \
        "scratch_bytes 528 of flash_v2_naive, more than 0 scratch_bytes 1040 of lds_tiling, more than 0"
    is "what was built is in the bundle" "$(jq -r '.schema, .arch' "$bundle/v4/resources.json" | xargs)" "kernsweep.resources/1 gfx942"
    is "and in the store" "$(sql "SELECT name, scratch_bytes FROM variant v JOIN run r ON r.id = v.run_id WHERE r.tag = 'spill' ORDER BY position" |
        xargs)" "baseline|528 v1|1040 v3|0 v4|0"
    exits "a cached build tells the same" 1 ks_run "$TMPDIR/plan.json" --tag again --fail-on failure --variants baseline,v3
    is "of its kernels" "$(cmp "$bundle/v3/resources.json" "$(bundle_of again)/v3/resources.json" && gate_of "$(bundle_of again)" baseline .number)" 528
    like "and the report shows them" "$(ks report "$bundle")" '.baseline..*528'
}

check_limits
if command -v clang++-19 >/dev/null && command -v hipcc >/dev/null; then
    check_spills
else
    skip "the no-spill gate" "clang-19 or hipcc is not installed (scripts/install-deps gpu)"
fi
done_testing
