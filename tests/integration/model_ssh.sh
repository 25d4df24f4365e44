#!/usr/bin/env bash
# A sweep of a real model over ssh: the kernels are built on the node, the model's file is made there, and a test is
# its load, its prefill and its answer.
# unsanitized: kernels on the CPU; a sweep over ssh like any other for the rest
. tests/lib.sh
. tests/kernels.sh
. tests/pipeline.sh

command -v g++ >/dev/null || skip_all "no g++"
g++ -E -x c++ -include openblas_config.h /dev/null >/dev/null 2>&1 || skip_all "no OpenBLAS (scripts/install-deps build)"
node_start || skip_all "no private sshd: $(tail -n 1 "$TMPDIR/node.log")"
KS_OPTIONS=(--ssh-config "$NODE/ssh_config")

model_sweep() {
    local bundle perf
    jq --arg workdir "$TMPDIR/work" --arg dir "$PWD" --arg cxx "$KERNELS_CXX" \
        '.workdir = $workdir | .source.dir = $dir | .variants |= map(select(.name == "v3")) | .contexts = [64]
         | .variants[].build[0] += ["WERROR=1", "CXX=" + $cxx]' \
        harness/plans/tiny_model.json >"$TMPDIR/plan.json"
    exits "exits 0" 0 ks_run "$TMPDIR/plan.json" --tag model
    bundle=$(bundle_of model)
    perf=$bundle/v3/ctx_64_run1/perf.json
    is "the test is OK" "$(status_of "$bundle" v3 64 1)" OK
    is "the prompt has as many tokens as the context" "$(jq .prompt_tokens "$perf")" 64
    like "the model is that of the plan's file" "$(cat "$bundle/v3/ctx_64_run1/run.log")" '"model": "tiny.gguf"'
    is "every stage takes time" "$(jq '.timings | .gemm_s > 0 and .attention_s > 0 and .other_s > 0' "$perf")" true
    like "the model answers with text" "$(cat "$bundle/v3/ctx_64_run1/run.log")" '^text: .'
    is "both repetitions give the same answer" "$(grep '^text: ' "$bundle/v3/ctx_64_run1/run.log")" \
        "$(grep '^text: ' "$bundle/v3/ctx_64_run2/run.log")"
}

scenario "a sweep of a model over ssh" model_sweep
done_testing
