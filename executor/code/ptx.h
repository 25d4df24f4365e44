/* ptx: the text of PTX without what the driver does not compile: comments, line numbers, the names of source
 * files, sections of debug information. The input is untrusted and of any form.
 */
#pragma once

#include "executor/code/span.h"

/* Returns the code, the caller's, never longer than the text. */
uint8_t *ptx_code(struct span text, size_t *len);
