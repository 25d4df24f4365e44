#include "harness/ssh/auth.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "harness/ssh/accepted_key.h"
#include "harness/ssh/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSPHRASE_TRIES = 3, TRIED_MAX = 1200 };

/* One login attempt: the available keys, and what has been tried, for the error message. */
struct login {
    struct ssh_session *s;
    const struct ssh_config *config;
    struct ssh_passphrases *passphrases;
    struct ssh_agent agent;
    struct ssh_identity files[SSH_FILES_MAX];
    size_t file_index[SSH_FILES_MAX]; /* into config->identity_files */
    size_t count;
    char accepted[FINGERPRINT_LEN + 1]; /* the key that the host accepted last, or "" */
    struct buf tried;
    bool unsupported; /* a key was skipped that another back-end could use */
};

static void login_open(struct login *l, const struct ssh_config *c, const struct transport_scope *scope)
{
    l->config = c;
    buf_init(&l->tried, TRIED_MAX);
    accepted_key_recall(c, l->accepted);
    ssh_agent_open(&l->agent, c->agent, scope);
    for (size_t i = 0; c->identity_files[i]; i++)
        if (ssh_identity_load(&l->files[l->count], c->identity_files[i]) == 0)
            l->file_index[l->count++] = i;
}

static void login_close(struct login *l)
{
    for (size_t i = 0; i < l->count; i++)
        ssh_identity_release(&l->files[i]);
    ssh_agent_close(&l->agent);
    buf_release(&l->tried);
}

enum outcome { LOGIN_DONE, LOGIN_NEXT_KEY, LOGIN_BROKEN };

static void note_tried(struct login *l, const char *what, const char *why)
{
    buf_printf(&l->tried, "%s%s %s", l->tried.len ? ", " : "", what, why);
}

/* Before 1.11, libssh2 supports RSA only with SHA-1 signatures, which sshd rejects; no version supports
 * certificates, or hardware keys from a file. */
static bool usable_type(const char *type)
{
    if (strcmp(type, "ssh-rsa") == 0)
        return ssh_session_has_rsa_sha2();
    return type[0] == '\0' || strcmp(type, "ssh-ed25519") == 0 || strncmp(type, "ecdsa-sha2-nistp", 16) == 0;
}

static void skip_unsupported(struct login *l, const char *what, const char *type)
{
    char why[KNOWN_KEY_TYPE_MAX + 64];
    snprintf(why, sizeof why, "(%s, which libssh2 %s cannot use)", type, libssh2_version(0));
    note_tried(l, what, why);
    l->unsupported = true;
}

static enum outcome fail_broken(struct login *l, int rc, struct err *err)
{
    ssh_session_fail(l->s, rc, "logging in", err);
    if (l->tried.len)
        err_wrap(err, "the host closed the connection after: %s", buf_str(&l->tried));
    return LOGIN_BROKEN;
}

static enum outcome outcome_of(struct login *l, int rc, struct err *err)
{
    if (rc == 0)
        return LOGIN_DONE;
    /* libssh2 reports a connection that is lost here as a refused key, too. */
    if (l->s->inbox->ended)
        return fail_broken(l, rc, err);
    switch (rc) {
    case LIBSSH2_ERROR_AUTHENTICATION_FAILED:
    case LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:
    case LIBSSH2_ERROR_FILE:
    case LIBSSH2_ERROR_METHOD_NOT_SUPPORTED:
    case LIBSSH2_ERROR_METHOD_NONE:
    case LIBSSH2_ERROR_KEYFILE_AUTH_FAILED:
        return LOGIN_NEXT_KEY;
    default:
        return fail_broken(l, rc, err);
    }
}

struct signer {
    struct ssh_agent *agent;
    const struct ssh_agent_key *key;
};

static int sign_with_agent(LIBSSH2_SESSION *ssh, unsigned char **sig, size_t *sig_len,
                           const unsigned char *data, size_t data_len, void **abstract)
{
    const struct signer *signer = *abstract;
    (void)ssh;
    return ssh_agent_sign(signer->agent, signer->key, data, data_len, sig, sig_len);
}

static enum outcome try_agent_key(struct login *l, const struct ssh_agent_key *key, struct err *err)
{
    struct signer signer = {&l->agent, key};
    void *abstract = &signer;
    int rc;
    while ((rc = libssh2_userauth_publickey(l->s->ssh, l->config->user, key->blob, key->len, sign_with_agent,
                                            &abstract)) == LIBSSH2_ERROR_EAGAIN) {
        if (ssh_session_wait(l->s, "logging in", err))
            return LOGIN_BROKEN;
    }
    char fingerprint[FINGERPRINT_LEN + 1];
    ssh_fingerprint(key->blob, key->len, fingerprint);
    if (rc == 0)
        accepted_key_keep(l->config, fingerprint);
    else
        note_tried(l, fingerprint, "from the agent (refused)");
    return outcome_of(l, rc, err);
}

