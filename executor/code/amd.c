#include "executor/code/amd.h"

#include "common/base/alloc.h"
#include "executor/code/amd_kernels.h"
#include "executor/code/amd_symbols.h"
#include "executor/code/code_graph.h"

#include <stdlib.h>
#include <string.h>

enum {
    MACHINE_AMDGPU = 224,
    DESCRIPTOR_SIZE = 64,
    DESCRIPTOR_ENTRY = 16, /* offset of the address of the code, relative to the descriptor */
    DESCRIPTOR_ENTRY_SIZE = 8,
    PAIR_DISTANCE = 16,  /* dwords from s_getpc_b64 to what is added to it */
    SECTIONS_MAX = 256,  /* compilers write some twenty */
    RELOCS_MAX = 4096,   /* searched for each address of the instructions */
    REGISTERS_MAX = 128, /* of those that an address may be put into */
};

/* One object while it is read. */
struct reading {
    const struct elf_file *e;
    const struct mask *mask;
    struct amd_kernels kernels;
    struct amd_symbols symbols;
    struct code_graph graph;
};

bool amd_is(const struct elf_file *e)
{
    return e->machine == MACHINE_AMDGPU && e->type == ET_DYN && e->sections <= SECTIONS_MAX;
}

/* Adds what an address points to, in a form that survives moves of code. to: a function, else NULL. */
static bool add_symbol(const struct reading *r, struct sha256 *h, uint64_t addr, const struct amd_symbol **to)
{
    const struct amd_symbol *symbol = amd_symbol_at(&r->symbols, addr);
    *to = symbol && symbol->function ? symbol : NULL;
    if (!symbol)
        return false;
    uint64_t offset = addr - symbol->addr;
    mask_add_name(h, symbol->name);
    sha256_add(h, &offset, sizeof offset);
    return true;
}

/* Adds what a relocation puts at its place. */
static void add_pointer(const struct reading *r, struct sha256 *h, const struct elf_reloc *reloc,
                        const struct amd_symbol **to)
{
    const char *name = elf_reloc_name(r->e, &r->symbols.relocs, reloc);
    struct elf_section table;
    struct elf_symbol symbol;
    sha256_add(h, &reloc->type, sizeof reloc->type);
    if (!*name) {
        add_symbol(r, h, (uint64_t)reloc->addend, to);
        return;
    }
    const struct amd_symbol *at =
        elf_section(r->e, r->symbols.relocs.link, &table) && elf_symbol(r->e, &table, reloc->symbol, &symbol)
            ? amd_symbol_at(&r->symbols, symbol.value)
            : NULL;
    *to = at && at->function ? at : NULL;
    mask_add_name(h, name);
}

/* Adds an address in the instructions: of a symbol, or of a pointer to one in the global offset table. */
static void add_target(const struct reading *r, struct sha256 *h, uint64_t addr, const struct amd_symbol **to)
{
    struct elf_reloc reloc;
    if (add_symbol(r, h, addr, to))
        return;
    for (size_t i = 0; i < RELOCS_MAX && elf_reloc(&r->symbols.relocs, i, &reloc); i++) {
        if (reloc.offset == addr) {
            add_pointer(r, h, &reloc, to);
            return;
        }
    }
}

static uint32_t get(const uint8_t *code, size_t i)
{
    return span_u32((struct span){code, (i + 1) * 4}, i * 4);
}

/* Recognises s_getpc_b64 of gfx9, gfx10, and gfx11 and later; *pair: the first register of the result. */
static bool is_getpc(uint32_t w, uint32_t *pair)
{
    *pair = w >> 16 & 0x7f;
    switch (w & 0xff80ffff) {
    case 0xbe801c00:
    case 0xbe801f00:
    case 0xbe804700:
        return true;
    }
    return false;
}

/* Recognises s_swappc_b64, which calls; its number differs by generation. */
static bool is_call(const char *gpu, uint32_t w, uint32_t *pair)
{
    uint32_t op = strncmp(gpu, "gfx9", 4) == 0 ? 0x1e : strncmp(gpu, "gfx10", 5) == 0 ? 0x21 : 0x49;
    *pair = w & 0xff;
    return (w & 0xff80ff00) == (0xbe800000 | op << 8);
}

/* Finds the places of the literals that s_add_u32 and s_addc_u32 add to the pair; 0 where there is none. */
static void find_literals(const uint8_t *code, size_t count, size_t from, uint32_t pair, size_t *low,
                          size_t *high)
{
    *low = *high = 0;
    for (size_t i = from; i + 1 < count && i < from + PAIR_DISTANCE && !(*low && *high); i++) {
        uint32_t w = get(code, i), ignored;
        if (is_getpc(w, &ignored) && ignored == pair)
            return;
        if (!*low && w == (0x8000ff00 | pair << 16 | pair))
            *low = ++i;
        else if (*low && w == (0x8200ff00 | (pair + 1) << 16 | (pair + 1)))
            *high = ++i;
    }
}

