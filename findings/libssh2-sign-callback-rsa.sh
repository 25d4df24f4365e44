#!/bin/sh
# libssh2 1.11.1-1+deb13u2 and openssh-server 1:10.0p1-7+deb13u4 (Debian 13), seen on 2026-11-30. Needs root, for debootstrap and
# chroot.
#
# libssh2_userauth_publickey() takes a key of type ssh-rsa and a callback that signs, which gets the data and nothing about how.
# Guessed: that it signs as the key's type says, with RSA and SHA-1, where the server permits that: an ssh-agent that is asked
# without flags does so.
#
#   SHA-1: error -19, though the server accepts ssh-rsa
#   the algorithm named in the data, rsa-sha2-512: accepted
#
# Since 1.11 libssh2 chooses a stronger algorithm that the server has announced, writes its name into the data to be signed, and
# puts it before whatever signature the callback returns.
set -eu
tmp=$(mktemp -d)
trap 'kill "$(cat "$tmp/root/sshd.pid" 2>/dev/null)" 2>/dev/null; rm -rf --one-file-system "$tmp"' EXIT
root=$tmp/root
debootstrap --variant=minbase trixie "$root" http://deb.debian.org/debian >"$tmp/log" 2>&1 || { tail -n 3 "$tmp/log"; exit 1; }
cp /etc/resolv.conf "$root/etc/"
cat >"$root/login.c" <<'C'
#include <arpa/inet.h>
#include <libssh2.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static EVP_PKEY *key;
static int follows; /* the name in the data */
static char name[64];

static const unsigned char *next(const unsigned char *p, size_t *n)
{
    *n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    return p + 4;
}

/* RFC 4252, section 7: session, type, user, service, method, flag, algorithm. */
static void read_name(const unsigned char *p)
{
    size_t n;
    p = next(p, &n) + n + 1;
    for (int i = 0; i < 3; i++) {
        p = next(p, &n);
        p += n;
    }
    p = next(p + 1, &n);
    snprintf(name, sizeof name, "%.*s", (int)n, (const char *)p);
}

static int sign(LIBSSH2_SESSION *s, unsigned char **sig, size_t *len, const unsigned char *data, size_t n, void **x)
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    read_name(data);
    const EVP_MD *md = follows && !strcmp(name, "rsa-sha2-512") ? EVP_sha512() : EVP_sha1();
    *sig = malloc(*len = 1024);
    return EVP_DigestSignInit(c, NULL, md, NULL, key) == 1 && EVP_DigestSign(c, *sig, len, data, n) == 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
    unsigned char blob[2048];
    void *nothing = NULL;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(23622), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    FILE *f = fopen("/key", "r"), *b = fopen("/blob", "r");
    follows = argc > 1;
    key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    size_t n = fread(blob, 1, sizeof blob, b);
    libssh2_init(0);
    LIBSSH2_SESSION *s = libssh2_session_init();
    if (!key || connect(fd, (struct sockaddr *)&to, sizeof to) || libssh2_session_handshake(s, fd))
        return 2;
    libssh2_userauth_list(s, "root", 4);
    printf("%d %s\n", libssh2_userauth_publickey(s, "root", blob, n, sign, &nothing), name);
    return 0;
}
C
cat >"$root/try.sh" <<'SH'
set -eu
cd /
export DEBIAN_FRONTEND=noninteractive
apt-get install -qq --no-install-recommends gcc libc6-dev libssl-dev libssh2-1-dev=1.11.1-1+deb13u2 \
    openssh-server=1:10.0p1-7+deb13u4 >/log 2>&1
ssh-keygen -q -t rsa -b 2048 -m PEM -N '' -f /key
cut -d ' ' -f 2 key.pub | base64 -d >blob
ssh-keygen -q -t ed25519 -N '' -f /host
mkdir -p /run/sshd
/usr/sbin/sshd -f /dev/null -h /host -p 23622 -o ListenAddress=127.0.0.1 -o PidFile=/sshd.pid -o UsePAM=no -o StrictModes=no \
    -o PermitRootLogin=yes -o AuthorizedKeysFile=/key.pub -o PubkeyAcceptedAlgorithms=+ssh-rsa
gcc -w -o login login.c -lssh2 -lcrypto
sleep 1
./login >sha1
./login follow >named
SH
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --propagation private sh -c 'mount --rbind /dev "$1/dev" && exec chroot "$1" sh /try.sh' sh "$root"
read -r sha1 algorithm <"$root/sha1"
read -r named _ <"$root/named"
echo "SHA-1: error $sha1, though the server accepts ssh-rsa"
echo "the algorithm named in the data, $algorithm: error $named"
[ "$sha1" = -19 ] && [ "$named" = 0 ] && [ "$algorithm" = rsa-sha2-512 ]
