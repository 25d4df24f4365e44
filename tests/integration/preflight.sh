#!/usr/bin/env bash
# Every run looks at its node first: what makes it unfit stops it, what is odd is told and kept with the run.
. tests/lib.sh
. tests/pipeline.sh
. tests/tree.sh

MODELS=$HOME/models
pipeline_setup
mkdir -p "$MODELS"
cp tests/fuzz/seeds/gguf/cut "$MODELS/cut.gguf"

# A plan with a context of 5000 tokens for a model whose llama.context_length is 4096.
large_plan() {
    cp tests/fuzz/seeds/gguf/v3 "$MODELS/m.gguf"
    plan_with '.model = "models/m.gguf" | .contexts = [16, 5000] | .timeouts = {default: 60}' "$TMPDIR/large.json"
}

small_sweep() {
    large_plan
    try_once small ks_run "$TMPDIR/large.json" --variants good --contexts 16 --tag small
}

raised_sweep() {
    large_plan
    try_once set ks gguf set "$MODELS/m.gguf" llama.context_length 8192
    try_once raised ks_run "$TMPDIR/large.json" --variants good --tag raised
}

check_node() {
    exits "exits 0" 0 ks check local
    like "prints a row for each finding, its level first" "$OUT" '^ok +host +'
    like "prints a row for the link" "$OUT" '^ok +reachable +local'
}

check_plan() {
    exits "exits 0" 0 ks check "$TMPDIR/plan.json" --json
    is "prints the node's facts as JSON" "$(jq -r .node.schema <<<"$OUT")" kernsweep.node/1
    is "has a finding about the disk" "$(jq '[.findings[] | select(.subject == "disk")] | length' <<<"$OUT")" 1
    is "has no finding that blocks" "$(jq '[.findings[] | select(.level == "blocker")] | length' <<<"$OUT")" 0
}

# What runs have left on the node and here.
left_by_runs() {
    find "$TMPDIR/work/runs" "$TMPDIR/artifacts_remote" -mindepth 1 -maxdepth 2 -type d | sort
}

model_too_small() {
    local before
    small_sweep
    before=$(left_by_runs)
    exits "run exits 3" 3 ks_run "$TMPDIR/large.json" --variants good --tag large
    like "run prints a row with what is wrong" "$ERR" '^blocker +model +.*llama.context_length 4096 is below the largest context, 5000'
    like "run prints the remedy" "$ERR" '-> kernsweep gguf set FILE llama.context_length N'
    like "run prints the finding as its error" "$ERR" '^kernsweep: node local is not fit for this run: model: '
    like "run prints the pending command" "$ERR" "^pending command: .*--tag large"
    like "an earlier run has left its folder on the node" "$before" "^$TMPDIR/work/runs/2"
    is "the run leaves nothing on the node, and here what tells of it" "$(left_by_runs | grep -v _blocked\$)" "$before"
    exits "check exits 3, too" 3 ks check "$TMPDIR/large.json"
    like "check prints the row, too" "$OUT" '^blocker +model'
}

model_large_enough() {
    small_sweep
    exited "run with smaller contexts exits 0" 0
    is "node.json has the model's facts" "$(jq -c '.model | [.architecture, .context_length]' "$(bundle_of small)/node.json")" '["llama",4096]'
}

model_raised() {
    large_plan
    exits "gguf set exits 0" 0 ks gguf set "$MODELS/m.gguf" llama.context_length 8192
    exits "run with the large context exits 0 afterwards" 0 ks_run "$TMPDIR/large.json" --variants good --tag raised-now
}

compared() {
    small_sweep
    raised_sweep
    exits "compare exits 0" 0 ks compare "$(bundle_of small)" "$(bundle_of raised)" --fail-on none
    like "compare lists the model's limit of both runs" "$OUT" 'model.context_length.*4096.*8192'
}

# bad_model FILE: run is stopped by it
bad_model() {
    plan_with ".model = \"$1\"" "$TMPDIR/bad.json"
    exits "run exits 3" 3 ks_run "$TMPDIR/bad.json" --variants good
    like "run prints a row with the file's name" "$ERR" "^blocker +model +.*$1"
}

nightly_stopped() {
    plan_with '.model = "models/nothing.gguf"' "$TMPDIR/bad.json"
    exits "nightly exits 3" 3 ks nightly "$TMPDIR/bad.json" --artifacts "$TMPDIR/nights" --reports "$TMPDIR/reports"
    like "nightly prints the row" "$ERR" '^blocker +model'
}

# Two GPU users and memory in use, played by a folder.
busy_node() {
    local pair
    mkdir -p "$TMPDIR/root/sys/class/drm/card0/device" "$TMPDIR/root/sys/class/kfd/kfd/proc/4242"
    for pair in vendor:0x1002 mem_info_vram_total:1000000 mem_info_vram_used:900000; do
        echo "${pair#*:}" >"$TMPDIR/root/sys/class/drm/card0/device/${pair%:*}"
    done
    echo 850000 >"$TMPDIR/root/sys/class/kfd/kfd/proc/4242/vram_51110"
    mkdir "$TMPDIR/root/sys/class/kfd/kfd/proc/4243" # a monitor: it has only opened the device
    KERNSWEEP_FAKE_ROOT=$TMPDIR/root exits "run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag odd
    like "run warns of the process on the GPU" "$ERR" '^warning: gpu users: 1 other process uses the GPU, the first is pid 4242 \(wait for them'
    like "run warns of the memory in use" "$ERR" '^warning: gpu: unnamed, driver .*see who uses it'
    is "node.json keeps both warnings" "$(jq -r '[.preflight[] | select(.level == "warning") | .subject] | contains(["gpu", "gpu users"])' "$(bundle_of odd)/node.json")" true
}

