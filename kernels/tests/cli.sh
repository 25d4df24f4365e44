#!/usr/bin/env bash
# The command lines of prefill, attn_bench and sdpa.py: what they print on success, and one line and exit status 2 for
# every mistake.
#   cli.sh BUILD        from the folder kernels
# Uses the TAP library of the project's scripts. A node that was sent only kernels and common lacks it, and skips these
# checks.
if [ ! -f ../tests/lib.sh ]; then
    echo "1..0 # SKIP ../tests/lib.sh is not here"
    exit 0
fi
TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
# shellcheck source=tests/lib.sh
. ../tests/lib.sh
build=$1
out=$TMPDIR
unset GRETA_MAX_SEQ_LEN GRETA_PREFILL_LDS_TILING GRETA_PREFILL_SEGMENTED GRETA_PREFILL_Q_LDS

# Every check is independent of the others; TESTS_ONLY selects by title.
wanted() {
    [ -z "${TESTS_ONLY:-}" ] || [[ $title == *"$TESTS_ONLY"* ]]
}

# refuses TITLE WORDS COMMAND...: exit status 2, nothing on stdout, one line on stderr that contains WORDS.
refuses() {
    local title="refused: $1" words=$2
    shift 2
    wanted || return 0
    try "$@"
    [ "$RC" = 2 ] && [ -z "$OUT" ] && [ "$(wc -l <"$TMPDIR/.err")" = 1 ] && [[ $ERR == *"$words"* ]]
    ok "$title" $? "exit status $RC, want 2 and: $words"$'\n'"$OUT"$'\n'"$ERR"
}

# reports TITLE LINES PATTERN COMMAND...: exit status 0, LINES lines that follow the workload contract, a line of which matches
# PATTERN. A model has one line more: its answer, the second.
reports() {
    local title=$1 lines=$2 pattern=$3
    shift 3
    wanted || return 0
    try "$@"
    [ "$RC" = 0 ] && [ -z "$ERR" ] && [ "$(wc -l <"$TMPDIR/.out")" = "$lines" ] &&
        sed -n 1p <<<"$OUT" | grep -q '^Prompt tokens: [0-9]*$' &&
        sed -n $((lines - 1))p <<<"$OUT" | grep -q '^\[PERF_TIMING\] {.*}$' &&
        sed -n "${lines}p" <<<"$OUT" | grep -qx 'STATUS=OK' && grep -q -e "$pattern" <<<"$OUT"
    ok "$title" $? "exit status $RC, want a line like: $pattern"$'\n'"$OUT"$'\n'"$ERR"
}

# prints_json TITLE COMMAND...: exit status 0 and only a JSON object.
prints_json() {
    local title=$1
    shift
    wanted || return 0
    try "$@"
    [ "$RC" = 0 ] && [ "$(wc -l <"$TMPDIR/.out")" = 1 ] && grep -q '^{"model_load_s": .*}$' <<<"$OUT"
    ok "$title" $? "exit status $RC"$'\n'"$OUT"$'\n'"$ERR"
}

# A model file, made once for the checks that need one.
tiny_gguf() {
    [ -s "$out/tiny.gguf" ] || "$build/prefill" make-model --preset tiny -o "$out/tiny.gguf"
}

