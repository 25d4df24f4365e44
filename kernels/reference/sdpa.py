#!/usr/bin/env python3
"""PyTorch's scaled_dot_product_attention with a pinned back-end, usable as a variant.

Follows kernsweep's workload contract: `Prompt tokens: N`, one [PERF_TIMING] line, STATUS=OK. prefill_s is the median
time of one call by device events, over rotating inputs in the project's layout that together exceed the caches. Exit 0:
done; 1: failed; 2: bad input; 77 with `SKIP: reason`: cannot run here.
"""
import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time

BACKENDS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH"}
# On ROCm the flash back-end uses one of two libraries; "flash" lets PyTorch choose.
ROCM_LIBRARIES = ("aotriton", "ck")
TOLERANCE = {"f32": 1e-5, "f16": 5e-4, "bf16": 4e-3}
ROTATED_BYTES = 512 << 20
CHECKED_ROWS = 64


class Skip(Exception):
    """This machine cannot run it, for the given reason."""


class BadInput(Exception):
    """An invalid argument."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def parse(argv):
    parser = Parser(prog="sdpa.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--context", type=positive, required=True)
    parser.add_argument("--batch", type=positive, default=1)
    parser.add_argument("--heads", type=positive, default=32)
    parser.add_argument("--kv-heads", type=positive)
    parser.add_argument("--head-dim", type=positive, default=128)
    parser.add_argument("--dtype", choices=sorted(TOLERANCE), default="bf16")
    parser.add_argument("--backend", choices=[*sorted(BACKENDS), *ROCM_LIBRARIES], default="flash",
                        help="aotriton and ck: flash by that library, on ROCm")
    parser.add_argument("--causal", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--iters", type=positive, default=20)
    parser.add_argument("--warmup", type=positive, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="compare rows with attention in fp64")
    parser.add_argument("--grid", action="store_true", help="ask PyTorch's profiler for the grid of the longest kernel")
    options = parser.parse_args(argv)
    options.kv_heads = options.kv_heads or options.heads
    if options.heads % options.kv_heads:
        raise BadInput(f"--kv-heads {options.kv_heads}: must divide --heads {options.heads}")
    limit = os.environ.get("GRETA_MAX_SEQ_LEN", "")
    if limit and (not limit.isdigit() or int(limit) < 1):
        raise BadInput(f"GRETA_MAX_SEQ_LEN={limit}: must be a whole number from 1")
    if limit and options.context > int(limit):
        raise BadInput(f"context {options.context} is longer than GRETA_MAX_SEQ_LEN {limit}")
    return options


def load_torch():
    try:
        import torch
    except ImportError:
        raise Skip("no PyTorch in " + sys.executable) from None
    if not torch.cuda.is_available():
        raise Skip(f"PyTorch {torch.__version__} sees no GPU")
    return torch


def make_inputs(torch, options):
    """Sets of q, k, v: [batch, heads, tokens, dim] views of dense [batch, tokens, heads, dim] tensors."""
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[options.dtype]
    torch.manual_seed(options.seed)

    def tensor(heads):
        shape = (options.batch, options.context, heads, options.head_dim)
        return torch.randn(shape, device="cuda", dtype=dtype).transpose(1, 2)

    def one_set():
        return tensor(options.heads), tensor(options.kv_heads), tensor(options.kv_heads)

    sets = [one_set()]
    taken = 4 * sets[0][0].numel() * sets[0][0].element_size()
    sets += [one_set() for _ in range(min(64, ROTATED_BYTES // taken))]
    return sets


def choose_rocm_library(torch, name):
    if not torch.version.hip:
        raise Skip(f"back-end {name} is ROCm's, and this PyTorch is built for CUDA {torch.version.cuda}")
    try:
        torch.backends.cuda.preferred_rocm_fa_library(name)
    except (AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise Skip(f"PyTorch {torch.__version__} has no back-end {name}: {reason}") from None


def attention(torch, options):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    if options.backend in ROCM_LIBRARIES:
        choose_rocm_library(torch, options.backend)
    backend = getattr(SDPBackend, BACKENDS.get(options.backend, "FLASH_ATTENTION"))

    def call(q, k, v):
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=options.causal, enable_gqa=options.heads != options.kv_heads)

    return call


def first_call(torch, options, call, inputs):
    """The first call, in which the back-end rejects unsupported shapes."""
    try:
        out = call(*inputs)
        torch.cuda.synchronize()
        return out
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:200]
        raise Skip(f"back-end {options.backend} does not support this shape or type: {reason}") from None


def time_calls(torch, options, call, sets):
    times = []
    for i in range(options.warmup + options.iters):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call(*sets[i % len(sets)])
        stop.record()
        stop.synchronize()
        if i >= options.warmup:
            times.append(start.elapsed_time(stop) * 1e-3)
    return times


def longest_kernel(trace):
    """The grid of the longest kernel in a profiler's trace; empty if the trace does not contain it."""
    kernels = [event for event in trace.get("traceEvents", [])
               if event.get("cat") == "kernel" and {"grid", "block"} <= event.get("args", {}).keys()]
    if not kernels:
        return {}
    longest = max(kernels, key=lambda event: event.get("dur", 0))
    blocks, threads = (math.prod(longest["args"][key]) for key in ("grid", "block"))
    return {"grid_blocks": blocks, "block_threads": threads, "kernel": longest["name"][:200]}


