/* ssh_identity: a private key file: its text, what type it is, and whether it needs a passphrase, all learnt
 * without decrypting it; and asking for that passphrase on the terminal. Wipes what it frees.
 */
#ifndef KERNSWEEP_HARNESS_SSH_IDENTITY_H
#define KERNSWEEP_HARNESS_SSH_IDENTITY_H

#include "harness/ssh/known_hosts.h"
#include "harness/transport/io.h"

#include <stdbool.h>
#include <stddef.h>

enum { SSH_IDENTITY_FILE_MAX = 64 << 10, SSH_PASSPHRASE_MAX = 1024 };

struct ssh_identity {
    const char *path; /* not owned */
    char *text;
    size_t text_len;
    char type[KNOWN_KEY_TYPE_MAX]; /* empty when the file does not tell */
    unsigned char *blob;           /* the public key, or NULL when the file does not tell */
    size_t blob_len;
    bool encrypted;
};

/* 0, or -1 when there is no such key file (missing, unreadable, not a private key). */
int ssh_identity_load(struct ssh_identity *id, const char *path);
void ssh_identity_release(struct ssh_identity *id);

/* Asks on /dev/tty without echo. 0, or -1 when there is no terminal or the user gave up. out: char
 * [SSH_PASSPHRASE_MAX]. */
int ssh_passphrase_ask(const char *path, const struct transport_scope *scope, char *out);

#endif
