#include "harness/commands/compare/compare_output.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "common/base/text.h"
#include "harness/commands/base/cmd.h"
#include "harness/commands/compare/compare_ci.h"
#include "reports/render/markdown.h"
#include "reports/tables/causes.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"
#include "results/query/causes_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const format_names[COMPARE_FORMAT_COUNT] = {
    [COMPARE_TEXT] = "text",   [COMPARE_MD] = "md",         [COMPARE_CSV] = "csv",
    [COMPARE_JUNIT] = "junit", [COMPARE_GITHUB] = "github",
};

bool compare_format_from_name(const char *name, enum compare_format *out)
{
    for (int i = 0; i < COMPARE_FORMAT_COUNT; i++)
        if (strcmp(format_names[i], name) == 0) {
            *out = (enum compare_format)i;
            return true;
        }
    return false;
}

/* A number of a delta; fields have the order of the CSV columns. */
struct field {
    const char *name;
    double value;
};

enum { FIELDS = 21, SHIFT_TEXT_MAX = 4096 };

static void list_fields(const struct delta *d, struct field out[static FIELDS])
{
    const struct field fields[FIELDS] = {
        {"base_median", d->base.median},
        {"now_median", d->now.median},
        {"base_n", d->base.n},
        {"now_n", d->now.n},
        {"reference", d->reference.value},
        {"ratio", d->estimate.ratio},
        {"factor", d->estimate.factor},
        {"ratio_low", d->estimate.low},
        {"ratio_high", d->estimate.high},
        {"threshold", d->estimate.threshold},
        {"noise_floor", d->estimate.noise_floor},
        {"detectable", d->estimate.detectable},
        {"history_n", d->reference.history_n},
        {"history_median", d->reference.history_median},
        {"reference_n", d->reference.nights},
        {"common", d->reference.common},
        {"gpu_factor", d->reference.own},
        {"z", d->estimate.z},
        {"freedom", d->estimate.freedom},
        {"p", d->estimate.p},
        {"p_adjusted", d->estimate.p_adjusted},
    };
    memcpy(out, fields, sizeof fields);
}

/* found: NULL if nothing changed. */
static void add_causes(json_t *out, const struct cell_causes *found)
{
    json_object_set_new(out, "causes", causes_encode(found));
    json_object_set_new(out, "before", found ? json_string(found->before) : json_null());
    json_object_set_new(out, "code", found ? json_string(cause_code_name(found->code)) : json_null());
}

static json_t *id_or_null(const char *id)
{
    return *id ? json_string(id) : json_null();
}

static json_t *day_or_null(int64_t ms)
{
    return ms ? json_string(num_date(ms).s) : json_null();
}

static json_t *count_or_null(int n)
{
    return n < 0 ? json_null() : json_integer(n);
}

/* The member "moved" says that the base was measured on another GPU. */
static json_t *encode_place(const struct delta *d)
{
    return json_pack("{s:I, s:I, s:I, s:b, s:o, s:o, s:o, s:o}", "gpus", (json_int_t)d->estimate.gpus,
                     "gpus_worse", (json_int_t)d->estimate.gpus_worse, "gpus_better",
                     (json_int_t)d->estimate.gpus_better, "moved", d->doubts.other_device, "gpu",
                     id_or_null(d->now.gpu), "base_gpu", id_or_null(d->base.gpu), "beside",
                     count_or_null(d->now.beside), "base_beside", count_or_null(d->base.beside));
}

json_t *compare_encode_cell(const void *comparison, size_t i)
{
    const struct comparison *c = comparison;
    const struct delta *d = &c->deltas[i];
    struct field fields[FIELDS];
    json_t *scale =
        d->estimate.method == METHOD_NIGHTS ? json_string(scale_floor_name(d->estimate.floor)) : json_null();
    json_t *o = json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:b, s:b, s:s, s:s, s:s, s:b, s:b, s:o, s:o}",
                          "variant", d->variant, "attn_impl", d->attn_impl, "context", d->context, "metric",
                          metric_info(d->metric)->name, "verdict", verdict_name(d->verdict), "method",
                          compare_method_name(d->estimate.method), "confirmation",
                          confirmation_name(d->confirmation), "outlier", d->doubts.outlier, "slow_first",
                          d->doubts.slow_first, "reason", verdict_reason(d, REPORT_EN).s, "now_status",
                          d->now.present ? status_name(d->now.status) : "", "against",
                          reference_kind_name(d->reference.kind), "control", d->reference.control, "disagree",
                          d->doubts.disagree, "scale", scale, "place", encode_place(d));
    json_object_set_new(o, "since", day_or_null(d->stand.since));
    json_object_set_new(o, "ratio_again", cmd_json_number(d->again > 0 ? d->again : (double)NAN));
    json_object_set_new(o, "gone", day_or_null(d->stand.gone));
    list_fields(d, fields);
    for (size_t f = 0; f < FIELDS; f++)
        json_object_set_new(o, fields[f].name, cmd_json_number(fields[f].value));
    add_causes(o, d->metric == c->primary ? causes_of(&c->causes, d->variant, d->context) : NULL);
    return o;
}

