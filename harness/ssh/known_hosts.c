#include "harness/ssh/known_hosts.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <ctype.h>
#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { HASH_NAME_MAX = 80 };

/* A piece of the file's text, not NUL-terminated. */
struct span {
    const char *at;
    size_t len;
};

static bool span_is(struct span s, const char *word)
{
    return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

static struct span next_word(struct span *rest)
{
    while (rest->len && (*rest->at == ' ' || *rest->at == '\t'))
        rest->at++, rest->len--;
    struct span word = {rest->at, 0};
    while (rest->len && *rest->at != ' ' && *rest->at != '\t' && *rest->at != '\r')
        rest->at++, rest->len--, word.len++;
    return word;
}

bool ssh_decode_base64(const char *text, size_t len, uint8_t *out, size_t *count)
{
    if (BASE64_DECODE_LENGTH(len) > *count)
        return false;
    struct base64_decode_ctx ctx;
    base64_decode_init(&ctx);
    return base64_decode_update(&ctx, count, out, len, text) && base64_decode_final(&ctx);
}

/* Matches shell-like wildcards, without recursion. */
static bool glob_match(struct span pattern, const char *name)
{
    size_t p = 0, star = SIZE_MAX;
    const char *resume = NULL;
    while (*name) {
        int c = p < pattern.len ? tolower((unsigned char)pattern.at[p]) : '\0';
        if (p < pattern.len && c == '*') {
            star = p++;
            resume = name;
        } else if (p < pattern.len && (c == '?' || c == (unsigned char)*name)) {
            p++;
            name++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

/* Matches a comma-separated list, in which a matching negated pattern overrides the others. */
static bool list_matches(struct span list, const char *name)
{
    bool found = false;
    while (list.len) {
        const char *comma = memchr(list.at, ',', list.len);
        struct span one = {list.at, comma ? (size_t)(comma - list.at) : list.len};
        size_t used = one.len + (comma != NULL);
        list.at += used;
        list.len -= used;
        bool negated = one.len && *one.at == '!';
        if (negated)
            one.at++, one.len--;
        if (!glob_match(one, name))
            continue;
        if (negated)
            return false;
        found = true;
    }
    return found;
}

static void hash_name(const uint8_t *salt, size_t salt_len, const char *name,
                      uint8_t digest[SHA1_DIGEST_SIZE])
{
    struct hmac_sha1_ctx ctx;
    hmac_sha1_set_key(&ctx, salt_len, salt);
    hmac_sha1_update(&ctx, strlen(name), (const uint8_t *)name);
    hmac_sha1_digest(&ctx, SHA1_DIGEST_SIZE, digest);
}

/* The field has the form |1|salt|hash. */
static bool hashed_matches(struct span field, const char *name)
{
    struct span salt_text = {field.at + 3, field.len - 3};
    const char *bar = memchr(salt_text.at, '|', salt_text.len);
    if (!bar)
        return false;
    struct span hash_text = {bar + 1, (size_t)(field.at + field.len - bar - 1)};
    salt_text.len = (size_t)(bar - salt_text.at);
    uint8_t salt[64], stored[64], digest[SHA1_DIGEST_SIZE];
    size_t salt_len = sizeof salt, stored_len = sizeof stored;
    if (!ssh_decode_base64(salt_text.at, salt_text.len, salt, &salt_len) ||
        !ssh_decode_base64(hash_text.at, hash_text.len, stored, &stored_len) ||
        salt_len != SHA1_DIGEST_SIZE || stored_len != SHA1_DIGEST_SIZE)
        return false;
    hash_name(salt, salt_len, name, digest);
    return memcmp(digest, stored, sizeof digest) == 0;
}

static bool names_host(struct span field, const char *name)
{
    if (field.len > 3 && memcmp(field.at, "|1|", 3) == 0)
        return hashed_matches(field, name);
    return list_matches(field, name);
}

const char *ssh_blob_type(const void *blob, size_t len, char *out)
{
    const unsigned char *b = blob;
    if (len < 4)
        return NULL;
    size_t n = (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
    if (n == 0 || n > len - 4 || n >= KNOWN_KEY_TYPE_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!isgraph(b[4 + i]) || b[4 + i] == ',')
            return NULL;
    }
    memcpy(out, b + 4, n);
    out[n] = '\0';
    return out;
}

/* Parses "[@marker] names type base64 [comment]". */
static void parse_line(struct known_hosts *kh, struct span line, const char *file, unsigned number,
                       const char *name)
{
    struct known_key key = {.mark = KNOWN_PLAIN, .file = file, .line = number};
    struct span names = next_word(&line);
    if (names.len == 0 || *names.at == '#')
        return;
    if (*names.at == '@') {
        if (span_is(names, "@revoked"))
            key.mark = KNOWN_REVOKED;
        else if (span_is(names, "@cert-authority"))
            key.mark = KNOWN_CERT_AUTHORITY;
        else
            return;
        names = next_word(&line);
    }
    struct span type = next_word(&line);
    struct span text = next_word(&line);
    uint8_t blob[KNOWN_KEY_BLOB_MAX];
    key.len = sizeof blob;
    if (text.len == 0 || !names_host(names, name) || !ssh_decode_base64(text.at, text.len, blob, &key.len) ||
        !ssh_blob_type(blob, key.len, key.type) || !span_is(type, key.type))
        return;
    key.blob = xmemdup(blob, key.len);
    ALLOC_GROW(kh->keys, kh->count + 1, kh->cap);
    kh->keys[kh->count++] = key;
}

void known_hosts_parse(struct known_hosts *kh, const char *text, size_t len, const char *file,
                       const char *name)
{
    unsigned number = 0;
    while (len) {
        const char *end = memchr(text, '\n', len);
        struct span line = {text, end ? (size_t)(end - text) : len};
        parse_line(kh, line, file, ++number, name);
        size_t used = line.len + (end != NULL);
        text += used;
        len -= used;
    }
}

static int load_file(struct known_hosts *kh, const char *file, const char *name, struct err *err)
{
    struct stat st;
    if (stat(file, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    AUTO(buf_release) struct buf text = {.max = KNOWN_HOSTS_FILE_MAX};
    if (fs_read_file(file, KNOWN_HOSTS_FILE_MAX, &text, err) != 0)
        return -1;
    known_hosts_parse(kh, buf_str(&text), text.len, file, name);
    return 0;
}

int known_hosts_load(struct known_hosts *kh, char *const *files, const char *name, struct err *err)
{
    *kh = (struct known_hosts){0};
    for (; *files; files++) {
        if (load_file(kh, *files, name, err)) {
            known_hosts_release(kh);
            return -1;
        }
    }
    return 0;
}

void known_hosts_release(struct known_hosts *kh)
{
    for (size_t i = 0; i < kh->count; i++)
        free(kh->keys[i].blob);
    free(kh->keys);
    *kh = (struct known_hosts){0};
}

enum known_verdict known_hosts_check(const struct known_hosts *kh, const void *blob, size_t len,
                                     const struct known_key **which)
{
    enum known_verdict verdict = KNOWN_UNKNOWN;
    *which = NULL;
    for (size_t i = 0; i < kh->count; i++) {
        const struct known_key *key = &kh->keys[i];
        bool same = key->len == len && memcmp(key->blob, blob, len) == 0;
        if (same && key->mark == KNOWN_REVOKED) {
            *which = key;
            return KNOWN_IS_REVOKED;
        }
        if (key->mark != KNOWN_PLAIN || verdict == KNOWN_MATCH)
            continue;
        if (same || verdict == KNOWN_UNKNOWN) {
            verdict = same ? KNOWN_MATCH : KNOWN_CHANGED;
            *which = key;
        }
    }
    return verdict;
}

void known_hosts_types(const struct known_hosts *kh, struct buf *out)
{
    for (size_t i = 0; i < kh->count; i++) {
        bool seen = kh->keys[i].mark != KNOWN_PLAIN;
        for (size_t j = 0; j < i && !seen; j++)
            seen = kh->keys[j].mark == KNOWN_PLAIN && strcmp(kh->keys[i].type, kh->keys[j].type) == 0;
        if (seen)
            continue;
        if (out->len)
            buf_putc(out, ',');
        buf_puts(out, kh->keys[i].type);
    }
}

void ssh_fingerprint(const void *blob, size_t len, char *out)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char text[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = {0};
    sha256_init(&ctx);
    sha256_update(&ctx, len, blob);
    sha256_digest(&ctx, sizeof digest, digest);
    base64_encode_raw(text, sizeof digest, digest);
    text[strcspn(text, "=")] = '\0';
    snprintf(out, FINGERPRINT_LEN + 1, "SHA256:%s", text);
}

int known_hosts_hash_name(const char *name, char *out, struct err *err)
{
    uint8_t salt[SHA1_DIGEST_SIZE], digest[SHA1_DIGEST_SIZE];
    char salt_text[BASE64_ENCODE_RAW_LENGTH(SHA1_DIGEST_SIZE) + 1] = {0};
    char hash_text[BASE64_ENCODE_RAW_LENGTH(SHA1_DIGEST_SIZE) + 1] = {0};
    if (getrandom(salt, sizeof salt, 0) != sizeof salt)
        return err_set(err, ERR_INTERNAL, "no random bytes");
    hash_name(salt, sizeof salt, name, digest);
    base64_encode_raw(salt_text, sizeof salt, salt);
    base64_encode_raw(hash_text, sizeof digest, digest);
    snprintf(out, HASH_NAME_MAX, "|1|%s|%s", salt_text, hash_text);
    return 0;
}
