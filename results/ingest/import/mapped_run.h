/* mapped_run: what a mapping says of an imported run as a whole (ticket, tag, node, mode, date, facts) and of
 * its variants. For import.c only.
 */
#pragma once

#include "results/ingest/draft/draft.h"
#include "results/ingest/import/value.h"

/* The texts override the mapping unless NULL. */
struct import_options {
    const char *ticket;
    const char *tag;
    const char *node;
    const char *date;
    bool replace; /* replace a stored run of the same files that was read in another way */
};

/* s: the whole file. options may be NULL. */
int import_run(const struct import_scope *s, const json_t *map, const struct import_options *options,
               struct draft *d, struct err *err);
/* Checks what all files of a run must agree on. */
int import_check_alike(const struct run_info *first, const struct run_info *this, const char *file,
                       struct err *err);
/* Reads "metrics" of the mapping; "test" says where their values are. file: for messages. */
int import_own_metrics(const json_t *map, const char *file, struct draft *d, struct err *err);

/* What distinguishes rows of one variant besides the context (batch, heads, data type) is its shape: "shape",
 * one text, or "point", fields by name ("batch8_dtypebf16"). As in a kernel plan, the variant is then called
 * VARIANT_SHAPE, and is compared at the same shape only. Sets name, kernel and shape of *out from the test of
 * a mapping. beyond: a size that no context can be, which becomes part of the name; 0: none. as_written:
 * char[IMPORT_TEXT_MAX], what the name was made of; it tells apart variants whose
 * names became the same. */
int import_variant(const struct import_scope *s, const json_t *test, int64_t beyond, struct run_variant *out,
                   char *as_written, struct err *err);
