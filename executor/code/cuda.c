#include "executor/code/cuda.h"

#include "common/base/alloc.h"
#include "executor/code/code_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The flags name the GPU; their last byte tells of debug information. */
enum { MACHINE_CUDA = 190, KERNEL_FLAG = 0x10, SYMBOL_SIZE = 4, GPU_FLAGS = 0xffffff };

/* Attributes (EIATTR_*) that hold indexes of symbols, and the format that has a size. */
enum { ATTR_PARAM_CBANK = 0x0a, ATTR_EXTERNS = 0x0f, FORMAT_SIZED = 4, ATTR_HEAD = 4 };

/* Attributes that are numbers of a kernel: registers, its own stack, and that with all that it calls. */
enum { ATTR_FRAME_SIZE = 0x11, ATTR_STACK_SIZE = 0x12, ATTR_REGISTERS = 0x2f, NUMBER_MAX = 1 << 30 };

/* From this version of the ABI on, the GPU's number is the second byte of the flags, no longer the first. */
enum { ABI_MOVED_GPU = 8 };

/* From this GPU on, a kernel's section of shared memory begins with what the system reserves. */
enum { GPU_RESERVES = 90, RESERVED_BYTES = 1024 };

struct function {
    const char *name; /* borrowed */
    bool kernel;
    size_t node;
};

/* One cubin while it is read. */
struct reading {
    const struct elf_file *e;
    const struct mask *mask;
    uint32_t gpu;
    unsigned model; /* 90 for sm_90 */
    struct elf_section symbols;
    struct function *function; /* by name, as the nodes of the graph */
    size_t functions, cap;
    struct code_graph graph;
    struct sha256 data;
    bool has_data;
};

bool cuda_is(const struct elf_file *e)
{
    return e->machine == MACHINE_CUDA && e->type == ET_EXEC;
}

static int by_name(const void *x, const void *y)
{
    const struct function *a = x, *b = y;
    return strcmp(a->name, b->name);
}

static const struct function *find_function(const struct reading *r, const char *name)
{
    const struct function wanted = {.name = name};
    return r->functions ? bsearch(&wanted, r->function, r->functions, sizeof wanted, by_name) : NULL;
}

/* A function has a section of its own; what is inlined into one has not. */
static void list_functions(struct reading *r)
{
    for (size_t i = 0; i < elf_symbols(&r->symbols); i++) {
        struct elf_symbol s;
        struct elf_section section;
        if (!elf_symbol(r->e, &r->symbols, i, &s) || s.type != STT_FUNC || !*s.name ||
            !elf_section(r->e, s.section, &section) || strncmp(section.name, ".text.", 6) != 0 ||
            strcmp(section.name + 6, s.name) != 0)
            continue;
        ALLOC_GROW(r->function, r->functions + 1, r->cap);
        r->function[r->functions++] =
            (struct function){.name = s.name, .kernel = (s.other & KERNEL_FLAG) != 0};
    }
    if (r->functions)
        qsort(r->function, r->functions, sizeof *r->function, by_name);
    for (size_t i = 0; i < r->functions; i++) {
        r->function[i].node = i;
        code_graph_node(&r->graph, r->function[i].name, r->function[i].kernel);
        r->graph.node[i].facts.resource[KERNEL_LDS_BYTES] = 0; /* unless it has a section */
    }
}

static const char *symbol_name(const struct reading *r, uint32_t index)
{
    struct elf_symbol s;
    return elf_symbol(r->e, &r->symbols, index, &s) ? s.name : "";
}

/* One attribute of .nv.info: format, number, value, and, in the sized format, data of that size. */
struct attribute {
    uint8_t format, number;
    uint16_t value;
    struct span data;
};

