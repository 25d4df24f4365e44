/* amd_symbols: the functions, variables and descriptors of a code object, by address. What a stripped object
 * does not name is a function "(stripped)". The owner calls amd_symbols_release().
 */
#pragma once

#include "executor/code/elf_file.h"

struct amd_symbol {
    const char *name; /* borrowed */
    bool function;
    uint64_t addr, size;
    uint16_t section;
    size_t node; /* of a function: its index among the functions */
};

struct amd_symbols {
    struct amd_symbol *item; /* by address; one for each address and kind */
    size_t count, cap;

    struct elf_section relocs; /* of the loaded object; without data: none */
};

/* The names are borrowed from the object. */
void amd_symbols_read(struct amd_symbols *s, const struct elf_file *e);
void amd_symbols_release(struct amd_symbols *s);
/* Returns what the address lies in; NULL: nothing that has a name. */
const struct amd_symbol *amd_symbol_at(const struct amd_symbols *s, uint64_t addr);
