#!/usr/bin/env python3
"""What of reference/sdpa.py needs no GPU and no PyTorch: the grid out of a profiler's trace, ROCm's back-ends. TAP."""
import contextlib
import io
import pathlib
import sys
import types

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "reference"))
import sdpa  # noqa: E402

results = []


def check(good, name):
    results.append(good)
    print(f"{'ok' if good else 'not ok'} {len(results)} - {name}")


def skips(torch, library):
    try:
        sdpa.choose_rocm_library(torch, library)
    except sdpa.Skip as reason:
        return str(reason)
    return None


def pytorch(hip, choose):
    version = types.SimpleNamespace(hip=hip, cuda=None if hip else "13.0")
    cuda = types.SimpleNamespace(preferred_rocm_fa_library=choose)
    return types.SimpleNamespace(__version__="2.11", version=version, backends=types.SimpleNamespace(cuda=cuda))


def lacking(name):
    raise RuntimeError(f"{name} is not\n in this build")


def kernel(name, duration, grid):
    return {"cat": "kernel", "name": name, "dur": duration, "args": {"grid": grid, "block": [128, 1, 1]}}


trace = {"traceEvents": [{"cat": "cuda_runtime", "name": "launch", "dur": 99, "args": {}}, kernel("fill", 3, [9, 1, 1]),
                         kernel("flash", 50, [4, 2, 8]), {"cat": "kernel", "name": "no grid", "dur": 70, "args": {}}]}
check(sdpa.longest_kernel(trace) == {"grid_blocks": 64, "block_threads": 128, "kernel": "flash"},
      "the grid is the longest kernel's, of those that have one")
check(sdpa.longest_kernel({}) == {}, "a trace without kernels says nothing")
check("is ROCm's" in (skips(pytorch(None, None), "ck") or ""), "ROCm's back-ends are skipped elsewhere")
chosen = []
check(skips(pytorch("7.0", chosen.append), "aotriton") is None and chosen == ["aotriton"], "on ROCm the library is chosen")
check(skips(pytorch("7.0", lacking), "ck") == "PyTorch 2.11 has no back-end ck: ck is not in this build",
      "a library that a build lacks is skipped with its reason, in one line")


class OutOfMemory(RuntimeError):
    pass


def fills_up(torch, options):
    raise torch.OutOfMemoryError("tried to allocate 9 TiB,\n of which 2 are free")


sdpa.load_torch, sdpa.measure = lambda: types.SimpleNamespace(OutOfMemoryError=OutOfMemory), fills_up
said = io.StringIO()
with contextlib.redirect_stderr(said):
    status = sdpa.main(["--context", "99", "--batch", "7"])
check(status == 2 and said.getvalue().count("\n") == 1 and "not enough memory for --context 99 --batch 7" in said.getvalue(),
      "too large a shape is one line and exit 2, wherever the memory ends")
print(f"1..{len(results)}")
sys.exit(not all(results))
