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

/* Instructions of GPUs since Volta, 16 bytes each, by their lowest 12 bits. The system's functions, such as
 * printf's, are called like the last; a kernel's attributes list them. */
enum {
    LOCALS_MAX = 64,
    CALL_RELATIVE = 0x944,
    CALL_POINTER_RELATIVE = 0x344,
    CALL_POINTER = 0x343,
    INSTRUCTION = 16
};

/* From these GPUs on, instructions have 16 bytes, and a relative call has its distance in other bits. */
enum { GPU_WIDE = 70, GPU_MOVED_DISTANCE = 90 };

/* Attributes that are numbers of a kernel: registers, its own stack, and that with all that it calls. */
enum { ATTR_FRAME_SIZE = 0x11, ATTR_STACK_SIZE = 0x12, ATTR_REGISTERS = 0x2f, NUMBER_MAX = 1 << 30 };

/* From this version of the ABI on, the GPU's number is the second byte of the flags, no longer the first. */
enum { ABI_MOVED_GPU = 8 };

/* From this GPU on, a kernel's section of shared memory begins with what the system reserves. */
enum { GPU_RESERVES = 90, RESERVED_BYTES = 1024 };

struct function {
    const char *name; /* borrowed */
    bool kernel;
    bool calls_absolute; /* a pointer, or a function of the system */
    bool calls_system;
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
    struct elf_symbol *local; /* functions within the section of another, by section and place */
    size_t local_count, local_cap, next_local;
    struct code_graph graph;
    struct sha256 data;
    bool has_data;
};

bool cuda_is(const struct elf_file *e)
{
    return e->machine == MACHINE_CUDA && e->type == ET_EXEC;
}

static unsigned model_of(const struct elf_file *e)
{
    return e->flags >> (e->file.data[EI_ABIVERSION] >= ABI_MOVED_GPU ? 8 : 0) & 0xff;
}

/* The flags of sm_100, sm_100a and sm_100f are the same; the note of the tool that made the file has its
 * command line. */
void cuda_target(const struct elf_file *e, char out[TARGET_MAX])
{
    struct elf_section s;
    char wanted[TARGET_MAX];
    size_t len = (size_t)snprintf(wanted, sizeof wanted, "-arch sm_%u", model_of(e));
    snprintf(out, TARGET_MAX, "sm_%u", model_of(e));
    for (size_t i = 0; i < e->sections; i++) {
        if (!elf_section(e, i, &s) || strcmp(s.name, ".note.nv.tkinfo") != 0)
            continue;
        const uint8_t *at = s.data.len ? memmem(s.data.data, s.data.len, wanted, len) : NULL;
        char suffix = at && (size_t)(at - s.data.data) + len < s.data.len ? (char)at[len] : ' ';
        if (suffix == 'a' || suffix == 'f')
            snprintf(out, TARGET_MAX, "sm_%u%c", model_of(e), suffix);
    }
}

static int by_name(const void *x, const void *y)
{
    const struct function *a = x, *b = y;
    return strcmp(a->name, b->name);
}

static struct function *find_function(const struct reading *r, const char *name)
{
    const struct function wanted = {.name = name};
    return r->functions ? bsearch(&wanted, r->function, r->functions, sizeof wanted, by_name) : NULL;
}

static int by_place(const void *x, const void *y)
{
    const struct elf_symbol *a = x, *b = y;
    return a->section != b->section ? (a->section > b->section) - (a->section < b->section)
                                    : (a->value > b->value) - (a->value < b->value);
}

/* A function has a section of its own; one that is local to another lies in that one's. */
static void list_functions(struct reading *r)
{
    for (size_t i = 0; i < elf_symbols(&r->symbols); i++) {
        struct elf_symbol s;
        struct elf_section section;
        if (!elf_symbol(r->e, &r->symbols, i, &s) || s.type != STT_FUNC || !*s.name ||
            !elf_section(r->e, s.section, &section) || strncmp(section.name, ".text.", 6) != 0)
            continue;
        if (strcmp(section.name + 6, s.name) != 0) {
            ALLOC_GROW(r->local, r->local_count + 1, r->local_cap);
            r->local[r->local_count++] = s;
            continue;
        }
        ALLOC_GROW(r->function, r->functions + 1, r->cap);
        r->function[r->functions++] =
            (struct function){.name = s.name, .kernel = (s.other & KERNEL_FLAG) != 0};
    }
    if (r->functions)
        qsort(r->function, r->functions, sizeof *r->function, by_name);
    if (r->local_count)
        qsort(r->local, r->local_count, sizeof *r->local, by_place);
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

static void add_attributes(const struct reading *r, struct sha256 *h, struct span s, struct function *f)
{
    struct attribute a;
    for (size_t at = 0; next_attribute(s, &at, &a);) {
        sha256_add(h, &a.number, sizeof a.number);
        sha256_add(h, &a.value, sizeof a.value);
        f->calls_system = f->calls_system || (a.number == ATTR_EXTERNS && a.data.len);
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
    if (number == ATTR_STACK_SIZE && value == UINT32_MAX)
        r->graph.node[f->node].dynamic = true; /* the linker does not know it */
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
        code_graph_part(&r->graph, f->node, CODE_PART_ALWAYS, &h);
    }
}

/* from: the function whose section it is, NULL: data. */
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
        else if (to)
            r->graph.node[to->node].taken = true;
    }
}

