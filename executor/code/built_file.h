/* built_file: the hash of a file that a build made, for builds without device code: of an ELF file what is
 * loaded (and, in an object file, its relocations), without notes, debug information and symbol tables; of a
 * static library that of its members; of any other file its bytes. Folders and dates are masked (mask.h).
 */
#pragma once

#include "common/base/sha256.h"
#include "executor/code/mask.h"
#include "executor/code/span.h"

/* out: char[SHA256_HEX_LEN + 1] */
void built_file_hash(struct span file, const struct mask *mask, char *out);
/* Whether a file says what was built: not a hidden one, a log, a list of dependencies, what CMake keeps
 * besides objects, or what Python compiles by itself. */
bool built_file_counts(const char *relpath, struct span file);
