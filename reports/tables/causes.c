#include "reports/tables/causes.h"

#include "common/base/symbol.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/words/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_NAMED_MAX = 2, DIFFERENCES_NAMED_MAX = 4, PART_MAX = 1024, VALUE_MAX = 48 };

static void put_more(struct buf *out, enum report_lang lang, size_t all, size_t named)
{
    if (all > named)
        message_plain(out, lang, MSG_AND_MORE, num_int((int64_t)(all - named)).s);
}

/* "compilers.hipcc.version 6.4.0 -> 7.0.1" */
static void put_change(struct buf *out, enum report_lang lang, const struct cause_change *c)
{
    const char *unset = message(lang, MSG_CAUSE_UNSET);
    char was[CAUSE_TEXT_MAX], is[CAUSE_TEXT_MAX], before[VALUE_MAX], now[VALUE_MAX];
    text_printable_fixed(was, sizeof was, c->before, strlen(c->before));
    text_printable_fixed(is, sizeof is, c->now, strlen(c->now));
    text_differing(was, is, VALUE_MAX, before, now);
    buf_printf(out, "%s %s -> %s", c->key, *before ? before : unset, *now ? now : unset);
}

static void put_changes(struct buf *out, enum report_lang lang, enum msg title, const struct cause_changes *c)
{
    size_t named = c->count < CHANGES_NAMED_MAX ? c->count : CHANGES_NAMED_MAX;
    message_plain(out, lang, title);
    for (size_t i = 0; i < named; i++) {
        buf_puts(out, i ? ", " : "");
        put_change(out, lang, &c->items[i]);
    }
    put_more(out, lang, c->count, named);
}

struct differences {
    struct buf *out;
    enum report_lang lang;
    int count;
};

static void put_difference(struct differences *d, const char *what, int64_t before, int64_t now)
{
    if (before == now || before == KERNEL_FACT_UNKNOWN || now == KERNEL_FACT_UNKNOWN ||
        d->count == DIFFERENCES_NAMED_MAX)
        return;
    buf_printf(d->out, "%s%s %lld -> %lld", d->count++ ? ", " : " (", what, (long long)before,
               (long long)now);
}

/* "attention (vgprs 96 -> 128, matrix instructions 64 -> 80)" */
static void put_kernel(struct buf *out, enum report_lang lang, const struct cause_kernel *k)
{
    struct differences d = {.out = out, .lang = lang};
    buf_puts(out, symbol_title(k->name).s);
    if (!k->in_before || !k->in_now) {
        message_plain(out, lang, k->in_now ? MSG_CAUSE_KERNEL_ADDED : MSG_CAUSE_KERNEL_REMOVED);
        return;
    }
    for (int i = 0; i < KERNEL_RESOURCES; i++)
        put_difference(&d, kernel_resource_name((enum kernel_resource)i), k->before.resource[i],
                       k->now.resource[i]);
    for (int i = 0; i < INSTRUCTION_CLASSES; i++) {
        AUTO(buf_release) struct buf name = {.max = 128};
        message_plain(&name, lang, MSG_CAUSE_INSTRUCTIONS, instruction_class_name((enum instruction_class)i));
        put_difference(&d, buf_str(&name), k->before.instructions[i], k->now.instructions[i]);
    }
    buf_puts(out, d.count ? ")" : "");
}

static void put_kernels(struct buf *out, enum report_lang lang, const struct cause *c)
{
    size_t named = c->n_kernels < CAUSE_KERNELS_MAX ? c->n_kernels : CAUSE_KERNELS_MAX;
    if (c->n_kernels == 1)
        message_plain(out, lang, MSG_CAUSE_CODE_KERNELS_ONE);
    else
        message_plain(out, lang, MSG_CAUSE_CODE_KERNELS_MANY, num_int((int64_t)c->n_kernels).s);
    for (size_t i = 0; i < named; i++) {
        buf_puts(out, i ? ", " : "");
        put_kernel(out, lang, &c->kernels[i]);
    }
    put_more(out, lang, c->n_kernels, named);
}

static void put_code(struct buf *out, enum report_lang lang, const struct cause *c)
{
    switch (c->by) {
    case CAUSE_BY_FILES:
        message_plain(out, lang, MSG_CAUSE_CODE_FILES);
        return;
    case CAUSE_BY_SOURCES:
        message_plain(out, lang, MSG_CAUSE_CODE_SOURCES);
        return;
    case CAUSE_BY_DEVICE:
    case CAUSE_BYS:
        break;
    }
    if (c->n_kernels)
        put_kernels(out, lang, c);
    else if (c->n_cells)
        message_plain(out, lang, MSG_CAUSE_CODE_CELLS, num_int((int64_t)c->n_cells).s);
    else
        message_plain(out, lang, MSG_CAUSE_CODE);
}

