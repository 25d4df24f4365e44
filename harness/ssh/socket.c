#include "harness/ssh/socket.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* A dead link is detected within 10 s, whether idle (probes at 4, 6, 8 s) or busy. */
enum { KEEPALIVE_IDLE_S = 4, KEEPALIVE_INTERVAL_S = 2, KEEPALIVE_PROBES = 3, USER_TIMEOUT_MS = 10000 };

/* The resolving and the waiting thread share it; it is freed with the last reference. */
struct lookup {
    atomic_int users;
    int done; /* eventfd */
    int rc;
    int family;
    struct addrinfo *list;
    char host[NI_MAXHOST];
    char port[8];
};

static void lookup_unref(struct lookup *l)
{
    if (atomic_fetch_sub(&l->users, 1) != 1)
        return;
    if (l->list)
        freeaddrinfo(l->list);
    close(l->done);
    free(l);
}

static void *lookup_thread(void *arg)
{
    struct lookup *l = arg;
    const struct addrinfo hints = {.ai_family = l->family, .ai_socktype = SOCK_STREAM};
    l->rc = getaddrinfo(l->host, l->port, &hints, &l->list);
    eventfd_write(l->done, 1);
    lookup_unref(l);
    return NULL;
}

static struct lookup *lookup_start(const char *host, int port, int family)
{
    struct lookup *l = xcalloc(1, sizeof *l);
    atomic_init(&l->users, 2);
    l->family = family;
    snprintf(l->host, sizeof l->host, "%s", host);
    snprintf(l->port, sizeof l->port, "%d", port);
    l->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_t thread;
    if (l->done < 0 || pthread_create(&thread, NULL, lookup_thread, l) != 0) {
        if (l->done >= 0)
            close(l->done);
        free(l);
        return NULL;
    }
    pthread_detach(thread);
    return l;
}

int ssh_socket_wait(int fd, short events, int64_t deadline_ns, const struct transport_scope *scope,
                    const char *doing, struct err *err)
{
    if (transport_interrupted(scope))
        return err_set(err, ERR_INTERRUPTED, "interrupted while %s", doing);
    if (deadline_ns && clock_left_ms(deadline_ns) == 0)
        return err_set(err, ERR_NODE, "%s: timed out while %s; is the node up, and the address right?",
                       scope->who, doing);
    struct pollfd p = {.fd = fd, .events = events};
    int n = poll(&p, 1, transport_poll_ms(deadline_ns));
    if (n < 0 && errno != EINTR)
        return err_set_errno(err, ERR_INTERNAL, errno, "poll");
    return n > 0;
}

static int resolve_host(const char *host, int port, int family, int64_t deadline_ns,
                        const struct transport_scope *scope, struct lookup **out, bool *temporary,
                        struct err *err)
{
    struct lookup *l = lookup_start(host, port, family);
    if (!l)
        return err_set(err, ERR_INTERNAL, "cannot start resolving a name");
    int ready;
    do
        ready = ssh_socket_wait(l->done, POLLIN, deadline_ns, scope, "resolving the host's name", err);
    while (ready == 0);
    eventfd_t seen;
    if (ready > 0) /* thread sanitizers take the order from this, not from poll() */
        (void)eventfd_read(l->done, &seen);
    if (ready > 0 && l->rc == 0) {
        *out = l;
        return 0;
    }
    if (ready > 0) {
        *temporary = l->rc != EAI_NONAME;
        err_set(err, ERR_NODE, "%s: cannot resolve %s: %s; check the node's name or the ssh configuration",
                scope->who, host, gai_strerror(l->rc));
    }
    lookup_unref(l);
    return -1;
}

static void set_option(int fd, int level, int option, int value)
{
    /* The options are optional: connections work without them. */
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void set_options(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
}

void ssh_socket_acknowledge(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
}

static int fail_connect(const struct transport_scope *scope, int errnum, struct err *err)
{
    return err_set_errno(err, ERR_NODE, errnum,
                         "%s: cannot connect (is sshd running there, and the port right?)", scope->who);
}

static int finish_connect(int fd, int64_t deadline_ns, const struct transport_scope *scope, struct err *err)
{
    int ready;
    do
        ready = ssh_socket_wait(fd, POLLOUT, deadline_ns, scope, "connecting", err);
    while (ready == 0);
    if (ready < 0)
        return -1;
    int errnum = 0;
    socklen_t len = sizeof errnum;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &len) < 0)
        errnum = errno;
    return errnum ? fail_connect(scope, errnum, err) : 0;
}

static int connect_one(const struct addrinfo *ai, int64_t deadline_ns, const struct transport_scope *scope,
                       struct err *err)
{
    int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, ai->ai_protocol);
    if (fd < 0)
        return fail_connect(scope, errno, err);
    set_options(fd);
    int rc = connect(fd, ai->ai_addr, ai->ai_addrlen);
    if (rc < 0)
        rc = errno == EINPROGRESS || errno == EINTR ? finish_connect(fd, deadline_ns, scope, err)
                                                    : fail_connect(scope, errno, err);
    if (rc == 0)
        return fd;
    close(fd);
    return -1;
}

/* Divides the remaining time equally, so that one silent address cannot use it all up. */
static int64_t share_of(int64_t deadline_ns, int addresses)
{
    int64_t now = clock_mono_ns();
    return deadline_ns > now ? now + (deadline_ns - now) / addresses : deadline_ns;
}

int ssh_socket_connect(const char *host, int port, int family, int64_t deadline_ns,
                       const struct transport_scope *scope, bool *temporary, struct err *err)
{
    struct lookup *l = NULL;
    *temporary = true;
    if (resolve_host(host, port, family, deadline_ns, scope, &l, temporary, err))
        return -1;
    int left = 0;
    for (const struct addrinfo *ai = l->list; ai; ai = ai->ai_next)
        left++;
    int fd = -1;
    struct err last = {0};
    for (const struct addrinfo *ai = l->list; ai && fd < 0 && last.kind != ERR_INTERRUPTED; ai = ai->ai_next)
        fd = connect_one(ai, share_of(deadline_ns, left--), scope, &last);
    if (fd < 0 && err)
        *err = last;
    lookup_unref(l);
    return fd;
}
