#include "common/base/err.h"

#include "common/base/text.h"

#include <stdio.h>
#include <string.h>

/* Messages often quote log lines or names from the node, so they are escaped to a single printable line. */
static void err_store(struct err *err, const char *text)
{
    text_printable_fixed(err->msg, sizeof err->msg, text, strlen(text));
}

int err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
    if (!err)
        return -1;
    char text[ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err->kind = kind;
    err_store(err, text);
    return -1;
}

int err_set_errno(struct err *err, enum err_kind kind, int errnum, const char *fmt, ...)
{
    if (!err)
        return -1;
    char text[ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const char *why = strerrordesc_np(errnum) ? strerrordesc_np(errnum) : "unknown error";
    /* The reason matters more than the end of a long path. The margin is for a character cut in half, which
     * grows when escaped. */
    size_t n = strlen(text), room = sizeof text - strlen(why) - 16;
    n = n < room ? n : room;
    snprintf(text + n, sizeof text - n, ": %s", why);
    err->kind = kind;
    err_store(err, text);
    return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
    if (!err)
        return -1;
    char head[ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(head, sizeof head, fmt, ap);
    va_end(ap);
    char text[2 * ERR_MSG_MAX + 4];
    snprintf(text, sizeof text, "%s: %s", head, err->msg);
    err_store(err, text);
    return -1;
}