static void put_clock_share(struct buf *out, enum report_lang lang, const struct cause *c)
{
    struct num most = num_percent(c->share_high), nights = num_int((int64_t)c->nights);
    if (!c->bounded)
        message_plain(out, lang, MSG_CAUSE_CLOCK_SHARE, num_percent(c->share).s, num_percent(c->share_low).s,
                      most.s, num_fixed(c->sensitivity, 2).s, nights.s);
    else if (c->nights)
        message_plain(out, lang, MSG_CAUSE_CLOCK_UNSURE, most.s, num_fixed(c->sensitivity, 2).s, nights.s);
    else
        message_plain(out, lang, MSG_CAUSE_CLOCK_BOUND, most.s);
}

static void put_clock(struct buf *out, enum report_lang lang, const struct cause *c)
{
    static const enum msg titles[2][2] = {{MSG_CAUSE_CLOCK_LOWER, MSG_CAUSE_CLOCK_HIGHER},
                                          {MSG_CAUSE_MEMORY_LOWER, MSG_CAUSE_MEMORY_HIGHER}};
    message_plain(out, lang, titles[c->memory_clock][c->now > c->before], num_fixed(c->before, 0).s,
                  num_fixed(c->now, 0).s);
    if (c->throttled_s > 0)
        message_plain(out, lang, MSG_CAUSE_CLOCK_THROTTLED, num_seconds(c->throttled_s).s,
                      *c->throttle ? c->throttle : "?");
    put_clock_share(out, lang, c);
    if (c->alone)
        message_plain(out, lang, MSG_CAUSE_CLOCK_ALONE);
}

static void put_node(struct buf *out, enum report_lang lang, const struct cause *c)
{
    if (isnan(c->now) || c->controls == 0)
        message_plain(out, lang, MSG_CAUSE_NODE_TURNS);
    else
        message_plain(out, lang, MSG_CAUSE_NODE, num_change(c->now - 1).s, num_int((int64_t)c->controls).s);
}

static void put_rest(struct buf *out, enum report_lang lang, const struct cause *c, bool alone)
{
    if (alone)
        message_plain(out, lang, MSG_CAUSE_UNEXPLAINED);
    else if (isnan(c->share))
        message_plain(out, lang, MSG_CAUSE_REST_SOME);
    else
        message_plain(out, lang, MSG_CAUSE_REST, num_percent(c->share).s);
}

static void put_what(struct buf *out, enum report_lang lang, const struct cause *c)
{
    switch (c->kind) {
    case CAUSE_CODE:
        put_code(out, lang, c);
        return;
    case CAUSE_TOOLCHAIN:
        put_changes(out, lang, MSG_CAUSE_TOOLCHAIN, &c->changes);
        return;
    case CAUSE_ENVIRONMENT:
        put_changes(out, lang, MSG_CAUSE_ENVIRONMENT, &c->changes);
        return;
    case CAUSE_METHOD:
        put_changes(out, lang, MSG_CAUSE_METHOD, &c->changes);
        return;
    case CAUSE_CLOCK:
        put_clock(out, lang, c);
        return;
    case CAUSE_NODE:
        put_node(out, lang, c);
        return;
    case CAUSE_NEIGHBOURS:
        message_plain(out, lang, c->own_run ? MSG_CAUSE_BESIDE_OWN : MSG_CAUSE_NEIGHBOURS_MORE,
                      num_fixed(c->before, 0).s, num_fixed(c->now, 0).s);
        return;
    case CAUSE_UNEXPLAINED:
    case CAUSE_KINDS:
        return;
    }
}

static void put_cause(struct buf *out, enum report_lang lang, const struct cause *c)
{
    AUTO(buf_release) struct buf what = {.max = PART_MAX};
    put_what(&what, lang, c);
    message_plain(out, lang, c->certainty == CAUSE_ESTABLISHED ? MSG_CAUSE_ESTABLISHED : MSG_CAUSE_COINCIDES,
                  buf_str(&what));
}

/* What is known about the code of a cell that has no new code. */
static enum msg code_note(const struct cell_causes *c)
{
    if (c->code == CAUSE_CODE_UNKNOWN)
        return MSG_CAUSE_CODE_UNKNOWN;
    return c->code_of_device ? MSG_CAUSE_NOT_CODE : MSG_CAUSE_NOT_FILES;
}

