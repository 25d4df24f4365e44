/* The back-end for the node "local": commands run on this machine, starting in the home folder as a login
 * would. */
#include "harness/transport/backend.h"
#include "harness/transport/child.h"

#include <stdio.h>
#include <string.h>

static bool local_serves(const char *node)
{
    return strcmp(node, "local") == 0;
}

static int local_prepare(struct transport *t, struct err *err)
{
    (void)err;
    snprintf(t->describe, sizeof t->describe, "local");
    return 0;
}

static int local_connect(struct transport *t, int64_t deadline_ns, enum transport_failure *why,
                         struct err *err)
{
    (void)deadline_ns, (void)err;
    *why = TRANSPORT_FAILURE_REFUSED; /* cannot fail, and a retry would not help */
    t->connected = true;
    return 0;
}

static int local_exec(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                      struct err *err)
{
    return transport_child_run(cmd, transport_home_folder(), &t->scope, res, err);
}

static void local_disconnect(struct transport *t)
{
    t->connected = false;
}

static void local_release(struct transport *t)
{
    (void)t;
}

const struct transport_ops local_transport_ops = {
    .name = "local",
    .serves = local_serves,
    .prepare = local_prepare,
    .connect = local_connect,
    .exec = local_exec,
    .disconnect = local_disconnect,
    .release = local_release,
};
