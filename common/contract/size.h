/* size: an amount of memory as people write it: a whole number with K, M, G or T, in powers of 1024 ("32G").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns false for anything else, and beyond an int64_t. */
bool size_parse(const char *text, int64_t *bytes);
/* Whether it can limit a test: 1M to 64T. */
bool size_is_memory(const char *text);
