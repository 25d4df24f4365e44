#include "executor/job/command.h"

#include "common/base/fs.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_BYTES = 64 << 10 };

/* A command that ssh starts has no login shell's PATH. */
static const char *const compiler_dirs[] = {"/opt/rocm/bin", "/usr/local/cuda/bin", NULL};
static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static char *expand(const char *template, const struct subst *values, struct err *err)
{
    struct buf text;
    buf_init(&text, LIMIT_ARG_BYTES * 4);
    buf_puts(&text, "");
    int rc = subst_expand(template, values, &text, err);
    char *s = rc == 0 ? buf_steal(&text) : NULL;
    buf_release(&text);
    return s;
}

int command_argv(const struct command *cmd, const struct subst *values, struct words *out, struct err *err)
{
    for (size_t i = 0; i < cmd->argc; i++) {
        if (words_take(out, expand(cmd->argv[i], values, err), err) != 0)
            return err_wrap(err, "command '%.80s'", cmd->argv[0]);
    }
    return 0;
}

static bool has_dir(const char *path, const char *dir)
{
    size_t len = strlen(dir);
    for (const char *p = path; (p = strstr(p, dir)); p += len) {
        if ((p == path || p[-1] == ':') && (p[len] == ':' || p[len] == '\0'))
            return true;
    }
    return false;
}

static int extend_path(struct words *env, struct err *err)
{
    const char *old = words_getenv(env, "PATH");
    struct buf path;
    buf_init(&path, PATH_MAX_BYTES);
    buf_puts(&path, old ? old : default_path);
    for (size_t i = 0; compiler_dirs[i]; i++) {
        if (fs_is_dir(compiler_dirs[i]) && !has_dir(buf_str(&path), compiler_dirs[i]))
            buf_printf(&path, ":%s", compiler_dirs[i]);
    }
    int rc = buf_ok(&path) ? words_setenv(env, "PATH", buf_str(&path), err)
                           : err_set(err, ERR_INTERNAL, "PATH is too long");
    buf_release(&path);
    return rc;
}

static bool has_values(const char *template, const struct subst *values)
{
    unsigned used, have = 0;
    for (int k = 0; k < SUBST_COUNT; k++)
        have |= values->text[k] ? SUBST_BIT(k) : 0;
    have |= values->context ? SUBST_BIT(SUBST_CONTEXT) : 0;
    have |= values->repetition ? SUBST_BIT(SUBST_REPETITION) : 0;
    return subst_scan(template, &used, NULL) == 0 && !(used & ~have);
}

static int add_entries(const struct job *job, const struct env *env, const struct subst *values,
                       struct words *out, struct err *err)
{
    for (size_t i = 0; i < env->count; i++) {
        bool literal = job_is_secret(job, env->name[i]);
        if (!literal && !has_values(env->value[i], values))
            continue;
        char *value = literal ? strdup(env->value[i]) : expand(env->value[i], values, err);
        int rc = value ? words_setenv(out, env->name[i], value, err) : err_wrap(err, "env %s", env->name[i]);
        free(value);
        if (rc != 0)
            return -1;
    }
    return 0;
}

int command_environment(const struct job *job, const struct variant *variant, const struct subst *values,
                        struct words *out, struct err *err)
{
    if (words_environment(out, err) != 0 || extend_path(out, err) != 0 ||
        add_entries(job, &job->env, values, out, err) != 0)
        return -1;
    return variant ? add_entries(job, &variant->env, values, out, err) : 0;
}
