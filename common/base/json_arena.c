#include "common/base/json_arena.h"

#include "common/base/alloc.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 1 << 16, ALIGN = 16 };

struct json_chunk {
    struct json_chunk *older;
    size_t size, used;
    _Alignas(ALIGN) char data[];
};

/* The arena in use: jansson's allocation functions take no context argument. NULL: the heap. */
static _Thread_local struct json_arena *parsing;

static struct json_chunk *add_chunk(struct json_arena *a, size_t least)
{
    size_t size = least > CHUNK_BYTES ? least : CHUNK_BYTES;
    struct json_chunk *c = xmalloc(sizeof *c + size);
    *c = (struct json_chunk){.older = a->newest, .size = size};
    a->newest = c;
    return c;
}

static void *arena_alloc(size_t size)
{
    if (!parsing)
        return xmalloc(size);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct json_chunk *c = parsing->newest;
    if (!c || c->size - c->used < size)
        c = add_chunk(parsing, size);
    void *p = c->data + c->used;
    c->used += size;
    return p;
}

/* Nothing is freed while parsing into an arena: json_loadb() frees only what it allocated itself. */
static void arena_free(void *p)
{
    if (!parsing)
        free(p);
}

/* This runs after the constructor of json.c. */
__attribute__((constructor(102))) static void install(void)
{
    json_set_alloc_funcs(arena_alloc, arena_free);
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
