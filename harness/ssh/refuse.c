#include "harness/ssh/refuse.h"

static int refuse_unknown(const struct ssh_config *c, const char *who, const char *type,
                          const char *fingerprint, struct err *err)
{
    return err_set(err, ERR_NODE,
                   "%s: unknown host key %s %s; compare it with the node's own (ssh-keygen -lf "
                   "/etc/ssh/ssh_host_*_key.pub), then: kernsweep nodes trust %s%s%s",
                   who, type, fingerprint, c->node, c->file ? " --ssh-config " : "", c->file ? c->file : "");
}

int ssh_refuse_unknown_host(const struct ssh_config *c, const char *who, const struct known_hosts *known,
                            const void *blob, size_t len, struct err *err)
{
    char type[KNOWN_KEY_TYPE_MAX], fingerprint[FINGERPRINT_LEN + 1];
    const struct known_key *line;
    if (!blob || !ssh_blob_type(blob, len, type))
        return err_set(err, ERR_NODE, "%s: the host presented no readable key", who);
    ssh_fingerprint(blob, len, fingerprint);
    switch (known_hosts_check(known, blob, len, &line)) {
    case KNOWN_MATCH:
        return 0;
    case KNOWN_UNKNOWN:
        return refuse_unknown(c, who, type, fingerprint, err);
    case KNOWN_IS_REVOKED:
        return err_set(err, ERR_NODE, "%s: refused: host key %s %s is marked @revoked in %s:%u", who, type,
                       fingerprint, line->file, line->line);
    case KNOWN_CHANGED:
        break;
    }
    return err_set(
        err, ERR_NODE,
        "%s: refused: the host key has CHANGED to %s %s, %s:%u holds another; someone may be listening "
        "in; if the node was reinstalled, remove that line (ssh-keygen -R '%s' -f '%s') and trust the new "
        "key",
        who, type, fingerprint, line->file, line->line, c->key_name, line->file);
}