/* "changed sources, whose machine code is not known" */
static bool says_code_is_unknown(const struct cell_causes *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].kind == CAUSE_CODE && c->code == CAUSE_CODE_UNKNOWN)
            return true;
    return false;
}

void cause_sentence(const struct cell_causes *c, enum report_lang lang, struct buf *out)
{
    for (size_t i = 0; i < c->count; i++) {
        buf_puts(out, i ? "; " : "");
        if (c->items[i].kind == CAUSE_UNEXPLAINED)
            put_rest(out, lang, &c->items[i], c->count == 1);
        else
            put_cause(out, lang, &c->items[i]);
    }
    if (c->code == CAUSE_CODE_DIFFERS || !*c->variant || says_code_is_unknown(c))
        return;
    buf_puts(out, "; ");
    message_plain(out, lang, code_note(c));
}

void why_release(struct why *w)
{
    for (size_t i = 0; i < w->count; i++)
        buf_release(&w->lines[i].text);
    free(w->lines);
    *w = (struct why){0};
}

/* Cells of one variant that have the same sentence share its line. */
static struct why_line *find_line(struct why *w, const struct cell_causes *c, const char *text)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->lines[i].first->variant, c->variant) == 0 &&
            strcmp(buf_str(&w->lines[i].text), text) == 0)
            return &w->lines[i];
    return NULL;
}

static void add_context(struct why_line *l, int context)
{
    if (l->cells < WHY_CONTEXTS_MAX)
        l->contexts[l->cells] = context;
    l->cells++;
}

static void add_line(struct why *w, const struct cell_causes *c, struct buf *text)
{
    struct why_line *l = find_line(w, c, buf_str(text));
    if (l) {
        add_context(l, c->context);
        return;
    }
    if (w->count == WHY_LINES_MAX) {
        w->left_out++;
        return;
    }
    ALLOC_GROW(w->lines, w->count + 1, w->cap);
    l = &w->lines[w->count++];
    *l = (struct why_line){.first = c, .text = *text};
    *text = (struct buf){0};
    add_context(l, c->context);
}

static void add_cell(struct why *w, const struct comparison *c, size_t i, bool alike, enum report_lang lang)
{
    const struct cell_causes *cell = &c->causes.cells[i];
    AUTO(buf_release) struct buf text = {.max = WHY_TEXT_MAX};
    cause_sentence(cell, lang, &text);
    if (!alike)
        message_plain(&text, lang, MSG_WHY_LINE_SINCE, cell->before);
    add_line(w, cell, &text);
}

void why_of(const struct comparison *c, enum report_lang lang, struct why *out)
{
    bool alike = true;
    *out = (struct why){0};
    for (size_t i = 1; i < c->causes.count; i++)
        alike &= strcmp(c->causes.cells[i].before, c->causes.cells[0].before) == 0;
    if (alike && c->causes.count)
        out->before = c->causes.cells[0].before;
    for (size_t i = 0; i < c->causes.count; i++)
        add_cell(out, c, i, alike, lang);
    for (size_t i = 0; i < out->count; i++)
        out->lines[i].of_most = !*out->lines[i].first->variant && c->shift.agree < c->shift.cells;
}

void why_where(const struct why_line *l, enum report_lang lang, struct buf *out)
{
    if (!*l->first->variant) {
        message_plain(out, lang, l->of_most ? MSG_WHY_MOST : MSG_WHY_ALL);
        return;
    }
    text_printable(out, l->first->variant, strlen(l->first->variant), RUN_NAME_MAX);
    if (l->cells == 1 && l->contexts[0] == 0)
        return;
    AUTO(buf_release) struct buf contexts = {.max = PART_MAX};
    for (size_t i = 0; i < l->cells && i < WHY_CONTEXTS_MAX; i++)
        buf_printf(&contexts, "%s%d", i ? ", " : "", l->contexts[i]);
    put_more(&contexts, lang, l->cells, WHY_CONTEXTS_MAX);
    message_plain(out, lang, l->cells == 1 ? MSG_AT_CONTEXT : MSG_AT_SEVERAL, buf_str(&contexts));
}

void why_heading(const struct why *w, enum report_lang lang, struct buf *out)
{
    if (w->before)
        message_plain(out, lang, MSG_WHY_SINCE, w->before);
    else
        message_plain(out, lang, MSG_WHY);
}
