#include "executor/code/amd_symbols.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *x, const void *y)
{
    const struct amd_symbol *a = x, *b = y;
    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    if (a->function != b->function)
        return a->function ? -1 : 1;
    return a->size != b->size ? (a->size > b->size ? -1 : 1) : strcmp(a->name, b->name);
}

static int read_table(struct amd_symbols *s, const struct elf_file *e, const struct elf_section *table,
                      struct err *err)
{
    for (size_t i = 1; i < elf_symbols(table); i++) {
        struct elf_symbol symbol;
        if (!elf_symbol(e, table, i, &symbol) || symbol.size == 0 || symbol.section == SHN_UNDEF ||
            (symbol.type != STT_FUNC && symbol.type != STT_OBJECT))
            continue;
        if (!ALLOC_GROW(s->item, s->count + 1, s->cap))
            return err_set(err, ERR_INTERNAL, "no memory for the code identity");
        s->item[s->count++] = (struct amd_symbol){.name = symbol.name,
                                                  .function = symbol.type == STT_FUNC,
                                                  .addr = symbol.value,
                                                  .size = symbol.size,
                                                  .section = symbol.section};
    }
    return 0;
}

/* Both tables name a kernel; the others are aliases. */
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

int amd_symbols_read(struct amd_symbols *s, const struct elf_file *e, struct err *err)
{
    struct elf_section table;
    *s = (struct amd_symbols){.item = NULL};
    if (elf_find_type(e, SHT_SYMTAB, &table) && read_table(s, e, &table, err) != 0)
        return -1;
    if (elf_find_type(e, SHT_DYNSYM, &table) && read_table(s, e, &table, err) != 0)
        return -1;
    if (!elf_find_type(e, SHT_RELA, &s->relocs))
        s->relocs = (struct elf_section){.name = "", .data = SPAN_EMPTY};
    if (s->count)
        qsort(s->item, s->count, sizeof *s->item, by_address);
    drop_aliases(s);
    return 0;
}

void amd_symbols_release(struct amd_symbols *s)
{
    free(s->item);
    *s = (struct amd_symbols){.item = NULL};
}

const struct amd_symbol *amd_symbols_at(const struct amd_symbols *s, uint64_t addr)
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
