#include "common/contract/node_name.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_plain_word(const char *s)
{
    if (*s == '\0' || *s == '-')
        return false;
    for (; *s; s++) {
        if (!isalnum((unsigned char)*s) && !strchr("._-:%@+\\", *s) && (unsigned char)*s < 0x80)
            return false;
    }
    return true;
}

int node_name_port(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && value >= 1 && value <= 65535 ? (int)value : 0;
}

/* Reads "[v6]:port", "host:port", or a bare host; several colons without brackets are a bare IPv6 address. */
static int split_host(const char *text, struct node_name *name)
{
    size_t len = strlen(text);
    const char *port = NULL;
    if (*text == '[') {
        const char *close = strchr(++text, ']');
        if (!close || (close[1] && close[1] != ':'))
            return -1;
        len = (size_t)(close - text);
        port = close[1] ? close + 2 : NULL;
    } else if (strchr(text, ':') && strchr(text, ':') == strrchr(text, ':')) {
        len = strcspn(text, ":");
        port = text + len + 1;
    }
    if (len == 0 || len >= sizeof name->host)
        return -1;
    name->port = port ? node_name_port(port) : 0;
    if (port && name->port == 0)
        return -1;
    memcpy(name->host, text, len);
    name->host[len] = '\0';
    return 0;
}

bool node_name_parse(const char *text, struct node_name *out)
{
    const char *at = strrchr(text, '@');
    *out = (struct node_name){0};
    if (at) {
        size_t len = (size_t)(at - text);
        if (len >= sizeof out->user)
            return false;
        memcpy(out->user, text, len);
        if (!is_plain_word(out->user))
            return false;
    }
    return split_host(at ? at + 1 : text, out) == 0 && is_plain_word(out->host) && !strchr(out->host, '@');
}

bool node_name_is_valid(const char *text)
{
    struct node_name name;
    return node_name_parse(text, &name);
}
