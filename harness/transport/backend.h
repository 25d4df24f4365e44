/* transport back-end: what a way to reach nodes provides (struct transport_ops) and is given (struct
 * transport).
 *
 * The transport itself knows no back-end; which there are is the table of session/connect.c. Only transport.c
 * and back-ends include this.
 */
#ifndef KERNSWEEP_HARNESS_TRANSPORT_BACKEND_H
#define KERNSWEEP_HARNESS_TRANSPORT_BACKEND_H

#include "harness/transport/io.h"
#include "harness/transport/transport.h"

/* Why connect() failed decides what is tried next. */
enum transport_failure {
    TRANSPORT_FAILURE_CONNECTION,  /* may pass: retried while patience lasts */
    TRANSPORT_FAILURE_REFUSED,     /* host key, login, configuration: not retried */
    TRANSPORT_FAILURE_UNSUPPORTED, /* this back-end cannot, another may (key types of an old libssh2) */
};

struct transport_ops {
    const char *name;  /* as --transport takes it */
    const char *needs; /* what to install where it is not available, or NULL */
    /* Whether this machine has what it needs. NULL: always. */
    bool (*available)(void);
    /* Whether a node may be meant for it when the user did not choose. */
    bool (*serves)(const char *node);
    /* Reads the configuration: sets t->impl and t->describe, connects to nothing. NULL: there is none. */
    int (*prepare)(struct transport *t, struct err *err);
    /* One attempt, over by deadline_ns but for a passphrase being typed. */
    int (*connect)(struct transport *t, int64_t deadline_ns, enum transport_failure *why, struct err *err);
    /* On a lost link sets res->link_lost and drops the connection (t->connected = false). */
    int (*exec)(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                struct err *err);
    /* Drops the connection without waiting for the node. */
    void (*disconnect)(struct transport *t);
    /* Frees what outlives connections (t->impl), also after prepare() failed. */
    void (*release)(struct transport *t);
};

struct transport {
    const struct transport_ops *ops; /* one of target.backends */
    size_t backend;                  /* its index there */
    void *impl;                      /* of the back-end */
    bool connected;
    struct transport_target target; /* its strings are owned */
    struct transport_scope scope;
    char describe[512];
    char fingerprint[64];
    double last_heard_s;
};

__attribute__((format(printf, 2, 3))) void transport_notice(const struct transport *t, const char *fmt, ...);

#endif