prefill() {
    local program=$build/prefill small=(--context 40 --heads 2 --head-dim 64)
    reports "prefill: a run without --check" 3 '"prefill_s": [0-9]' "$program" "${small[@]}" --attn baseline
    reports "prefill --check reports its errors" 3 '"rel_l2": [0-9.e-]*, "max_abs"' "$program" "${small[@]}" --attn v3 --check
    reports "prefill reports the variant's attn_impl" 3 '"attn_impl": "v4_ql_v_lds"' "$program" "${small[@]}" --attn v4
    reports "prefill --attn takes an attn_impl" 3 '"variant": "v3"' "$program" "${small[@]}" --attn v3_q_lds
    reports "prefill takes --name=value" 3 '"layers": 3' "$program" "${small[@]}" --attn=v3 --layers=3 --no-causal --kv-heads=1 --check
    reports "prefill without --attn runs baseline" 3 '"attn_impl": "flash_v2_naive"' "$program" "${small[@]}"
    reports "GRETA_PREFILL_Q_LDS=1 selects v3" 3 '"attn_impl": "v3_q_lds"' env GRETA_PREFILL_Q_LDS=1 "$program" "${small[@]}"
    reports "prefill --attn overrides the environment" 3 '"attn_impl": "flash_v2_naive"' \
        env GRETA_PREFILL_Q_LDS=1 "$program" "${small[@]}" --attn baseline
    reports "GRETA_PREFILL_LDS_TILING=1 selects v1" 3 '"attn_impl": "lds_tiling_v1"' env GRETA_PREFILL_LDS_TILING=1 "$program" "${small[@]}"
    reports "GRETA_PREFILL_SEGMENTED=1 selects v2" 3 '"attn_impl": "segmented_v2"' env GRETA_PREFILL_SEGMENTED=1 "$program" "${small[@]}"
    reports "prefill runs a context of GRETA_MAX_SEQ_LEN" 3 '"prompt_tokens": 40' env GRETA_MAX_SEQ_LEN=40 "$program" "${small[@]}"
    refuses "a context over GRETA_MAX_SEQ_LEN" "context 40 is longer than GRETA_MAX_SEQ_LEN 39" env GRETA_MAX_SEQ_LEN=39 "$program" "${small[@]}"
    refuses "GRETA_MAX_SEQ_LEN that is not a number" "GRETA_MAX_SEQ_LEN=2k" env GRETA_MAX_SEQ_LEN=2k "$program" "${small[@]}"
    refuses "a GRETA_PREFILL switch that is neither 0 nor 1" "GRETA_PREFILL_Q_LDS=yes" env GRETA_PREFILL_Q_LDS=yes "$program" "${small[@]}"
    refuses "prefill without a context" "--context is missing" "$program"
    refuses "prefill with a context of 0" "--context 0" "$program" --context 0
    refuses "prefill with a context that is not a number" "--context 4k" "$program" --context 4k
    refuses "prefill --context without a value" "--context needs a value" "$program" --context
    refuses "prefill with a head dimension of 96" "--head-dim 96" "$program" --context 8 --head-dim 96
    refuses "prefill with KV heads that do not divide the heads" "--kv-heads 3" "$program" --context 8 --heads 4 --kv-heads 3
    refuses "prefill with an unknown variant" "unknown variant 'v9'" "$program" "${small[@]}" --attn v9
    refuses "prefill with an unknown option" "unknown option --fast" "$program" "${small[@]}" --fast
    refuses "prefill with a word that is not an option" "unknown option fast" "$program" "${small[@]}" fast
    refuses "prefill with a value for a flag" "--check takes no value" "$program" "${small[@]}" --check=1
    refuses "prefill with an unknown type" "--dtype f8" "$program" "${small[@]}" --dtype f8
    refuses "v5 in f32, with what to use instead" \
        "variant v5 does not support --dtype f32: use f16, bf16, or a variant that supports it: baseline, " "$program" "${small[@]}" --attn v5
    refuses "v5 with a head dimension of 32" "--head-dim 32: must be 64 or 128" "$program" --context 8 --head-dim 32 --attn v5 --dtype bf16
    refuses "v3 in bf16" "variant v3 does not support --dtype bf16" "$program" "${small[@]}" --attn v3 --dtype bf16
    refuses "a prefill that does not fit in memory" "not enough memory" "$program" --context 16777216 --heads 4096
}

model_mistakes() {
    local program=$build/prefill
    refuses "a model without a prompt" "no prompt" "$program" --synthetic tiny
    refuses "a model with two prompts" "exclude each other" "$program" --synthetic tiny --context 3 --prompt hello
    refuses "two models" "--model and --synthetic exclude each other" "$program" --synthetic tiny --model x.gguf --context 3
    refuses "an unknown preset" "--synthetic huge: must be tiny" "$program" --synthetic huge --context 3
    refuses "a text for a model without a vocabulary" "no vocabulary" "$program" --synthetic tiny --prompt hello
    refuses "a model with --heads" "unknown option --heads" "$program" --synthetic tiny --context 3 --heads 4
}

has_gemm() {
    try "$build/prefill" --synthetic tiny --context 2
    [[ $ERR != *"no library for matrix products"* ]]
}

synthetic_model() {
    local program=$build/prefill tiny=(--synthetic tiny --context 20) title file
    reports "a model: the stages' times" 4 '"gemm_s": [0-9.e-]*, "attention_s": [0-9.e-]*, "other_s": [0-9]' "$program" "${tiny[@]}" --greedy
    reports "a model: 20 rows are too few for a GEMM with an epilogue" 4 '"fused_products": false' "$program" "${tiny[@]}" --dtype bf16 --attn v5
    reports "a model: its memory" 4 '"planned_bytes": [0-9]' "$program" "${tiny[@]}" --dtype bf16 --attn v5
    reports "a model: --max-tokens 3" 4 '"decoded_tokens": 3' "$program" "${tiny[@]}" --max-tokens 3 --deterministic
    reports "a model: --ceiling" 4 '"roofline_share": [0-9.e-]*, "sustained_tflops": [0-9.e-]*, "sustained_share": [0-9]' "$program" "${tiny[@]}" --ceiling
    reports "a model in f32 runs v5 in f16" 4 '"attn_dtype": "f16"' "$program" "${tiny[@]}" --attn v5
    reports "a model: GRETA_PREFILL_Q_LDS=1 selects v3" 4 '"attn_impl": "v3_q_lds"' env GRETA_PREFILL_Q_LDS=1 "$program" "${tiny[@]}"
    prints_json "a model: --json prints only the object" "$program" "${tiny[@]}" --json
    title="a model: --logits writes a row of floats per token"
    if wanted; then
        try "$program" "${tiny[@]}" --logits "$out/logits"
        is "$title" "$RC $(wc -c <"$out/logits")" "0 $((20 * 1024 * 4))"
    fi
    title="a model: two runs with --deterministic give the same bits"
    if wanted; then
        for file in one two; do "$program" "${tiny[@]}" --deterministic --logits "$out/$file" >/dev/null; done
        passes "$title" cmp "$out/one" "$out/two"
    fi
    refuses "a model's prompt over GRETA_MAX_SEQ_LEN" "the prompt has 20 tokens, more than GRETA_MAX_SEQ_LEN 19" \
        env GRETA_MAX_SEQ_LEN=19 "$program" "${tiny[@]}"
    refuses "a prompt over the model's context length" "the prompt has 8193 tokens, more than the model's context length 8192" \
        "$program" --synthetic tiny --context 8193
    refuses "a model that does not fit in memory" "not enough memory" "$program" --synthetic llama2-7b --context 32768 --max-tokens 1000000
}

