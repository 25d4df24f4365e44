/* report_queries: what reports read from the store besides run_data: the plan, additional numbers of tests,
 * and the cost of a ticket's runs. Read-only. Errors: ERR_STORAGE.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

#include <jansson.h>

/* *plan: the caller json_decref()s it; NULL if the run has none. */
int report_plan_load(struct store *s, int64_t run_key, json_t **plan, struct err *err);

/* The variant with which tables compare the others: `wanted` if not NULL, else the plan's "reference" if the
 * run has it, else as run_data_reference() chooses. *out is an index into variants. */
int report_reference(struct store *s, const struct run_data *r, const char *wanted, size_t *out,
                     struct err *err);

/* A number that a workload printed beside its timings: "batch", "rel_l2", "grid_blocks". */
struct extra_row {
    int64_t test_key;
    char name[RUN_NAME_MAX];
    double value;
};

struct extra_list {
    struct extra_row *rows; /* by test_key, then name */
    size_t count;
};

int report_extras_load(struct store *s, int64_t run_key, struct extra_list *out, struct err *err);
void report_extras_release(struct extra_list *l);
/* NaN if the test printed none of that name. */
double report_extra(const struct extra_list *l, int64_t test_key, const char *name);

/* Whether each OK test of the run launched one kernel at a recorded shape, without processing a prompt: its
 * time is then the kernel's, whatever key it was printed under. */
bool report_extras_kernels_alone(const struct extra_list *l, const struct run_data *run);
/* The same, for a caller that needs nothing else of the list. */
int report_kernels_alone(struct store *s, const struct run_data *run, bool *out, struct err *err);

/* run_id: char[RUN_ID_MAX], date: char[11]. */
int report_run_label(struct store *s, int64_t run_key, char *run_id, char *date, struct err *err);

/* A run of the ticket with the price from its plan: {"cost": {"per_hour": 2.5, "currency": "USD"}}. */
struct cost_row {
    char run_id[RUN_ID_MAX];
    char tag[RUN_NAME_MAX];
    char date[11];
    enum run_status status;
    double wall_s;
    double per_hour; /* NaN if the plan has none */
    char currency[8];
    int tests;
    int ok;
};

struct cost_list {
    struct cost_row *rows; /* oldest first; the newest `most` runs up to and including the given one */
    size_t count;
    size_t runs;   /* of the ticket, up to and including the given one */
    double wall_s; /* of all of them */
    double cost;   /* of those in the given run's currency; NaN if none has a price */
};

int report_costs_load(struct store *s, const struct run_info *run, size_t most, struct cost_list *out,
                      struct err *err);
void report_costs_release(struct cost_list *l);
