/* ssh_inbox: what was received on a session's socket and libssh2 has not taken yet. libssh2 alone would ask
 * the kernel for 16 KiB at a time.
 *
 * The session owns it and frees it after libssh2's session. libssh2 waits for more only when the inbox is
 * empty, so poll() on the socket misses nothing.
 */
#ifndef KERNSWEEP_HARNESS_SSH_INBOX_H
#define KERNSWEEP_HARNESS_SSH_INBOX_H

#include <libssh2.h>
#include <stdbool.h>
#include <stddef.h>

enum { SSH_INBOX_SIZE = 256 << 10 };

struct ssh_inbox {
    size_t at, len; /* libssh2 has not taken bytes[at] to bytes[len - 1] */
    bool ended;     /* libssh2 wanted more; the connection is closed or broken */
    char bytes[SSH_INBOX_SIZE];
};

/* Makes ssh receive through inbox. ssh was made with inbox as its "abstract". */
void ssh_inbox_attach(LIBSSH2_SESSION *ssh);

#endif
