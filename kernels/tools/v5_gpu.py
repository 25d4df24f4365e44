#!/usr/bin/env python3
"""Check v5 on an NVIDIA GPU against fp64, and time it beside PyTorch's attention and a matrix product.

usage: v5_gpu.py LIBRARY [check] [time] [--variants v5,v5_tiles] [--contexts 4096,8192,16384,32768] [--json FILE]
LIBRARY is made by:
  nvcc -std=c++17 -O3 -DKS_PLATFORM_NVIDIA -gencode=arch=compute_90a,code=sm_90a -I. -shared -Xcompiler -fPIC \\
       -x cu tools/v5_library.hip attention/v5.hip attention/v5_tiles.hip -o LIBRARY
check: tails, grouped queries, both head sizes and formats, causal and not; poisoned output, guard after it,
       the same bits twice. Exit 1 when a case is beyond the tolerance.
time:  medians of CUDA events, all programs in turn so that they share the card's temperature.
"""
import argparse
import ctypes
import itertools
import json
import math
import statistics
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

TOLERANCE = {torch.float16: 5e-4, torch.bfloat16: 4e-3}
GUARD = 4096  # elements after the output that nothing may touch


class Library:
    def __init__(self, path):
        self.call = ctypes.CDLL(path).v5_attention
        self.scratch = torch.full((16,), -1, device="cuda", dtype=torch.int32)
        self.call.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 5 + [ctypes.c_int] * 7 + [ctypes.c_float, ctypes.c_void_p]

    def run(self, variant, q, k, v, o, causal):
        batch, seq, heads, dim = q.shape
        error = self.call(variant.encode(), q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), self.scratch.data_ptr(), batch, seq, heads,
                          k.shape[2], dim, causal, q.dtype == torch.bfloat16, 1 / math.sqrt(dim),
                          torch.cuda.current_stream().cuda_stream)
        if error:
            raise RuntimeError(f"{variant}: device error {error}")


def inputs(batch, seq, heads, kv_heads, dim, dtype, seed):
    g = torch.Generator("cuda").manual_seed(seed)
    draw = lambda h: torch.randn(batch, seq, h, dim, device="cuda", generator=g).to(dtype)
    return draw(heads), draw(kv_heads), draw(kv_heads)


def head_attention(q, k, v, causal, work, rounded):
    """One head's attention computed in `work`, probabilities rounded to `rounded` before they meet V."""
    s = (q.to(work) @ k.to(work).T) / math.sqrt(q.shape[-1])
    if causal:
        s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
    p = torch.softmax(s, -1)
    return p.to(rounded).to(work) @ v.to(work)


def errors(o, q, k, v, causal):
    """(rel. L2, max abs, max abs of a plain attention in the inputs' format)"""
    square, reference_square, worst, plain_worst = 0.0, 0.0, 0.0, 0.0
    group = q.shape[2] // k.shape[2]
    for b, h in itertools.product(range(q.shape[0]), range(q.shape[2])):
        head = q[b, :, h], k[b, :, h // group], v[b, :, h // group]
        want = head_attention(*head, causal, torch.float64, torch.float64)
        plain = head_attention(*head, causal, torch.float32, q.dtype).to(q.dtype).double()
        difference = o[b, :, h].double() - want
        square += difference.square().sum().item()
        reference_square += want.square().sum().item()
        worst = max(worst, difference.abs().max().item())
        if math.isnan(square):
            worst = math.nan
        plain_worst = max(plain_worst, (plain - want).abs().max().item())
    return math.sqrt(square / reference_square), worst, plain_worst


def check(library, variants):
    torch.backends.cuda.matmul.allow_tf32 = False
    failed = cases = 0
    worst = {}
    shapes = [(1, s, 4, 4) for s in (1, 63, 64, 65, 127, 128, 129, 255, 1000)]
    shapes += [(1, 1000, 32, 8), (2, 333, 6, 2), (3, 64, 2, 1), (1, 4097, 8, 2), (2, 2049, 16, 16), (1, 20500, 2, 1)]
    for shape, dim, causal, dtype in itertools.product(shapes, (64, 128), (0, 1), TOLERANCE):
        q, k, v = inputs(*shape, dim, dtype, seed=cases)
        for variant in variants:
            outputs = []
            for _ in range(2):
                memory = torch.full((q.numel() + GUARD,), math.nan, device="cuda", dtype=dtype)
                library.run(variant, q, k, v, memory, causal)
                torch.cuda.synchronize()
                outputs.append(memory)
            o = outputs[0][: q.numel()].view_as(q)
            rel, most, plain = errors(o, q, k, v, causal)
            same = torch.equal(outputs[0].view(torch.int16), outputs[1].view(torch.int16))
            guarded = outputs[0][q.numel():].isnan().all().item()
            good = rel < TOLERANCE[dtype] and most <= 2 * plain + 1e-6 and same and guarded
            cases += 1
            key = (variant, str(dtype).split(".")[1])
            worst[key] = max(worst.get(key, (0, 0)), (rel, most))
            if not good:
                failed += 1
                if failed <= 20:
                    print(f"WRONG {variant} B,S,Hq,Hkv={shape} D={dim} causal={causal} {dtype}: rel {rel:.2e} "
                          f"max {most:.2e} plain max {plain:.2e} same {same} guard {guarded}")
    for key, value in worst.items():
        print(f"worst {key}: rel. L2 {value[0]:.2e}, max abs {value[1]:.2e}")
    print(f"{cases} cases, {failed} wrong")
    return failed


def median_ms(runs, repetitions):
    """Medians of several functions, run in turn."""
    times = {name: [] for name in runs}
    for repetition in range(repetitions + 2):
        for name, run in runs.items():
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            run()  # so that the clock and caches are this program's own
            start.record()
            run()
            stop.record()
            stop.synchronize()
            if repetition >= 2:
                times[name].append(start.elapsed_time(stop))
    return {name: statistics.median(t) for name, t in times.items()}


def sdpa(backend, q, k, v, causal):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))

    def run():
        with sdpa_kernel(backend):
            F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), enable_gqa=q.shape[1] != k.shape[1])

    return run


