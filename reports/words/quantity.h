/* quantity: the unit and the title under which a metric is shown.
 *
 * A run is judged by one metric, the model's primary one; sections, tables and plots show it through its
 * quantity. Programs that launch a single kernel may print its time as prefill_s, in seconds; only
 * quantity_of() needs to know that this is a kernel's time, shown in milliseconds. Knows nothing about runs.
 */
#pragma once

#include "reports/words/message.h"
#include "reports/words/number.h"
#include "results/store/metric.h"

struct quantity {
    enum metric metric;
    double scale;     /* value shown / value stored */
    const char *unit; /* of the value shown; "" if values include their unit (1.5 GiB) or have none */
    bool prompt;      /* time to process a prompt: tokens per second make sense */
    enum msg title;   /* of its column; MSG_COUNT: the metric's own, in every language */
    enum msg axis;    /* of a plot; MSG_COUNT: the metric's own title */
};

/* kernels: the run only launched kernels, without a prompt. */
struct quantity quantity_of(enum metric m, bool kernels);

/* "Prefill (s)" */
const char *quantity_title(const struct quantity *q, enum report_lang lang);
/* "prefill (s)" */
const char *quantity_axis(const struct quantity *q, enum report_lang lang);
/* The value in q->unit, which is not appended: 22.77, 1.5 GiB, 180. */
struct num quantity_text(const struct quantity *q, double stored);
/* The same for a metric as it is stored. */
struct num metric_text(enum metric m, double stored);
/* "22.77 s", "1.5 GiB", "180 tok/s"; seconds below 0.01 in milliseconds. */
struct num metric_with_unit(enum metric m, double stored);
/* The same in the unit of the larger of the two, for values that stand in one sentence or cell. */
struct num metric_beside(enum metric m, double stored, double other);

struct time_unit {
    const char *name;
    double per_second;
};

/* For a column of seconds, by its largest value: seconds from 10 ms on, otherwise ms, us or ns. */
struct time_unit time_unit_of(double largest_s);

/* The largest difference that never matters: "5 ms", "1.0 MiB". */
struct num metric_least(enum metric m);
/* A difference of two values with its sign and unit: "+2.300 ms". */
struct num metric_difference(enum metric m, double difference);
