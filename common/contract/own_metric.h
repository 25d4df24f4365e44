/* own_metric: metrics that a plan (or a mapping) defines itself: "metrics", an array of objects with a name,
 * a unit, the better direction, and where the value is in the workload's output. Plan and job share the rows.
 * Strings are borrowed from the JSON. Knows nothing of how values are stored or compared.
 */
#pragma once

#include "common/contract/keys.h"
#include "common/contract/proto.h"

struct own_metric {
    const char *name, *unit;
    const char *better; /* "less" or "more" */
    const char *from; /* a key of the printed timings, a named group, or a path "$.a.b"; default: the name */
    double least;     /* differences up to this never matter; in the metric's unit */
    bool primary;     /* runs are judged by it; at most one */
};

struct own_metrics {
    struct own_metric item[LIMIT_METRICS];
    size_t count;
};

extern const struct key own_metric_keys[];

/* at: "metrics"; its value may be absent. Names are unique and not those of a built-in metric. */
int own_metrics_read(struct own_metrics *out, const struct json_at *at, enum document in, struct err *err);
/* Returns NULL if there is none. */
const struct own_metric *own_metrics_find(const struct own_metrics *m, const char *name);
const struct own_metric *own_metrics_primary(const struct own_metrics *m);

/* Whether it is printable ASCII without blanks; "" is. */
bool own_metric_is_unit(const char *text);
/* Whether `name` is a built-in metric, or a special word among the timings. */
bool own_metric_is_reserved(const char *name);
/* The built-in metrics by which a run is judged whose plan has no primary one: the first that is printed.
 * Ends with NULL. */
extern const char *const own_metric_judged[];
bool own_metric_is_judged(const char *name);
/* Returns the seconds per unit of time ("s", "ms", "us", "ns", "min", "h"); 0 for every other unit. */
double own_metric_seconds(const char *unit);
/* Whether no process that ran for wall_s can have measured this. Allows for rounding by the program and for
 * the moment between its exit and our noticing. False if either is NaN. */
bool own_metric_too_long(double seconds, double wall_s);