static bool agent_holds(const struct login *l, const struct ssh_identity *id)
{
    for (size_t i = 0; i < l->agent.count; i++) {
        if (id->blob && l->agent.keys[i].len == id->blob_len &&
            memcmp(l->agent.keys[i].blob, id->blob, id->blob_len) == 0)
            return true;
    }
    return false;
}

static bool is_configured(const struct login *l, const struct ssh_agent_key *key)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->files[i].blob_len == key->len && memcmp(l->files[i].blob, key->blob, key->len) == 0)
            return true;
    }
    return false;
}

static bool was_accepted(const struct login *l, const unsigned char *blob, size_t len)
{
    char fingerprint[FINGERPRINT_LEN + 1];
    if (!*l->accepted || !blob)
        return false;
    ssh_fingerprint(blob, len, fingerprint);
    return strcmp(fingerprint, l->accepted) == 0;
}

static bool is_offered(const struct login *l, const struct ssh_agent_key *key)
{
    return !l->config->identities_only || is_configured(l, key);
}

/* Configured keys come first, as servers allow only a few attempts. accepted: only the key that was, or only
 * the others. */
static enum outcome try_agent(struct login *l, bool accepted, struct err *err)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < l->agent.count; i++) {
            const struct ssh_agent_key *key = &l->agent.keys[i];
            if (is_configured(l, key) != (pass == 0) || !is_offered(l, key) ||
                was_accepted(l, key->blob, key->len) != accepted)
                continue;
            if (!usable_type(key->type)) {
                skip_unsupported(l, "an agent's key", key->type);
                continue;
            }
            enum outcome outcome = try_agent_key(l, key, err);
            if (outcome != LOGIN_NEXT_KEY)
                return outcome;
        }
    }
    return LOGIN_NEXT_KEY;
}

static int offer_file(struct login *l, const struct ssh_identity *id, const char *passphrase, int *rc,
                      struct err *err)
{
    const char *user = l->config->user;
    while ((*rc = libssh2_userauth_publickey_frommemory(l->s->ssh, user, strlen(user), NULL, 0, id->text,
                                                        id->text_len, passphrase)) == LIBSSH2_ERROR_EAGAIN) {
        if (ssh_session_wait(l->s, "logging in", err))
            return -1;
    }
    return 0;
}

static enum outcome try_plain_file(struct login *l, const struct ssh_identity *id, struct err *err)
{
    int rc;
    if (offer_file(l, id, NULL, &rc, err))
        return LOGIN_BROKEN;
    if (rc != 0)
        note_tried(l, id->path, rc == LIBSSH2_ERROR_FILE ? "(unreadable)" : "(refused)");
    return outcome_of(l, rc, err);
}

/* The deadline is for the network, so the time for typing is added to it. */
static int ask_passphrase(struct login *l, const struct ssh_identity *id, char *out)
{
    int64_t began_ns = clock_mono_ns();
    int rc = ssh_passphrase_ask(id->path, l->s->scope, out);
    l->s->deadline_ns += clock_mono_ns() - began_ns;
    return rc;
}

static enum outcome try_encrypted_file(struct login *l, const struct ssh_identity *id, size_t index,
                                       struct err *err)
{
    char *passphrase = l->passphrases->text[index];
    for (int tries = 0; tries < PASSPHRASE_TRIES && !l->passphrases->declined[index]; tries++) {
        if (passphrase[0] == '\0' && ask_passphrase(l, id, passphrase)) {
            l->passphrases->declined[index] = true;
            break;
        }
        int rc;
        if (offer_file(l, id, passphrase, &rc, err))
            return LOGIN_BROKEN;
        if (rc == 0)
            return LOGIN_DONE;
        if (rc != LIBSSH2_ERROR_FILE) {
            note_tried(l, id->path, "(refused)");
            return outcome_of(l, rc, err);
        }
        explicit_bzero(passphrase, SSH_PASSPHRASE_MAX);
    }
    note_tried(l, id->path, "(needs its passphrase: run in a terminal, or ssh-add it)");
    return LOGIN_NEXT_KEY;
}

static enum outcome try_file(struct login *l, size_t i, struct err *err)
{
    const struct ssh_identity *id = &l->files[i];
    char fingerprint[FINGERPRINT_LEN + 1];
    enum outcome outcome =
        id->encrypted ? try_encrypted_file(l, id, l->file_index[i], err) : try_plain_file(l, id, err);
    if (outcome == LOGIN_DONE && id->blob) {
        ssh_fingerprint(id->blob, id->blob_len, fingerprint);
        accepted_key_keep(l->config, fingerprint);
    }
    return outcome;
}

