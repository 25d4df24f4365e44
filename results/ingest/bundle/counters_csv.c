#include "results/ingest/bundle/counters_csv.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "results/ingest/text/csv.h"
#include "results/ingest/text/grouped.h"
#include "results/ingest/text/rocpd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A table may have this much; the rest is left out. */
enum { KERNELS_MAX = 64, COUNTERS_MAX = 64, NUMBER_MAX = 64 };

struct sum {
    char name[COUNTER_NAME_MAX], unit[COUNTER_UNIT_MAX];
    double total;
    size_t n;
};

struct kernel_sums {
    char name[COUNTER_KERNEL_MAX];
    struct sum sums[COUNTERS_MAX];
    size_t count;
};

struct table_sums {
    struct kernel_sums *kernels;
    size_t count;
};

static struct kernel_sums *kernel_of(struct table_sums *t, const char *name)
{
    char clean[COUNTER_KERNEL_MAX];
    text_printable_fixed(clean, sizeof clean, name, strlen(name));
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->kernels[i].name, clean) == 0)
            return &t->kernels[i];
    if (t->count == KERNELS_MAX)
        return NULL;
    struct kernel_sums *k = &t->kernels[t->count++];
    memcpy(k->name, clean, sizeof clean);
    return k;
}

static struct sum *sum_of(struct kernel_sums *k, const char *name, const char *unit)
{
    char clean[COUNTER_NAME_MAX];
    text_printable_fixed(clean, sizeof clean, name, strlen(name));
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->sums[i].name, clean) == 0)
            return &k->sums[i];
    if (k->count == COUNTERS_MAX)
        return NULL;
    struct sum *s = &k->sums[k->count++];
    memcpy(s->name, clean, sizeof clean);
    text_printable_fixed(s->unit, sizeof s->unit, unit, strlen(unit));
    return s;
}

/* Numbers are written like "1,234.5"; anything else gives NaN. */
static double number_of(const char *text)
{
    char plain[NUMBER_MAX], *end;
    if (!*text || !grouped_plain(text, '.', plain, sizeof plain))
        return NAN;
    double v = strtod(plain, &end);
    return *end || !isfinite(v) ? (double)NAN : v;
}

static void add(struct table_sums *t, const char *kernel, const char *name, const char *unit,
                const char *value)
{
    double v = number_of(value);
    struct kernel_sums *k = isnan(v) || !*kernel ? NULL : kernel_of(t, kernel);
    struct sum *s = k ? sum_of(k, name, unit) : NULL;
    if (s) {
        s->total += v;
        s->n++;
    }
}

static bool is_asked(const char *const *asked, const char *column)
{
    for (; *asked; asked++)
        if (strcmp(*asked, column) == 0)
            return true;
    return false;
}

/* The row below the header may hold the units instead of a launch. */
static void sum_ncu(const json_t *rows, const char *const *asked, struct table_sums *t)
{
    const json_t *units = json_array_get(rows, 0);
    bool has_units = !*json_text(units, "ID");
    for (size_t i = has_units; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i), *value;
        const char *column;
        json_object_foreach(row, column, value)
        {
            if (is_asked(asked, column))
                add(t, json_text(row, "Kernel Name"), column, has_units ? json_text(units, column) : "",
                    json_string_value(value));
        }
    }
}

/* Each row is one counter of one dispatch. */
static void sum_rocprofv3(const json_t *rows, struct table_sums *t)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) add(t, json_text(row, "Kernel_Name"), json_text(row, "Counter_Name"), "",
                                         json_text(row, "Counter_Value"));
}

/* ncu writes its own messages between the lines of the table. */
static void drop_messages(const char *text, size_t len, struct buf *out)
{
    for (const char *at = text, *end = text + len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = stop ? (size_t)(stop - at) + 1 : (size_t)(end - at);
        if (n < 2 || strncmp(at, "==", 2) != 0)
            buf_add(out, at, n);
        at += n;
    }
}

