#!/bin/sh
# Runs everything that needs an NVIDIA GPU, in less than eight minutes: builds and tests every variant, runs
# compute-sanitizer, and times the variants beside PyTorch's attention.
#   OUT=dir [VARIANT="..."] gpu_check.sh [ARCH]         ARCH defaults to sm_90a
# Writes to $OUT: machine.txt build.log check.log sanitizer.log bench.jsonl (one object per timing) table.txt
# Prints one line per part and the table; exits 1 if a part failed.
set -u
cd "$(dirname "$0")/.." || exit 1
ARCH=${1:-sm_90a}
OUT=${OUT:-gpu_check}
PATH=$PATH:/usr/local/cuda/bin
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
B=$(mktemp -d)
trap 'rm -rf "$B"' EXIT
verdict=0
fp32="baseline v1 v2 v3 v4 serial_bh fa1_serial_kv fa2_split_kv baseline_vec"

part() { # NAME LIMIT_S LOG COMMAND...
    name=$1 limit=$2 log=$3
    shift 3
    started=$(date +%s)
    timeout "$limit" "$@" >>"$OUT/$log" 2>&1
    status=$?
    [ $status -eq 0 ] || verdict=1
    printf '%-28s %s in %d s\n' "$name" "$([ $status -eq 0 ] && echo ok || echo "FAILED ($status)")" \
        $(($(date +%s) - started))
}

bench() { # VARIANT SEQ ITERS WARMUP [MORE...]
    variant=$1 seq=$2 iters=$3 warmup=$4
    shift 4
    timeout 60 "$B/attn_bench" --variant "$variant" --seq "$seq" --iters "$iters" --warmup "$warmup" --json "$@" \
        >>"$OUT/bench.jsonl" || verdict=1
}

sdpa() { # BACKEND SEQ DTYPE [MORE...]
    backend=$1 seq=$2 dtype=$3
    shift 3
    timeout 60 python3 reference/sdpa.py --backend "$backend" --context "$seq" --dtype "$dtype" "$@" 2>&1 |
        tee "$B/sdpa" | sed -n 's/^\[PERF_TIMING\] //p' >>"$OUT/bench.jsonl"
    grep -q '^STATUS=OK' "$B/sdpa" || { echo "sdpa $backend $seq $dtype:" && tail -n 1 "$B/sdpa"; }
}

nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.sm,power.limit --format=csv \
    >"$OUT/machine.txt" 2>&1
nvcc --version >>"$OUT/machine.txt" 2>&1

part build 240 build.log make PLATFORM=nvidia ARCH="$ARCH" BUILD="$B" VARIANT="${VARIANT:-all}" -j"$(nproc)" all tests
[ -x "$B/prefill" ] || { tail -n 20 "$OUT/build.log" && exit 1; }
part "tests" 200 check.log env V=1 tests/run "$B"
part "tests of long contexts" 200 check.log "$B/test_variants" --seq 65 --long
for tool in memcheck racecheck; do
    part "compute-sanitizer $tool" 150 sanitizer.log compute-sanitizer --tool "$tool" --error-exitcode 9 \
        "$B/test_variants" --seq 65
done
part "prefill --check at 4097" 60 check.log "$B/prefill" --context 4097 --heads 8 --kv-heads 2 --check --attn baseline_vec

for variant in $fp32; do
    bench "$variant" 512 20 3 --check
    bench "$variant" 4096 3 1
done
for variant in $fp32; do
    bench "$variant" 8192 2 1
done
for bh in "1 1" "4 1" "1 4" "4 4" "8 4"; do # the batch and head counts of the V3 analysis
    for variant in baseline serial_bh baseline_vec; do
        # shellcheck disable=SC2086 # two words
        set -- $bh
        bench "$variant" 128 10 3 --batch "$1" --heads "$2" --head-dim 64
    done
done
for seq in 512 4096 8192 16384; do
    sdpa flash "$seq" bf16 --check
    sdpa cudnn "$seq" bf16 --check
done
for seq in 4096 8192 16384; do
    sdpa efficient "$seq" f32 --iters 5 --check
done
bench baseline_vec 16384 5 1
for variant in $fp32; do
    [ "$variant" = baseline_vec ] || bench "$variant" 16384 1 0
done

python3 - "$OUT/bench.jsonl" >"$OUT/table.txt" <<'END'
import json, sys
print(f"{'variant':16} {'dtype':5} {'B':>2} {'H':>3} {'S':>6} {'D':>4} {'ms':>10} {'+-':>8} {'TFLOP/s':>8} {'vs baseline':>11} {'of roofline':>11}")
rows = [json.loads(line) for line in open(sys.argv[1])]
key = lambda r: (r["batch"], r["heads"], r["seq"], r["head_dim"])
base = {key(r): r["ms_median"] for r in rows if r["variant"] == "baseline"}
for r in sorted(rows, key=lambda r: (key(r)[2], key(r), r["ms_median"])):
    ratio = f"{base[key(r)] / r['ms_median']:.2f}x" if key(r) in base else ""
    share = f"{100 * r['roofline_share']:.1f} %" if r.get("roofline_share") else ""
    print(f"{r['variant']:16} {r['dtype']:5} {r['batch']:2} {r['heads']:3} {r['seq']:6} {r['head_dim']:4} "
          f"{r['ms_median']:10.3f} {r['ms_deviation']:8.3f} {r['tflops']:8.2f} {ratio:>11} {share:>11}")
last = [r for r in rows if "copy_gb_per_s" in r][-1]
print(f"ceilings: copy {last['copy_gb_per_s']:.0f} GB/s, multiply-adds {last['fma_tflops']:.1f} TFLOP/s")
END
cat "$OUT/table.txt"
grep -hE '^[0-9]+ passed|ERROR SUMMARY|RACECHECK SUMMARY' "$OUT/check.log" "$OUT/sanitizer.log"
exit $verdict