static void add_contents(struct reading *r, struct sha256 *h, const struct elf_section *s, struct function *f)
{
    sha256_add(h, &s->size, sizeof s->size);
    if (elf_relocs(s))
        add_relocs(r, h, s, f);
    else if (f && strncmp(s->name, ".nv.info.", 9) == 0)
        add_attributes(r, h, s->data, f);
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

static void read_owned(struct reading *r, const struct elf_section *s, struct function *f)
{
    /* The node has the function's name, so only the rest of the section's name is added. */
    size_t len = strlen(s->name) - strlen(f->name);
    struct sha256 h;
    sha256_begin(&h);
    sha256_add(&h, &r->gpu, sizeof r->gpu);
    sha256_add(&h, &len, sizeof len);
    sha256_add(&h, s->name, len);
    add_contents(r, &h, s, f);
    code_graph_part(&r->graph, f->node, CODE_PART_ALWAYS, &h);
}

/* Static shared memory is that of the section, without what the system reserves. */
static void note_shared(struct reading *r, const struct elf_section *s, const struct function *f)
{
    int64_t *lds = &r->graph.node[f->node].facts.resource[KERNEL_LDS_BYTES];
    uint64_t reserved = r->model >= GPU_RESERVES ? RESERVED_BYTES : 0;
    if (strncmp(s->name, ".nv.shared.", 11) == 0 && s->size >= reserved && s->size <= NUMBER_MAX)
        *lds = (int64_t)(s->size - reserved);
}

/* Returns where a relative call at that place goes. */
static uint64_t call_target(const struct reading *r, struct span code, uint64_t at)
{
    uint64_t low = span_u64(code, at), high = span_u64(code, at + 8) & 0x3ffff;
    int64_t distance = (int64_t)((low >> 34 | high << 30) << 16) >> 16;
    distance *= r->model >= GPU_MOVED_DISTANCE ? 1024 : 4;
    if (r->model >= GPU_MOVED_DISTANCE)
        distance += (int64_t)(low >> 16 & 0xff) * 4;
    return at + INSTRUCTION + (uint64_t)distance;
}

/* The functions in one section: the one that it is of, and those that are local to it, by their places. Bit j
 * of calls[i]: i calls j. */
struct locals {
    uint64_t begin[LOCALS_MAX], calls[LOCALS_MAX];
    size_t count;
    bool through_pointers, absolute;
};

/* Returns false if there are more than can be looked at. Sections come in order, and local functions by
 * theirs. */
static bool list_locals(struct reading *r, size_t section, struct locals *l)
{
    *l = (struct locals){.begin = {0}, .count = 1};
    while (r->next_local < r->local_count && r->local[r->next_local].section < section)
        r->next_local++;
    for (size_t i = r->next_local; i < r->local_count && r->local[i].section == section; i++) {
        if (r->local[i].value == l->begin[l->count - 1])
            continue;
        if (l->count == LOCALS_MAX)
            return false;
        l->begin[l->count++] = r->local[i].value;
    }
    return true;
}

static size_t local_at(const struct locals *l, uint64_t at)
{
    size_t i = l->count - 1;
    while (i > 0 && l->begin[i] > at)
        i--;
    return i;
}

static void read_calls(const struct reading *r, struct span code, struct locals *l)
{
    for (uint64_t at = 0; at + INSTRUCTION <= code.len; at += INSTRUCTION) {
        unsigned op = span_u16(code, at) & 0xfff;
        l->through_pointers = l->through_pointers || op == CALL_POINTER_RELATIVE;
        l->absolute = l->absolute || op == CALL_POINTER;
        if (op == CALL_RELATIVE)
            l->calls[local_at(l, at)] |= UINT64_C(1) << local_at(l, call_target(r, code, at));
    }
}

/* Whether calls lead from one of the functions back to itself. */
static bool have_recursion(struct locals *l)
{
    for (size_t via = 0; via < l->count; via++)
        for (size_t from = 0; from < l->count; from++)
            if (l->calls[from] >> via & 1)
                l->calls[from] |= l->calls[via];
    for (size_t i = 0; i < l->count; i++)
        if (l->calls[i] >> i & 1)
            return true;
    return false;
}

/* ptxas states the stack of functions that it can follow, and 0 where it cannot. */
static void note_calls(struct reading *r, const struct elf_section *s, size_t section, struct function *f)
{
    struct code_node *node = &r->graph.node[f->node];
    struct locals l;
    if (!(s->flags & SHF_EXECINSTR) || r->model < GPU_WIDE)
        return;
    bool readable = list_locals(r, section, &l);
    read_calls(r, s->data, &l);
    node->dynamic = node->dynamic || !readable || l.through_pointers || have_recursion(&l);
    f->calls_absolute = f->calls_absolute || l.absolute;
}

static void read_section(struct reading *r, const struct elf_section *s, size_t index)
{
    const char *owner = owner_of(s->name);
    struct function *f = owner ? find_function(r, owner) : NULL;
    if (f) {
        note_shared(r, s, f);
        note_calls(r, s, index, f);
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
    r.model = model_of(e);
    cuda_target(e, r.graph.gpu);
    sha256_begin(&r.data);
    sha256_add(&r.data, &r.gpu, sizeof r.gpu);
    if (!elf_find_type(e, SHT_SYMTAB, &r.symbols))
        r.symbols = (struct elf_section){.name = "", .data = SPAN_EMPTY};
    list_functions(&r);
    for (size_t i = 0; i < e->sections; i++)
        if (elf_section(e, i, &section))
            read_section(&r, &section, i);
    for (size_t i = 0; i < r.functions; i++)
        if (r.function[i].calls_absolute && !r.function[i].calls_system)
            r.graph.node[r.function[i].node].dynamic = true;
    code_graph_finish(&r.graph, set);
    sha256_end(&r.data, sha256);
    if (r.has_data)
        code_set_add(set, CODE_ITEM_DATA, "cuda", sha256);
    code_graph_release(&r.graph);
    free(r.function);
    free(r.local);
}
