#!/usr/bin/env python3
"""Print model/unicode_ranges.h: Unicode's letters and numbers as ranges, for the pre-tokenizers."""
import sys
import unicodedata


def ranges(kind):
    found = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] != kind:
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def table(name, kind):
    print(f"const unicode_range {name}[] = {{")
    line = "   "
    for first, last in ranges(kind):
        item = f" {{0x{first:x}, 0x{last:x}}},"
        if len(line) + len(item) > 110:
            print(line)
            line = "   "
        line += item
    print(line + "\n};")


print(f"// Made by tools/unicode_ranges.py: the general categories L and N of Unicode {unicodedata.unidata_version}.")
print("// clang-format off")
print("#pragma once\n\n#include <cstdint>\n\nstruct unicode_range {\n    uint32_t first, last;\n};\n")
table("unicode_letters", "L")
print()
table("unicode_numbers", "N")
