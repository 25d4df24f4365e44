#include "common/base/program_env.h"

#include <string.h>
#include <unistd.h>

#define SLURM                                                                                                \
    "SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_SACK_KEY", "SLURM_SACK_JWKS", "SLURM_SACK_SOCKET"
#define PROXIES                                                                                              \
    "http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"
#define ENGINE                                                                                               \
    "DBUS_SESSION_BUS_ADDRESS", "XDG_DATA_HOME", "CONTAINERS_*", "CONTAINER_*", "STORAGE_*",                 \
        "REGISTRY_AUTH_FILE", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH",          \
        "DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION", "APPTAINER_CACHEDIR", "APPTAINER_TMPDIR",   \
        "APPTAINER_CONFIGDIR", "APPTAINER_DOCKER_USERNAME", "APPTAINER_DOCKER_PASSWORD", PROXIES

enum { NAMES_MAX = 28 };

/* What every program in the list gets: where things are, and who asks. */
static const char *const common[] = {"PATH",
                                     "HOME",
                                     "USER",
                                     "LOGNAME",
                                     "SHELL",
                                     "TMPDIR",
                                     "TZ",
                                     "LD_LIBRARY_PATH",
                                     "XDG_CACHE_HOME",
                                     "XDG_CONFIG_HOME",
                                     "XDG_RUNTIME_DIR",
                                     NULL};

/* The first name that fits decides: one with '!' keeps a variable back. A name that ends with '*' stands for
 * all that begin so. What no name fits passes if it is in `common`. */
static const struct row {
    const char *program;
    const char *names[NAMES_MAX];
} rows[] = {
    /* It starts ssh, credential helpers and filters, and asks SUDO_UID whose the repository may be. */
    {"git",
     {"GIT_SSH",
      "GIT_SSH_COMMAND",
      "GIT_SSH_VARIANT",
      "GIT_EXEC_PATH",
      "GIT_TEMPLATE_DIR",
      "GIT_CONFIG_*",
      "GIT_CEILING_DIRECTORIES",
      "GIT_DISCOVERY_ACROSS_FILESYSTEM",
      "GIT_SSL_*",
      "GIT_PROXY_COMMAND",
      "GIT_LFS_*",
      "GIT_ASKPASS",
      "GIT_TEST_ASSUME_DIFFERENT_OWNER",
      "!GIT_*",
      "!POSIXLY_CORRECT",
      "!LD_PRELOAD",
      "!LD_AUDIT",
      "!LD_DEBUG*",
      "!LC_ALL",
      "*"}},
    /* An IdentityFile, a ProxyCommand and a Match exec of the user's may ask for any variable. */
    {"ssh", {"!POSIXLY_CORRECT", "!LD_PRELOAD", "!LD_AUDIT", "!LD_DEBUG*", "*"}},
    {"ssh-keygen", {NULL}},
    {"tar", {NULL}},
    {"cp", {NULL}},
    {"gnuplot", {NULL}},
    /* Slurm hands on the environment of sbatch, which is that of the tests. */
    {"sbatch",
     {SLURM, "!SLURM_*", "!SBATCH_*", "!SQUEUE_*", "!SCANCEL_*", "!POSIXLY_CORRECT", "!SSH_*", "!KERNSWEEP_*",
      "*"}},
    {"squeue", {SLURM}},
    {"scancel", {SLURM}},
    {"podman", {ENGINE}},
    {"docker", {ENGINE}},
    {"apptainer", {ENGINE}},
    {"amd-smi", {NULL}},
    {"nvidia-smi", {NULL}},
    {"sudo", {NULL}}, /* of amd-smi and nvidia-smi */
    {"llvm-objdump", {NULL}},
    {"nvdisasm", {NULL}},
    {"busctl", {"DBUS_SESSION_BUS_ADDRESS"}},
    {"systemctl", {"DBUS_SESSION_BUS_ADDRESS"}},
    {"crontab", {NULL}},
};

static bool fits(const char *entry, const char *name)
{
    size_t len = strlen(name);
    if (name[len - 1] == '*')
        return strncmp(entry, name, len - 1) == 0;
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

static bool passes(const struct row *row, const char *entry)
{
    for (size_t i = 0; i < NAMES_MAX && row->names[i]; i++) {
        bool kept_back = row->names[i][0] == '!';
        if (fits(entry, row->names[i] + kept_back))
            return !kept_back;
    }
    for (const char *const *name = common; *name; name++)
        if (fits(entry, *name))
            return true;
    return false;
}

bool program_env(const char *program, struct strvec *env)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    const struct row *row = rows, *end = rows + sizeof rows / sizeof *rows;
    while (row < end && strcmp(name, row->program) != 0)
        row++;
    if (row == end)
        return false;
    for (char **e = environ; e && *e; e++)
        if (passes(row, *e))
            strvec_push(env, *e);
    if (!passes(row, "LC_ALL=")) /* its messages are read */
        strvec_push(env, "LC_ALL=C");
    return true;
}