static void put(const struct table_sums *t, const char *variant, int context, struct counter_list *out)
{
    for (size_t k = 0; k < t->count; k++)
        for (size_t i = 0; i < t->kernels[k].count && out->count < COUNTERS_STORED_MAX; i++) {
            const struct sum *s = &t->kernels[k].sums[i];
            struct counter *c = counter_list_add(out);
            snprintf(c->variant, sizeof c->variant, "%s", variant);
            c->context = context;
            memcpy(c->kernel, t->kernels[k].name, sizeof c->kernel);
            memcpy(c->name, s->name, sizeof c->name);
            memcpy(c->unit, s->unit, sizeof c->unit);
            c->value = s->total / (double)s->n;
        }
}

static int sum_rows(const json_t *rows, const char *file, const char *const *asked, struct table_sums *t,
                    struct err *err)
{
    const json_t *first = json_array_get(rows, 0);
    if (json_object_get(first, "Kernel Name"))
        sum_ncu(rows, asked, t);
    else if (json_object_get(first, "Counter_Name") && json_object_get(first, "Kernel_Name"))
        sum_rocprofv3(rows, t);
    else if (first)
        return err_set(err, ERR_INPUT, "%s: not a table of ncu or rocprofv3", file);
    return 0;
}

int counters_parse(const char *text, size_t len, const char *file, const char *const *asked,
                   const char *variant, int context, struct counter_list *out, struct err *err)
{
    AUTO(buf_release) struct buf table = {.max = COUNTERS_CSV_MAX};
    if (rocpd_is(text, len))
        buf_add(&table, text, len);
    else
        drop_messages(text, len, &table);
    json_auto_t *rows = rocpd_is(text, len) ? rocpd_read(&table, ROCPD_COUNTERS, file, err)
                                            : csv_parse(buf_str(&table), table.len, file, NULL, NULL, err);
    if (!rows)
        return -1;
    AUTO_FREE struct kernel_sums *kernels = xcalloc(KERNELS_MAX, sizeof *kernels);
    struct table_sums t = {.kernels = kernels};
    if (sum_rows(rows, file, asked, &t, err) != 0)
        return -1;
    put(&t, variant, context, out);
    return 0;
}

static int read_cell(struct manifest *files, const char *const *asked, const struct run_test *t,
                     struct draft *d, struct err *err)
{
    const char *variant = d->variants[t->variant].name;
    static const char *const ends[] = {"csv", "db"};
    char path[RUN_NAME_MAX + 64], full[FS_PATH_MAX + sizeof path];
    AUTO(buf_release) struct buf text = {.max = COUNTERS_CSV_MAX};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s/ctx_%d_counters/counters.%s", variant, t->context, ends[i]);
        rc = manifest_read(files, path, COUNTERS_CSV_MAX, &text, err);
    }
    snprintf(full, sizeof full, "%s%s", files->dir, path);
    if (rc > 0)
        rc = counters_parse(buf_str(&text), text.len, full, asked, variant, t->context, &d->counters, err);
    return rc < 0 ? draft_leave_out(d, err) : 0;
}

static int read_cells(struct manifest *files, const char *const *asked, struct draft *d, struct err *err)
{
    for (size_t i = 0; i < d->n_tests; i++) {
        const struct run_test *t = &d->tests[i].t;
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || (d->tests[j].t.variant == t->variant && d->tests[j].t.context == t->context);
        if (!seen && read_cell(files, asked, t, d, err) != 0)
            return -1;
    }
    return 0;
}

int counters_read(struct manifest *files, const struct json_at *job, struct draft *d, struct err *err)
{
    struct json_at at = json_member(job, "counters");
    const char *asked[LIMIT_COUNTERS + 1];
    struct counters c;
    if (counters_load(&c, &at, err) != 0)
        return draft_leave_out(d, err);
    if (!c.on)
        return 0;
    counters_names(&c, COUNTERS_NCU, asked);
    return read_cells(files, asked, d, err);
}
