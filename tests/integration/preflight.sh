#!/usr/bin/env bash
# Every run looks at its node first: what makes it unfit stops it, what is odd is told and kept with the run.
. tests/lib.sh
. tests/pipeline.sh

pipeline_setup
mkdir -p "$HOME/models"
cp tests/fuzz/seeds/gguf/v3 "$HOME/models/m.gguf" # llama.context_length 4096
cp tests/fuzz/seeds/gguf/cut "$HOME/models/cut.gguf"

exits "check shows a node as a table" 0 ks check local
like "   a row a finding, its level first" "$OUT" '^ok +host +'
like "   the link, too" "$OUT" '^ok +reachable +local'
exits "check of a plan looks at its node" 0 ks check "$TMPDIR/plan.json" --json
is "   and tells it as JSON, too" "$(jq -r '.node.schema + " " + (.findings | map(.subject) | index("disk") | tostring)' <<<"$OUT" | cut -d ' ' -f 1)" kernsweep.node/1

plan_with '.model = "models/m.gguf" | .contexts = [16, 5000] | .timeouts = {default: 60}' "$TMPDIR/large.json"
exits "a model too small for the largest context stops the run" 3 ks_run "$TMPDIR/large.json" --variants good --tag large
like "   as a row" "$ERR" '^blocker +model +.*llama.context_length 4096 is below the largest context, 5000'
like "   with the remedy" "$ERR" '-> kernsweep gguf set FILE llama.context_length N'
like "   and as the error" "$ERR" '^kernsweep: node local is not fit for this run: model: '
like "   and the command that is pending" "$ERR" "^pending command: .*'--tag' 'large'"
is "   nothing is on the node, or here" "$(find "$TMPDIR/work/runs" "$TMPDIR/artifacts_remote" -mindepth 2 2>/dev/null | wc -l)" 0
exits "   check says the same" 3 ks check "$TMPDIR/large.json"
like "   as a row" "$OUT" '^blocker +model'
exits "smaller contexts fit" 0 ks_run "$TMPDIR/large.json" --variants good --contexts 16 --tag small
small=$(bundle_of small)
is "   node.json knows the model" "$(jq -c '.model | [.architecture, .context_length]' "$small/node.json")" '["llama",4096]'
exits "so does the large one once the limit is set" 0 ks gguf set "$HOME/models/m.gguf" llama.context_length 8192
exits "   and then it runs" 0 ks_run "$TMPDIR/large.json" --variants good --tag large
exits "compare shows what was different on the node" 0 ks compare "$small" "$(bundle_of large)" --fail-on none
like "   here the model's limit" "$OUT" 'model.context_length.*4096.*8192'

for model in nothing.gguf models/cut.gguf models; do
    plan_with ".model = \"$model\"" "$TMPDIR/bad.json"
    exits "model $model: the run is stopped" 3 ks_run "$TMPDIR/bad.json" --variants good
    like "   and its row names the file" "$ERR" "^blocker +model +.*$model"
done
exits "nightly is stopped, too" 3 ks nightly "$TMPDIR/bad.json" --artifacts "$TMPDIR/nights" --reports "$TMPDIR/reports"
like "   with the row" "$ERR" '^blocker +model'

# Fit, but odd: two GPU users and memory in use, played by a folder.
mkdir -p "$TMPDIR/root/sys/class/drm/card0/device" "$TMPDIR/root/sys/class/kfd/kfd/proc/4242"
for pair in vendor:0x1002 mem_info_vram_total:1000000 mem_info_vram_used:900000; do
    echo "${pair#*:}" >"$TMPDIR/root/sys/class/drm/card0/device/${pair%:*}"
done
export KERNSWEEP_FAKE_ROOT=$TMPDIR/root
exits "a node that others use takes a run all the same" 0 ks_run "$TMPDIR/plan.json" --variants good --contexts 16 --tag odd
like "   which says so in one line" "$ERR" '^warning: gpu users: 1 other processes use the GPU, the first is pid 4242 \(wait for them'
like "   and how much memory is taken" "$ERR" '^warning: gpu: .*see who uses it'
is "   node.json keeps it" "$(jq -r '[.preflight[] | select(.level == "warning") | .subject] | contains(["gpu", "gpu users"])' "$(bundle_of odd)/node.json")" true
unset KERNSWEEP_FAKE_ROOT

mkdir -p "$TMPDIR/full"
if mount -t tmpfs -o size=64m tmpfs "$TMPDIR/full" 2>/dev/null; then
    trap 'umount -l "$TMPDIR/full"' EXIT
    plan_with ".workdir = \"$TMPDIR/full/work\"" "$TMPDIR/full.json"
    exits "a disk that is nearly full stops the run" 3 ks_run "$TMPDIR/full.json" --variants good
    like "   with its remedy" "$ERR" '-> make room'
else
    skip "a disk that is nearly full stops the run" "mounting a tmpfs is not permitted here"
fi
done_testing
