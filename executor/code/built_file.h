/* built_file: hashes a file that a build made, for builds without device code. Of an ELF file, it hashes what
 * is loaded (and, in an object file, its relocations), without notes, debug information and symbol tables; of
 * a static library, its members; of any other file, its bytes. Folders and dates are masked (mask.h).
 */
#pragma once

#include "executor/code/mask.h"
#include "executor/code/span.h"

/* out: char[SHA256_HEX_LEN + 1] */
void built_file_hash(struct span file, const struct mask *mask, char *out);
/* Whether what starts from this file reads code in that folder while it runs: an editable install, a script,
 * a program that compiles at run time. folder: absolute; NULL: unknown. */
bool built_file_reads(const char *relpath, struct span file, const char *folder);
/* Whether a file says what was built. Hidden files, logs, lists of dependencies, what CMake keeps besides
 * objects, and what Python compiles by itself do not. */
bool built_file_counts(const char *relpath, struct span file);
