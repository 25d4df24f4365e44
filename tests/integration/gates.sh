#!/usr/bin/env bash
# Numeric gates, through the whole pipeline: what the build says of its kernels, and what a check prints, is held
# against the plan's limits. The kernels are compiled for an MI300X by clang-19, on this machine, without one.
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
    {schema: "kernsweep.plan/1", clock: "simulated", ticket: "gates", workdir: $work, source: {dir: $src, include: ["kernels"]}, contexts: [16],
     timeouts: {default: 60}, variants: [
        (["baseline", "v1", "v3", "v4"][] | gated(.; compiled; [{kind: "scratch_bytes", name: "no_spill", limit: 0}])),
        gated("line"; ["true"]; error_of("[PERF_TIMING] {\"prefill_s\": 1, \"rel_l2\": 4e-7}")),
        gated("json"; ["true"]; error_of("{\"variant\": \"v3\", \"rel_l2\": 4e-7}")),
        gated("wrong"; ["true"]; error_of("[PERF_TIMING] {\"prefill_s\": 1, \"rel_l2\": 0.02}")),
        gated("mute"; ["true"]; error_of("all is well")),
        gated("crash"; ["true"]; [{kind: "max_rel_l2", limit: 1, run: ["sh", "-c", "echo \"{\\\"rel_l2\\\": 0}\"; exit 1"]}]),
        gated("nobuild"; ["true"]; [{kind: "scratch_bytes", limit: 0}]),
        gated("partial"; wrote("{\"kernels\": [{\"name\": \"k\", \"vgprs\": 8}]}"); [{kind: "vgprs", limit: 8}, {kind: "lds_bytes", limit: 65536}]),
        gated("negative"; wrote("{\"kernels\": [{\"name\": \"k\", \"scratch_bytes\": -4}]}"); [{kind: "scratch_bytes", limit: 0}]),
        gated("text"; wrote("{\"kernels\": [{\"name\": \"k\", \"scratch_bytes\": \"0\"}]}"); [{kind: "scratch_bytes", limit: 0}]),
        gated("foreign"; wrote("[1]"); []),
        gated("both"; wrote("{\"kernels\": [{\"name\": \"a\", \"vgprs\": 8, \"occupancy\": {\"waves\": 8}}, {\"name\": \"b\", \"vgprs\": 250, \"occupancy\": {\"waves\": 2}}]}");
              [{kind: "vgprs", limit: 256}, {kind: "min_occupancy", limit: 2}, {kind: "min_occupancy", name: "four", limit: 4}])
     ]}' >"$TMPDIR/plan.json"

limits_sweep() {
    try_once limits ks_run "$TMPDIR/plan.json" --tag limits --fail-on failure \
        --variants line,json,wrong,mute,crash,nobuild,partial,negative,text,foreign,both
}

sweep_with_gates() {
    limits_sweep
    exited "exits 1, for some fail" 1
    is "a failed gate stops its own variant only" "$(status_in_store limits)" \
        "line:OK json:OK wrong:GATE_FAILED mute:GATE_FAILED crash:GATE_FAILED nobuild:GATE_FAILED partial:GATE_FAILED negative:GATE_FAILED text:GATE_FAILED foreign:BUILD_FAILED both:GATE_FAILED"
}

# reason VARIANT PATTERN: why the variant's last gate passed or failed
reason() {
    limits_sweep
    like "the summary has the reason" "$(gate_of "$(bundle_of limits)" "$1" .reason)" "$2"
}

failed_number() {
    reason wrong "^max_rel_l2 0\.02, more than 1e-05$"
    is "number and limit are numbers in the summary" "$(gate_of "$(bundle_of limits)" wrong '.number == 0.02 and .limit == 1e-5')" true
}

foreign_resources() {
    limits_sweep
    like "the build fails and names the file" \
        "$(jq -r '.variants[] | select(.name == "foreign").reason' "$(bundle_of limits)/summary.json")" "resources.json"
}

