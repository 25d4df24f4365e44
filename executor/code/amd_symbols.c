#include "executor/code/amd_symbols.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { S_NOP = (int)0xbf800000, S_CODE_END = (int)0xbf9f0000 };

static int by_address(const void *x, const void *y)
{
    const struct amd_symbol *a = x, *b = y;
    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    if (a->function != b->function)
        return a->function ? -1 : 1;
    return a->size != b->size ? (a->size > b->size ? -1 : 1) : strcmp(a->name, b->name);
}

static void read_table(struct amd_symbols *s, const struct elf_file *e, uint32_t type)
{
    struct elf_section table;
    if (!elf_find_type(e, type, &table))
        return;
    for (size_t i = 1; i < elf_symbols(&table); i++) {
        struct elf_symbol symbol;
        if (!elf_symbol(e, &table, i, &symbol) || symbol.size == 0 || symbol.section == SHN_UNDEF ||
            (symbol.type != STT_FUNC && symbol.type != STT_OBJECT))
            continue;
        ALLOC_GROW(s->item, s->count + 1, s->cap);
        s->item[s->count++] = (struct amd_symbol){.name = symbol.name,
                                                  .function = symbol.type == STT_FUNC,
                                                  .addr = symbol.value,
                                                  .size = symbol.size,
                                                  .section = symbol.section};
    }
}

/* A kernel is in both tables of symbols; other symbols at the same address are aliases. */
static void drop_aliases(struct amd_symbols *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct amd_symbol *last = kept ? &s->item[kept - 1] : NULL;
        if (!last || last->addr != s->item[i].addr || last->function != s->item[i].function)
            s->item[kept++] = s->item[i];
    }
    s->count = kept;
}

static bool is_padding(struct span code, uint64_t at)
{
    uint32_t w = span_u32(code, at);
    return w == 0 || w == (uint32_t)S_NOP || w == (uint32_t)S_CODE_END;
}

/* Adds what lies between two functions as a function that has lost its name. */
static void add_gap(struct amd_symbols *s, const struct elf_section *section, size_t index, uint64_t begin,
                    uint64_t end)
{
    while (begin < end && is_padding(section->data, begin))
        begin += 4;
    while (end - begin >= 4 && begin < end && is_padding(section->data, end - 4))
        end -= 4;
    if (begin >= end)
        return;
    ALLOC_GROW(s->item, s->count + 1, s->cap);
    s->item[s->count++] = (struct amd_symbol){.name = "(stripped)",
                                              .function = true,
                                              .addr = section->addr + begin,
                                              .size = end - begin,
                                              .section = (uint16_t)index};
}

/* The linker's symbols of a stripped object are its kernels' only. */
static void add_gaps(struct amd_symbols *s, const struct elf_section *section, size_t index)
{
    size_t known = s->count;
    uint64_t at = 0;
    for (size_t i = 0; i < known; i++) {
        const struct amd_symbol symbol = s->item[i];
        uint64_t begin = symbol.addr - section->addr;
        if (!symbol.function || symbol.section != index || begin < at || begin > section->data.len)
            continue;
        add_gap(s, section, index, at, begin);
        at = symbol.size < section->data.len - begin ? begin + symbol.size : section->data.len;
    }
    add_gap(s, section, index, at, section->data.len);
}

static void sort_symbols(struct amd_symbols *s)
{
    if (s->count)
        qsort(s->item, s->count, sizeof *s->item, by_address);
}

static void name_stripped(struct amd_symbols *s, const struct elf_file *e)
{
    struct elf_section section;
    for (size_t i = 0; i < e->sections; i++)
        if (elf_section(e, i, &section) && section.flags & SHF_EXECINSTR && section.data.len % 4 == 0)
            add_gaps(s, &section, i);
    sort_symbols(s);
}

void amd_symbols_read(struct amd_symbols *s, const struct elf_file *e)
{
    struct elf_section table;
    *s = (struct amd_symbols){.item = NULL};
    read_table(s, e, SHT_SYMTAB);
    read_table(s, e, SHT_DYNSYM);
    if (!elf_find_type(e, SHT_RELA, &s->relocs))
        s->relocs = (struct elf_section){.name = "", .data = SPAN_EMPTY};
    sort_symbols(s);
    drop_aliases(s);
    if (!elf_find_type(e, SHT_SYMTAB, &table))
        name_stripped(s, e);
}

const struct amd_symbol *amd_symbol_at(const struct amd_symbols *s, uint64_t addr)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->item[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    /* A function and a variable may begin at one address only in a malformed file. */
    return low > 0 && addr - s->item[low - 1].addr < s->item[low - 1].size ? &s->item[low - 1] : NULL;
}

void amd_symbols_release(struct amd_symbols *s)
{
    free(s->item);
    *s = (struct amd_symbols){.item = NULL};
}
