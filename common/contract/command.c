#include "common/contract/command.h"

#include "common/base/alloc.h"
#include "common/contract/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In YAML, 4096 is a number, and {context} an object with one key. */
static int no_string(const struct json_at *at, struct err *err)
{
    void *first = json_object_iter(json_iterable(at->value));
    if (json_object_size(at->value) == 1 && json_is_null(json_object_iter_value(first)))
        return json_fail(at, err, "expected a string, found an object: write \"{%.40s}\" in quotes",
                         json_object_iter_key(first));
    if (json_is_integer(at->value))
        return json_fail(at, err, "expected a string, found the number %lld: write \"%lld\" in quotes",
                         (long long)json_integer_value(at->value), (long long)json_integer_value(at->value));
    return json_expected(at, "a string", err);
}

int command_check_word(const struct json_at *at, unsigned allowed, struct err *err)
{
    const char *s = json_string_value(at->value);
    size_t len = json_string_length(at->value);
    struct err why = {0};
    unsigned used = 0;
    if (!s)
        return no_string(at, err);
    if (len > LIMIT_ARG_BYTES)
        return json_fail(at, err, "expected at most %d bytes, found %zu", LIMIT_ARG_BYTES, len);
    if (allowed == SUBST_LITERAL)
        return 0;
    if (subst_scan(s, &used, &why) != 0)
        return json_fail(at, err, "%s", why.msg);
    if (used & ~allowed & SUBST_BIT(SUBST_SRC))
        return json_fail(at, err, "{src} has no value: the plan has no \"source\"");
    if (used & ~allowed)
        return json_fail(
            at, err,
            "a placeholder has no value here: builds have {src} {build} {variant} {attn_impl}, gates also "
            "{out} "
            "{run_id}, tests all of them; {batch} and the other dimensions exist in kernel plans only");
    return 0;
}

int command_read(struct command *c, const struct json_at *at, unsigned allowed, struct err *err)
{
    size_t n = json_array_size(at->value);
    if (!json_is_array(at->value))
        return json_expected(at, "a command as an array of strings", err);
    if (n == 0)
        return json_fail(at, err, "expected a command as an array of strings, found an empty array");
    if (n > LIMIT_ARGV)
        return json_fail(at, err, "expected at most %d entries, found %zu", LIMIT_ARGV, n);
    c->argv = xcalloc(n + 1, sizeof *c->argv);
    int rc = 0;
    for (size_t i = 0; i < n; i++) {
        struct json_at word = json_element(at, i);
        if (command_check_word(&word, allowed, err) != 0)
            rc = -1;
        else
            c->argv[c->argc++] = json_string_value(word.value);
        if (c->argc > 0 && !*c->argv[0])
            return json_fail(&word, err, "expected a program's name, found an empty string");
    }
    return rc;
}

void command_release(struct command *c)
{
    free(c->argv);
    *c = (struct command){0};
}

int command_list_length(const struct json_at *at, const char *what, size_t max, size_t *count,
                        struct err *err)
{
    char wanted[64];
    *count = json_array_size(at->value);
    snprintf(wanted, sizeof wanted, "an array of at most %zu %s", max, what);
    if (at->value && !json_is_array(at->value))
        return json_expected(at, wanted, err);
    return *count <= max ? 0 : json_fail(at, err, "expected %s, found %zu", wanted, *count);
}
