#include "executor/process/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void words_release(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->item[i]);
    free(w->item);
    *w = (struct words){.item = NULL};
}

static int no_memory(struct err *err)
{
    return err_set(err, ERR_INTERNAL, "no memory for a command's words");
}

int words_take(struct words *w, char *s, struct err *err)
{
    if (!s)
        return no_memory(err);
    if (w->count + 2 > w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 16;
        char **grown = realloc(w->item, cap * sizeof *grown);
        if (!grown) {
            free(s);
            return no_memory(err);
        }
        w->item = grown;
        w->cap = cap;
    }
    w->item[w->count++] = s;
    w->item[w->count] = NULL;
    return 0;
}

int words_add(struct words *w, const char *s, struct err *err)
{
    return words_take(w, strdup(s), err);
}

int words_environment(struct words *w, struct err *err)
{
    for (char **e = environ; e && *e; e++) {
        if (strncmp(*e, "SSH_", 4) == 0 || strncmp(*e, "KERNSWEEP_", 10) == 0)
            continue;
        if (words_add(w, *e, err) != 0)
            return -1;
    }
    return 0;
}

static char **find(const struct words *w, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < w->count; i++) {
        if (strncmp(w->item[i], name, len) == 0 && w->item[i][len] == '=')
            return &w->item[i];
    }
    return NULL;
}

int words_setenv(struct words *w, const char *name, const char *value, struct err *err)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *pair = malloc(size);
    if (!pair)
        return no_memory(err);
    snprintf(pair, size, "%s=%s", name, value);
    char **old = find(w, name);
    if (!old)
        return words_take(w, pair, err);
    free(*old);
    *old = pair;
    return 0;
}

const char *words_getenv(const struct words *w, const char *name)
{
    char **pair = find(w, name);
    return pair ? *pair + strlen(name) + 1 : NULL;
}
