#include "common/base/word.h"

#include "common/base/alloc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256, WORD_MAX = 512 };

static struct {
    pthread_mutex_t lock;
    char **at; /* by hash, then the next free place; NULL: free */
    size_t count, room;
} words = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash(const char *text)
{
    uint64_t h = 0xcbf29ce484222325;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3;
    return h ^ h >> 32;
}

/* The place of the text, or the one that it is to have. At least half of the places are free. */
static char **place_of(const char *text)
{
    size_t i = (size_t)hash(text) & (words.room - 1);
    while (words.at[i] && strcmp(words.at[i], text) != 0)
        i = (i + 1) & (words.room - 1);
    return &words.at[i];
}

static void make_room(void)
{
    char **old = words.at;
    size_t n = words.room;
    if (2 * words.count < words.room)
        return;
    words.room = n ? 2 * n : FIRST_ROOM;
    words.at = xcalloc(words.room, sizeof *words.at);
    for (size_t i = 0; i < n; i++)
        if (old[i])
            *place_of(old[i]) = old[i];
    free(old);
}

const char *word(const char *text)
{
    char cut[WORD_MAX];
    if (!text || !*text)
        return "";
    if (strnlen(text, sizeof cut) == sizeof cut) {
        snprintf(cut, sizeof cut, "%s", text);
        text = cut;
    }
    pthread_mutex_lock(&words.lock);
    make_room();
    char **place = place_of(text);
    if (!*place) {
        *place = xstrdup(text);
        words.count++;
    }
    const char *found = *place;
    pthread_mutex_unlock(&words.lock);
    return found;
}

const char *word_printf(const char *fmt, ...)
{
    char text[WORD_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return word(text);
}
