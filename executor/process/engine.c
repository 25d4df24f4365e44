#include "executor/process/engine.h"

#include "common/base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *engine_name(enum container_engine e)
{
    return container_engine_names[e];
}

bool engine_has_containers(enum container_engine e)
{
    return e == ENGINE_DOCKER || e == ENGINE_PODMAN;
}

/* Whether the image and the engine must keep their own value of a variable. */
static bool is_of_host(const char *entry)
{
    static const char *const names[] = {"PATH=", "HOME=", "XDG_RUNTIME_DIR=", "DOCKER_HOST=", "CONTAINERS_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* Whether the executor has the same value. */
static bool is_ours(const char *entry, size_t name_len)
{
    AUTO_FREE char *name = xstrndup(entry, name_len);
    const char *own = getenv(name);
    return own && strcmp(own, entry + name_len + 1) == 0;
}

/* Variables are passed by name, from the engine's own environment, so that no value is in a command line. */
static void add_environment(const struct engine_run *r, struct strvec *out)
{
    for (size_t i = 0; i < r->env->n; i++) {
        const char *entry = r->env->v[i], *equals = strchr(entry, '=');
        if (!equals || is_of_host(entry) || is_ours(entry, (size_t)(equals - entry)))
            continue;
        strvec_push(out, "--env");
        strvec_pushf(out, "%.*s", (int)(equals - entry), entry);
    }
}

static int add_folders(const struct engine_run *r, const char *option, struct strvec *out, struct err *err)
{
    for (size_t i = 0; i < ENGINE_FOLDERS_MAX; i++) {
        const char *folder = r->folder[i];
        if (!folder || !*folder)
            continue;
        if (strchr(folder, ':') || strchr(folder, ','))
            return err_set(err, ERR_INPUT, "the path %s cannot be bound into a container: it has ':' or ','",
                           folder);
        strvec_push(out, option);
        strvec_pushf(out, "%s:%s", folder, folder);
    }
    return 0;
}

static void add_number(struct strvec *out, const char *option, int64_t value)
{
    strvec_push(out, option);
    strvec_pushf(out, "%" PRId64, value);
}

static void add_gpus(const struct engine_run *r, struct strvec *out)
{
    char list[8192] = "";
    size_t used = 0;
    for (size_t i = 0; r->device[i]; i++)
        strvec_pushl(out, "--device", r->device[i], NULL);
    for (size_t i = 0; i < r->group_count; i++)
        add_number(out, "--group-add", r->group[i]);
    for (size_t i = 0; r->uuid[i]; i++) {
        if (r->engine == ENGINE_PODMAN) {
            strvec_push(out, "--device");
            strvec_pushf(out, "nvidia.com/gpu=%s", r->uuid[i]);
        } else if (used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? "," : "", r->uuid[i]);
        }
    }
    if (*list) { /* docker reads the value as CSV, in which a list must be quoted */
        strvec_push(out, "--gpus");
        strvec_pushf(out, "\"device=%s\"", list);
    }
}

static void add_limits(const struct engine_run *r, struct strvec *out)
{
    const struct contain_limits *l = &r->limits;
    if (l->memory_bytes > 0) { /* the second is memory and swap together */
        add_number(out, "--memory", l->memory_bytes);
        add_number(out, "--memory-swap", l->memory_bytes);
    }
    if (l->processes > 0)
        add_number(out, "--pids-limit", l->processes);
}

/* Files that the container makes must be ours. */
static void add_user(const struct engine_run *r, struct strvec *out)
{
    if (r->engine == ENGINE_PODMAN && r->rootless)
        strvec_push(out, "--userns=keep-id");
    else if (geteuid() != 0) {
        strvec_push(out, "--user");
        strvec_pushf(out, "%u:%u", (unsigned)geteuid(), (unsigned)getegid());
    }
}

static void add_options(const struct engine_run *r, struct strvec *out)
{
    size_t i;
    json_t *word;
    json_array_foreach((json_t *)(uintptr_t)r->container->options, i, word)
        strvec_push(out, json_string_value(word));
}

static int container_argv(const struct engine_run *r, struct strvec *out, struct err *err)
{
    strvec_pushl(out, engine_name(r->engine), "run", "--init", "--pull", "never", "--log-driver", "none",
                 "--name", r->name, "--workdir", r->cwd, NULL);
    strvec_push(out, "--label");
    strvec_pushf(out, ENGINE_LABEL_RUN "=%s", r->run_id);
    if (*r->mark) {
        strvec_push(out, "--label");
        strvec_pushf(out, ENGINE_LABEL "=%s", r->mark);
    }
    if (add_folders(r, "--volume", out, err) != 0)
        return -1;
    add_environment(r, out);
    add_gpus(r, out);
    add_limits(r, out);
    add_user(r, out);
    add_options(r, out);
    strvec_push(out, r->container->image);
    return 0;
}

/* Apptainer's processes are ours and have our environment, and nothing outlives them. */
static int apptainer_argv(const struct engine_run *r, struct strvec *out, struct err *err)
{
    strvec_pushl(out, "apptainer", "exec", "--pwd", r->cwd, NULL);
    if (r->device[0])
        strvec_push(out, "--rocm");
    if (r->uuid[0])
        strvec_push(out, "--nv");
    if (add_folders(r, "--bind", out, err) != 0)
        return -1;
    add_options(r, out);
    strvec_push(out, r->container->image);
    return 0;
}

int engine_run_argv(const struct engine_run *r, char *const *argv, struct strvec *out, struct err *err)
{
    int rc = r->engine == ENGINE_APPTAINER ? apptainer_argv(r, out, err) : container_argv(r, out, err);
    strvec_push_all(out, (const char *const *)argv);
    return rc;
}

void engine_inspect_argv(enum container_engine e, const char *name, struct strvec *out)
{
    strvec_pushl(out, engine_name(e), "container", "inspect", "--format",
                 "{{.State.Running}} {{.State.OOMKilled}}", name, NULL);
}

void engine_remove_argv(enum container_engine e, const char *name, struct strvec *out)
{
    strvec_pushl(out, engine_name(e), "rm", "--force", "--volumes", name, NULL);
}

void engine_list_argv(enum container_engine e, const char *mark, struct strvec *out)
{
    strvec_pushl(out, engine_name(e), "ps", "--all", "--quiet", "--no-trunc", "--filter", NULL);
    strvec_pushf(out, "label=" ENGINE_LABEL "=%s", mark);
}

void engine_list_name_argv(enum container_engine e, const char *name, struct strvec *out)
{
    strvec_pushl(out, engine_name(e), "ps", "--all", "--quiet", "--filter", NULL);
    strvec_pushf(out, "name=^%s$", name);
}
