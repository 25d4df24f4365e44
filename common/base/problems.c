#include "common/base/problems.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* One mistake is found twice: an unknown key that belongs elsewhere. */
static bool is_known(const struct json_problems *p, const char *path)
{
    for (size_t i = 0; *path && i < p->count; i++)
        if (strcmp(p->item[i].path, path) == 0)
            return true;
    return false;
}

void problems_add(struct json_problems *p, const struct json_mark *mark, const char *path, const char *text)
{
    if (p->count == PROBLEMS_MAX) {
        p->more = true;
        return;
    }
    if (is_known(p, path))
        return;
    p->item = xrealloc(p->item, (p->count + 1) * sizeof *p->item);
    p->item[p->count++] = (struct problem){.mark = *mark, .path = xstrdup(path), .text = xstrdup(text)};
}

int problems_first(const struct json_problems *p, int rc, struct err *err)
{
    return p->count > 0 ? err_set(err, ERR_INPUT, "%s", p->item[0].text) : rc;
}

/* Problems without a position come last. */
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
