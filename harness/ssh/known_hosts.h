/* ssh_known_hosts: which keys the user's known_hosts files hold for a host, and what that says of the key the
 * host presents. Own reading, since libssh2's ignores wildcards and @revoked and stops at a junk line; the
 * meaning is ssh-keygen -F's, which the tests compare it with. Lines are hostile input: a bad one is skipped.
 */
#ifndef KERNSWEEP_HARNESS_SSH_KNOWN_HOSTS_H
#define KERNSWEEP_HARNESS_SSH_KNOWN_HOSTS_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { KNOWN_KEY_BLOB_MAX = 4096, KNOWN_KEY_TYPE_MAX = 64, KNOWN_HOSTS_FILE_MAX = 16 << 20 };
enum { FINGERPRINT_LEN = 50 }; /* "SHA256:" and 43 digits */

enum known_mark { KNOWN_PLAIN, KNOWN_REVOKED, KNOWN_CERT_AUTHORITY };

struct known_key {
    enum known_mark mark;
    char type[KNOWN_KEY_TYPE_MAX];
    unsigned char *blob;
    size_t len;
    const char *file; /* as given to known_hosts_load(), not owned */
    unsigned line;
};

struct known_hosts {
    struct known_key *keys; /* of the lines that name the host */
    size_t count, cap;
};

enum known_verdict { KNOWN_MATCH, KNOWN_UNKNOWN, KNOWN_CHANGED, KNOWN_IS_REVOKED };

/* files: NULL-terminated; missing ones and those that are not regular files hold nothing. name: lower case,
 * host or [host]:port. */
int known_hosts_load(struct known_hosts *kh, char *const *files, const char *name, struct err *err);
/* The same over text in memory; what fuzzing drives. */
int known_hosts_parse(struct known_hosts *kh, const char *text, size_t len, const char *file,
                      const char *name, struct err *err);
void known_hosts_release(struct known_hosts *kh);

/* which: the line that decided, or NULL. */
enum known_verdict known_hosts_check(const struct known_hosts *kh, const void *blob, size_t len,
                                     const struct known_key **which);
/* Appends the types of the usable plain keys, comma-separated, each once. */
void known_hosts_types(const struct known_hosts *kh, struct buf *out);

/* The type named inside a public key's blob, or NULL when it is malformed. out: char[KNOWN_KEY_TYPE_MAX]. */
const char *ssh_blob_type(const void *blob, size_t len, char *out);
/* out: char[FINGERPRINT_LEN + 1] */
void ssh_fingerprint(const void *blob, size_t len, char *out);
/* The |1|salt|hash form of a name. out: char[80]. */
int known_hosts_hash_name(const char *name, char *out, struct err *err);

#endif
