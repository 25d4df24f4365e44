#include "harness/nightly/open_cells.h"

#include "common/base/json.h"
#include "reports/words/number.h"

#include <stdio.h>
#include <string.h>

json_t *open_cells_find(const json_t *cells, const char *variant, int context)
{
    size_t i;
    json_t *cell;
    json_array_foreach(cells, i, cell)
    {
        if (strcmp(json_text(cell, "variant"), variant) == 0 &&
            json_integer_value(json_object_get(cell, "context")) == context)
            return cell;
    }
    return NULL;
}

static bool is_measured(const json_t *cell, const struct comparison *c)
{
    const char *variant = json_text(cell, "variant");
    json_int_t context = json_integer_value(json_object_get(cell, "context"));
    for (size_t i = 0; i < c->count; i++)
        if (c->deltas[i].metric == c->primary && strcmp(variant, c->deltas[i].variant) == 0 &&
            c->deltas[i].context == context)
            return true;
    return false;
}

/* A suspect that is as fast as the base's build when both are measured alternately is inconclusive too, but
 * it is cleared. */
static bool stays_open(const struct delta *d, bool was_open)
{
    switch (d->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_MISSING:
        return true;
    case VERDICT_NOISY:
        return was_open && d->confirmation != CONFIRM_REFUTED && d->confirmation != CONFIRM_NODE;
    case VERDICT_SUSPECTED:
        return was_open;
    case VERDICT_IMPROVED:
    case VERDICT_ACCEPTED:
    case VERDICT_UNCHANGED:
    case VERDICT_NEW:
    case VERDICT_FIXED:
    case VERDICT_COUNT:
        break;
    }
    return false;
}

static void keep_unmeasured(json_t *open, const json_t *before, const struct comparison *c)
{
    size_t i;
    json_t *cell;
    json_array_foreach(before, i, cell)
    {
        if (!is_measured(cell, c))
            json_array_append(open, cell);
    }
}

json_t *open_cells_after(const json_t *before, const struct comparison *c, const char *night)
{
    json_t *open = json_array();
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        const json_t *known = open_cells_find(before, d->variant, d->context);
        const char *since = json_string_value(json_object_get(known, "since"));
        struct num begun = num_date(d->stand.since);
        if (d->metric == c->primary && stays_open(d, known != NULL))
            json_array_append_new(open, json_pack("{s:s, s:i, s:s}", "variant", d->variant, "context",
                                                  d->context, "since",
                                                  since            ? since
                                                  : d->stand.since ? begun.s
                                                                   : night));
    }
    keep_unmeasured(open, before, c);
    return open;
}

size_t open_cells_unmeasured(const json_t *open, const struct comparison *c)
{
    size_t i, count = 0;
    const json_t *cell;
    json_array_foreach(open, i, cell) count += !is_measured(cell, c);
    return count;
}

void open_cells_drop_unmeasured(json_t *open, const struct comparison *c)
{
    for (size_t i = json_array_size(open); i-- > 0;)
        if (!is_measured(json_array_get(open, i), c))
            json_array_remove(open, i);
}

int open_cells_undecided(const json_t *open, const struct comparison *c, json_t *lines)
{
    int undecided = 0;
    char line[RUN_NAME_MAX + 96];
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        const json_t *cell = open_cells_find(open, d->variant, d->context);
        const char *since = json_string_value(json_object_get(cell, "since"));
        if (d->metric != c->primary || d->verdict != VERDICT_NOISY || !cell)
            continue;
        undecided++;
        snprintf(line, sizeof line, "%s %d: inconclusive, open since %.10s", d->variant, d->context,
                 since ? since : "?");
        json_array_append_new(lines, json_string(line));
    }
    return undecided;
}

bool open_cells_mostly_noisy(const struct comparison *c)
{
    int noisy = c->verdicts[VERDICT_NOISY];
    int clear = c->verdicts[VERDICT_UNCHANGED] + c->verdicts[VERDICT_IMPROVED] +
                c->verdicts[VERDICT_REGRESSED] + c->verdicts[VERDICT_SUSPECTED];
    return noisy > clear;
}
