/* cell_numbers: numbers of cells, found by variant and context, so that a list of cells is not searched for
 * each test of a job. The caller json_decref()s the table. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

json_t *cell_numbers(void);
void cell_number_set(json_t *table, const char *variant, int64_t context, size_t number);
/* SIZE_MAX: it has none. */
size_t cell_number(const json_t *table, const char *variant, int64_t context);
/* The same for a test of job.json. */
size_t cell_number_of_test(const json_t *table, const json_t *test);
