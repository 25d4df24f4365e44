/* strvec: a growable, NULL-terminated list of owned strings: an argv, or an environment.
 *
 * When memory runs out the list becomes `failed`: it drops its contents and ignores further strings, so that
 * no program ever runs with words missing. Check once at the end with strvec_check(). The owner calls
 * strvec_release(); {0} is an empty list.
 */
#ifndef KERNSWEEP_COMMON_BASE_STRVEC_H
#define KERNSWEEP_COMMON_BASE_STRVEC_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct strvec {
    char **v; /* NULL until the first string */
    size_t n;
    size_t cap;
    bool failed;
};

void strvec_release(struct strvec *s);
void strvec_push(struct strvec *s, const char *text);
void strvec_pushf(struct strvec *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Takes ownership of text; NULL counts as a failed allocation. */
void strvec_take(struct strvec *s, char *text);
/* list: NULL-terminated, or NULL for an empty list. */
void strvec_push_all(struct strvec *s, const char *const *list);
void strvec_pushl(struct strvec *s, ...) __attribute__((sentinel));

/* 0, or ERR_INTERNAL when the list failed. */
int strvec_check(const struct strvec *s, struct err *err);
/* Never NULL; empty when the list failed. */
const char *const *strvec_argv(const struct strvec *s);

#endif
