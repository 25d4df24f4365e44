#include "common/base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* EXIT_WITHOUT_MEMORY is EXIT_LOCAL of proto.h, which this room may not include. */
enum { FIRST_CAPACITY = 16, EXIT_WITHOUT_MEMORY = 5 };

static void (*last_words)(void *context);
static void *last_context;

void alloc_last_words(void (*say)(void *context), void *context)
{
    last_words = say;
    last_context = context;
}

static void end_without_memory(size_t size)
{
    void (*say)(void *) = last_words;
    last_words = NULL; /* It may run out of memory itself. */
    if (say)
        say(last_context);
    dprintf(STDERR_FILENO, "%s: out of memory for %zu bytes: free some, then repeat the command\n",
            program_invocation_short_name, size);
    _exit(EXIT_WITHOUT_MEMORY);
}

void *xmalloc(size_t size)
{
    return xrealloc(NULL, size);
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        end_without_memory(size && n > SIZE_MAX / size ? SIZE_MAX : n * size);
    return p;
}

void *xrealloc(void *p, size_t size)
{
    void *grown = realloc(p, size ? size : 1);
    if (!grown)
        end_without_memory(size);
    return grown;
}

void *xmemdup(const void *p, size_t size)
{
    void *copy = xmalloc(size);
    if (size)
        memcpy(copy, p, size);
    return copy;
}

char *xstrdup(const char *s)
{
    return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t max)
{
    size_t n = strnlen(s, max);
    char *copy = xmalloc(n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        end_without_memory(strlen(fmt));
    return text;
}

void alloc_grow(void **items, size_t size, size_t wanted, size_t *cap)
{
    if (wanted <= *cap)
        return;
    size_t room = *cap + *cap / 2 + FIRST_CAPACITY;
    if (room < wanted)
        room = wanted;
    if (room > SIZE_MAX / 2 / size)
        end_without_memory(SIZE_MAX);
    *items = xrealloc(*items, room * size);
    *cap = room;
}

void alloc_auto_free(void *pointer)
{
    free(*(void **)pointer);
}

void alloc_auto_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

void alloc_auto_fclose(void *file)
{
    FILE *f = *(FILE **)file;
    if (f)
        fclose(f);
}
