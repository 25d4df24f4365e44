#include "executor/process/command.h"

#include "common/base/alloc.h"
#include "common/base/environment.h"
#include "common/base/fs.h"
#include "common/contract/proto.h"

#include <stdlib.h>
#include <string.h>

/* Commands started over ssh lack the PATH of a login shell. */
static const char *const compiler_dirs[] = {"/opt/rocm/bin", "/usr/local/cuda/bin", NULL};
static const char default_path[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static char *expand_template(const char *template, const struct subst *values, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LIMIT_ARG_BYTES * 4};
    buf_puts(&text, "");
    return subst_expand(template, values, &text, err) == 0 ? buf_steal(&text) : NULL;
}

int command_argv(const struct command *cmd, const struct subst *values, struct strvec *out, struct err *err)
{
    for (size_t i = 0; i < cmd->argc; i++) {
        char *word = expand_template(cmd->argv[i], values, err);
        if (!word)
            return err_wrap(err, "command '%.80s'", cmd->argv[0]);
        strvec_take(out, word);
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

static void extend_path(struct strvec *env)
{
    const char *old = environment_get(env, "PATH");
    AUTO_FREE char *path = xstrdup(old ? old : default_path);
    for (size_t i = 0; compiler_dirs[i]; i++) {
        if (!fs_is_dir(compiler_dirs[i]) || has_dir(path, compiler_dirs[i]))
            continue;
        char *longer = xasprintf("%s:%s", path, compiler_dirs[i]);
        free(path);
        path = longer;
    }
    environment_set(env, "PATH", path);
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
                       struct strvec *out, struct err *err)
{
    for (size_t i = 0; i < env->count; i++) {
        bool literal = job_is_secret(job, env->name[i]);
        if (!literal && !has_values(env->value[i], values))
            continue;
        AUTO_FREE char *value =
            literal ? xstrdup(env->value[i]) : expand_template(env->value[i], values, err);
        if (!value)
            return err_wrap(err, "env %s", env->name[i]);
        environment_set(out, env->name[i], value);
    }
    return 0;
}

int command_environment(const struct job *job, const struct variant *variant, const struct subst *values,
                        const char *caches, struct strvec *out, struct err *err)
{
    environment_for_workload(out);
    extend_path(out);
    if (caches)
        compile_caches_set(out, caches);
    if (add_entries(job, &job->env, values, out, err) != 0 ||
        (variant && add_entries(job, &variant->env, values, out, err) != 0))
        return -1;
    return variant && values->text[SUBST_OUT] ? add_entries(job, &variant->test_env, values, out, err) : 0;
}