/* Returns null if fewer than six cells agree on a common factor and no GPU changed. */
static json_t *encode_shift(const struct comparison *c)
{
    const struct common_shift *s = &c->shift;
    if (!s->known && !s->device_changed)
        return json_null();
    json_t *o = json_pack("{s:b, s:b, s:b, s:s, s:b, s:b, s:o, s:o, s:I, s:I}", "found", s->found, "worse",
                          s->worse, "from_controls", s->from_controls, "confirmed",
                          shift_cause_name(s->confirmed), "since_base", s->since_base, "device_changed",
                          s->device_changed, "ratio", cmd_json_number(s->known ? s->ratio : (double)NAN), "p",
                          cmd_json_number(s->known ? s->p : (double)NAN), "cells", (json_int_t)s->cells,
                          "controls", (json_int_t)s->controls);
    json_object_set_new(o, "ratio_again", cmd_json_number(s->again > 0 ? s->again : (double)NAN));
    add_causes(o, causes_of(&c->causes, "", 0));
    return o;
}

static json_t *encode_cards(const struct card_shifts *cards)
{
    json_t *all = json_array();
    for (size_t i = 0; i < cards->count; i++) {
        const struct card_shift *s = &cards->items[i];
        json_array_append_new(all, json_pack("{s:s, s:b, s:f, s:o, s:b, s:b, s:b, s:I, s:I}", "gpu", s->gpu,
                                             "worse", s->worse, "ratio", s->ratio, "p", cmd_json_number(s->p),
                                             "from_controls", s->from_controls, "from_others", s->from_others,
                                             "since_base", s->since_base, "cells", (json_int_t)s->cells, "of",
                                             (json_int_t)s->all));
    }
    return all;
}

json_t *counters_encode(const struct counter_changes *c)
{
    json_t *all = json_array();
    for (size_t i = 0; i < c->count; i++) {
        const struct counter *now = c->items[i].now;
        json_array_append_new(all,
                              json_pack("{s:s, s:i, s:s, s:s, s:s, s:f, s:f, s:o}", "variant", now->variant,
                                        "context", now->context, "kernel", now->kernel, "name", now->name,
                                        "unit", now->unit, "base", c->items[i].base->value, "now", now->value,
                                        "ratio", cmd_json_number(c->items[i].ratio)));
    }
    return all;
}

json_t *compare_encode(const struct comparison *c, int exit_code)
{
    json_t *facts = json_array(), *verdicts = json_object();
    for (size_t i = 0; i < c->n_facts; i++)
        json_array_append_new(facts, json_pack("{s:s, s:s, s:s}", "key", c->facts[i].key, "base",
                                               c->facts[i].base, "now", c->facts[i].now));
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(verdicts, verdict_name((enum verdict)v), json_integer(c->verdicts[v]));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o, s:s, s:o}", "base", c->base_id,
                     "now", c->now_id, "metric", metric_info(c->primary)->name, "facts", facts, "verdicts",
                     verdicts, "shift", encode_shift(c), "cards", encode_cards(&c->cards), "node_cells",
                     c->node_cells, "tested", (int)c->tested, "exit_code", exit_code, "base_ticket",
                     id_or_null(c->base_ticket), "now_ticket", c->now_ticket, "carried",
                     cmd_json_carried(c->carried, c->n_carried));
}

