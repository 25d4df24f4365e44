/* maintain: checks the store file.
 *
 * Errors: ERR_STORAGE when a step itself fails. Problems found by the check are passed to `found`.
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

/* Checks the file's structure, the references between tables, and what the schema cannot express: the series
 * and variant of each test, and the packed samples. */
int store_check(struct store *s, maintain_found *found, void *arg, struct check_result *out, struct err *err);

#endif