static bool next_attribute(struct span s, size_t *at, struct attribute *out)
{
    if (s.len - *at < ATTR_HEAD)
        return false;
    *out = (struct attribute){
        .format = s.data[*at], .number = s.data[*at + 1], .value = span_u16(s, *at + 2), .data = SPAN_EMPTY};
    *at += ATTR_HEAD;
    if (out->format != FORMAT_SIZED)
        return true;
    if (!span_part(s, *at, out->value, &out->data))
        return false;
    *at += out->value;
    return true;
}

static void add_externs(const struct reading *r, struct sha256 *h, struct span list)
{
    for (size_t i = 0; i + SYMBOL_SIZE <= list.len; i += SYMBOL_SIZE)
        mask_add_name(h, symbol_name(r, span_u32(list, i)));
}

static void add_attributes(const struct reading *r, struct sha256 *h, struct span s)
{
    struct attribute a;
    for (size_t at = 0; next_attribute(s, &at, &a);) {
        sha256_add(h, &a.number, sizeof a.number);
        sha256_add(h, &a.value, sizeof a.value);
        if (a.number == ATTR_EXTERNS)
            add_externs(r, h, a.data);
        else if (a.number == ATTR_PARAM_CBANK && a.data.len >= SYMBOL_SIZE)
            sha256_add(h, a.data.data + SYMBOL_SIZE, a.data.len - SYMBOL_SIZE);
        else
            sha256_add(h, a.data.data, a.data.len);
    }
}

/* The stack is the larger of the kernel's own frame and what ptxas calls the cumulative stack size. */
static void note_number(struct reading *r, const struct function *f, uint8_t number, uint32_t value)
{
    int64_t *resource = r->graph.node[f->node].facts.resource;
    if (value > NUMBER_MAX)
        return;
    if (number == ATTR_REGISTERS)
        resource[KERNEL_VGPRS] = value;
    else if ((number == ATTR_STACK_SIZE || number == ATTR_FRAME_SIZE) &&
             resource[KERNEL_SCRATCH_BYTES] < (int64_t)value)
        resource[KERNEL_SCRATCH_BYTES] = value;
}

/* .nv.info without a kernel's name holds numbers of kernels (registers, stack), each with its symbol. */
static void read_shared_attributes(struct reading *r, struct span s)
{
    struct attribute a;
    for (size_t at = 0; next_attribute(s, &at, &a);) {
        const struct function *f =
            a.data.len == 2 * SYMBOL_SIZE ? find_function(r, symbol_name(r, span_u32(a.data, 0))) : NULL;
        struct sha256 h;
        if (!f)
            continue;
        sha256_begin(&h);
        sha256_add_text(&h, "number");
        sha256_add(&h, &a.number, sizeof a.number);
        sha256_add(&h, a.data.data + SYMBOL_SIZE, SYMBOL_SIZE);
        note_number(r, f, a.number, span_u32(a.data, SYMBOL_SIZE));
        code_graph_part(&r->graph, f->node, &h);
    }
}

/* from: the function whose section it is, NULL: none. */
static void add_relocs(struct reading *r, struct sha256 *h, const struct elf_section *table,
                       const struct function *from)
{
    struct elf_reloc reloc;
    for (size_t i = 0; elf_reloc(table, i, &reloc); i++) {
        const char *name = elf_reloc_name(r->e, table, &reloc);
        const struct function *to = find_function(r, name);
        sha256_add(h, &reloc.offset, sizeof reloc.offset);
        sha256_add(h, &reloc.type, sizeof reloc.type);
        sha256_add(h, &reloc.addend, sizeof reloc.addend);
        mask_add_name(h, name);
        if (from && to)
            code_graph_edge(&r->graph, from->node, to->node);
    }
}

static void add_contents(struct reading *r, struct sha256 *h, const struct elf_section *s,
                         const struct function *f)
{
    sha256_add(h, &s->size, sizeof s->size);
    if (elf_relocs(s))
        add_relocs(r, h, s, f);
    else if (strncmp(s->name, ".nv.info.", 9) == 0)
        add_attributes(r, h, s->data);
    else if (s->flags & SHF_EXECINSTR)
        sha256_add(h, s->data.data, s->data.len);
    else
        mask_add(r->mask, h, s->data);
}

