#!/usr/bin/env python3
"""Judge v5's gfx942 code: registers, scratch, LDS, and what its hot loop keeps busy.

usage: v5_ports.py ASSEMBLY [LDS]   clang's -S output for gfx942, and the bytes of LDS that the launch asks for
       exit 1 when a limit is broken
The hot loop of a kernel is the innermost loop that holds matrix instructions; blocks that only
some tiles run (they hold a comparison for every score: the mask) are not counted.
Port sums are in units of four clocks: a 16x16x16 product takes 4, an exponential 4, any other vector
instruction 1. Loads, LDS and scalar instructions have ports of their own. The ratio is limited for D=128 only:
with D=64 there is half the matrix work to each exponential, and the exponentials alone are half of it.
"""
import re
import sys

MAX_REGISTERS, MAX_LDS, MAX_RATIO = 256, 65536, 0.6


def kernels(text):
    """(name, lines) of every kernel"""
    for match in re.finditer(r"^(\w*attend_tiles\w*):.*?$(.*?)^\s*s_endpgm", text, re.M | re.S):
        yield match.group(1), match.group(2).splitlines()


def blocks(lines):
    """[(label, [(mnemonic, operands)])] in order"""
    result = [("entry", [])]
    for line in lines:
        label = re.match(r"^(\.LBB\w+):", line)
        code = re.match(r"^\s+([a-z]\w+)\s*(.*?)(;.*)?$", line)
        if label:
            result.append((label.group(1), []))
        elif code:
            result[-1][1].append((code.group(1), code.group(2).strip()))
    return result


def hot_loop(all_blocks):
    """The blocks of the smallest backward branch's span that holds matrix instructions."""
    place = {label: i for i, (label, _) in enumerate(all_blocks)}
    spans = []
    for i, (_, code) in enumerate(all_blocks):
        for mnemonic, operands in code:
            if mnemonic.startswith(("s_cbranch", "s_branch")) and place.get(operands, i + 1) <= i:
                spans.append((place[operands], i))
    spans = [(a, b) for a, b in spans if any("v_mfma" in m for _, code in all_blocks[a : b + 1] for m, _ in code)]
    if not spans:
        return []
    first, last = min(spans, key=lambda span: span[1] - span[0])
    return all_blocks[first : last + 1]


def port_sums(loop):
    matrix = vector = 0
    moves = products = 0
    for _, code in loop:
        if sum(m.startswith("v_cmp") for m, _ in code) >= 16:
            continue  # the mask
        for mnemonic, _ in code:
            if mnemonic.startswith("v_mfma"):
                matrix += 4 if "16x16x16" in mnemonic else 8
                products += 1
            elif mnemonic.startswith("v_accvgpr"):
                moves += 1
            elif mnemonic.startswith(("v_exp", "v_rcp", "v_log", "v_sqrt", "v_rsq")):
                vector += 4
            elif mnemonic.startswith("v_"):
                vector += 1
    return matrix, vector, products, moves


def metadata(text, name):
    """The numbers that the code object's metadata holds of a kernel."""
    numbers = {}
    for entry in re.split(r"^  - (?=\.)", text[text.index(".amdgpu_metadata") :], flags=re.M):
        if re.search(rf"\.name:\s+{re.escape(name)}\s*$", entry, re.M):
            numbers = {k: int(v) for k, v in re.findall(r"\.(\w+):\s+(\d+)\s*$", entry, re.M)}
    return numbers


def judge(text, lds_bytes):
    broken = 0
    if not any(kernels(text)):
        print("no kernel of v5 in this file: give it clang's -S output for attention/v5.hip")
        return 1
    for name, lines in kernels(text):
        numbers = metadata(text, name)
        loop = hot_loop(blocks(lines))
        matrix, vector, products, moves = port_sums(loop)
        dim = re.search(r"Li(\d+)E", name).group(1)
        faults = []
        if numbers["private_segment_fixed_size"] or numbers["vgpr_spill_count"] or numbers["sgpr_spill_count"]:
            faults.append("scratch or spills")
        if numbers["vgpr_count"] > MAX_REGISTERS:
            faults.append(f"more than {MAX_REGISTERS} registers")
        if lds_bytes + numbers["group_segment_fixed_size"] > MAX_LDS:
            faults.append(f"more than {MAX_LDS} bytes of LDS")
        if not products:
            faults.append("no matrix instruction in a loop")
        if moves:
            faults.append("v_accvgpr moves in the hot loop")
        if dim == "128" and vector > MAX_RATIO * matrix:
            faults.append(f"vector port over {MAX_RATIO} of the matrix port")
        ratio = vector / matrix if matrix else 0
        kind = "f16" if "format0" in name else "bf16"
        print(f"{kind} D={dim}: registers {numbers['vgpr_count']} scratch {numbers['private_segment_fixed_size']} "
              f"spills {numbers['vgpr_spill_count']}+{numbers['sgpr_spill_count']} products {products} accvgpr {moves} "
              f"vector/matrix ports {vector}/{matrix} = {ratio:.2f} {'FAIL: ' + ', '.join(faults) if faults else 'ok'}")
        broken += bool(faults)
    return broken


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        sys.exit(1 if judge(file.read(), int(sys.argv[2]) if len(sys.argv) > 2 else 32768) else 0)
