#include "common/base/strvec.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void strvec_release(struct strvec *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i]);
    free(s->v);
    *s = (struct strvec){.v = NULL};
}

void strvec_take(struct strvec *s, char *text)
{
    ALLOC_GROW(s->v, s->n + 2, s->cap);
    s->v[s->n++] = text;
    s->v[s->n] = NULL;
}

void strvec_push(struct strvec *s, const char *text)
{
    strvec_take(s, xstrdup(text));
}

void strvec_pushf(struct strvec *s, const char *fmt, ...)
{
    struct buf text = {.max = SIZE_MAX / 2};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    strvec_take(s, buf_steal(&text));
}

void strvec_push_all(struct strvec *s, const char *const *list)
{
    for (size_t i = 0; list && list[i]; i++)
        strvec_push(s, list[i]);
}

void strvec_pushl(struct strvec *s, ...)
{
    va_list ap;
    va_start(ap, s);
    for (const char *text; (text = va_arg(ap, const char *));)
        strvec_push(s, text);
    va_end(ap);
}

const char *const *strvec_argv(const struct strvec *s)
{
    static const char *const none[] = {NULL};
    return s->v ? (const char *const *)s->v : none;
}