model_of_a_file() {
    local program=$build/prefill title
    tiny_gguf || ok "make-model writes the preset tiny" $?
    reports "a model file: two tokens for a text" 4 '"model": "tiny.gguf", "prompt_tokens": [0-9]*, "decoded_tokens": 2' \
        "$program" --model "$out/tiny.gguf" --prompt "The kernel reads a tile" --max-tokens 2 --attn v3
    reports "a model file: the answer is the second line" 4 '^text: ' "$program" --model "$out/tiny.gguf" --prompt "The kernel reads a tile"
    reports "a model file: --context 33 is a prompt of 33 tokens" 4 '"prompt_tokens": 33' "$program" --model "$out/tiny.gguf" --context 33
    printf 'The kernel\nreads' >"$out/prompt"
    reports "a model file: a prompt from a file" 4 '"dtype": "bf16"' "$program" --model "$out/tiny.gguf" --prompt-file "$out/prompt" --dtype bf16
    refuses "a file that is not a model" "$out/prompt: " "$program" --model "$out/prompt" --context 3
    refuses "a missing prompt file" "none: cannot be read" "$program" --model "$out/tiny.gguf" --prompt-file none
    refuses "a text over GRETA_MAX_SEQ_LEN, instead of truncating it" "tokens, more than GRETA_MAX_SEQ_LEN 2" \
        env GRETA_MAX_SEQ_LEN=2 "$program" --model "$out/tiny.gguf" --prompt "The kernel reads a tile"
    head -c 5000000 "$out/tiny.gguf" >"$out/cut.gguf"
    refuses "a truncated model file" "truncated" "$program" --model "$out/cut.gguf" --context 3
}

attn_bench() {
    local program=$build/attn_bench small=(--seq 40 --heads 2 --head-dim 64 --iters 3 --warmup 1 --variant baseline)
    reports "attn_bench follows the contract" 3 '"ms_median": [0-9.e-]*, "ms_min"' "$program" "${small[@]}"
    reports "attn_bench reports the device's ceilings" 3 \
        '"copy_gb_per_s": [0-9.e+]*, "fma_tflops": [0-9.e+-]*, "matrix_tflops": [n0-9]' "$program" "${small[@]}" --batch 2
    reports "attn_bench --check reports its errors" 3 '"rel_l2": [0-9.e-]*, "max_abs"' "$program" "${small[@]}" --check --no-causal
    prints_json "attn_bench --json prints only the object" "$program" "${small[@]}" --json
    refuses "attn_bench without --seq" "--seq is missing" "$program" --heads 2
    refuses "attn_bench with a sequence of 0" "--seq 0" "$program" --seq 0 --heads 2
    refuses "attn_bench with a head dimension of 96" "--head-dim 96" "$program" --seq 8 --head-dim 96
    refuses "attn_bench with KV heads that do not divide the heads" "--kv-heads 3" "$program" --seq 8 --heads 4 --kv-heads 3
    refuses "an attn_bench that does not fit in memory" "not enough memory" "$program" --seq 16777216 --heads 4096 --variant baseline
    refuses "attn_bench without launches" "--iters 0" "$program" "${small[@]}" --iters 0
    refuses "attn_bench with an unknown variant" "unknown variant 'v9'" "$program" "${small[@]}" --variant v9
}

sdpa() {
    local program=reference/sdpa.py title
    refuses "sdpa.py without a context" "--context" "$program" --heads 4
    refuses "sdpa.py with a context of 0" "--context" "$program" --context 0
    refuses "sdpa.py with an unknown back-end" "--backend" "$program" --context 8 --backend fast
    refuses "sdpa.py with KV heads that do not divide the heads" "--kv-heads 3" "$program" --context 8 --heads 4 --kv-heads 3
    title="sdpa.py without PyTorch exits 77 and says why"
    if wanted; then
        try python3 -S "$program" --context 8 # -S: without site-packages
        is "$title" "$RC $(wc -l <"$TMPDIR/.out") ${OUT:0:16}" "77 1 SKIP: no PyTorch"
    fi
}

prefill
model_mistakes
if has_gemm; then
    synthetic_model
    model_of_a_file
else
    skip "models" "$ERR"
fi
attn_bench
if command -v python3 >/dev/null; then sdpa; else skip "sdpa.py" "python3 is not installed"; fi
done_testing
