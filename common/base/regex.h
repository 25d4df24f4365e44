/* regex: Perl-compatible regular expressions (PCRE2) for untrusted patterns and texts.
 *
 * Patterns match bytes: `.` matches any byte, `$` only the very end. Time and memory of a match are limited;
 * reaching a limit is an error. Groups are numbered and may have names. A struct regex holds the groups of
 * its last match, so it belongs to one thread at a time; its owner calls regex_release(). {0} is empty.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct regex {
    struct pcre2_real_code_8 *code;
    struct pcre2_real_match_data_8 *found;
    struct pcre2_real_match_context_8 *limits;
};

/* Fails with ERR_INPUT and a message such as "missing closing parenthesis, at byte 5". */
int regex_compile(struct regex *re, const char *pattern, struct err *err);
void regex_release(struct regex *re);

/* Returns the number of groups, named or not, excluding group 0 (the whole match). */
size_t regex_groups(const struct regex *re);
/* Returns the number of group names. Several groups may share a name. */
size_t regex_names(const struct regex *re);
/* Returns the i-th name, in byte order, and its group. */
const char *regex_name(const struct regex *re, size_t i, size_t *group);

/* Finds the first match at or after byte `from`. Returns 1 found, 0 none, -1 a limit was reached. */
int regex_match(const struct regex *re, const char *text, size_t len, size_t from, struct err *err);
/* Gives the position of a group in the last match; false when the group did not participate. */
bool regex_group(const struct regex *re, size_t group, size_t *at, size_t *len);
