/* mask: what two builds of one source differ in although their code does not: the folders they were built
 * in, dates and times of day (__DATE__, __TIME__), and the hexadecimal digits that compilers derive from
 * paths and put into names ("_GLOBAL__N__1a2b3c4d_4_k_cu", "__hip_cuid_..."). Folders are left out of a
 * hash; the digits are replaced by zeros.
 */
#pragma once

#include "common/base/sha256.h"
#include "executor/code/span.h"

enum { MASK_FOLDERS = 2, MASK_NAME_MAX = 16384 };

struct mask {
    const char *folder[MASK_FOLDERS]; /* absolute, borrowed; NULL: none */
};

/* Adds the bytes to the hash, without what is masked. */
void mask_add(const struct mask *m, struct sha256 *h, struct span bytes);
/* Gives a symbol's name without digits derived from paths. A long name is cut and ends in its hash. */
void mask_name(const char *name, char out[MASK_NAME_MAX]);
/* Adds such a name. */
void mask_add_name(struct sha256 *h, const char *name);
