#include "executor/code/disassembly.h"

#include "common/base/alloc.h"
#include "executor/code/disassembly_loops.h"
#include "executor/code/instruction.h"

#include <stdlib.h>
#include <string.h>

enum { PC_DISTANCE = 16 };

static const uint64_t no_label = UINT64_MAX;

/* A label of nvdisasm: ".L_x_<id>". */
struct disassembly_label {
    uint64_t id, addr;
};

void disassembly_init(struct disassembly *d, enum disassembly_syntax syntax)
{
    *d = (struct disassembly){.syntax = syntax};
    buf_init(&d->text, DISASSEMBLY_TEXT_MAX);
}

static void forget_function(struct disassembly *d)
{
    free(d->name);
    d->name = NULL;
    d->steps = d->labels = 0;
    d->too_long = false;
    d->pc_pair = 0;
    buf_clear(&d->text);
}

void disassembly_release(struct disassembly *d)
{
    forget_function(d);
    free(d->step);
    free(d->label);
    buf_release(&d->text);
    *d = (struct disassembly){.name = NULL};
}

/* Drops what linkers fill up the end of a function with: s_nop, s_code_end; NOP behind a branch to itself. */
static void drop_padding(struct disassembly *d)
{
    static const char *const padding[] = {"s_nop", "s_code_end", "NOP"};
    for (bool dropped = true; dropped && d->steps;) {
        const struct disassembly_step *last = &d->step[d->steps - 1];
        dropped = last->has_target && last->target == last->addr;
        for (size_t i = 0; i < sizeof padding / sizeof *padding; i++)
            dropped = dropped || strncmp(d->text.data + last->text, padding[i], strlen(padding[i])) == 0;
        d->steps -= dropped;
    }
}

static int by_id(const void *x, const void *y)
{
    const struct disassembly_label *a = x, *b = y;
    return (a->id > b->id) - (a->id < b->id);
}

/* Puts addresses in place of nvdisasm's labels. */
static void resolve_labels(struct disassembly *d)
{
    if (d->labels)
        qsort(d->label, d->labels, sizeof *d->label, by_id);
    for (size_t i = 0; i < d->steps; i++) {
        struct disassembly_step *s = &d->step[i];
        const struct disassembly_label wanted = {.id = s->target};
        const struct disassembly_label *found =
            s->has_target && d->labels ? bsearch(&wanted, d->label, d->labels, sizeof wanted, by_id) : NULL;
        s->has_target = found != NULL;
        s->target = found ? found->addr : 0;
    }
}

static void finish_function(struct disassembly *d)
{
    struct disassembly_function f = {.name = d->name};
    AUTO(buf_release) struct buf listing = {.max = DISASSEMBLY_TEXT_MAX};
    if (d->name && !d->too_long && buf_ok(&d->text) && d->steps) {
        if (d->syntax == DISASSEMBLY_NVDISASM)
            resolve_labels(d);
        drop_padding(d);
        disassembly_count(d->step, d->steps, f.instructions, f.hot_loop);
        if (d->listings && disassembly_list(d->step, d->steps, buf_str(&d->text), &listing)) {
            f.listing = buf_str(&listing);
            f.listing_len = listing.len;
        }
        d->function(d->arg, &f);
    }
    forget_function(d);
}

static void begin_function(struct disassembly *d, const char *name, size_t len)
{
    char *copy = xstrndup(name, len);
    bool scratch = false;
    if (d->begins(d->arg, copy, &scratch)) {
        finish_function(d);
        d->name = copy;
        d->scratch = scratch;
        return;
    }
    free(copy);
}

/* text: the instruction without its address; text[len] is NUL. */
static void add_step(struct disassembly *d, struct disassembly_step step, const char *text, size_t len)
{
    if (!d->name || d->too_long)
        return;
    d->too_long = d->steps == DISASSEMBLY_INSTRUCTIONS_MAX;
    if (d->too_long)
        return;
    ALLOC_GROW(d->step, d->steps + 1, d->step_cap);
    step.text = d->text.len;
    buf_add(&d->text, text, len + 1);
    d->step[d->steps++] = step;
}

/* Finds the target of s_branch and s_cbranch_*, whose operand is a distance in words. */
static bool branch_target(const char *text, uint64_t addr, struct disassembly_step *out)
{
    char *end;
    size_t name = strcspn(text, " ");
    if ((strncmp(text, "s_branch", 8) != 0 && strncmp(text, "s_cbranch", 9) != 0) || text[name] != ' ')
        return false;
    unsigned long words = strtoul(text + name + 1, &end, 10);
    if (end == text + name + 1 || *end || words > UINT16_MAX)
        return false;
    int64_t signed_words = words > INT16_MAX ? (int64_t)words - (UINT16_MAX + 1) : (int64_t)words;
    out->target = addr + 4 + (uint64_t)(signed_words * 4);
    out->has_target = true;
    out->label = name + 1;
    out->label_len = strlen(text + name + 1);
    return true;
}

