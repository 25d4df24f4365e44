/* kernels: what is known of each kernel in a compiled file, whoever built it: registers, scratch memory,
 * spills and LDS from the file, instructions by class and the hot loop where the machine has a disassembler.
 */
#pragma once

#include "common/base/err.h"

#include <jansson.h>

/* {"device_code": false where the file has none, "kernels": [as in code.json, one per GPU],
 * "kernels_omitted"}. NULL on error: ERR_INPUT where the file cannot be read. */
json_t *kernels_report(const char *path, struct err *err);
