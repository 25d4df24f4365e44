#include "common/base/json_arena.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 1 << 16, ALIGN = 16 };

struct json_chunk {
    struct json_chunk *older;
    size_t size, used;
    _Alignas(ALIGN) char data[];
};

/* jansson's allocator takes no argument: this is how the one call that has an arena tells it. NULL: the heap,
 * as ever. */
static _Thread_local struct json_arena *parsing;

static struct json_chunk *add_chunk(struct json_arena *a, size_t least)
{
    size_t size = least > CHUNK_BYTES ? least : CHUNK_BYTES;
    struct json_chunk *c = malloc(sizeof *c + size);
    if (!c)
        return NULL;
    *c = (struct json_chunk){.older = a->newest, .size = size};
    a->newest = c;
    return c;
}

static void *take(size_t size)
{
    if (!parsing)
        return malloc(size);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct json_chunk *c = parsing->newest;
    if (!c || c->size - c->used < size)
        c = add_chunk(parsing, size);
    if (!c)
        return NULL;
    void *p = c->data + c->used;
    c->used += size;
    return p;
}

/* While an arena is parsed into, nothing else is given back: json_loadb() frees only what it made itself. */
static void give_back(void *p)
{
    if (!parsing)
        free(p);
}

/* Before any thread is there. What was allocated earlier came from malloc() and is given back to free(), as
 * always. */
__attribute__((constructor)) static void install(void)
{
    json_set_alloc_funcs(take, give_back);
}

const json_t *json_parse_in(struct json_arena *a, const char *text, size_t len, const char *file,
                            struct err *err)
{
    parsing = a;
    const json_t *value = json_parse(text, len, file, err);
    parsing = NULL;
    return value;
}

static void drop_older(struct json_chunk *c)
{
    while (c->older) {
        struct json_chunk *older = c->older->older;
        free(c->older);
        c->older = older;
    }
}

void json_arena_reset(struct json_arena *a)
{
    if (a->newest && a->newest->size > CHUNK_BYTES)
        json_arena_release(a);
    if (!a->newest)
        return;
    drop_older(a->newest);
    a->newest->used = 0;
}

void json_arena_release(struct json_arena *a)
{
    if (!a->newest)
        return;
    drop_older(a->newest);
    free(a->newest);
    a->newest = NULL;
}
