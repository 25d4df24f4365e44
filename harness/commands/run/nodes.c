/* kernsweep nodes trust HOST: stores a host key once the user has verified its fingerprint. */
#include "harness/commands/base/cmd.h"
#include "harness/session/connect.h"
#include "harness/ssh/config.h"
#include "harness/ssh/trust.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A key that is already stored must match as well, because scripts rely on the exit code. */
static int check_expected(const struct ssh_hostkey *key, const char *expected, struct err *err)
{
    if (!expected || strcmp(expected, key->fingerprint) == 0)
        return 0;
    return err_set(err, ERR_INPUT, "%s shows %s, not %.80s: find out why before you trust it", key->name,
                   key->fingerprint, expected);
}

/* Compares the fingerprint with --fingerprint, or asks the user on the terminal. */
static int verify(const struct ssh_hostkey *key, const char *expected, struct err *err)
{
    char answer[16] = "";
    if (expected)
        return check_expected(key, expected, err);
    if (!isatty(STDIN_FILENO))
        return err_set(
            err, ERR_INPUT,
            "%s shows %s key %s: compare it with the fingerprint on the host, then give --fingerprint %s",
            key->name, key->type, key->fingerprint, key->fingerprint);
    fprintf(stderr, "%s shows %s key %s\nstore it in %s? Type yes: ", key->name, key->type, key->fingerprint,
            key->known_hosts);
    if (!fgets(answer, sizeof answer, stdin) || strcmp(answer, "yes\n") != 0)
        return err_set(err, ERR_INPUT, "%s: not trusted", key->name);
    return 0;
}

static int trust(const struct cmd_env *env, const char *host, const char *fingerprint, struct err *err)
{
    struct ssh_hostkey key;
    struct transport_target target = {
        .node = host, .ssh_config = env->ssh_config, .interrupted = env->interrupted};
    if (!ssh_config_serves(host))
        return err_set(err, ERR_INPUT, "nodes trust: %s is this machine, which is reached without ssh", host);
    if (connect_choose(env->transport, &target, err) != 0)
        return -1;
    if (ssh_hostkey_fetch(&target, &key, err) != 0)
        return -1;
    switch (key.trust) {
    case KNOWN_MATCH:
        if (check_expected(&key, fingerprint, err) != 0)
            return -1;
        fprintf(stderr, "%s: %s is already stored\n", key.name, key.fingerprint);
        return EXIT_DONE;
    case KNOWN_CHANGED:
        return err_set(
            err, ERR_NODE,
            "%s shows %s, but another key is stored in %s: find out why before you remove the old line",
            key.name, key.fingerprint, key.known_hosts);
    case KNOWN_IS_REVOKED:
        return err_set(err, ERR_NODE, "%s shows %s, which is revoked in %s", key.name, key.fingerprint,
                       key.known_hosts);
    case KNOWN_UNKNOWN:
        break;
    }
    if (verify(&key, fingerprint, err) != 0 || ssh_hostkey_store(&key, err) != 0)
        return -1;
    fprintf(stderr, "%s: %s stored in %s\n", key.name, key.fingerprint, key.known_hosts);
    return EXIT_DONE;
}

struct nodes_args {
    const char *fingerprint;
};

static int nodes(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct nodes_args *a = args;
    if (strcmp(words->v[0], "trust") != 0)
        return err_set(err, ERR_INPUT,
                       "nodes: unknown subcommand \"%.40s\": usage: kernsweep nodes trust HOST", words->v[0]);
    return trust(env, words->v[1], a->fingerprint, err);
}

#define AT(member) ARG_AT(struct nodes_args, member)

static const struct arg options[] = {
    {"--fingerprint", "SHA256:...", AT(fingerprint),
     "trust the key without asking if it has this fingerprint"},
};

const struct cmd cmd_nodes = {
    .name = "nodes",
    .summary = "nodes trust HOST: verify and store a host key",
    .usage = "trust HOST [--fingerprint SHA256:...]",
    .about = "Verifies and stores a host key, so that runs may connect to the host.",
    .options = ARG_TABLE(struct nodes_args, options),
    .min_words = 2,
    .max_words = 2,
    .without = CMD_JSON,
    .unlisted = CMD_STORE_OPTIONS,
    .run = nodes,
};
