#include "executor/code/elf_file.h"

#include <string.h>

/* Returns "" for a name that does not end within its table. */
static const char *name_at(struct span table, uint64_t offset)
{
    if (offset >= table.len || !memchr(table.data + offset, '\0', table.len - (size_t)offset))
        return "";
    return (const char *)table.data + offset;
}

bool elf_is(struct span file)
{
    return span_begins(file, ELFMAG, SELFMAG) && file.len >= sizeof(Elf64_Ehdr) &&
           file.data[EI_CLASS] == ELFCLASS64 && file.data[EI_DATA] == ELFDATA2LSB;
}

/* Reads the header of a section; the name is left to the caller. Returns false where the table ends before
 * it, or the file before its data. */
static bool read_header(const struct elf_file *e, size_t i, uint32_t *name, struct elf_section *out)
{
    struct span h;
    if (i >= e->sections || !span_part(e->file, e->table + i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr), &h))
        return false;
    *name = span_u32(h, offsetof(Elf64_Shdr, sh_name));
    *out = (struct elf_section){.name = "",
                                .data = SPAN_EMPTY,
                                .type = span_u32(h, offsetof(Elf64_Shdr, sh_type)),
                                .link = span_u32(h, offsetof(Elf64_Shdr, sh_link)),
                                .info = span_u32(h, offsetof(Elf64_Shdr, sh_info)),
                                .flags = span_u64(h, offsetof(Elf64_Shdr, sh_flags)),
                                .addr = span_u64(h, offsetof(Elf64_Shdr, sh_addr)),
                                .size = span_u64(h, offsetof(Elf64_Shdr, sh_size))};
    return out->type == SHT_NOBITS || out->type == SHT_NULL ||
           span_part(e->file, span_u64(h, offsetof(Elf64_Shdr, sh_offset)), out->size, &out->data);
}

bool elf_open(struct elf_file *out, struct span file)
{
    struct elf_section names;
    struct span table;
    uint32_t ignored;
    if (!elf_is(file))
        return false;
    *out = (struct elf_file){.file = file,
                             .type = span_u16(file, offsetof(Elf64_Ehdr, e_type)),
                             .machine = span_u16(file, offsetof(Elf64_Ehdr, e_machine)),
                             .flags = span_u32(file, offsetof(Elf64_Ehdr, e_flags)),
                             .table = span_u64(file, offsetof(Elf64_Ehdr, e_shoff)),
                             .sections = span_u16(file, offsetof(Elf64_Ehdr, e_shnum))};
    size_t name_section = span_u16(file, offsetof(Elf64_Ehdr, e_shstrndx));
    if (out->table == 0 || !span_part(file, out->table, sizeof(Elf64_Shdr), &table))
        return false;
    /* Files of many sections keep both numbers in the header of section 0. */
    if (out->sections == 0)
        out->sections = span_u64(table, offsetof(Elf64_Shdr, sh_size));
    if (name_section == SHN_XINDEX)
        name_section = span_u32(table, offsetof(Elf64_Shdr, sh_link));
    if (out->sections > file.len / sizeof(Elf64_Shdr) ||
        !span_part(file, out->table, out->sections * sizeof(Elf64_Shdr), &table) ||
        !read_header(out, name_section, &ignored, &names))
        return false;
    out->names = names.data;
    return true;
}

bool elf_section(const struct elf_file *e, size_t i, struct elf_section *out)
{
    uint32_t name;
    if (!read_header(e, i, &name, out))
        return false;
    out->name = name_at(e->names, name);
    return true;
}

bool elf_find_type(const struct elf_file *e, uint32_t type, struct elf_section *out)
{
    for (size_t i = 0; i < e->sections; i++)
        if (elf_section(e, i, out) && out->type == type)
            return true;
    return false;
}

size_t elf_symbols(const struct elf_section *table)
{
    return table->data.len / sizeof(Elf64_Sym);
}

bool elf_symbol(const struct elf_file *e, const struct elf_section *table, size_t i, struct elf_symbol *out)
{
    struct elf_section names;
    struct span s;
    if (i >= elf_symbols(table) || !span_part(table->data, i * sizeof(Elf64_Sym), sizeof(Elf64_Sym), &s) ||
        !elf_section(e, table->link, &names))
        return false;
    uint8_t info = s.data[offsetof(Elf64_Sym, st_info)];
    *out = (struct elf_symbol){.name = name_at(names.data, span_u32(s, offsetof(Elf64_Sym, st_name))),
                               .type = ELF64_ST_TYPE(info),
                               .other = s.data[offsetof(Elf64_Sym, st_other)],
                               .section = span_u16(s, offsetof(Elf64_Sym, st_shndx)),
                               .value = span_u64(s, offsetof(Elf64_Sym, st_value)),
                               .size = span_u64(s, offsetof(Elf64_Sym, st_size))};
    return true;
}

static size_t reloc_size(const struct elf_section *table)
{
    return table->type == SHT_RELA ? sizeof(Elf64_Rela) : table->type == SHT_REL ? sizeof(Elf64_Rel) : 0;
}

size_t elf_relocs(const struct elf_section *table)
{
    return reloc_size(table) ? table->data.len / reloc_size(table) : 0;
}

bool elf_reloc(const struct elf_section *table, size_t i, struct elf_reloc *out)
{
    struct span r;
    if (i >= elf_relocs(table) || !span_part(table->data, i * reloc_size(table), reloc_size(table), &r))
        return false;
    uint64_t info = span_u64(r, offsetof(Elf64_Rela, r_info));
    *out = (struct elf_reloc){.offset = span_u64(r, offsetof(Elf64_Rela, r_offset)),
                              .type = (uint32_t)ELF64_R_TYPE(info),
                              .symbol = (uint32_t)ELF64_R_SYM(info),
                              .addend = (int64_t)span_u64(r, offsetof(Elf64_Rela, r_addend))};
    return true;
}

const char *elf_reloc_name(const struct elf_file *e, const struct elf_section *table,
                           const struct elf_reloc *reloc)
{
    struct elf_section symbols, section;
    struct elf_symbol symbol;
    if (reloc->symbol == 0 || !elf_section(e, table->link, &symbols) ||
        !elf_symbol(e, &symbols, reloc->symbol, &symbol))
        return "";
    if (symbol.type == STT_SECTION && elf_section(e, symbol.section, &section))
        return section.name;
    return symbol.name;
}
