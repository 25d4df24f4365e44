/* transport_internal: what a back-end of transport provides and is given. Only transport*.c,
 * local_transport.c, ssh_*.c and openssh_transport.c include it.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_INTERNAL_H
#define KERNSWEEP_HARNESS_TRANSPORT_INTERNAL_H

#include "harness/ssh/config.h"
#include "harness/transport/io.h"
#include "harness/transport/transport.h"

/* Why connect() failed decides what is tried next. */
enum transport_failure {
    TRANSPORT_FAILURE_CONNECTION,  /* may pass: retried while patience lasts */
    TRANSPORT_FAILURE_REFUSED,     /* host key, login, configuration: not retried */
    TRANSPORT_FAILURE_UNSUPPORTED, /* this back-end cannot, another may (key types of an old libssh2) */
};

struct transport_ops {
    const char *name;
    /* One attempt, over by deadline_ns but for a passphrase being typed. */
    int (*connect)(struct transport *t, int64_t deadline_ns, enum transport_failure *why, struct err *err);
    /* On a lost link sets res->link_lost and drops the connection (t->connected = false). */
    int (*exec)(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                struct err *err);
    /* Drops the connection without waiting for the node. */
    void (*disconnect)(struct transport *t);
    /* Frees what outlives connections (t->impl). */
    void (*release)(struct transport *t);
};

struct transport {
    const struct transport_ops *ops;
    void *impl; /* of the back-end */
    bool connected;
    struct transport_target target; /* its strings are owned */
    struct ssh_config config;       /* empty for local */
    struct transport_scope scope;
    char describe[512];
    char fingerprint[64];
    double last_heard_s;
};

/* All of transport_open() but connecting. */
int transport_prepare(struct transport **out, const struct transport_target *target, struct err *err);

__attribute__((format(printf, 2, 3))) void transport_notice(const struct transport *t, const char *fmt, ...);

#endif
