#include "results/query/openmetrics.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "results/judge/windows.h"
#include "results/query/history_load.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_MAX = 64 << 20, FAMILY_NAME_MAX = 160 };

/* The samples of each metric: a family must be in one piece, whichever plans it comes from. */
struct families {
    struct buf samples[METRIC_COUNT];
};

/* Where a sample comes from. */
struct origin {
    const char *ticket, *node, *mode;
};

static struct families *families_new(void)
{
    struct families *f = xmalloc(sizeof *f);
    for (int m = 0; m < METRIC_COUNT; m++)
        buf_init(&f->samples[m], FAMILY_MAX);
    return f;
}

static void families_free(struct families **f)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        buf_release(&(*f)->samples[m]);
    free(*f);
}

/* Derived metrics are left out: whoever reads this can divide. */
static bool is_exported(enum metric m)
{
    switch (metric_info(m)->kind) {
    case METRIC_OF_TEST:
    case METRIC_OF_BUILD:
    case METRIC_OF_EXTRA:
        return true;
    case METRIC_OF_TIME:
    case METRIC_OF_TOKEN:
    case METRIC_FREE:
        break;
    }
    return false;
}

/* Base units are named in full, and the name ends with the unit: prefill_s becomes prefill_seconds. */
static const char *unit_name(const struct metric_info *m)
{
    if (strcmp(m->unit, "s") == 0)
        return "seconds";
    return strcmp(m->unit, "bytes") == 0 ? "bytes" : strcmp(m->unit, "J") == 0 ? "joules" : "";
}

static void base_name(enum metric m, char out[FAMILY_NAME_MAX])
{
    const struct metric_info *info = metric_info(m);
    const char *unit = unit_name(info);
    size_t len = strlen(info->name);
    if (strcmp(unit, "seconds") == 0 && text_ends_with(info->name, "_s"))
        len -= 2;
    snprintf(out, FAMILY_NAME_MAX, "kernsweep_%.*s", (int)len, info->name);
    for (char *p = out; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    len = strlen(out);
    if (*unit && !text_ends_with(out, unit))
        snprintf(out + len, FAMILY_NAME_MAX - len, "_%s", unit);
}

/* Names may become equal because some signs are not allowed here; the later one then ends in a number. */
static void family_name(enum metric m, char out[FAMILY_NAME_MAX])
{
    char other[FAMILY_NAME_MAX];
    base_name(m, out);
    for (int k = 0; k < (int)m; k++) {
        base_name((enum metric)k, other);
        if (is_exported((enum metric)k) && strcmp(out, other) == 0) {
            size_t len = strlen(out);
            snprintf(out + len, FAMILY_NAME_MAX - len, "_%d", (int)m);
            return;
        }
    }
}

/* Escapes a label's value or a help text. */
static void put_escaped(struct buf *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            buf_puts(out, "\\n");
        else if (*text == '\\' || *text == '"')
            buf_printf(out, "\\%c", *text);
        else
            buf_putc(out, *text);
}

static void put_label(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s=\"", name);
    put_escaped(out, value);
    buf_puts(out, "\",");
}

/* part: of the tests that was sampled; "" for what was not sampled, and where it was not told. */
static void put_sample(struct families *f, enum metric m, const struct origin *o, const char *variant,
                       int context, const char *part, double value)
{
    struct buf *out = &f->samples[m];
    char name[FAMILY_NAME_MAX];
    family_name(m, name);
    buf_printf(out, "%s{", name);
    put_label(out, "ticket", o->ticket);
    put_label(out, "node", o->node);
    put_label(out, "mode", o->mode);
    put_label(out, "variant", variant);
    if (*part)
        put_label(out, "part", part);
    buf_printf(out, "context=\"%d\"} %.17g", context, value);
}

/* Which part of the tests of a cell the metric is of; NULL: of several, which have no median. */
static const char *part_of(enum metric m, const struct run_data *run, const struct cell *c)
{
    const char *part = "";
    if (!metric_info(m)->sampled)
        return part;
    if (windows_differ(m, run, c, NULL, NULL) == REASON_OTHER_WINDOW)
        return NULL;
    for (size_t i = c->first; i < c->first + c->count && !*part; i++)
        if (!isnan(run->tests[i].value[m]))
            part = run->tests[i].activity.window;
    return part;
}

