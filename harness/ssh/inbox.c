#include "harness/ssh/inbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* 1 when there are bytes, 0 when the node has closed the connection, or -errno. */
static int refill(struct ssh_inbox *inbox, int fd, int flags)
{
    ssize_t n = recv(fd, inbox->bytes, sizeof inbox->bytes, flags);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return -EAGAIN;
    inbox->ended = n <= 0;
    if (n < 0)
        return -errno;
    inbox->at = 0;
    inbox->len = (size_t)n;
    return n > 0;
}

static LIBSSH2_RECV_FUNC(take)
{
    struct ssh_inbox *inbox = *abstract;
    if (inbox->at == inbox->len) {
        int rc = refill(inbox, socket, flags);
        if (rc <= 0)
            return rc;
    }
    size_t left = inbox->len - inbox->at;
    size_t n = left < length ? left : length;
    memcpy(buffer, inbox->bytes + inbox->at, n);
    inbox->at += n;
    return (ssize_t)n;
}

void ssh_inbox_attach(LIBSSH2_SESSION *ssh)
{
#if LIBSSH2_VERSION_NUM >= 0x010b01
    libssh2_session_callback_set2(ssh, LIBSSH2_CALLBACK_RECV, (libssh2_cb_generic *)take);
#else
    libssh2_session_callback_set(ssh, LIBSSH2_CALLBACK_RECV, (void *)take);
#endif
}
