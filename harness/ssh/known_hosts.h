/* ssh_known_hosts: the keys that the user's known_hosts files have for a host, and a check of the presented
 * key against them. libssh2's parser ignores wildcards and @revoked and stops at a malformed line; this one
 * agrees with ssh-keygen -F, which the tests verify. Malformed lines are skipped.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KNOWN_KEY_BLOB_MAX = 4096, KNOWN_KEY_TYPE_MAX = 64, KNOWN_HOSTS_FILE_MAX = 16 << 20 };
enum { FINGERPRINT_LEN = 50 }; /* "SHA256:" and 43 digits */

enum known_mark { KNOWN_PLAIN, KNOWN_REVOKED, KNOWN_CERT_AUTHORITY };

struct known_key {
    enum known_mark mark;
    char type[KNOWN_KEY_TYPE_MAX];
    unsigned char *blob;
    size_t len;
    const char *file; /* borrowed from known_hosts_load() */
    unsigned line;
};

struct known_hosts {
    struct known_key *keys; /* from lines that match the host */
    size_t count, cap;
};

enum known_verdict { KNOWN_UNKNOWN, KNOWN_MATCH, KNOWN_CHANGED, KNOWN_IS_REVOKED };

/* files: NULL-terminated; missing and non-regular files are ignored. name: lower case, host or [host]:port.
 */
int known_hosts_load(struct known_hosts *kh, char *const *files, const char *name, struct err *err);
/* The same for text in memory; the entry point for fuzzing. */
void known_hosts_parse(struct known_hosts *kh, const char *text, size_t len, const char *file,
                       const char *name);
void known_hosts_release(struct known_hosts *kh);

/* *which: the line that decided, or NULL. */
enum known_verdict known_hosts_check(const struct known_hosts *kh, const void *blob, size_t len,
                                     const struct known_key **which);
/* Appends the types of the usable plain keys, comma-separated, each once. */
void known_hosts_types(const struct known_hosts *kh, struct buf *out);

/* *count: capacity of out on entry, length on return. False for invalid base64, or when it is too long. */
bool ssh_decode_base64(const char *text, size_t len, uint8_t *out, size_t *count);
/* The type inside a public key blob, or NULL when malformed. out: char[KNOWN_KEY_TYPE_MAX]. */
const char *ssh_blob_type(const void *blob, size_t len, char *out);
/* out: char[FINGERPRINT_LEN + 1] */
void ssh_fingerprint(const void *blob, size_t len, char *out);
/* The |1|salt|hash form of a name. out: char[80]. */
int known_hosts_hash_name(const char *name, char *out, struct err *err);