static void csv_row(const struct comparison *c, const struct delta *d, struct buf *out)
{
    struct field fields[FIELDS];
    const char *words[] = {d->variant,
                           d->attn_impl,
                           metric_info(d->metric)->name,
                           verdict_name(d->verdict),
                           compare_method_name(d->estimate.method),
                           confirmation_name(d->confirmation)};
    buf_printf(out, "%d", d->context);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        buf_putc(out, ',');
        escape_csv_quoted(out, words[i]);
    }
    list_fields(d, fields);
    for (size_t i = 0; i < FIELDS; i++) {
        buf_putc(out, ',');
        if (isfinite(fields[i].value))
            buf_printf(out, "%.10g", fields[i].value);
    }
    buf_putc(out, ',');
    escape_csv_quoted(out, verdict_reason(d, REPORT_EN).s);
    buf_putc(out, ',');
    escape_csv_quoted(out, c->base_ticket);
    buf_putc(out, ',');
    escape_csv_quoted(out, c->now_ticket);
    buf_putc(out, '\n');
}

static void write_csv(const struct comparison *c, struct buf *out)
{
    struct field fields[FIELDS];
    const struct delta none = {0};
    list_fields(&none, fields);
    buf_puts(out, "context,variant,attn_impl,metric,verdict,method,confirmation");
    for (size_t i = 0; i < FIELDS; i++)
        buf_printf(out, ",%s", fields[i].name);
    buf_puts(out, ",reason,base_ticket,now_ticket\n");
    for (size_t i = 0; i < c->count; i++)
        csv_row(c, &c->deltas[i], out);
}

static void md_row(const struct delta *d, struct table *t)
{
    char factor[32] = NUM_NONE;
    if (isfinite(d->estimate.factor))
        snprintf(factor, sizeof factor, "%.30sx", num_fixed(d->estimate.factor, 2).s);
    table_text(t, d->context ? num_int(d->context).s : NUM_NONE);
    table_text(t, d->variant);
    table_text(t, d->attn_impl);
    table_text(t, metric_info(d->metric)->name);
    table_text(t, num_six_digits(d->base.median).s);
    table_text(t, num_six_digits(d->reference.value).s);
    table_text(t, num_six_digits(d->now.median).s);
    table_text(t, factor);
    table_text(t, verdict_word(d->verdict, REPORT_EN));
    table_text(t, verdict_reason(d, REPORT_EN).s);
}

static void write_md_causes(const struct comparison *c, struct md *w)
{
    struct why why;
    if (c->causes.count == 0)
        return;
    why_of(c, REPORT_EN, &why);
    if (why.before)
        md_para(w, MSG_WHY_SINCE, why.before);
    for (size_t i = 0; i < why.count; i++) {
        AUTO(buf_release) struct buf where = {.max = WHY_TEXT_MAX};
        why_where(&why.lines[i], REPORT_EN, &where);
        md_item(w, MSG_CAUSES_OF, buf_str(&where), buf_str(&why.lines[i].text));
    }
    if (why.left_out)
        md_item(w, MSG_WHY_MORE, num_int((int64_t)why.left_out).s);
    why_release(&why);
}

static void write_md(const struct comparison *c, struct buf *out)
{
    static const struct {
        const char *title;
        bool right;
    } columns[] = {{"Context", true},  {"Variant", false}, {"Kernel name", false}, {"Metric", false},
                   {"Base", true},     {"Expected", true}, {"Now", true},          {"Factor", true},
                   {"Verdict", false}, {"Evidence", false}};
    struct md w = {.out = out, .lang = REPORT_EN};
    struct table t;
    AUTO(buf_release) struct buf shift = {.max = SHIFT_TEXT_MAX};
    verdict_shift(c, REPORT_EN, &shift);
    if (shift.len) {
        md_text(&w, buf_str(&shift));
        md_end(&w);
    }
    cards_paragraphs(c, &w);
    table_init(&t);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&t, columns[i].title, columns[i].right);
    for (size_t i = 0; i < c->count; i++)
        md_row(&c->deltas[i], &t);
    md_table(&w, &t);
    table_release(&t);
    write_md_causes(c, &w);
}

void compare_output(const struct comparison *c, enum compare_format format, bool suspects, struct buf *out)
{
    switch (format) {
    case COMPARE_MD:
        write_md(c, out);
        return;
    case COMPARE_CSV:
        write_csv(c, out);
        return;
    case COMPARE_JUNIT:
        compare_write_junit(c, suspects, out);
        return;
    case COMPARE_GITHUB:
        compare_write_github(c, suspects, out);
        return;
    case COMPARE_TEXT:
    case COMPARE_FORMAT_COUNT:
        return;
    }
}
