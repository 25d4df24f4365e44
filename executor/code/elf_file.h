/* elf_file: the sections, symbols and relocations of a 64-bit little-endian ELF file: a host's object or
 * program, a code object of an AMD GPU, a cubin. Pure functions over a span; a section, symbol or relocation
 * that does not lie within the file is not there. Knows nothing of what the sections mean.
 */
#pragma once

#include "executor/code/span.h"

#include <elf.h>

struct elf_file {
    struct span file;
    uint16_t type, machine;
    uint32_t flags;
    uint64_t table; /* offset of the section headers */
    size_t sections;
    struct span names;
};

struct elf_section {
    const char *name; /* borrowed; "" where it has none */
    uint32_t type, link, info;
    uint64_t flags, addr, size;
    struct span data; /* empty for one without bits */
};

struct elf_symbol {
    const char *name; /* borrowed */
    unsigned type;    /* STT_FUNC, ... */
    uint8_t other;
    uint16_t section;
    uint64_t value, size;
};

struct elf_reloc {
    uint64_t offset;
    uint32_t type, symbol;
    int64_t addend; /* 0 for SHT_REL */
};

bool elf_is(struct span file);
/* Returns false for what is not such a file, or has no valid table of sections. */
bool elf_open(struct elf_file *out, struct span file);
bool elf_section(const struct elf_file *e, size_t i, struct elf_section *out);
/* Finds the first section of that type. */
bool elf_find_type(const struct elf_file *e, uint32_t type, struct elf_section *out);

size_t elf_symbols(const struct elf_section *table);
bool elf_symbol(const struct elf_file *e, const struct elf_section *table, size_t i, struct elf_symbol *out);

/* Returns 0 for a section that is no table of relocations. */
size_t elf_relocs(const struct elf_section *table);
bool elf_reloc(const struct elf_section *table, size_t i, struct elf_reloc *out);
/* Returns the borrowed name of the relocation's symbol, or of its section for a section's symbol, or "". */
const char *elf_reloc_name(const struct elf_file *e, const struct elf_section *table,
                           const struct elf_reloc *reloc);
