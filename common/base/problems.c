#include "common/base/problems.h"

#include <stdlib.h>
#include <string.h>

void problems_at(struct json_problems *p, const struct json_mark *mark, const char *path)
{
    p->mark = *mark;
    memcpy(p->path, path, strnlen(path, sizeof p->path - 1) + 1);
    p->path[sizeof p->path - 1] = '\0';
}

static struct json_problems *collector(const struct json_at *at)
{
    return at->source ? at->source->problems : NULL;
}

static void append(struct json_problems *p, const char *text)
{
    struct problem *items = realloc(p->item, (p->count + 1) * sizeof *items);
    p->item = items ? items : p->item;
    struct problem one = {.mark = p->mark, .path = strdup(p->path), .text = strdup(text)};
    if (items && one.path && one.text) {
        p->item[p->count++] = one;
        return;
    }
    p->more = true;
    free(one.path);
    free(one.text);
}

/* One mistake, found twice: an unknown key that belongs elsewhere. */
static bool is_known(const struct json_problems *p)
{
    for (size_t i = 0; *p->path && i < p->count; i++)
        if (strcmp(p->item[i].path, p->path) == 0)
            return true;
    return false;
}

void problems_add(struct json_problems *p, const char *text)
{
    bool known = is_known(p);
    if (p->count == PROBLEMS_MAX)
        p->more = true;
    else if (!known)
        append(p, text);
    p->mark = (struct json_mark){0};
    p->path[0] = '\0';
}

bool problems_go_on(const struct json_at *at, struct err *err)
{
    struct json_problems *p = collector(at);
    if (!p || (err->kind != ERR_INPUT && err->kind != ERR_NONE))
        return false;
    if (err->kind == ERR_INPUT)
        problems_add(p, err->msg);
    *err = (struct err){0};
    return true;
}

size_t problems_count(const struct json_at *at)
{
    const struct json_problems *p = collector(at);
    return p ? p->count + p->more : 0;
}

int problems_since(const struct json_at *at, size_t before)
{
    return problems_count(at) == before ? 0 : -1;
}

/* Those without a position come last. */
static int compare(const void *a, const void *b)
{
    const struct json_mark *x = &((const struct problem *)a)->mark, *y = &((const struct problem *)b)->mark;
    unsigned line_x = x->line - 1, line_y = y->line - 1;
    if (line_x != line_y)
        return line_x < line_y ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

void problems_sort(struct json_problems *p)
{
    if (p->count > 1)
        qsort(p->item, p->count, sizeof *p->item, compare);
}

void problems_release(struct json_problems *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->item[i].path);
        free(p->item[i].text);
    }
    free(p->item);
    *p = (struct json_problems){0};
}
