/* yaml_scalar: a scalar of YAML as JSON, by the core schema of YAML 1.2: null, true, false, integers and
 * numbers as in JSON, with hexadecimal and octal integers; everything else is a text.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_YAML_SCALAR_H
#define KERNSWEEP_HARNESS_PLAN_YAML_SCALAR_H

#include <jansson.h>
#include <stddef.h>

/* NULL with *why for numbers that JSON lacks, and for what is no text. */
json_t *yaml_scalar_plain(const char *text, size_t len, const char **why);
json_t *yaml_scalar_text(const char *text, size_t len, const char **why);

#endif
