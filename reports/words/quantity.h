/* quantity: how a metric is shown: in which unit, under which title.
 *
 * A run is judged by one metric, and a report says once which (report_model.primary): sections, tables and
 * plots show it through its quantity. Programs that launch a single kernel may print its time as prefill_s,
 * in seconds; only quantity_of() has to know that such a time is the kernel's, to be shown in milliseconds.
 * Knows nothing of runs.
 */
#ifndef KERNSWEEP_REPORTS_WORDS_QUANTITY_H
#define KERNSWEEP_REPORTS_WORDS_QUANTITY_H

#include "reports/words/message.h"
#include "reports/words/number.h"
#include "results/store/metric.h"

struct quantity {
    enum metric metric;
    double scale;     /* value shown / value stored */
    const char *unit; /* of the value shown; "" where a value brings its own (1.5 GiB) or has none */
    bool prompt;      /* time to process a prompt: only then do tokens per second mean anything */
    const char *key;  /* title of its column in the table that mirrors perf.json */
    enum msg title;   /* of its column elsewhere; MSG_COUNT: the metric's own, in every language */
    enum msg axis;    /* of a plot */
};

/* kernels: the run launched kernels alone, without a prompt. */
struct quantity quantity_of(enum metric m, bool kernels);

/* "Prefill (s)" */
const char *quantity_title(const struct quantity *q, enum report_lang lang);
/* The number alone, in q->unit: 22.77, 1.5 GiB, 180. */
struct num quantity_text(const struct quantity *q, double stored);
/* "22.77 s", "1.5 GiB", "180 tok/s"; seconds below 0.01 in milliseconds. */
struct num metric_with_unit(enum metric m, double stored);

#endif