static enum outcome try_files(struct login *l, bool accepted, struct err *err)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct ssh_identity *id = &l->files[i];
        if (!id->text || agent_holds(l, id) || was_accepted(l, id->blob, id->blob_len) != accepted)
            continue;
        if (!usable_type(id->type)) {
            skip_unsupported(l, id->path, id->type);
            continue;
        }
        enum outcome outcome = try_file(l, i, err);
        if (outcome != LOGIN_NEXT_KEY)
            return outcome;
    }
    return LOGIN_NEXT_KEY;
}

static enum outcome try_keys(struct login *l, bool accepted, struct err *err)
{
    enum outcome outcome = try_agent(l, accepted, err);
    return outcome == LOGIN_NEXT_KEY ? try_files(l, accepted, err) : outcome;
}

/* Queries the allowed methods. A host without authentication accepts the login at this point. */
static enum outcome query_methods(struct login *l, struct err *err)
{
    LIBSSH2_SESSION *ssh = l->s->ssh;
    const char *user = l->config->user;
    const char *methods;
    while (!(methods = libssh2_userauth_list(ssh, user, (unsigned)strlen(user)))) {
        if (libssh2_userauth_authenticated(ssh))
            return LOGIN_DONE;
        int rc = libssh2_session_last_errno(ssh);
        if (rc != LIBSSH2_ERROR_EAGAIN) {
            ssh_session_fail(l->s, rc, "logging in", err);
            return LOGIN_BROKEN;
        }
        if (ssh_session_wait(l->s, "logging in", err))
            return LOGIN_BROKEN;
    }
    if (!strstr(methods, "publickey"))
        note_tried(l, "the host accepts only", methods);
    l->unsupported = strstr(methods, "gssapi") != NULL;
    return LOGIN_NEXT_KEY;
}

/* Only the OpenSSH client can use a certificate next to a key. */
static void skip_certificates(struct login *l)
{
    for (size_t i = 0; i < l->count; i++) {
        char path[FS_PATH_MAX + 16];
        snprintf(path, sizeof path, "%s-cert.pub", l->files[i].path);
        if (fs_exists(path))
            skip_unsupported(l, path, "a certificate");
    }
}

static int fail_login(struct login *l, enum transport_failure *why, struct err *err)
{
    skip_certificates(l);
    *why = l->unsupported ? TRANSPORT_FAILURE_UNSUPPORTED : TRANSPORT_FAILURE_REFUSED;
    return err_set(err, ERR_NODE,
                   "%s: login refused; tried: %s; is the public key in ~/.ssh/authorized_keys there?",
                   l->s->scope->who, l->tried.len ? buf_str(&l->tried) : "nothing, as no key was found");
}

int ssh_auth_login(struct ssh_session *s, struct ssh_passphrases *passphrases, enum transport_failure *why,
                   struct err *err)
{
    AUTO_FREE struct login *l = xcalloc(1, sizeof *l);
    *why = TRANSPORT_FAILURE_CONNECTION;
    l->s = s;
    l->passphrases = passphrases;
    login_open(l, s->config, s->scope);
    enum outcome outcome = query_methods(l, err);
    if (outcome == LOGIN_NEXT_KEY)
        outcome = try_keys(l, true, err);
    if (outcome == LOGIN_NEXT_KEY)
        outcome = try_keys(l, false, err);
    if (outcome == LOGIN_NEXT_KEY)
        fail_login(l, why, err);
    login_close(l);
    return outcome == LOGIN_DONE ? 0 : -1;
}

void ssh_auth_unserved(const struct ssh_config *c, const struct transport_scope *scope, struct buf *out)
{
    AUTO_FREE struct login *l = xcalloc(1, sizeof *l);
    bool works = false;
    login_open(l, c, scope);
    for (size_t i = 0; i < l->agent.count; i++) {
        const struct ssh_agent_key *key = &l->agent.keys[i];
        bool usable = usable_type(key->type), offered = is_offered(l, key);
        works = works || (usable && offered && was_accepted(l, key->blob, key->len));
        if (offered && !usable)
            buf_printf(out, "%san agent's key (%s)", out->len ? ", " : "", key->type);
    }
    for (size_t i = 0; i < l->count; i++) {
        const struct ssh_identity *id = &l->files[i];
        bool usable = usable_type(id->type);
        works = works || (usable && id->text && was_accepted(l, id->blob, id->blob_len));
        if (!usable && !agent_holds(l, id))
            buf_printf(out, "%s%s (%s)", out->len ? ", " : "", id->path, id->type);
    }
    if (works)
        buf_clear(out);
    login_close(l);
}
