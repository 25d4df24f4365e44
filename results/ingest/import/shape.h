/* shape: what distinguishes rows of one variant besides the context: batch, heads, data type.
 *
 * A mapping gives it as "shape", one text, or as "point", fields by name ("batch8_dtypebf16"). As in a kernel
 * plan, the variant is then called VARIANT_SHAPE, and is compared at the same shape only. For import.c only.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_IMPORT_SHAPE_H
#define KERNSWEEP_RESULTS_INGEST_IMPORT_SHAPE_H

#include "results/ingest/import/value.h"

/* Names of other tools may be invalid here: invalid characters become '_', and a name that is too long ends
 * in a hash, so that different names remain different. text: char[IMPORT_TEXT_MAX]. */
void import_make_name(char *text);

/* Sets name, kernel and shape of *out from the test of a mapping. as_written: char[IMPORT_TEXT_MAX], what the
 * name was made of, by which different ones of one name are told apart. */
int import_variant(const struct import_scope *s, const json_t *test, struct run_variant *out,
                   char *as_written, struct err *err);

#endif
