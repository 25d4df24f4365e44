#!/usr/bin/env python3
"""Check v5 on an NVIDIA GPU against fp64, and time it beside PyTorch's attention and a GEMM.

usage: v5_gpu.py LIBRARY [check] [time] [shapes] [split] [all] [--beside OTHER.so] [--variants v5,v5_tiles] [--contexts 4096,8192,16384,32768] [--json FILE]
Build LIBRARY with:
  nvcc -std=c++17 -O3 -DKS_PLATFORM_NVIDIA -gencode=arch=compute_90a,code=sm_90a -I. -shared -Xcompiler -fPIC \\
       -x cu tools/v5_library.hip -o LIBRARY
check: tails, grouped queries, both head sizes and formats, causal and full; poisoned output with a guard behind it,
       determinism; with the split chosen for the device and with forced splits. Exits 1 if a case exceeds the
       tolerance.
split: few heads, by the number of parts: the chosen split beside the best one.
shapes: 22 shapes (lengths, batches, groups, head sizes, masks) in bf16, v5 beside the better of flash and cuDNN, and beside the v5 of each
       library named by --beside (an older build, say).
time:  medians of CUDA events, interleaving all programs so that they share the card's temperature.
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
GUARD = 4096  # elements behind the output that must stay untouched


class Library:
    def __init__(self, path):
        library = ctypes.CDLL(path)
        shape = [ctypes.c_int] * 8
        self.call, self.bytes, self.parts_of = library.v5_attention, library.v5_scratch, library.v5_parts
        self.call.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 5 + shape + [ctypes.c_float, ctypes.c_void_p]
        self.bytes.argtypes = self.parts_of.argtypes = [ctypes.c_char_p] + shape
        self.bytes.restype = ctypes.c_size_t
        self.scratch = None

    @staticmethod
    def shape(q, k, causal, spans):
        batch, seq, heads, dim = q.shape
        return batch, seq, heads, k.shape[2], dim, causal, q.dtype == torch.bfloat16, spans

    def parts(self, variant, q, k, causal, spans=0):
        return self.parts_of(variant.encode(), *self.shape(q, k, causal, spans))

    def run(self, variant, q, k, v, o, causal, spans=0):
        shape = self.shape(q, k, causal, spans)
        needed = self.bytes(variant.encode(), *shape)
        if self.scratch is None or self.scratch.numel() < needed:
            self.scratch = torch.full((needed,), 255, device="cuda", dtype=torch.uint8)  # NaN
        error = self.call(variant.encode(), q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), self.scratch.data_ptr(),
                          *shape, 1 / math.sqrt(q.shape[3]), torch.cuda.current_stream().cuda_stream)
        if error:
            raise RuntimeError(f"{variant}: device error {error}")


def inputs(batch, seq, heads, kv_heads, dim, dtype, seed, growing=0):
    """growing: later keys are shorter, by up to this factor, so that maxima grow from tile to tile: keys are processed from the last one."""
    g = torch.Generator("cuda").manual_seed(seed)
    draw = lambda h: torch.randn(batch, seq, h, dim, device="cuda", generator=g)
    q, k, v = draw(heads), draw(kv_heads), draw(kv_heads)
    if growing:
        k *= torch.linspace(growing, 0.1, seq, device="cuda")[None, :, None, None]
    return q.to(dtype), k.to(dtype), v.to(dtype)


def head_attention(q, k, v, causal, work, rounded):
    """One head's attention computed in `work`, with probabilities rounded to `rounded` before P V."""
    s = (q.to(work) @ k.to(work).T) / math.sqrt(q.shape[-1])
    if causal:
        s.masked_fill_(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
    p = torch.softmax(s, -1)
    return p.to(rounded).to(work) @ v.to(work)


def errors(o, q, k, v, causal):
    """(relative L2, max abs, max abs of a plain attention in the inputs' format)"""
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
    shapes = [(1, s, 4, 4, 0, 0) for s in (1, 63, 64, 65, 127, 128, 129, 255, 1000)]
    shapes += [(1, 1000, 32, 8, 0, 0), (2, 333, 6, 2, 0, 0), (3, 64, 2, 1, 0, 0), (1, 4097, 8, 2, 0, 0), (2, 2049, 16, 16, 0, 0),
               (1, 20500, 2, 1, 0, 0), (16, 512, 32, 8, 0, 0), (8, 700, 12, 4, 0, 0), (4, 1024, 40, 8, 0, 0)]
    shapes += [(1, 12500, 6, 2, 0, 0), (1, 12500, 8, 8, 0, 10), (2, 12288, 6, 2, 0, 0), (1, 6100, 8, 8, 0, 0)]
    shapes += [(1, 8320, 12, 4, 0, 0), (1, 8448, 12, 12, 0, 10)]
    shapes += [(1, 129, 4, 2, 1, 0), (2, 1000, 2, 1, 1, 0), (1, 2048, 6, 2, 3, 0), (1, 4097, 2, 1, 5, 0), (2, 3001, 1, 1, 2, 0)]
    shapes += [(1, 1000, 4, 4, 0, g) for g in (1, 3, 30)] + [(1, 4097, 8, 2, 0, 10), (1, 4097, 2, 1, 5, 10)]
    for shape, dim, causal, dtype in itertools.product(shapes, (64, 128), (0, 1), TOLERANCE):
        *shape, spans, growing = shape
        q, k, v = inputs(*shape, dim, dtype, cases, growing)
        for variant in variants:
            outputs = []
            for _ in range(2):
                memory = torch.full((q.numel() + GUARD,), math.nan, device="cuda", dtype=dtype)
                if library.scratch is not None:
                    library.scratch.fill_(255)
                library.run(variant, q, k, v, memory, causal, spans)
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
                    print(f"WRONG {variant} B,S,Hq,Hkv={shape} D={dim} causal={causal} {dtype} spans={spans} growing={growing}: rel {rel:.2e} "
                          f"max {most:.2e} plain max {plain:.2e} same {same} guard {guarded}")
    for key, value in worst.items():
        print(f"worst {key}: rel. L2 {value[0]:.2e}, max abs {value[1]:.2e}")
    print(f"{cases} cases, {failed} wrong")
    return failed


def median_ms(runs, repetitions, launches=1):
    """Medians of several functions, interleaved, every other time in the reverse order: whoever follows a program that uses less
    power runs on a cooler card, so an even number of repetitions is fair to the first and the last. Short ones are enqueued
    several times behind a device-side sleep, so that the device never waits for the host."""
    times = {name: [] for name in runs}
    for repetition in range(repetitions + 2):
        for name, run in list(runs.items())[:: 1 if repetition % 2 else -1]:
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            run()  # warms up clock and caches for this program
            if launches > 1:
                torch.cuda._sleep(2_000_000)
            start.record()
            for _ in range(launches):
                run()
            stop.record()
            stop.synchronize()
            if repetition >= 2:
                times[name].append(start.elapsed_time(stop) / launches)
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
    gemm = 2 * 8192**3 / median_ms({"gemm": lambda: a @ b}, 16)["gemm"] / 1e9
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
        rate = {name: flops / ms / 1e9 for name, ms in median_ms(runs, 16 if seq < 16384 else 10).items()}
        label = f"{heads}/{kv_heads} d{dim} {'causal' if causal else 'full'} {str(dtype).split('.')[1]} {seq}"
        ratios = [f"{rate[variants[0]] / rate[n]:.2f}" for n in ("flash", "cudnn") if n in rate]
        print(label.ljust(32), " ".join(f"{r:6.0f}" for r in rate.values()), "  ", *ratios,
              f"{rate[variants[0]] / gemm:.2f}", flush=True)
        rows.append({"layout": label, "gemm": gemm, **rate})
    return rows


SHAPES = [  # batch, S, heads, K/V heads, D, causal
    (1, 2048, 32, 32, 128, 1), (1, 4096, 32, 32, 128, 1), (1, 8192, 32, 32, 128, 1), (1, 16384, 32, 32, 128, 1), (1, 32768, 32, 32, 128, 1),
    (1, 4096, 32, 8, 128, 1), (1, 8192, 32, 8, 128, 1), (1, 16384, 32, 8, 128, 1), (1, 32768, 32, 8, 128, 1),
    (1, 4096, 32, 32, 128, 0), (1, 8192, 32, 32, 128, 0), (1, 16384, 32, 8, 128, 0),
    (1, 4096, 32, 32, 64, 1), (1, 8192, 32, 8, 64, 1), (1, 16384, 32, 32, 64, 1), (1, 8192, 32, 32, 64, 0),
    (16, 512, 32, 8, 128, 1), (16, 512, 32, 32, 128, 0), (8, 1024, 32, 32, 128, 1), (4, 2048, 32, 8, 128, 1), (2, 4096, 32, 32, 128, 1),
    (1, 8192, 8, 1, 128, 1)]


def time_shapes(library, others):
    rows = []
    print("TFLOP/s: batch, S, heads, D, mask: v5, flash, cudnn, " + ", ".join(others) + "; v5 / the better of flash and cudnn; v5 / others")
    for batch, seq, heads, kv_heads, dim, causal in SHAPES:
        q, k, v = inputs(batch, seq, heads, kv_heads, dim, torch.bfloat16, seed=seq)
        o = torch.empty_like(q)
        runs = {"v5": lambda: library.run("v5", q, k, v, o, causal), "flash": sdpa(SDPBackend.FLASH_ATTENTION, q, k, v, causal),
                "cudnn": sdpa(SDPBackend.CUDNN_ATTENTION, q, k, v, causal)}
        for name, other in others.items():
            runs[name] = lambda other=other: other.run("v5", q, k, v, o, causal)
        flops = 4 * batch * seq * seq * heads * dim / (2 if causal else 1)
        launches = max(1, min(20, int(4e12 / flops)))
        rate = {name: flops / ms / 1e9 for name, ms in median_ms(runs, 16, launches).items()}
        label = f"{batch} x {seq} {heads}/{kv_heads} d{dim} {'causal' if causal else 'full'}"
        best = max(rate["flash"], rate["cudnn"])
        print(label.ljust(28), " ".join(f"{r:6.0f}" for r in rate.values()), f"  {rate['v5'] / best:.3f}  ",
              *(f"{rate['v5'] / rate[name]:.3f}" for name in others), flush=True)
        rows.append({"shape": label, **rate})
    print(f"least: {min(r['v5'] / max(r['flash'], r['cudnn']) for r in rows):.3f} of the better one")
    return rows


def time_splits(library, variants):
    """Few heads: without a split, with the chosen one, and with the best of several."""
    rows = []
    shapes = [(1, s, h, h, c) for h in (1, 2, 4, 8) for s in (512, 2048, 4096, 8192, 16384, 32768) for c in (1, 0)
              if h * s <= 65536]
    shapes += [(1, 4096, 8, 1, 1), (4, 2048, 1, 1, 1), (1, 512, 32, 32, 1)]
    print("microseconds: form, batch, S, heads, causal, flash, cudnn: unsplit, chosen (parts), best (parts); gain")
    for variant, (batch, seq, heads, kv_heads, causal) in itertools.product(variants, shapes):
        q, k, v = inputs(batch, seq, heads, kv_heads, 128, torch.bfloat16, seed=seq)
        o = torch.empty_like(q)
        tiles = -(-seq // 128)
        by_parts = {library.parts(variant, q, k, causal, -(-tiles // parts)): -(-tiles // parts)
                    for parts in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32) if parts <= tiles}
        runs = {parts: (lambda spans=spans: library.run(variant, q, k, v, o, causal, spans)) for parts, spans in by_parts.items()}
        chosen = library.parts(variant, q, k, causal)
        runs["chosen"] = lambda: library.run(variant, q, k, v, o, causal)
        if variant == variants[0]:
            runs["flash"] = sdpa(SDPBackend.FLASH_ATTENTION, q, k, v, causal)
            runs["cudnn"] = sdpa(SDPBackend.CUDNN_ATTENTION, q, k, v, causal)
        times = {name: ms * 1e3 for name, ms in median_ms(runs, 8, 10).items()}
        best = min(by_parts, key=lambda parts: times[parts])
        beside = " ".join(f"{times[name]:6.1f}" for name in ("flash", "cudnn") if name in times)
        print(f"{variant:9} {batch} {seq:5} {heads}/{kv_heads} {'causal' if causal else 'full  '} {beside:13}: "
              f"{times[1]:7.1f} {times['chosen']:7.1f} ({chosen}) {times[best]:7.1f} ({best}); "
              f"{times[1] / times['chosen']:.2f}", flush=True)
        rows.append({"form": variant, "batch": batch, "seq": seq, "heads": heads, "kv_heads": kv_heads, "causal": causal,
                     "chosen_parts": chosen, "us": {str(name): t for name, t in times.items()}})
    return rows


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("library")
    parser.add_argument("actions", nargs="+", choices=["check", "time", "shapes", "split", "all"])
    parser.add_argument("--variants", default="v5,v5_tiles")
    parser.add_argument("--contexts", default="4096,8192,16384,32768")
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    library = Library(arguments.library)
    variants = arguments.variants.split(",")
    failed = check(library, variants) if "check" in arguments.actions else 0
    rows = []
    if "time" in arguments.actions:
        bf16, f16 = torch.bfloat16, torch.float16
        layouts = [(32, 32, 128, 1, bf16), (32, 8, 128, 1, bf16)]
        if "all" in arguments.actions:
            layouts += [(32, 32, 128, 0, bf16), (32, 32, 128, 1, f16), (32, 32, 64, 1, bf16)]
        rows += time(library, variants, [int(s) for s in arguments.contexts.split(",")], layouts)
    if "shapes" in arguments.actions:
        rows += time_shapes(library, {path.split("/")[-1]: Library(path) for path in arguments.beside})
    if "split" in arguments.actions:
        rows += time_splits(library, variants)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
