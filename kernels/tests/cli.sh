#!/bin/sh
# The command lines of prefill, attn_bench and sdpa.py: what they print when all is well, and one line and exit 2
# for every mistake.
#   cli.sh BUILD
set -u
build=$1
program=$build/prefill
unset GRETA_MAX_SEQ_LEN GRETA_PREFILL_LDS_TILING GRETA_PREFILL_SEGMENTED GRETA_PREFILL_Q_LDS
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run=0
failed=0

result() { # STATUS NAME
    run=$((run + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $run - $2"
    else
        failed=$((failed + 1))
        echo "not ok $run - $2"
        sed 's/^/# /' "$out/stdout" "$out/stderr"
    fi
}

refuses() { # NAME WORDS ARGUMENTS...: exit 2, nothing on stdout, one line on stderr that has WORDS
    name=$1 words=$2
    shift 2
    "$program" "$@" >"$out/stdout" 2>"$out/stderr"
    [ $? -eq 2 ] && [ ! -s "$out/stdout" ] && [ "$(wc -l <"$out/stderr")" -eq 1 ] &&
        grep -qF -e "$words" "$out/stderr"
    result $? "$name"
}

says() { # NAME PATTERN ARGUMENTS...: exit 0, the three lines of the contract, PATTERN in the timings
    name=$1 pattern=$2
    shift 2
    "$program" "$@" >"$out/stdout" 2>"$out/stderr" && [ ! -s "$out/stderr" ] &&
        [ "$(wc -l <"$out/stdout")" -eq 3 ] && sed -n 1p "$out/stdout" | grep -q '^Prompt tokens: [0-9]*$' &&
        sed -n 2p "$out/stdout" | grep -q '^\[PERF_TIMING\] {.*}$' && sed -n 3p "$out/stdout" | grep -qx 'STATUS=OK' &&
        sed -n 2p "$out/stdout" | grep -q -e "$pattern"
    result $? "$name"
}

small="--context 40 --heads 2 --head-dim 64"
# shellcheck disable=SC2086 # $small is words
{
    says "an ordinary run" '"prefill_s": [0-9]' $small --attn baseline
    says "the check's figures are in the line" '"rel_l2": [0-9.e-]*, "max_abs"' $small --attn v3 --check
    says "attn_impl is the variant's" '"attn_impl": "v4_ql_v_lds"' $small --attn v4
    says "a variant by its attn_impl" '"variant": "v3"' $small --attn v3_q_lds
    says "--name=value" '"layers": 3' $small --attn=v3 --layers=3 --no-causal --kv-heads=1 --check
    says "no --attn is baseline" '"attn_impl": "flash_v2_naive"' $small
    GRETA_PREFILL_Q_LDS=1 && export GRETA_PREFILL_Q_LDS
    says "GRETA_PREFILL_Q_LDS=1 is v3" '"attn_impl": "v3_q_lds"' $small
    says "--attn beats the environment" '"attn_impl": "flash_v2_naive"' $small --attn baseline
    GRETA_PREFILL_Q_LDS=yes
    refuses "a switch that is neither 0 nor 1" "GRETA_PREFILL_Q_LDS=yes" $small
    unset GRETA_PREFILL_Q_LDS
    GRETA_PREFILL_LDS_TILING=1 && export GRETA_PREFILL_LDS_TILING
    says "GRETA_PREFILL_LDS_TILING=1 is v1" '"attn_impl": "lds_tiling_v1"' $small
    unset GRETA_PREFILL_LDS_TILING
    GRETA_PREFILL_SEGMENTED=1 && export GRETA_PREFILL_SEGMENTED
    says "GRETA_PREFILL_SEGMENTED=1 is v2" '"attn_impl": "segmented_v2"' $small
    unset GRETA_PREFILL_SEGMENTED
    GRETA_MAX_SEQ_LEN=40 && export GRETA_MAX_SEQ_LEN
    says "a context at the limit" '"prompt_tokens": 40' $small
    GRETA_MAX_SEQ_LEN=39
    refuses "a context over the limit" "context 40 is longer than GRETA_MAX_SEQ_LEN 39" $small
    GRETA_MAX_SEQ_LEN=2k
    refuses "a limit that is no number" "GRETA_MAX_SEQ_LEN=2k" $small
    unset GRETA_MAX_SEQ_LEN
    refuses "no context" "--context is missing"
    refuses "a context of 0" "--context 0" --context 0
    refuses "a context that is no number" "--context 4k" --context 4k
    refuses "a context without value" "--context needs a value" --context
    refuses "a head dimension of 96" "--head-dim 96" --context 8 --head-dim 96
    refuses "kv heads that do not divide heads" "--kv-heads 3" --context 8 --heads 4 --kv-heads 3
    refuses "an unknown variant" "unknown variant 'v9'" $small --attn v9
    refuses "an unknown option" "unknown option --fast" $small --fast
    refuses "a word" "unknown option fast" $small fast
    refuses "a flag with a value" "--check takes no value" $small --check=1
    refuses "an unknown type" "--dtype f8" $small --dtype f8
    refuses "a type that v5 lacks: what to use instead" \
        "variant v5 does not take --dtype f32: use f16, bf16, or a variant that takes it: baseline, " $small --attn v5
    refuses "a head dimension that v5 lacks" "--head-dim 32: must be 64 or 128" --context 8 --head-dim 32 --attn v5 --dtype bf16
    refuses "a type that the variant lacks" "variant v3 does not take --dtype bf16" $small --attn v3 --dtype bf16
    refuses "more memory than there is" "not enough memory" --context 16777216 --heads 4096
}

answers() { # NAME PATTERN ARGUMENTS...: as says, with the text of a model's answer as the second line
    name=$1 pattern=$2
    shift 2
    "$program" "$@" >"$out/stdout" 2>"$out/stderr" && [ ! -s "$out/stderr" ] &&
        [ "$(wc -l <"$out/stdout")" -eq 4 ] && sed -n 1p "$out/stdout" | grep -q '^Prompt tokens: [0-9]*$' &&
        sed -n 4p "$out/stdout" | grep -qx 'STATUS=OK' &&
        sed -n 3p "$out/stdout" | grep '^\[PERF_TIMING\] {.*}$' | grep -q -e "$pattern"
    result $? "$name"
}

tiny="--synthetic tiny --context 20"
# shellcheck disable=SC2086 # $tiny is words
if "$program" $tiny >"$out/stdout" 2>"$out/stderr" || ! grep -q 'no library for matrix products' "$out/stderr"; then
    answers "a model's stages" '"gemm_s": [0-9.e-]*, "attention_s": [0-9.e-]*, "other_s": [0-9]' $tiny --greedy
    answers "a model's memory" '"planned_bytes": [0-9]' $tiny --dtype bf16 --attn v5
    answers "several tokens" '"decoded_tokens": 3' $tiny --max-tokens 3 --deterministic
    answers "the share of the ceiling" '"roofline_share": [0-9]' $tiny --ceiling
    answers "a variant that lacks the model's type" '"attn_dtype": "f16"' $tiny --attn v5
    "$program" $tiny --json --logits "$out/logits" >"$out/stdout" 2>"$out/stderr" &&
        [ "$(wc -c <"$out/logits")" -eq $((20 * 1024 * 4)) ] && [ "$(wc -l <"$out/stdout")" -eq 1 ] &&
        grep -q '^{"model_load_s": .*}$' "$out/stdout"
    result $? "--json prints the object alone, --logits writes every row"
    for file in one two; do
        "$program" $tiny --deterministic --logits "$out/$file" >"$out/stdout" 2>"$out/stderr" || rm -f "$out/$file"
    done
    cmp "$out/one" "$out/two" >"$out/stdout" 2>"$out/stderr"
    result $? "--deterministic: two runs give the same bits"
    "$program" make-model --preset tiny -o "$out/tiny.gguf" >"$out/stdout" 2>"$out/stderr"
    result $? "a model file is made"
    answers "a model of a file, by a text" '"model": "tiny.gguf", "prompt_tokens": [0-9]*, "decoded_tokens": 2' \
        --model "$out/tiny.gguf" --prompt "The kernel reads a tile" --max-tokens 2 --attn v3
    sed -n 2p "$out/stdout" | grep -q '^text: ' && grep -q '"attn_impl": "v3_q_lds"' "$out/stdout"
    result $? "the answer is a line of its own"
    answers "a prompt of an exact length" '"prompt_tokens": 33' --model "$out/tiny.gguf" --context 33
    printf 'The kernel\nreads' >"$out/prompt"
    answers "a prompt from a file" '"dtype": "bf16"' --model "$out/tiny.gguf" --prompt-file "$out/prompt" --dtype bf16
    refuses "a file that is no model" "prompt" --model "$out/prompt" --context 3
    refuses "a prompt file that is not there" "none: cannot be read" --model "$out/tiny.gguf" --prompt-file none
    GRETA_MAX_SEQ_LEN=19 && export GRETA_MAX_SEQ_LEN
    refuses "a prompt over the limit" "20 tokens are more than GRETA_MAX_SEQ_LEN 19" $tiny
    GRETA_MAX_SEQ_LEN=2
    refuses "a text over the limit is not cut" "tokens are more than GRETA_MAX_SEQ_LEN 2" --model "$out/tiny.gguf" \
        --prompt "The kernel reads a tile"
    unset GRETA_MAX_SEQ_LEN
    head -c 5000000 "$out/tiny.gguf" >"$out/cut.gguf"
    refuses "a model cut short" "truncated" --model "$out/cut.gguf" --context 3
    GRETA_PREFILL_Q_LDS=1 && export GRETA_PREFILL_Q_LDS
    answers "a variant's switch in the environment" '"attn_impl": "v3_q_lds"' $tiny
    unset GRETA_PREFILL_Q_LDS
    refuses "a prompt over the model's context" "8193 tokens are more than the model's context length 8192" \
        --synthetic tiny --context 8193
    refuses "more memory than there is, for a model" "not enough memory" --synthetic llama2-7b --context 32768 \
        --max-tokens 1000000
else
    run=$((run + 1))
    echo "ok $run - models # SKIP $(cat "$out/stderr")"
fi
refuses "a model without a prompt" "no prompt" --synthetic tiny
refuses "two prompts" "exclude each other" --synthetic tiny --context 3 --prompt hello
refuses "two models" "--model and --synthetic exclude each other" --synthetic tiny --model x.gguf --context 3
refuses "an unknown preset" "--synthetic huge: must be tiny" --synthetic huge --context 3
refuses "a text for a model without vocabulary" "no vocabulary" --synthetic tiny --prompt hello
refuses "a model with heads" "unknown option --heads" --synthetic tiny --context 3 --heads 4

program=$build/attn_bench
small="--seq 40 --heads 2 --head-dim 64 --iters 3 --warmup 1 --variant baseline"
# shellcheck disable=SC2086 # $small is words
{
    says "attn_bench speaks the contract" '"ms_median": [0-9.e-]*, "ms_min"' $small
    says "attn_bench knows its device's ceilings" '"copy_gb_per_s": [0-9.e+]*, "fma_tflops": [0-9.e+-]*, "matrix_tflops": [n0-9]' $small --batch 2
    says "attn_bench checks" '"rel_l2": [0-9.e-]*, "max_abs"' $small --check --no-causal
    "$program" $small --json >"$out/stdout" 2>"$out/stderr" && [ "$(wc -l <"$out/stdout")" -eq 1 ] &&
        grep -q '^{"model_load_s": .*}$' "$out/stdout"
    result $? "--json prints the object alone"
    refuses "attn_bench without --seq" "--seq is missing" --heads 2
    refuses "attn_bench with a sequence of 0" "--seq 0" --seq 0 --heads 2
    refuses "attn_bench with a head dimension of 96" "--head-dim 96" --seq 8 --head-dim 96
    refuses "attn_bench with kv heads that do not divide heads" "--kv-heads 3" --seq 8 --heads 4 --kv-heads 3
    refuses "attn_bench with more memory than there is" "not enough memory" --seq 16777216 --heads 4096 --variant baseline
    refuses "attn_bench with no launches" "--iters 0" $small --iters 0
    refuses "attn_bench with an unknown variant" "unknown variant 'v9'" $small --variant v9
}

program=reference/sdpa.py
if command -v python3 >/dev/null; then
    refuses "sdpa.py without a context" "--context" --heads 4
    refuses "sdpa.py with a context of 0" "--context" --context 0
    refuses "sdpa.py with an unknown back-end" "--backend" --context 8 --backend fast
    refuses "sdpa.py with kv heads that do not divide heads" "--kv-heads 3" --context 8 --heads 4 --kv-heads 3
    python3 -S "$program" --context 8 >"$out/stdout" 2>"$out/stderr" # without the packages of the site
    [ $? -eq 77 ] && [ "$(wc -l <"$out/stdout")" -eq 1 ] && grep -q '^SKIP: no PyTorch' "$out/stdout"
    result $? "sdpa.py without PyTorch says so and exits 77"
else
    run=$((run + 1))
    echo "ok $run - sdpa.py # SKIP no python3"
fi

echo "1..$run"
echo "$((run - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