# The subjects of check's warnings about how a GPU node is set up.
tuning_of() {
    KERNSWEEP_FAKE_ROOT=$1 ks check local --json | jq -r '.findings[] | select(.level == "warning") | .subject' |
        grep -vxE 'compiler|hipcc|disk|clock|gpu users' | xargs
}

well_tuned() {
    lay_tree "$TMPDIR/tuned" tests/fixtures/mi300x/well_tuned
    is "check warns of nothing" "$(tuning_of "$TMPDIR/tuned")" ""
    KERNSWEEP_FAKE_ROOT=$TMPDIR/tuned exits "check exits 0" 0 ks check local
    like "check prints the firmware" "$OUT" '^ok +firmware +VBIOS 113-M3000100-102, SMC 0x00557300'
    like "check prints the partitions" "$OUT" '^ok +partitions +SPX, NPS1'
}

untuned() {
    lay_tree "$TMPDIR/untuned" tests/fixtures/mi300x/well_tuned tests/fixtures/mi300x/untuned
    is "check warns of each setting" "$(tuning_of "$TMPDIR/untuned")" \
        "gpu errors ecc partitions clocks power cap pcie iommu numa governor huge pages"
    KERNSWEEP_FAKE_ROOT=$TMPDIR/untuned exits "check exits 0: the node can still run tests" 0 ks check local
    like "check names the GPU and what is set" "$OUT" "^warning +power cap +GPU 1: 550 W, below the default of 750 W"
    like "check prints the remedy" "$OUT" '-> boot with iommu=pt'
}

# A run whose executor was killed while it held clocks.
clocks_left() {
    lay_tree "$TMPDIR/left" tests/fixtures/mi300x/well_tuned
    echo manual >"$TMPDIR/left/sys/class/drm/card1/device/power_dpm_force_performance_level"
    jq -nc --argjson user "$(id -u)" --arg boot "$(cat "$TMPDIR/left/proc/sys/kernel/random/boot_id")" '{gpu: "1d0fbe6a2a1c0000", run_id: "gone", boot_id: $boot,
        since: "2026-02-14T03:15:00.000Z", user: $user, mode: "fixed", mhz: 1400, before: {level: "auto", min_mhz: 500, max_mhz: 2100}}' \
        >"$TMPDIR/left/sys/kernsweep-gpu-1d0fbe6a2a1c0000.clocks.$(id -u)"
    KERNSWEEP_FAKE_ROOT=$TMPDIR/left exits "check exits 0" 0 ks check local
    like "check names the GPU, the clocks, the run and its user" "$OUT" \
        '^warning +left clocks GPU 1d0fbe6a2a1c0000 still has the clocks \(fixed, 1400 MHz\) of the run gone of user '"$(id -u)"', whose executor died'
    KERNSWEEP_FAKE_ROOT=$TMPDIR/left exits "run exits 0" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag heals
    is "the run puts them back" "$(head -n 1 "$TMPDIR/left/sys/class/drm/card1/device/power_dpm_force_performance_level")" auto
    is "check finds nothing left" "$(KERNSWEEP_FAKE_ROOT=$TMPDIR/left ks check local --json | jq -c .node.clocks_left)" null
}

full_disk() {
    plan_with ".workdir = \"$TMPDIR/full/work\"" "$TMPDIR/full.json"
    exits "run exits 3" 3 ks_run "$TMPDIR/full.json" --variants good
    like "run prints the remedy" "$ERR" '-> free some'
}

# Of the same folder, which full_disk needs as it was.
noexec_folder() {
    plan_with ".workdir = \"$TMPDIR/full/noexec\"" "$TMPDIR/noexec.json"
    mount -o remount,noexec "$TMPDIR/full"
    exits "check exits 3" 3 ks check "$TMPDIR/noexec.json"
    like "it says why, and what to do" "$ERR" "no program can be started in $TMPDIR/full/noexec, .*noexec: give the plan another workdir"
    mount -o remount,exec "$TMPDIR/full"
}

scenario "check of a node" check_node
scenario "check --json of a plan" check_plan
scenario "a model too small for the largest context" model_too_small
scenario "a model large enough for the contexts" model_large_enough
scenario "a model whose limit is raised" model_raised
scenario "compare of two runs with other limits of the model" compared
scenario "a model's file that does not exist" bad_model nothing.gguf
scenario "a model's file that is cut" bad_model models/cut.gguf
scenario "a folder as a model's file" bad_model models
scenario "a night whose model's file does not exist" nightly_stopped
scenario "a node whose GPU is in use" busy_node
scenario "an MI300X node that is set up as AMD recommends" well_tuned
scenario "an MI300X node that is set up badly" untuned
scenario "clocks that a killed executor has left" clocks_left
mkdir -p "$TMPDIR/full"
if mount -t tmpfs -o size=64m tmpfs "$TMPDIR/full" 2>/dev/null; then
    trap 'umount -l "$TMPDIR/full"' EXIT
    scenario "a workdir on a file system mounted with noexec" noexec_folder
    scenario "a node whose disk is nearly full" full_disk
else
    skip_scenario "a node whose disk is nearly full" "mounting a tmpfs is not permitted here"
fi
done_testing
