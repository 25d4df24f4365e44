/* maintain: checks the store file and frees unused space.
 *
 * Errors: ERR_STORAGE when a step itself fails; problems that the check finds are passed to the caller one by
 * one.
 */
#ifndef KERNSWEEP_RESULTS_STORE_MAINTAIN_H
#define KERNSWEEP_RESULTS_STORE_MAINTAIN_H

#include "results/store/store.h"

#include <stdint.h>

typedef void maintain_found(void *arg, const char *what);

struct check_result {
    int problems;
    int64_t runs;
    int64_t tests;
    int64_t samples;
    int64_t bytes; /* of the file */
};

/* The file's structure, the references between tables, and what the schema cannot say: every run's counts,
 * every packed sample. */
int store_check(struct store *s, maintain_found *found, void *arg, struct check_result *out, struct err *err);

/* Drops rows that no run uses any more and gives the space back. Needs STORE_WRITE. */
int store_vacuum(struct store *s, struct err *err);

#endif
