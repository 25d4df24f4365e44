#include "harness/commands/base/listing.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int parse_limit(const struct listing_args *a, size_t usual, bool json, size_t *out, struct err *err)
{
    char *end = NULL;
    if (a->limit && a->all)
        return err_set(err, ERR_INPUT, "give --limit or --all, not both");
    *out = a->all || json ? SIZE_MAX : usual;
    if (!a->limit)
        return 0;
    long n = strtol(a->limit, &end, 10);
    if (*end || end == a->limit || n < 1)
        return err_set(err, ERR_INPUT, "--limit: expected a number from 1, found \"%.40s\"", a->limit);
    *out = (size_t)n;
    return 0;
}

int listing_parse(const struct listing_args *a, const char *const *keys, size_t usual, bool json,
                  struct listing *out, struct err *err)
{
    AUTO(buf_release) struct buf known = {.max = 512};
    *out = (struct listing){0};
    if (parse_limit(a, usual, json, &out->limit, err) != 0)
        return -1;
    while (a->sort && keys[out->key] && strcmp(keys[out->key], a->sort) != 0)
        out->key++;
    if (keys[out->key])
        return 0;
    for (size_t i = 0; keys[i]; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", keys[i]);
    err_set(err, ERR_INPUT, "--sort: expected one of %s, found \"%.40s\"", buf_str(&known), a->sort);
    return -1;
}

void listing_note(size_t left_out, const char *what, FILE *notes)
{
    if (left_out > 0)
        fprintf(notes, "%zu %s%s not shown: --all lists every one\n", left_out, what,
                left_out == 1 ? " is" : "s are");
}
