#!/usr/bin/env python3
"""Write the compiled kernels' use of resources as resources.json (the project's schemas/resources.schema.json).

usage: resources.py --arch ARCH [--compiler TEXT] [--launches FILE] [--mca PROGRAM] --out FILE NAME=LISTING...

LISTING is clang's assembly (-S) of the variant NAME for an AMD GPU, or the output of `ptxas -v` for NVIDIA.
--launches is the output of tools/launches: block size and dynamic LDS, which no compiler knows. Kernels that a variant
never launches on this architecture are then omitted. With llvm-mca (--mca, default llvm-mca-19, for gfx950 22) the port
pressure of each AMD kernel's hot loop is added, in units of four clocks: the time for which the instructions of an
iteration would occupy each port if nothing else held them up. The vector port issues the matrix instructions too: each
takes one unit of it, and four or eight of the matrix port. The port with the larger sum limits the loop.

The hot loop is the innermost loop with the most multiply-adds; if there are matrix instructions, the smallest loop
with one, without the basic blocks that only some tiles execute (the mask: a comparison per score). A basic block ends
at a label and after a conditional branch.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys

# Per CU or SM: LDS bytes, their granularity, and what the system takes of a block's; lanes per wave, SIMDs, waves per SIMD,
# registers per lane and SIMD, their granularity, and SGPRs per SIMD (0: they limit nothing; by 16).
UNITS = {
    "gfx90a": (65536, 512, 0, 64, 4, 8, 512, 8, 800),
    "gfx942": (65536, 512, 0, 64, 4, 8, 512, 8, 800),
    "gfx950": (163840, 1280, 0, 64, 4, 8, 512, 8, 800),
    "sm_80": (167936, 128, 1024, 32, 4, 16, 512, 8, 0),
    "sm_90": (233472, 128, 1024, 32, 4, 16, 512, 8, 0),
}
MULTIPLY_ADDS = ("v_fma", "v_fmac", "v_mac", "v_pk_fma", "v_dot", "v_mul_f32", "v_pk_mul_f32")
MATRIX = ("v_mfma", "v_smfma")
QUARTER_RATE = ("v_exp_", "v_rcp_", "v_log_", "v_sqrt_", "v_rsq_", "v_sin_", "v_cos_")  # llvm-mca counts them as full rate
MASK_COMPARISONS = 16


# --- AMD: clang's assembly ---------------------------------------------------------------------------------------

def amd_metadata(text):
    """{mangled name: the code object's metadata}"""
    result = {}
    if ".amdgpu_metadata" not in text:
        return result
    for entry in re.split(r"^  - (?=\.)", text[text.index(".amdgpu_metadata"):], flags=re.M)[1:]:
        name = re.search(r"^\s*\.name:\s+(\S+)\s*$", entry, re.M)
        if name:
            result[name.group(1)] = {k: int(v) for k, v in re.findall(r"\.(\w+):\s+(\d+)\s*$", entry, re.M)}
    return result


def amd_code(text, name):
    """The basic blocks of a kernel, in order: [(label, [(mnemonic, operands)])]."""
    body = re.search(rf"^{re.escape(name)}:.*?$(.*?)^\.Lfunc_end", text, re.M | re.S)
    result = [("entry", [])]
    for line in body.group(1).splitlines() if body else []:
        label = re.match(r"^(\.LBB\w+):", line)
        code = re.match(r"^\s+([a-z]\w+)\s*(.*?)(;.*)?$", line)
        if label:
            result.append((label.group(1), []))
        elif code:
            result[-1][1].append((code.group(1), code.group(2).strip()))
            if code.group(1).startswith("s_cbranch"):  # what follows has no label, but is not always executed
                result.append((f"after {result[-1][0]}", []))
    return result


def loops(blocks):
    """The (first, last) blocks of every loop, by its backward branch."""
    place = {label: i for i, (label, _) in enumerate(blocks)}
    return sorted({(place[operands], i) for i, (_, code) in enumerate(blocks) for mnemonic, operands in code
                   if mnemonic.startswith(("s_cbranch", "s_branch")) and place.get(operands, i + 1) <= i})


def instructions(blocks, span):
    """The blocks of a loop, without those that only some tiles execute."""
    return [(m, o) for _, code in blocks[span[0]:span[1] + 1]
            if sum(m.startswith("v_cmp") for m, _ in code) < MASK_COMPARISONS for m, o in code]


def count(code, prefixes):
    return sum(m.startswith(prefixes) for m, _ in code)


def hot_loop(blocks):
    """The instructions of the hot loop; empty if there is none."""
    spans = loops(blocks)
    matrix = [s for s in spans if count(instructions(blocks, s), MATRIX)]
    if matrix:
        return instructions(blocks, min(matrix, key=lambda s: s[1] - s[0]))
    inner = [s for s in spans if not any(t != s and s[0] <= t[0] and t[1] <= s[1] for t in spans)]
    work = [instructions(blocks, s) for s in inner]
    work = [code for code in work if count(code, MULTIPLY_ADDS)]
    return max(work, key=lambda code: count(code, MULTIPLY_ADDS)) if work else []


def kind(mnemonic, operands):
    """What an instruction counts as in the contents of a loop; None: scalar and control, which nothing here is short of."""
    if mnemonic.startswith(MATRIX):
        return "matrix"
    if mnemonic.startswith("v_exp_"):
        return "exponentials"
    if mnemonic.startswith("v_"):
        return "vector"
    if mnemonic == "ds_read_b128":
        return "lds_reads_b128"
    if mnemonic.startswith("ds_read"):
        return "lds_reads_other"
    if mnemonic.startswith("ds_write"):
        return "lds_writes"
    if re.match(r"(buffer|global|flat)_load", mnemonic):
        return "loads_to_lds" if re.search(r"\blds\b", operands) or "_lds_" in mnemonic else "loads"
    return {"s_barrier": "barriers", "s_waitcnt": "waits"}.get(mnemonic)


def loop_contents(code):
    """How many instructions of each kind an iteration has, and the most vector ones between two matrix instructions."""
    result = dict.fromkeys(("matrix", "exponentials", "vector", "lds_reads_b128", "lds_reads_other", "lds_writes", "loads",
                            "loads_to_lds", "barriers", "waits"), 0)
    run = longest = 0
    for what in (kind(m, o) for m, o in code + code):  # twice: the last ones are followed by the next iteration's first
        if what == "matrix":
            run = 0
        elif what in ("vector", "exponentials"):
            run += 1
            longest = max(longest, run)
    for what in (kind(m, o) for m, o in code):
        if what:
            result[what] += 1
    if result["matrix"]:
        result["vector_run"] = longest
    return result


def for_mca(mnemonic, operands):
    """An instruction as input for llvm-mca. Version 19 crashes on buffer loads, so they become global loads: same port."""
    access = re.fullmatch(r"buffer_(load|store)(_dword\w*)", mnemonic)
    if not access:
        return f"{mnemonic} {operands}\n"
    data = re.match(r"[va](\[\d+:\d+\]|\d+)", operands).group()
    where = f"{data}, v[0:1]" if access.group(1) == "load" else f"v[0:1], {data}"
    return f"global_{access.group(1)}{access.group(2)} {where}, off\n"


def machine_model(arch):
    """The llvm-mca to ask; None: none is installed. Versions up to 19 do not know gfx950."""
    versions = ("22", "21", "20") if arch == "gfx950" else ("19",)
    return next(filter(None, (shutil.which(f"llvm-mca-{v}") for v in versions)), shutil.which("llvm-mca"))


def port_sums(code, arch, mca):
    """{port: units of four clocks} per iteration by llvm-mca's machine model; None if it fails."""
    if not code or not mca:
        return None
    text = "".join(for_mca(m, o) for m, o in code)
    run = subprocess.run([mca, "-mtriple=amdgcn", f"-mcpu={arch}", "-instruction-tables"],
                         input=text, capture_output=True, text=True)
    names = re.findall(r"^\[\d+\]\s+- (\w+)$", run.stdout, re.M)
    sums = re.search(r"^Resource pressure per iteration:\n.*\n(.*)$", run.stdout, re.M)
    if run.returncode or not names or not sums or "not a recognized processor" in run.stderr:
        return None
    ports = {n: 0.0 if v == "-" else float(v) for n, v in zip(names, sums.group(1).split())}
    if "HWVALU" in ports:
        ports["HWVALU"] += 3 * count(code, QUARTER_RATE) + count(code, MATRIX)
    return {n: ports[n] for n in ("HWXDL", "HWVALU", "HWLGKM", "HWVMEM", "HWSALU") if n in ports}


def amd_kernels(text, arch, mca):
    for name, n in amd_metadata(text).items():
        agprs = n.get("agpr_count", 0)
        vgprs = re.search(rf"^{re.escape(name)}:.*?^; NumVgprs: (\d+)", text, re.M | re.S)
        kernel = {
            "vgprs": int(vgprs.group(1)) if vgprs else n["vgpr_count"] - agprs,
            "agprs": agprs,
            "sgprs": n["sgpr_count"],
            "scratch_bytes": n["private_segment_fixed_size"],
            "vgpr_spills": n.get("vgpr_spill_count", 0),
            "sgpr_spills": n.get("sgpr_spill_count", 0),
            "lds_static_bytes": n["group_segment_fixed_size"],
        }
        loop = hot_loop(amd_code(text, name))
        if loop:
            kernel["loop"] = loop_contents(loop)
        ports = port_sums(loop, arch, mca)
        if ports:
            kernel["ports"] = ports
        yield name, kernel


# --- NVIDIA: what ptxas -v prints --------------------------------------------------------------------------------

def nvidia_kernels(text):
    for entry in re.split(r"Compiling entry function ", text)[1:]:
        name = re.match(r"'(\S+)'", entry).group(1)
        frame, stores = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", entry).groups()
        shared = re.search(r"(\d+) bytes smem", entry)
        yield name, {
            "vgprs": int(re.search(r"Used (\d+) registers", entry).group(1)),
            "scratch_bytes": int(frame),
            "vgpr_spills": int(stores) // 4,
            "lds_static_bytes": int(shared.group(1)) if shared else 0,
        }


# --- both --------------------------------------------------------------------------------------------------------

def demangled(names):
    """{mangled name: demangled name, without what all kernels share}"""
    tool = next((t for t in ("c++filt", "llvm-cxxfilt", "llvm-cxxfilt-19") if shutil.which(t)), None)
    names = list(names)
    if not tool or not names:
        return {n: n for n in names}
    lines = subprocess.run([tool], input="\n".join(names) + "\n", capture_output=True, text=True).stdout.splitlines()
    return {n: short(line) for n, line in zip(names, lines)}


def short(name):
    name = name.removeprefix("void ").replace("(anonymous namespace)::", "")
    depth = 0
    for i, c in enumerate(name):  # the argument list begins at the first parenthesis outside < >
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            return name[:i]
    return name


def read_launches(path):
    """{(variant, name): facts}; of several launches of a kernel, the one with the most LDS counts."""
    facts = {}
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    names = demangled({line["kernel"] for line in lines})
    for line in lines:
        key = (line.pop("variant"), names[line.pop("kernel")])
        if key not in facts or line["lds_dynamic_bytes"] > facts[key]["lds_dynamic_bytes"]:
            facts[key] = line
    return facts


def unit_of(arch):
    for name, unit in UNITS.items():
        if re.fullmatch(name + r"(a|:.*)?", arch):
            return unit
    return None


def align_up(number, step):
    return -(-number // step) * step


def add_occupancy(kernel, unit):
    """Derived numbers: lane use, and the occupancy in waves per SIMD by each limit."""
    lds, lds_step, reserved, lanes, simds, slots, registers, step, sgprs = unit
    threads = kernel.get("block_threads")
    if not threads:
        return
    waves = -(-threads // lanes)
    agprs = kernel.get("agprs", 0)
    each = align_up(kernel["vgprs"], 4) + agprs if agprs else kernel["vgprs"]
    by_registers = min(slots, registers // max(step, align_up(each, step)))
    if sgprs and kernel.get("sgprs"):
        by_registers = min(by_registers, sgprs // align_up(kernel["sgprs"], 16))
    used = kernel.get("lds_static_bytes", 0) + kernel.get("lds_dynamic_bytes", 0)
    by_lds = min(slots, lds // (align_up(used, lds_step) + reserved) * waves / simds) if used else slots
    least = min(by_registers, by_lds)
    kernel["waves_per_block"] = waves
    kernel["lane_use"] = threads / (waves * lanes)
    kernel["occupancy"] = {
        "by_registers": by_registers,
        "by_lds": by_lds,
        "waves": least,
        "rule": "slots" if least >= slots else "lds" if by_lds <= by_registers else "registers",
    }


def collect(options):
    unit = unit_of(options.arch)
    launches = read_launches(options.launches) if options.launches else {}
    result = []
    for listing in options.listings:
        variant, _, path = listing.partition("=")
        with open(path, errors="replace") as file:
            text = file.read()
        amd = options.arch.startswith("gfx")
        found = list(amd_kernels(text, options.arch, options.mca) if amd else nvidia_kernels(text))
        if not found:
            raise SystemExit(f"resources.py: {path}: no kernel in it: give it the compiler's listing of {variant}")
        names = demangled(n for n, _ in found)
        launched = {name for owner, name in launches if owner == variant}
        for name, kernel in found:
            if launched and names[name] not in launched:
                continue
            kernel = {"name": names[name], "variant": variant, **kernel, **launches.get((variant, names[name]), {})}
            if unit:
                add_occupancy(kernel, unit)
            result.append(kernel)
    return result


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", required=True)
    parser.add_argument("--compiler", default="")
    parser.add_argument("--launches")
    parser.add_argument("--mca")
    parser.add_argument("--out", required=True)
    parser.add_argument("listings", nargs="+", metavar="NAME=LISTING")
    options = parser.parse_args(argv)
    options.mca = options.mca or machine_model(options.arch)
    document = {"schema": "kernsweep.resources/1", "arch": options.arch}
    if options.compiler:
        document["compiler"] = options.compiler
    document["kernels"] = collect(options)
    with open(options.out, "w") as file:
        json.dump(document, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])
