/* patch: a plan's change of one source file: matches of a regular expression replaced, and counted.
 *
 * The pattern is a regular expression (common/base/regex), applied to one line after the other as `sed -E
 * s///g` does it; \1 to \9 in the replacement are its groups, \0 is the whole match, \\ a backslash. A patch
 * that does not match exactly as often as expected is an error, never a change. Strings are borrowed from the
 * JSON. Knows nothing of where the file is. Errors: ERR_INPUT.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_PATCH_H
#define KERNSWEEP_COMMON_CONTRACT_PATCH_H

#include "common/contract/keys.h"

enum { PATCH_FILE_MAX = 4 << 20 }; /* bytes, before and after */

struct patch {
    const char *file; /* relative to the source tree */
    const char *pattern;
    const char *replacement;
    int64_t count; /* expected matches in the file */
};

extern const struct key patch_keys[];

/* Reads and checks {"file", "pattern", "replacement", "count"}. */
int patch_decode(struct patch *out, const struct json_at *at, struct err *err);

/* Appends the changed text to out, which should allow PATCH_FILE_MAX. */
int patch_apply(const struct patch *p, const char *text, size_t len, struct buf *out, struct err *err);

#endif
