/* transport back-end: the interface that a back-end implements (struct transport_ops), and its state (struct
 * transport).
 *
 * The transport itself knows no back-end; session/connect.c lists them. Only transport.c and back-ends
 * include this header.
 */
#pragma once

#include "harness/transport/io.h"
#include "harness/transport/transport.h"

/* Why connect() failed; determines what is tried next. */
enum transport_failure {
    TRANSPORT_FAILURE_CONNECTION,  /* may be temporary: retried within patience_s */
    TRANSPORT_FAILURE_REFUSED,     /* host key, login, configuration: not retried */
    TRANSPORT_FAILURE_UNSUPPORTED, /* another back-end may work (key types of an old libssh2) */
};

struct transport_ops {
    const char *name;  /* argument of --transport */
    const char *needs; /* what to install if it is not available, or NULL */
    /* Whether its requirements are installed. NULL: always. */
    bool (*available)(void);
    /* Whether to try it for a node when the user did not choose a back-end. */
    bool (*serves)(const char *node);
    /* Reads the configuration and sets t->impl and t->describe, without connecting. May be NULL. */
    int (*prepare)(struct transport *t, struct err *err);
    /* One attempt, bounded by deadline_ns except for time spent typing a passphrase. */
    int (*connect)(struct transport *t, int64_t deadline_ns, enum transport_failure *why, struct err *err);
    /* On a lost link sets res->link_lost and drops the connection (t->connected = false). */
    int (*exec)(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                struct err *err);
    /* Drops the connection without waiting for the node. */
    void (*disconnect)(struct transport *t);
    /* Frees t->impl; also called after prepare() has failed. */
    void (*release)(struct transport *t);
};

struct transport {
    const struct transport_ops *ops; /* one of target.backends */
    size_t backend;                  /* its index in target.backends */
    void *impl;                      /* private to the back-end */
    bool connected;
    struct transport_target target; /* its strings are the two below */
    char *node, *ssh_config;        /* owned */
    struct transport_scope scope;
    char describe[512];
    char fingerprint[64];
    double last_heard_s;
};

__attribute__((format(printf, 2, 3))) void transport_notice(const struct transport *t, const char *fmt, ...);