/* Returns the name of the function in the name of a section, ".text._Z3onePf"; NULL: it has none. */
static const char *owner_of(const char *section)
{
    static const char *const prefixes[] = {".text.",     ".nv.info.",         ".nv.shared.",
                                           ".nv.local.", ".nv.constant",      ".rela.text.",
                                           ".rel.text.", ".rela.nv.constant", ".rel.nv.constant"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(section, prefixes[i], len) != 0)
            continue;
        const char *owner = section + len;
        if (section[len - 1] == '.')
            return owner;
        owner += strspn(owner, "0123456789"); /* .nv.constant2._Z3onePf */
        return *owner == '.' ? owner + 1 : NULL;
    }
    return NULL;
}

static bool is_data(const char *section)
{
    static const char *const prefixes[] = {".nv.constant",    ".nv.global",       ".rela.nv.constant",
                                           ".rela.nv.global", ".rel.nv.constant", ".rel.nv.global"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(section, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void read_owned(struct reading *r, const struct elf_section *s, const struct function *f)
{
    /* The node has the function's name, so only the rest of the section's name is added. */
    size_t len = strlen(s->name) - strlen(f->name);
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, &r->gpu, sizeof r->gpu);
    sha256_add(&h, &len, sizeof len);
    sha256_add(&h, s->name, len);
    add_contents(r, &h, s, f);
    code_graph_part(&r->graph, f->node, &h);
}

/* Static shared memory is that of the section, without what the system reserves. */
static void note_shared(struct reading *r, const struct elf_section *s, const struct function *f)
{
    int64_t *lds = &r->graph.node[f->node].facts.resource[KERNEL_LDS_BYTES];
    uint64_t reserved = r->model >= GPU_RESERVES ? RESERVED_BYTES : 0;
    if (strncmp(s->name, ".nv.shared.", 11) == 0 && s->size >= reserved && s->size <= NUMBER_MAX)
        *lds = (int64_t)(s->size - reserved);
}

static void read_section(struct reading *r, const struct elf_section *s)
{
    const char *owner = owner_of(s->name);
    const struct function *f = owner ? find_function(r, owner) : NULL;
    if (f) {
        note_shared(r, s, f);
        read_owned(r, s, f);
    } else if (strcmp(s->name, ".nv.info") == 0) {
        read_shared_attributes(r, s->data);
    } else if (is_data(s->name)) {
        r->has_data = true;
        mask_add_name(&r->data, s->name);
        add_contents(r, &r->data, s, NULL);
    }
}

void cuda_code(const struct elf_file *e, const struct mask *mask, struct code_set *set)
{
    struct reading r = {.e = e, .mask = mask, .gpu = e->flags & GPU_FLAGS};
    char sha256[SHA256_HEX_LEN + 1];
    struct elf_section section;
    code_graph_init(&r.graph);
    r.model = e->flags >> (e->file.data[EI_ABIVERSION] >= ABI_MOVED_GPU ? 8 : 0) & 0xff;
    snprintf(r.graph.gpu, sizeof r.graph.gpu, "sm_%u", r.model);
    sha256_begin(&r.data);
    sha256_add(&r.data, &r.gpu, sizeof r.gpu);
    if (!elf_find_type(e, SHT_SYMTAB, &r.symbols))
        r.symbols = (struct elf_section){.name = "", .data = SPAN_EMPTY};
    list_functions(&r);
    for (size_t i = 0; i < e->sections; i++)
        if (elf_section(e, i, &section))
            read_section(&r, &section);
    code_graph_finish(&r.graph, set);
    sha256_end(&r.data, sha256);
    if (r.has_data)
        code_set_add(set, CODE_ITEM_DATA, "cuda", sha256);
    code_graph_release(&r.graph);
    free(r.function);
}
