/* regex: Perl-compatible regular expressions (PCRE2) for patterns and texts that nobody vouches for.
 *
 * Patterns match bytes, `.` any byte, `$` only the very end. Time and memory of a match are limited, so that
 * no pattern can occupy us for long: one that reaches a limit is an error, not a match. Groups are numbered
 * and may have names. A struct regex holds the groups of its last match, so it belongs to one thread at a
 * time; its owner calls regex_release(). {0} is empty.
 */
#ifndef KERNSWEEP_COMMON_BASE_REGEX_H
#define KERNSWEEP_COMMON_BASE_REGEX_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct regex {
    struct pcre2_real_code_8 *code;
    struct pcre2_real_match_data_8 *found;
    struct pcre2_real_match_context_8 *limits;
};

/* ERR_INPUT with what is wrong and at which byte: "missing closing parenthesis, at byte 5". */
int regex_compile(struct regex *re, const char *pattern, struct err *err);
void regex_release(struct regex *re);

/* Groups in the pattern, named or not; group 0, the whole match, is not counted. */
size_t regex_groups(const struct regex *re);
/* Names of groups. A name may stand at several groups. */
size_t regex_names(const struct regex *re);
/* The i-th name, in byte order, and its group. */
const char *regex_name(const struct regex *re, size_t i, size_t *group);

/* Looks in text for the first match at or after byte `from`. 1 when there is one, 0 when there is none, -1
 * when a limit was reached. */
int regex_match(const struct regex *re, const char *text, size_t len, size_t from, struct err *err);
/* Where the last match has a group. False for one that took no part. */
bool regex_group(const struct regex *re, size_t group, size_t *at, size_t *len);

#endif