def time(library, variants, contexts, layouts):
    rows = []
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    gemm = 2 * 8192**3 / median_ms({"gemm": lambda: a @ b}, 15)["gemm"] / 1e9
    print(f"{torch.cuda.get_device_name()}, bf16 GEMM 8192^3: {gemm:.0f} TFLOP/s")
    print("TFLOP/s: " + "layout, S, ".ljust(22) + ", ".join(variants) + ", flash, cudnn; v5/flash v5/cudnn v5/gemm")
    for (heads, kv_heads, dim, causal, dtype), seq in itertools.product(layouts, contexts):
        q, k, v = inputs(1, seq, heads, kv_heads, dim, dtype, seed=seq)
        o = torch.empty_like(q)
        runs = {name: (lambda name=name: library.run(name, q, k, v, o, causal)) for name in variants}
        runs["flash"] = sdpa(SDPBackend.FLASH_ATTENTION, q, k, v, causal)
        runs["cudnn"] = sdpa(SDPBackend.CUDNN_ATTENTION, q, k, v, causal)
        for name in ("flash", "cudnn"):
            try:
                runs[name]()
                torch.cuda.synchronize()
            except RuntimeError as error:
                print(f"{name} refuses: {str(error).splitlines()[0]}")
                del runs[name]
        flops = 4 * seq * seq * heads * dim / (2 if causal else 1)
        rate = {name: flops / ms / 1e9 for name, ms in median_ms(runs, 15 if seq < 16384 else 9).items()}
        label = f"{heads}/{kv_heads} d{dim} {'causal' if causal else 'full'} {str(dtype).split('.')[1]} {seq}"
        ratios = [f"{rate[variants[0]] / rate[n]:.2f}" for n in ("flash", "cudnn") if n in rate]
        print(label.ljust(32), " ".join(f"{r:6.0f}" for r in rate.values()), "  ", *ratios,
              f"{rate[variants[0]] / gemm:.2f}", flush=True)
        rows.append({"layout": label, "gemm": gemm, **rate})
    return rows


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("library")
    parser.add_argument("actions", nargs="+", choices=["check", "time", "all"])
    parser.add_argument("--variants", default="v5,v5_tiles")
    parser.add_argument("--contexts", default="4096,8192,16384,32768")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    library = Library(arguments.library)
    variants = arguments.variants.split(",")
    failed = check(library, variants) if "check" in arguments.actions else 0
    if "time" in arguments.actions:
        bf16, f16 = torch.bfloat16, torch.float16
        layouts = [(32, 32, 128, 1, bf16), (32, 8, 128, 1, bf16)]
        if "all" in arguments.actions:
            layouts += [(32, 32, 128, 0, bf16), (32, 32, 128, 1, f16), (32, 32, 64, 1, bf16)]
        rows = time(library, variants, [int(s) for s in arguments.contexts.split(",")], layouts)
        if arguments.json:
            with open(arguments.json, "w") as file:
                json.dump(rows, file, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
