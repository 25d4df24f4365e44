#include "harness/commands/nightly/nightly_install.h"

#include "harness/commands/nightly/nightly_nodes.h"
#include "harness/nightly/timer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int absolute(const char *path, char *out, struct err *err)
{
    char here[FS_PATH_MAX];
    if (*path == '/')
        return fs_join(out, err, "", path);
    return getcwd(here, sizeof here) ? fs_join(out, err, here, path)
                                     : err_set(err, ERR_STORAGE, "cannot determine the working folder");
}

/* The command that the timer starts; argv points to the other members. */
struct timer_command {
    char self[FS_PATH_MAX], artifacts[FS_PATH_MAX], reports[FS_PATH_MAX], db[FS_PATH_MAX], ssh[FS_PATH_MAX],
        log[FS_PATH_MAX];
    const char *argv[24];
};

static int fill_command(const struct cmd_env *env, const struct nightly_args *a, const char *plan,
                        struct timer_command *c, struct err *err)
{
    ssize_t len = readlink("/proc/self/exe", c->self, sizeof c->self - 1);
    c->self[len > 0 ? len : 0] = '\0';
    if (absolute(a->artifacts, c->artifacts, err) != 0 || absolute(a->reports, c->reports, err) != 0 ||
        absolute(env->db, c->db, err) != 0 ||
        (env->ssh_config && absolute(env->ssh_config, c->ssh, err) != 0) ||
        fs_join(c->log, err, c->reports, "nightly.log") != 0)
        return -1;
    const char *const always[] = {c->self,     "nightly",  plan,   "--artifacts", c->artifacts,
                                  "--reports", c->reports, "--db", c->db};
    const char *const maybe[][2] = {{"--ssh-config", env->ssh_config ? c->ssh : NULL},
                                    {"--transport", env->transport},
                                    {"--node", a->node},
                                    {"--tier", a->tier},
                                    {"--budget", a->budget}};
    size_t count = sizeof always / sizeof *always;
    memcpy(c->argv, always, sizeof always);
    for (size_t i = 0; i < sizeof maybe / sizeof *maybe; i++)
        if (maybe[i][1]) {
            c->argv[count++] = maybe[i][0];
            c->argv[count++] = maybe[i][1];
        }
    if (a->changed)
        c->argv[count++] = "--changed";
    c->argv[count] = NULL;
    return 0;
}

int nightly_install(const struct cmd_env *env, const struct nightly_args *a, const char *file,
                    struct err *err)
{
    struct timer_command command = {0};
    AUTO(plan_release) struct plan plan = {0};
    if (nightly_load_plan(&plan, file, err) != 0)
        return -1;
    const struct nightly_timer timer = {
        .plan = &plan, .argv = command.argv, .log = command.log, .at = a->at, .say = stderr};
    if (fill_command(env, a, plan.file, &command, err) != 0 || fs_mkdir_p(command.reports, 0755, err) != 0)
        return -1;
    return nightly_timer_install(&timer, err);
}

int nightly_uninstall(const char *word, struct err *err)
{
    char file[FS_PATH_MAX], dir[FS_PATH_MAX];
    char *path = realpath(word, NULL);
    bool is_name = !path && !strchr(word, '/') && strncmp(word, "kernsweep-nightly-", 18) == 0;
    if (path || is_name) {
        int rc = nightly_timer_remove(path ? path : word, stderr, err);
        free(path);
        return rc;
    }
    const char *slash = strrchr(word, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - word) + 1 : 1, slash ? word : ".");
    path = realpath(dir, NULL);
    int rc = path ? fs_join(file, err, path, slash ? slash + 1 : word) : absolute(word, file, err);
    free(path);
    return rc != 0 ? -1 : nightly_timer_remove(file, stderr, err);
}