def launched(torch, call, inputs):
    """The launch of one call. Which threads of a block hold queries is unknown for a library, so query_threads is omitted."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        call(*inputs)
        torch.cuda.synchronize()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        with open(file.name, encoding="utf-8") as trace:
            return longest_kernel(json.load(trace))


def relative_error(torch, options, inputs, out):
    """Relative L2 error of a sample of rows, including the first and last, against fp64."""
    q, k, v = (x.double() for x in inputs)
    group = options.heads // options.kv_heads
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    rows = torch.linspace(0, options.context - 1, min(CHECKED_ROWS, options.context), device="cuda").long()
    scores = q[:, :, rows] @ k.transpose(2, 3) / options.head_dim ** 0.5
    if options.causal:
        scores.masked_fill_(torch.arange(options.context, device="cuda")[None, :] > rows[:, None], -torch.inf)
    real = scores.softmax(-1) @ v
    return ((out[:, :, rows].double() - real).norm() / real.norm()).item()


def run(options):
    torch = load_torch()
    try:
        return measure(torch, options)
    except torch.OutOfMemoryError:
        raise BadInput(f"not enough memory for --context {options.context} --batch {options.batch} --heads "
                       f"{options.heads} with {options.backend}") from None


def measure(torch, options):
    started = time.monotonic()
    sets = make_inputs(torch, options)
    call = attention(torch, options)
    out = first_call(torch, options, call, sets[0])
    load_s = time.monotonic() - started
    error = relative_error(torch, options, sets[0], out) if options.check else None
    del out
    grid = launched(torch, call, sets[0]) if options.grid else {}
    times = time_calls(torch, options, call, sets)
    median = statistics.median(times)
    flops = 4 * options.batch * options.context ** 2 * options.heads * options.head_dim / (2 if options.causal else 1)
    timing = {
        "model_load_s": load_s, "tokenize_s": 0, "prefill_s": median, "decode_s": 0,
        "attn_impl": "sdpa_" + options.backend, "variant": "sdpa_" + options.backend,
        "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "units": torch.cuda.get_device_properties(0).multi_processor_count, **grid, "batch": options.batch,
        "heads": options.heads, "kv_heads": options.kv_heads, "seq": options.context,
        "head_dim": options.head_dim, "causal": options.causal, "dtype": options.dtype, "iters": options.iters,
        "warmup": options.warmup, "input_sets": len(sets), "ms_median": median * 1e3, "ms_min": min(times) * 1e3,
        "ms_deviation": statistics.median(abs(t - median) for t in times) * 1e3, "tflops": flops / median / 1e12,
    }
    if error is not None:
        timing["rel_l2"] = error
    good = error is None or error <= TOLERANCE[options.dtype]
    print(f"Prompt tokens: {options.context}")
    print("[PERF_TIMING] " + json.dumps(timing))
    print("STATUS=" + ("OK" if good else "FAIL"))
    if not good:
        print(f"sdpa.py: {options.backend}: relative L2 error {error:.3g} is beyond {TOLERANCE[options.dtype]:.3g}",
              file=sys.stderr)
    return 0 if good else 1


def main(argv):
    try:
        return run(parse(argv))
    except Skip as reason:
        print(f"SKIP: {reason}")
        return 77
    except BadInput as mistake:
        print(f"sdpa.py: {mistake}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