static const struct amd_kernel *kernel_of(const struct reading *r, const struct amd_symbol *s)
{
    return s->function ? amd_kernels_find(&r->kernels, s->name, strlen(s->name)) : NULL;
}

/* Whether the function calls what it has not put the address of together itself. addresses: of functions,
 * that it has; pairs: the registers that held them (those that are loaded from the global offset table are in
 * others). */
static bool calls_through_pointers(const struct reading *r, const uint8_t *code, size_t count,
                                   size_t addresses, const bool *pairs)
{
    uint32_t pair;
    size_t calls = 0;
    bool unknown = false;
    for (size_t i = 0; i < count; i++) {
        if (!is_call(r->kernels.gpu, get(code, i), &pair))
            continue;
        calls++;
        unknown = unknown || pair >= REGISTERS_MAX || !pairs[pair];
    }
    return unknown && calls > addresses;
}

/* Adds the instructions, with names in place of addresses. code is a copy that is changed. */
static void add_instructions(struct reading *r, const struct amd_symbol *f, uint8_t *code, size_t len)
{
    struct sha256 h;
    size_t count = len / 4, addresses = 0;
    bool pairs[REGISTERS_MAX] = {false};
    sha256_begin(&h);
    sha256_add_text(&h, "text");
    for (size_t i = 0; i < count; i++) {
        size_t low, high;
        uint32_t pair;
        const struct amd_symbol *to;
        if (!is_getpc(get(code, i), &pair))
            continue;
        find_literals(code, count, i + 1, pair, &low, &high);
        if (!low || !high)
            continue;
        uint64_t target = f->addr + (i + 1) * 4 + (get(code, low) | (uint64_t)get(code, high) << 32);
        memset(code + low * 4, 0, 4);
        memset(code + high * 4, 0, 4);
        add_target(r, &h, target, &to);
        if (to) {
            code_graph_edge(&r->graph, f->node, to->node);
            pairs[pair] = true;
            addresses++;
        }
    }
    sha256_add(&h, &r->e->flags, sizeof r->e->flags);
    sha256_add(&h, code, len);
    code_graph_part(&r->graph, f->node, CODE_PART_ALWAYS, &h);
    const struct amd_kernel *kernel = kernel_of(r, f);
    int dynamic = kernel ? amd_kernel_is_dynamic(kernel) : -1;
    /* Code objects before version 5 do not say. */
    r->graph.node[f->node].dynamic =
        dynamic > 0 || (dynamic < 0 && calls_through_pointers(r, code, count, addresses, pairs));
    r->graph.node[f->node].bounded = dynamic == 0;
}

static void read_function(struct reading *r, const struct amd_symbol *f)
{
    struct elf_section section;
    struct span code;
    if (!elf_section(r->e, f->section, &section) ||
        !span_part(section.data, f->addr - section.addr, f->size, &code))
        return;
    AUTO_FREE uint8_t *copy = xmemdup(code.data, code.len);
    add_instructions(r, f, copy, code.len);
}

static void read_entry(struct reading *r, const struct amd_symbol *f)
{
    const struct amd_kernel *kernel = kernel_of(r, f);
    struct sha256 h;
    if (!kernel)
        return;
    sha256_begin(&h);
    sha256_add_text(&h, "metadata");
    mask_add(r->mask, &h, kernel->entry);
    code_graph_part(&r->graph, f->node, CODE_PART_NAMED, &h);
    sha256_begin(&h);
    amd_kernel_add_nameless(kernel, r->mask, &h);
    code_graph_part(&r->graph, f->node, CODE_PART_NAMELESS, &h);
}

/* Whether a symbol is a kernel's descriptor. Its first *len characters are the kernel's name. */
static bool is_descriptor(const struct reading *r, const struct amd_symbol *s, size_t *len)
{
    size_t all = strlen(s->name);
    *len = all > 3 ? all - 3 : 0;
    return !s->function && s->size == DESCRIPTOR_SIZE && *len && strcmp(s->name + *len, ".kd") == 0 &&
           amd_kernels_find(&r->kernels, s->name, *len);
}