static void put_run(struct families *f, const struct run_data *run)
{
    const struct origin o = {run->info.ticket, run->info.node, run->info.mode};
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        for (int m = 0; m < METRIC_COUNT; m++) {
            const char *part = part_of((enum metric)m, run, c);
            if (part && is_exported((enum metric)m) && isfinite(c->median[m])) {
                put_sample(f, (enum metric)m, &o, run->variants[c->variant].name, c->context, part,
                           c->median[m]);
                buf_putc(&f->samples[m], '\n');
            }
        }
    }
}

/* Times must increase: the last of several nights at one time counts, and a night's GPUs are averaged. */
static void put_series(struct families *f, const struct origin *o, const struct history_series *s)
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct history_point *p = &s->points[i];
        bool more = i + 1 < s->count && s->points[i + 1].measured_at <= p->measured_at;
        sum += isfinite(p->median) ? p->median : 0;
        n += isfinite(p->median);
        if (more && s->points[i + 1].run_key == p->run_key)
            continue;
        if (n > 0 && !more) {
            put_sample(f, s->metric, o, s->variant, s->context, s->part, sum / n);
            buf_printf(&f->samples[s->metric], " %" PRId64 ".%03d\n", p->measured_at / 1000,
                       (int)(p->measured_at % 1000));
        }
        sum = 0;
        n = 0;
    }
}

static int put_plan(struct store *s, struct families *f, const struct origin *o, struct err *err)
{
    const struct history_options options = {
        .node = o->node, .ticket = o->ticket, .mode = o->mode, .all_metrics = true};
    AUTO(history_release) struct history h = {0};
    if (history_load(s, &options, &h, err) != 0)
        return -1;
    for (size_t i = 0; i < h.count; i++)
        if (is_exported(h.series[i].metric))
            put_series(f, o, &h.series[i]);
    return 0;
}

static int put_nights(struct store *s, struct families *f, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT DISTINCT ticket, node, mode FROM run WHERE purpose = 'sweep'"
                                " AND rejected_at IS NULL ORDER BY ticket, node, mode",
                                err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char ticket[RUN_NAME_MAX], node[RUN_NODE_MAX], mode[16];
        sql_col_text(stmt, "ticket", ticket, sizeof ticket);
        sql_col_text(stmt, "node", node, sizeof node);
        sql_col_text(stmt, "mode", mode, sizeof mode);
        const struct origin o = {ticket, node, mode};
        if (put_plan(s, f, &o, err) != 0)
            return -1;
    }
    return rc;
}

static int write_family(enum metric m, const struct buf *samples, export_sink *sink, void *arg,
                        struct err *err)
{
    const struct metric_info *info = metric_info(m);
    char name[FAMILY_NAME_MAX];
    AUTO(buf_release) struct buf head = {.max = 4096};
    if (!buf_ok(samples))
        return err_set(err, ERR_INTERNAL, "%s: more than %d bytes", info->name, FAMILY_MAX);
    if (samples->len == 0)
        return 0;
    family_name(m, name);
    buf_printf(&head, "# TYPE %s gauge\n", name);
    if (*unit_name(info) && text_ends_with(name, unit_name(info)))
        buf_printf(&head, "# UNIT %s %s\n", name, unit_name(info));
    buf_printf(&head, "# HELP %s ", name);
    put_escaped(&head, info->title);
    buf_puts(&head, info->better == METRIC_MORE   ? ", median; higher is better.\n"
                    : info->better == METRIC_LESS ? ", median; lower is better.\n"
                                                  : ", median.\n");
    if (sink(arg, buf_str(&head), head.len, err) != 0)
        return -1;
    return sink(arg, buf_str(samples), samples->len, err);
}

static int collect(struct store *s, int64_t run_key, struct families *f, struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    if (run_key == 0)
        return put_nights(s, f, err);
    if (run_data_load(s, run_key, &run, err) != 0)
        return -1;
    put_run(f, &run);
    return 0;
}

int openmetrics_export(struct store *s, int64_t run_key, export_sink *sink, void *arg, struct err *err)
{
    AUTO(families_free) struct families *f = families_new();
    if (collect(s, run_key, f, err) != 0)
        return -1;
    for (int m = 0; m < METRIC_COUNT; m++)
        if (write_family((enum metric)m, &f->samples[m], sink, arg, err) != 0)
            return -1;
    return sink(arg, "# EOF\n", 6, err);
}
