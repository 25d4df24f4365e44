#include "harness/ssh/agent.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "harness/ssh/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ASK_IDENTITIES = 11, TELL_IDENTITIES = 12, ASK_SIGN = 13, TELL_SIGN = 14 };
enum { SIGN_RSA_SHA2_256 = 2, SIGN_RSA_SHA2_512 = 4 };

/* Listing is instant; signing may wait for the touch of a hardware key. */
static const double list_deadline_s = 5.0;
static const double sign_deadline_s = 30.0;

/* Reads SSH's length-prefixed fields; past the end of the message, fields are empty and bad is set. */
struct cursor {
    const unsigned char *at;
    size_t left;
    bool bad;
};

static size_t take_u32(struct cursor *c)
{
    if (c->left < 4) {
        c->bad = true;
        return 0;
    }
    size_t v = (size_t)c->at[0] << 24 | (size_t)c->at[1] << 16 | (size_t)c->at[2] << 8 | c->at[3];
    c->at += 4;
    c->left -= 4;
    return v;
}

static void take_byte(struct cursor *c)
{
    if (c->left == 0) {
        c->bad = true;
        return;
    }
    c->at++;
    c->left--;
}

static const unsigned char *take_string(struct cursor *c, size_t *len)
{
    *len = take_u32(c);
    if (c->bad || *len > c->left) {
        c->bad = true;
        *len = 0;
        return c->at;
    }
    const unsigned char *s = c->at;
    c->at += *len;
    c->left -= *len;
    return s;
}

static void put_u32(struct buf *out, size_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_putc(out, (char)(v >> shift & 0xff));
}

static void put_string(struct buf *out, const void *data, size_t len)
{
    put_u32(out, len);
    buf_add(out, data, len);
}

static int wait_for(const struct ssh_agent *a, short events)
{
    struct err ignored;
    int ready;
    do
        ready = ssh_socket_wait(a->fd, events, a->deadline_ns, a->scope, "asking the ssh-agent", &ignored);
    while (ready == 0);
    return ready < 0 ? -1 : 0;
}

static int send_all(const struct ssh_agent *a, const char *data, size_t len)
{
    while (len) {
        ssize_t n = send(a->fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
        if (n < 0 && wait_for(a, POLLOUT))
            return -1;
        if (n > 0)
            data += n, len -= (size_t)n;
    }
    return 0;
}

static int receive_all(const struct ssh_agent *a, unsigned char *data, size_t len)
{
    while (len) {
        ssize_t n = recv(a->fd, data, len, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return -1;
        if (n < 0 && wait_for(a, POLLIN))
            return -1;
        if (n > 0)
            data += n, len -= (size_t)n;
    }
    return 0;
}

/* Sends a framed request. Returns the answer (malloc) if it is of the expected kind; c is set to what follows
 * the kind. */
static unsigned char *exchange(struct ssh_agent *a, const struct buf *request, int expected, struct cursor *c)
{
    unsigned char head[4];
    if (!buf_ok(request) || send_all(a, request->data, request->len) || receive_all(a, head, sizeof head))
        return NULL;
    struct cursor h = {head, sizeof head, false};
    size_t len = take_u32(&h);
    if (len == 0 || len > SSH_AGENT_MESSAGE_MAX)
        return NULL;
    unsigned char *answer = xmalloc(len);
    if (receive_all(a, answer, len) || answer[0] != expected) {
        free(answer);
        return NULL;
    }
    *c = (struct cursor){answer + 1, len - 1, false};
    return answer;
}

static void list_keys(struct ssh_agent *a)
{
    AUTO(buf_release) struct buf request = {.max = 64};
    put_u32(&request, 1);
    buf_putc(&request, ASK_IDENTITIES);
    struct cursor c;
    AUTO_FREE unsigned char *answer = exchange(a, &request, TELL_IDENTITIES, &c);
    if (!answer)
        return;
    size_t count = take_u32(&c);
    for (size_t i = 0; i < count && !c.bad && a->count < SSH_AGENT_KEYS_MAX; i++) {
        struct ssh_agent_key *key = &a->keys[a->count];
        size_t comment_len;
        const unsigned char *blob = take_string(&c, &key->len);
        take_string(&c, &comment_len);
        if (c.bad || !ssh_blob_type(blob, key->len, key->type))
            continue;
        key->blob = xmemdup(blob, key->len);
        a->count++;
    }
}

void ssh_agent_open(struct ssh_agent *a, const char *path, const struct transport_scope *scope)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *a = (struct ssh_agent){.fd = -1, .scope = scope};
    if (*path == '\0' || strlen(path) >= sizeof address.sun_path)
        return;
    memcpy(address.sun_path, path, strlen(path) + 1);
    a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (a->fd < 0)
        return;
    if (connect(a->fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        ssh_agent_close(a);
        return;
    }
    a->deadline_ns = clock_deadline_ns(list_deadline_s);
    list_keys(a);
}

void ssh_agent_close(struct ssh_agent *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->keys[i].blob);
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    a->count = 0;
}

static bool is_text(const unsigned char *s, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(s, text, len) == 0;
}

/* Without one of its flags, an agent signs with RSA and SHA-1, which servers of today refuse. The data name
 * the algorithm that libssh2 chose (RFC 4252, section 7). */
static size_t sign_flags(const unsigned char *data, size_t len)
{
    struct cursor c = {data, len, false};
    size_t n;
    take_string(&c, &n); /* session */
    take_byte(&c);       /* kind of message */
    take_string(&c, &n); /* user */
    take_string(&c, &n); /* service */
    take_string(&c, &n); /* "publickey" */
    take_byte(&c);
    const unsigned char *algorithm = take_string(&c, &n);
    return is_text(algorithm, n, "rsa-sha2-512")   ? SIGN_RSA_SHA2_512
           : is_text(algorithm, n, "rsa-sha2-256") ? SIGN_RSA_SHA2_256
                                                   : 0;
}

int ssh_agent_sign(struct ssh_agent *a, const struct ssh_agent_key *key, const unsigned char *data,
                   size_t len, unsigned char **sig, size_t *sig_len)
{
    AUTO(buf_release) struct buf request = {.max = SSH_AGENT_MESSAGE_MAX};
    put_u32(&request, 1 + 4 + key->len + 4 + len + 4);
    buf_putc(&request, ASK_SIGN);
    put_string(&request, key->blob, key->len);
    put_string(&request, data, len);
    put_u32(&request, sign_flags(data, len));
    struct cursor outer;
    a->deadline_ns = clock_deadline_ns(sign_deadline_s);
    AUTO_FREE unsigned char *answer = exchange(a, &request, TELL_SIGN, &outer);
    if (!answer)
        return -1;
    size_t n;
    struct cursor inner = {.at = take_string(&outer, &n)};
    inner.left = n;
    take_string(&inner, &n); /* the algorithm name, which libssh2 adds itself */
    const unsigned char *bare = take_string(&inner, sig_len);
    if (inner.bad || outer.bad || *sig_len == 0)
        return -1;
    *sig = xmemdup(bare, *sig_len);
    return 0;
}
