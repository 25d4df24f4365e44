/* patch: a change that a plan makes to one source file: replaces the matches of a regular expression.
 *
 * The pattern (see common/base/regex) is applied line by line, like `sed -E s///g`; in the replacement, \1 to
 * \9 are groups, \0 is the whole match and \\ a backslash. If the number of matches differs from the expected
 * one, nothing is changed and it is an error. Strings are borrowed from the JSON. Errors: ERR_INPUT.
 */
#pragma once

#include "common/contract/keys.h"

enum { PATCH_FILE_MAX = 4 << 20 }; /* bytes, before and after */

struct patch {
    const char *file; /* relative to the source tree */
    const char *pattern;
    const char *replacement;
    int64_t count; /* expected matches in the file */
};

extern const struct key patch_keys[];

int patch_decode(struct patch *out, const struct json_at *at, struct err *err);

/* Appends the changed text to out, whose maximum should be PATCH_FILE_MAX. */
int patch_apply(const struct patch *p, const char *text, size_t len, struct buf *out, struct err *err);
