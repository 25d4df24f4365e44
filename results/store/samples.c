#include "results/store/samples.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void samples_init(struct samples *t)
{
    *t = (struct samples){0};
}

void samples_release(struct samples *t)
{
    for (size_t i = 0; i < t->n_columns; i++)
        free(t->columns[i].values);
    samples_init(t);
}

static void grow(struct samples *t)
{
    t->capacity = t->capacity ? 2 * t->capacity : 256;
    for (size_t i = 0; i < t->n_columns; i++)
        t->columns[i].values = xrealloc(t->columns[i].values, t->capacity * sizeof(double));
}

int samples_add(struct samples *t, struct err *err)
{
    if (t->count == SAMPLES_SAMPLES_MAX)
        return err_set(err, ERR_INPUT, "more than %d samples", SAMPLES_SAMPLES_MAX);
    if (t->count == t->capacity)
        grow(t);
    for (size_t i = 0; i < t->n_columns; i++)
        t->columns[i].values[t->count] = NAN;
    t->count++;
    return 0;
}

double *samples_column(const struct samples *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return t->columns[i].values;
    return NULL;
}

static double *new_column(struct samples *t, const char *name)
{
    if (t->n_columns == SAMPLES_COLUMNS_MAX || strlen(name) >= SAMPLES_NAME_MAX || !text_is_name(name))
        return NULL;
    double *values = xmalloc(t->capacity * sizeof *values);
    for (size_t i = 0; i < t->count; i++)
        values[i] = NAN;
    struct samples_column *c = &t->columns[t->n_columns++];
    snprintf(c->name, sizeof c->name, "%s", name);
    return c->values = values;
}

bool samples_set(struct samples *t, const char *name, double value)
{
    double *values = samples_column(t, name);
    if (!values && t->count)
        values = new_column(t, name);
    if (!values)
        return false;
    values[t->count - 1] = value;
    return true;
}

int samples_load(struct store *s, int64_t test_key, struct samples *out, struct err *err)
{
    samples_init(out);
    SQL_STMT stmt =
        sql_prepare_int(s, "SELECT packed FROM telemetry WHERE test_id = :test", ":test", test_key, err);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc;
    size_t len;
    const void *packed = sql_col_blob(stmt, "packed", &len);
    return samples_unpack(packed, len, out, err);
}
