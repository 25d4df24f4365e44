/* compare_output: a comparison as JSON, CSV, Markdown, JUnit XML, and annotations for GitHub's workflow log.
 * Names are escaped as each format requires. Prints nothing: the caller owns the buffer.
 */
#pragma once

#include "common/base/buf.h"
#include "results/judge/compare.h"
#include "results/judge/counter_changes.h"

#include <jansson.h>

enum compare_format {
    COMPARE_TEXT,
    COMPARE_MD,
    COMPARE_CSV,
    COMPARE_JUNIT,
    COMPARE_GITHUB,
    COMPARE_FORMAT_COUNT
};

bool compare_format_from_name(const char *name, enum compare_format *out);

/* Writes every format except COMPARE_TEXT, for which there is reports/tables/terminal.h. suspects:
 * compare_ci.h. */
void compare_output(const struct comparison *c, enum compare_format format, bool suspects, struct buf *out);
json_t *counters_encode(const struct counter_changes *c);
/* Without "cells", of which the other one encodes one; comparison: struct comparison. */
json_t *compare_encode(const struct comparison *c, int exit_code);
json_t *compare_encode_cell(const void *comparison, size_t i);