/* The distance to a symbol that is added to the program counter changes when code moves, so it is masked. */
static size_t mask_pc_distance(struct disassembly *d, char *text, size_t len)
{
    unsigned pair, to, from;
    int literal = 0;
    if (sscanf(text, "s_getpc_b64 s[%u:", &pair) == 1) {
        d->pc_pair = pair + 1;
        d->pc_pair_at = d->steps;
    }
    if (!d->pc_pair || d->steps - d->pc_pair_at > PC_DISTANCE)
        return len;
    if ((sscanf(text, "s_add_u32 s%u, s%u, %n0x", &to, &from, &literal) == 2 && literal && to == from &&
         to == d->pc_pair - 1) ||
        (sscanf(text, "s_addc_u32 s%u, s%u, %n", &to, &from, &literal) == 2 && literal && to == from &&
         to == d->pc_pair)) {
        text[literal] = '?';
        text[literal + 1] = '\0';
        return (size_t)literal + 1;
    }
    return len;
}

static size_t trimmed(const char *text, size_t len)
{
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    return len;
}

/* A line is "0000000000001700 <name>:" or "\ts_mov_b32 s9, 0    // 000000001718: BE890080". */
static void read_llvm(struct disassembly *d, char *line)
{
    char *name = strchr(line, '<'), *comment, *end;
    size_t len = strlen(line);
    if (line[0] != '\t') {
        if (name && len > 2 && strcmp(line + len - 2, ">:") == 0)
            begin_function(d, name + 1, (size_t)(line + len - 2 - name - 1));
        return;
    }
    comment = strstr(line, "// ");
    if (!comment)
        return;
    struct disassembly_step step = {.addr = strtoull(comment + 3, &end, 16)};
    char *text = line + 1;
    len = trimmed(text, (size_t)(comment - text));
    text[len] = '\0';
    if (*end != ':' || len == 0)
        return;
    len = mask_pc_distance(d, text, len);
    step.class = instruction_class_amd(text, d->scratch);
    branch_target(text, step.addr, &step);
    add_step(d, step, text, len);
}

/* Returns the number in ".L_x_12"; no_label where it is none. */
static uint64_t label_id(const char *text, char **end)
{
    static const char begin[] = ".L_x_";
    if (strncmp(text, begin, sizeof begin - 1) != 0)
        return no_label;
    uint64_t id = strtoull(text + sizeof begin - 1, end, 10);
    return *end == text + sizeof begin - 1 ? no_label : id;
}

static void add_label(struct disassembly *d, const char *line)
{
    char *end;
    uint64_t id = label_id(line, &end);
    if (id == no_label || strcmp(end, ":") != 0 || !d->name || d->labels == DISASSEMBLY_INSTRUCTIONS_MAX)
        return;
    ALLOC_GROW(d->label, d->labels + 1, d->label_cap);
    /* A label stands before its instruction. Instructions are 16 bytes apart on every GPU since Volta. */
    uint64_t addr = d->steps ? d->step[d->steps - 1].addr + 16 : 0;
    d->label[d->labels++] = (struct disassembly_label){id, addr};
}

static void nvidia_target(const char *text, struct disassembly_step *out)
{
    const char *label = strstr(text, "`(.L_x_");
    char *end;
    uint64_t id = label ? label_id(label + 2, &end) : no_label;
    if (id == no_label || *end != ')')
        return;
    out->has_target = true;
    out->target = id;
    out->label = (size_t)(label - text);
    out->label_len = (size_t)(end + 1 - label);
}

/* A line has an address in a comment, perhaps a predicate, and the instruction: "@!P0 STS [UR4], R4 ;". */
static void read_instruction(struct disassembly *d, char *line)
{
    char *end, *text;
    struct disassembly_step step = {.addr = strtoull(line + 2, &end, 16)};
    if (strncmp(end, "*/", 2) != 0)
        return;
    text = end + 2 + strspn(end + 2, " \t{");
    size_t len = trimmed(text, strcspn(text, ";"));
    text[len] = '\0';
    if (len == 0)
        return;
    const char *code = *text == '@' ? text + strcspn(text, " ") : text;
    step.class = instruction_class_nvidia(code + strspn(code, " "));
    nvidia_target(text, &step);
    add_step(d, step, text, len);
}

static void read_nvdisasm(struct disassembly *d, char *line)
{
    static const char section[] = "\t.section\t", code[] = ".text.";
    size_t blank = strspn(line, " \t");
    if (strncmp(line, section, sizeof section - 1) == 0) {
        const char *name = line + sizeof section - 1;
        finish_function(d);
        if (strncmp(name, code, sizeof code - 1) == 0)
            begin_function(d, name + sizeof code - 1, strcspn(name + sizeof code - 1, ","));
        return;
    }
    if (strncmp(line + blank, "/*", 2) == 0)
        read_instruction(d, line + blank);
    else if (blank == 0)
        add_label(d, line);
}

static void take_line(struct disassembly *d)
{
    d->line[d->line_len] = '\0';
    if (!d->line_cut && !memchr(d->line, '\0', d->line_len)) {
        if (d->syntax == DISASSEMBLY_LLVM)
            read_llvm(d, d->line);
        else
            read_nvdisasm(d, d->line);
    }
    d->line_len = 0;
    d->line_cut = false;
}

void disassembly_feed(struct disassembly *d, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (data[i] == '\n')
            take_line(d);
        else if (d->line_len + 1 < sizeof d->line)
            d->line[d->line_len++] = data[i];
        else
            d->line_cut = true;
    }
}

void disassembly_finish(struct disassembly *d)
{
    take_line(d);
    finish_function(d);
}
