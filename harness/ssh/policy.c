#include "harness/ssh/policy.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Options that a connection would silently lack. Those that config.c reads are not among them. */
static const char *const options[] = {
    "BindAddress",
    "BindInterface",
    "CASignatureAlgorithms",
    "Ciphers",
    "Compression",
    "HostKeyAlgorithms",
    "IPQoS",
    "KexAlgorithms",
    "KnownHostsCommand",
    "MACs",
    "PKCS11Provider",
    "PubkeyAcceptedAlgorithms",
    "RekeyLimit",
    "RemoteCommand",
    "RequiredRSASize",
    "RevokedHostKeys",
    "SetEnv",
    "VerifyHostKeyDNS",
};

/* The line of an option; *len without its end. NULL: there is none. */
static const char *find_line(const char *text, const char *option, size_t *len)
{
    size_t name = strlen(option);
    for (const char *line = text; *line;) {
        *len = strcspn(line, "\n");
        if (*len > name && line[name] == ' ' && strncasecmp(line, option, name) == 0)
            return line;
        line += *len + (line[*len] == '\n');
    }
    return NULL;
}

static bool is_same(const char *wanted, const char *defaults, const char *option)
{
    size_t wanted_len, default_len;
    const char *a = find_line(wanted, option, &wanted_len), *b = find_line(defaults, option, &default_len);
    if (!a)
        return true; /* an older client that does not know it */
    return b && wanted_len == default_len && memcmp(a, b, wanted_len) == 0;
}

void ssh_policy_unserved(const char *wanted, const char *defaults, struct buf *out)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!is_same(wanted, defaults, options[i]))
            buf_printf(out, "%s%s", out->len ? ", " : "", options[i]);
}
