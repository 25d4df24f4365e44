#include "harness/ssh/private_key.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "harness/transport/child.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/base64.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

static const char openssh_begin[] = "-----BEGIN OPENSSH PRIVATE KEY-----";
static const char openssh_end[] = "-----END OPENSSH PRIVATE KEY-----";
static const char openssh_magic[] = "openssh-key-v1"; /* with its NUL */

static size_t be32(const unsigned char *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

/* Reads a length-prefixed field at *off; NULL past the end. */
static const unsigned char *read_field(const unsigned char *data, size_t len, size_t *off, size_t *field_len)
{
    if (len < 4 || *off > len - 4)
        return NULL;
    *field_len = be32(data + *off);
    *off += 4;
    if (*field_len > len - *off)
        return NULL;
    const unsigned char *at = data + *off;
    *off += *field_len;
    return at;
}

static void set_public(struct ssh_identity *id, const unsigned char *blob, size_t len)
{
    if (!ssh_blob_type(blob, len, id->type))
        return;
    free(id->blob);
    id->blob = xmemdup(blob, len);
    id->blob_len = len;
}

/* Format: magic, cipher, kdf, kdf options, count, public key, private part. The public key is never
 * encrypted. */
static void inspect_openssh(struct ssh_identity *id, const unsigned char *raw, size_t len)
{
    size_t off = sizeof openssh_magic, cipher_len, n;
    if (len < off || memcmp(raw, openssh_magic, off) != 0)
        return;
    const unsigned char *cipher = read_field(raw, len, &off, &cipher_len);
    if (!cipher || !read_field(raw, len, &off, &n) || !read_field(raw, len, &off, &n))
        return;
    id->encrypted = cipher_len != 4 || memcmp(cipher, "none", 4) != 0;
    off += 4;
    const unsigned char *blob = read_field(raw, len, &off, &n);
    if (blob)
        set_public(id, blob, n);
}

static void inspect_openssh_text(struct ssh_identity *id)
{
    const char *from = strstr(id->text, openssh_begin) + strlen(openssh_begin);
    const char *to = strstr(from, openssh_end);
    if (!to)
        return;
    size_t text_len = (size_t)(to - from);
    size_t raw_len = BASE64_DECODE_LENGTH(text_len);
    AUTO_FREE uint8_t *raw = xmalloc(raw_len);
    if (ssh_decode_base64(from, text_len, raw, &raw_len))
        inspect_openssh(id, raw, raw_len);
    explicit_bzero(raw, raw_len);
}

static void inspect_public(struct ssh_identity *id, const char *path)
{
    AUTO(buf_release) struct buf text = {.max = SSH_IDENTITY_FILE_MAX};
    struct err ignored;
    if (fs_exists(path) && fs_read_file(path, SSH_IDENTITY_FILE_MAX, &text, &ignored) == 0 && text.len) {
        char *rest = text.data;
        const char *type = strsep(&rest, " ");
        const char *base64 = type && rest ? strsep(&rest, " \n\r") : "";
        uint8_t blob[KNOWN_KEY_BLOB_MAX];
        size_t len = sizeof blob;
        if (ssh_decode_base64(base64, strlen(base64), blob, &len))
            set_public(id, blob, len);
    }
}

/* In the older formats the public key may be encrypted too, but there is often a "<path>.pub". Where an agent
 * has the private key, there may be nothing else. */
static void inspect_pub_file(struct ssh_identity *id)
{
    char path[FS_PATH_MAX + 8];
    snprintf(path, sizeof path, "%s.pub", id->path);
    inspect_public(id, path);
}

static void inspect_text(struct ssh_identity *id)
{
    if (strstr(id->text, openssh_begin)) {
        inspect_openssh_text(id);
        return;
    }
    id->encrypted = strstr(id->text, "ENCRYPTED") != NULL;
    inspect_pub_file(id);
    if (id->type[0] == '\0' && strstr(id->text, "-----BEGIN RSA PRIVATE KEY-----"))
        snprintf(id->type, sizeof id->type, "ssh-rsa");
}

int ssh_identity_load(struct ssh_identity *id, const char *path)
{
    struct stat st;
    AUTO(buf_release) struct buf text = {.max = SSH_IDENTITY_FILE_MAX};
    struct err ignored;
    *id = (struct ssh_identity){.path = path};
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
        fs_read_file(path, SSH_IDENTITY_FILE_MAX, &text, &ignored) == 0 &&
        strstr(buf_str(&text), "PRIVATE KEY-----")) {
        id->text_len = text.len;
        id->text = buf_steal(&text);
        inspect_text(id);
        return 0;
    }
    inspect_public(id, path);
    if (!id->blob)
        inspect_pub_file(id);
    return id->blob ? 0 : -1;
}

void ssh_identity_release(struct ssh_identity *id)
{
    if (id->text)
        explicit_bzero(id->text, id->text_len);
    free(id->text);
    free(id->blob);
    *id = (struct ssh_identity){0};
}

static void write_text(int tty, const char *text)
{
    (void)fs_write_all(tty, text, strlen(text));
}

/* Reads a line from the terminal. -1 when interrupted or closed. */
static int read_line(int tty, const struct transport_scope *scope, char *out, size_t size)
{
    size_t len = 0;
    while (!transport_interrupted(scope)) {
        struct pollfd p = {.fd = tty, .events = POLLIN};
        if (poll(&p, 1, TRANSPORT_POLL_MS_MAX) <= 0)
            continue;
        char c;
        ssize_t n = read(tty, &c, 1);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return -1;
        if (c == '\n' || c == '\r') {
            out[len] = '\0';
            return 0;
        }
        if (len + 1 < size)
            out[len++] = c;
    }
    return -1;
}

int ssh_terminal_open(void)
{
    int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (tty < 0 || tcgetpgrp(tty) == getpgrp())
        return tty;
    close(tty);
    return -1;
}

int ssh_passphrase_ask(const char *path, const struct transport_scope *scope, char *out)
{
    AUTO_CLOSE int tty = ssh_terminal_open();
    struct termios before;
    if (tty < 0 || tcgetattr(tty, &before) < 0)
        return -1;
    struct termios quiet = before;
    quiet.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(tty, TCSAFLUSH, &quiet);
    write_text(tty, "Passphrase for ");
    write_text(tty, path);
    write_text(tty, " (empty to skip this key): ");
    int rc = read_line(tty, scope, out, SSH_PASSPHRASE_MAX);
    write_text(tty, "\n");
    tcsetattr(tty, TCSAFLUSH, &before);
    if (rc || out[0] == '\0') {
        explicit_bzero(out, SSH_PASSPHRASE_MAX);
        return -1;
    }
    return 0;
}
