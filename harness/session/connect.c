#include "harness/session/connect.h"

#include "harness/transport/backend.h"

#include <stdio.h>
#include <string.h>

#define T(name) extern const struct transport_ops name##_transport_ops;
#include "harness/session/transports.def"
#undef T

static const struct transport_ops *const backends[] = {
#define T(name) &name##_transport_ops,
#include "harness/session/transports.def"
#undef T
};

enum { BACKENDS = sizeof backends / sizeof *backends };
_Static_assert((int)BACKENDS < (int)TRANSPORT_BACKENDS_MAX,
               "a target has room for all back-ends and a terminating NULL");

static bool is_auto(const char *kind)
{
    return !kind || strcmp(kind, "auto") == 0;
}

void connect_list(char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "auto");
    for (size_t i = 0; i < BACKENDS && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i + 1 < BACKENDS ? ", " : " or ", backends[i]->name);
}

int connect_check(const char *kind, struct err *err)
{
    char known[128];
    if (is_auto(kind))
        return 0;
    for (size_t i = 0; i < BACKENDS; i++)
        if (strcmp(backends[i]->name, kind) == 0)
            return 0;
    connect_list(known, sizeof known);
    return err_set(err, ERR_INPUT, "--transport: expected %s, found \"%.40s\"", known, kind);
}

int connect_choose(const char *kind, struct transport_target *target, struct err *err)
{
    size_t n = 0;
    if (connect_check(kind, err) != 0)
        return -1;
    for (size_t i = 0; i < BACKENDS; i++)
        if (backends[i]->serves(target->node) && (is_auto(kind) || strcmp(backends[i]->name, kind) == 0))
            target->backends[n++] = backends[i];
    target->backends[n] = NULL;
    /* Otherwise this machine would be measured in the name of another. */
    return n > 0 ? 0
                 : err_set(err, ERR_INPUT,
                           "--transport: %.40s cannot reach the node %.200s: leave the option out", kind,
                           target->node);
}
