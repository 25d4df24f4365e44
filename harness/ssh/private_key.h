/* private_key: a private key file: its text, its type, and whether it needs a passphrase, determined without
 * decrypting it; and prompting for that passphrase on the terminal. Wipes memory before freeing it.
 */
#pragma once

#include "harness/ssh/known_hosts.h"
#include "harness/transport/io.h"

#include <stdbool.h>
#include <stddef.h>

enum { SSH_IDENTITY_FILE_MAX = 64 << 10, SSH_PASSPHRASE_MAX = 1024 };

struct ssh_identity {
    const char *path; /* not owned */
    char *text;       /* NULL if only the public key is here, as the private one is an agent's */
    size_t text_len;
    char type[KNOWN_KEY_TYPE_MAX]; /* empty if unknown */
    unsigned char *blob;           /* the public key, or NULL if unknown */
    size_t blob_len;
    bool encrypted;
};

/* Also takes the public key at path or at <path>.pub. -1 when there is neither. */
int ssh_identity_load(struct ssh_identity *id, const char *path);
void ssh_identity_release(struct ssh_identity *id);

/* Opens the terminal; the caller closes it. Returns -1 if there is none, and in the background, where reading
 * from it would stop this process. */
int ssh_terminal_open(void);
/* Prompts on /dev/tty without echo. -1 when there is no terminal or the user declined. out:
 * char[SSH_PASSPHRASE_MAX]. */
int ssh_passphrase_ask(const char *path, const struct transport_scope *scope, char *out);