two_kernels() {
    reason both "^min_occupancy 2 of b, less than 4$"
    is "the journal has status, number and limit" \
        "$(jq -c 'select(.event == "GATE" and .gate == "four") | [.status, .number, .limit]' "$(bundle_of limits)/events.jsonl")" '["GATE_FAILED",2,4]'
    like "gate.log names the worst kernel" "$(cat "$(bundle_of limits)/both/gate.log")" "^vgprs 250 of b, at most 256$"
}

report() {
    limits_sweep
    like "a gate without a number is shown with its reason" "$(ks report "$(bundle_of limits)")" \
        '^\| .mute. +\| .max_rel_l2. +\| .*GATE_FAILED.* \| .no number: '
}

spill_sweep() {
    try_once spill ks_run "$TMPDIR/plan.json" --tag spill --fail-on failure --variants baseline,v1,v3,v4
}

# The compiler's figures for these kernels: 528 and 1040 bytes of scratch a lane, and none.
no_spill() {
    local bundle
    spill_sweep
    exited "exits 1" 1
    bundle=$(bundle_of spill)
    is "baseline and v1 fail, v3 and v4 pass" "$(status_in_store spill)" \
        "baseline:GATE_FAILED v1:GATE_FAILED v3:OK v4:OK"
    is "the summary has the bytes of scratch" "$(for v in baseline v1 v3 v4; do gate_of "$bundle" $v .number; done | xargs)" "528 1040 0 0"
    is "the store has the gates' reasons" "$(sql "SELECT reason FROM gate WHERE name = 'no_spill' AND status = 'GATE_FAILED' ORDER BY variant" | xargs)" \
        "scratch_bytes 528 of flash_v2_naive, more than 0 scratch_bytes 1040 of lds_tiling, more than 0"
    is "the bundle has resources.json" "$(jq -r '.schema, .arch' "$bundle/v4/resources.json" | xargs)" "kernsweep.resources/1 gfx942"
    is "the store has the bytes of scratch" "$(sql "SELECT name, scratch_bytes FROM variant v JOIN run r ON r.id = v.run_id WHERE r.tag = 'spill' ORDER BY position" |
        xargs)" "baseline|528 v1|1040 v3|0 v4|0"
    like "the report shows the bytes of scratch" "$(ks report "$bundle")" '.baseline..*528'
}

no_spill_cached() {
    spill_sweep
    exits "exits 1 again" 1 ks_run "$TMPDIR/plan.json" --tag again --fail-on failure --variants baseline,v3
    is "the gate has the same number" "$(gate_of "$(bundle_of again)" baseline .number)" 528
    passes "resources.json is the same" cmp "$(bundle_of spill)/v3/resources.json" "$(bundle_of again)/v3/resources.json"
}

scenario "a sweep with numeric gates" sweep_with_gates
scenario "a gate that reads a timing line and passes" reason line "^max_rel_l2 4e-07, at most 1e-05$"
scenario "a gate whose number exceeds its limit" failed_number
scenario "a gate whose command prints no number" reason mute "^no number: the command printed no rel_l2$"
scenario "a gate whose command exits 1 after printing a good number" reason crash "exit code 1"
scenario "a gate of a build without resources.json" reason nobuild "^no number: the build wrote no resources\.json$"
scenario "a gate of a build whose resources.json lacks the figure" reason partial \
    "^no number: resources\.json has no lds_static_bytes for kernel k$"
scenario "a gate of a build whose figure is negative" reason negative \
    "^no number: resources\.json has -4 as scratch_bytes of kernel k, which is impossible$"
scenario "a gate of a build whose figure is a text" reason text \
    "^no number: resources\.json has no scratch_bytes for kernel k$"
scenario "a build whose resources.json is not an object" foreign_resources
scenario "a gate over two kernels" two_kernels
scenario "the report of a sweep with gates" report
if command -v clang++-19 >/dev/null && command -v hipcc >/dev/null; then
    scenario "a no-spill gate on gfx942" no_spill
    scenario "a no-spill gate on cached builds" no_spill_cached
else
    skip_scenario "a no-spill gate on gfx942" "clang-19 or hipcc is not installed (scripts/install-deps gpu)"
fi
done_testing
