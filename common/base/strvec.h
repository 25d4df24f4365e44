/* strvec: a growable, NULL-terminated list of owned strings: an argv, or an environment.
 *
 * The owner calls strvec_release(); {0} is an empty list.
 */
#pragma once

#include <stddef.h>

struct strvec {
    char **v; /* NULL until the first string */
    size_t n;
    size_t cap;
};

void strvec_release(struct strvec *s);
void strvec_push(struct strvec *s, const char *text);
void strvec_pushf(struct strvec *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Takes ownership of text. */
void strvec_take(struct strvec *s, char *text);
/* list: NULL-terminated, or NULL for an empty list. */
void strvec_push_all(struct strvec *s, const char *const *list);
void strvec_pushl(struct strvec *s, ...) __attribute__((sentinel));

/* Never returns NULL. */
const char *const *strvec_argv(const struct strvec *s);