static void read_descriptor(struct reading *r, const struct amd_symbol *s)
{
    static const uint8_t zeros[DESCRIPTOR_ENTRY_SIZE];
    struct elf_section section;
    struct span d;
    struct sha256 h;
    if (!elf_section(r->e, s->section, &section) ||
        !span_part(section.data, s->addr - section.addr, s->size, &d))
        return;
    /* The descriptor has the address of its function's code, relative to its own. */
    const struct amd_symbol *f = amd_symbol_at(&r->symbols, s->addr + span_u64(d, DESCRIPTOR_ENTRY));
    if (!f || !f->function)
        return;
    sha256_begin(&h);
    sha256_add_text(&h, "descriptor");
    sha256_add(&h, d.data, DESCRIPTOR_ENTRY);
    sha256_add(&h, zeros, sizeof zeros);
    sha256_add(&h, d.data + DESCRIPTOR_ENTRY + sizeof zeros, d.len - DESCRIPTOR_ENTRY - sizeof zeros);
    code_graph_part(&r->graph, f->node, CODE_PART_ALWAYS, &h);
}

static void add_function(struct reading *r, const struct amd_symbol *f)
{
    const struct amd_kernel *kernel = kernel_of(r, f);
    code_graph_node(&r->graph, f->name, kernel != NULL);
    if (kernel)
        amd_kernel_facts(kernel, r->kernels.gpu, &r->graph.node[f->node].facts);
}

static void read_functions(struct reading *r)
{
    size_t ignored;
    for (size_t i = 0; i < r->symbols.count; i++) {
        struct amd_symbol *s = &r->symbols.item[i];
        s->node = r->graph.nodes;
        if (s->function)
            add_function(r, s);
    }
    for (size_t i = 0; i < r->symbols.count; i++) {
        const struct amd_symbol *s = &r->symbols.item[i];
        if (s->function) {
            read_function(r, s);
            read_entry(r, s);
        } else if (is_descriptor(r, s, &ignored)) {
            read_descriptor(r, s);
        }
    }
}

/* Adds data without the descriptors, which belong to kernels and hold addresses. */
static void add_data(const struct reading *r, struct sha256 *h, const struct elf_section *section,
                     size_t index)
{
    AUTO_FREE uint8_t *copy = xmemdup(section->data.data, section->data.len);
    size_t ignored;
    for (size_t i = 0; i < r->symbols.count; i++) {
        const struct amd_symbol *s = &r->symbols.item[i];
        uint64_t at = s->addr - section->addr;
        if (s->section == index && is_descriptor(r, s, &ignored) && at <= section->data.len &&
            s->size <= section->data.len - at)
            memset(copy + at, 0, (size_t)s->size);
    }
    mask_add(r->mask, h, (struct span){copy, section->data.len});
}

static bool is_data(const struct elf_section *s)
{
    return s->flags & SHF_ALLOC && !(s->flags & SHF_EXECINSTR) &&
           (s->type == SHT_PROGBITS || s->type == SHT_NOBITS) && strcmp(s->name, ".got") != 0;
}

static void read_data(struct reading *r, struct code_set *set)
{
    char sha256[SHA256_HEX_LEN + 1];
    struct elf_section section;
    struct sha256 h;
    bool any = false;
    sha256_begin(&h);
    sha256_add(&h, &r->e->flags, sizeof r->e->flags);
    for (size_t i = 0; i < r->e->sections; i++) {
        if (!elf_section(r->e, i, &section) || !is_data(&section))
            continue;
        any = true;
        sha256_add_text(&h, section.name);
        sha256_add(&h, &section.size, sizeof section.size);
        add_data(r, &h, &section, i);
    }
    struct elf_reloc reloc;
    const struct amd_symbol *to;
    for (size_t i = 0; elf_reloc(&r->symbols.relocs, i, &reloc); i++) {
        add_pointer(r, &h, &reloc, &to);
        if (to)
            r->graph.node[to->node].taken = true;
    }
    sha256_end(&h, sha256);
    if (any)
        code_set_add(set, CODE_ITEM_DATA, "amd", sha256);
}

void amd_target(const struct elf_file *e, char out[TARGET_MAX])
{
    struct amd_kernels kernels;
    amd_kernels_read(&kernels, e);
    memcpy(out, kernels.gpu, TARGET_MAX);
    amd_kernels_release(&kernels);
}

void amd_code(const struct elf_file *e, const struct mask *mask, struct code_set *set)
{
    struct reading r = {.e = e, .mask = mask};
    code_graph_init(&r.graph);
    amd_kernels_read(&r.kernels, e);
    memcpy(r.graph.gpu, r.kernels.gpu, sizeof r.graph.gpu);
    amd_symbols_read(&r.symbols, e);
    read_functions(&r);
    read_data(&r, set);
    code_graph_finish(&r.graph, set);
    code_graph_release(&r.graph);
    amd_symbols_release(&r.symbols);
    amd_kernels_release(&r.kernels);
}
