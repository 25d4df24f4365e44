#include "executor/suite/container.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/environment.h"
#include "common/base/json.h"
#include "common/base/program_env.h"
#include "common/base/run.h"
#include "common/base/sha256.h"
#include "common/base/spawn.h"
#include "executor/process/child.h"
#include "executor/telemetry/amd_gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 << 10, CONTAINERS_MAX = 256, WHY_MAX = 300 };

static const double removal_limit_s = 60; /* for all that killed executors left */
static const double answer_limit_s = 30;  /* docker's "rm --force" waits for the kill */

/* Returns whether an engine's command ended with 0. out: its output; why: char[WHY_MAX], why it failed; both
 * may be NULL. The first command of a user's own podman leaves a process that holds the user's namespace for
 * all later ones: as our child it would be taken for a test's, and ended. */
static bool ask(const struct strvec *argv, char *out, size_t size, char *why)
{
    struct run_result res;
    struct err err = {.kind = ERR_NONE};
    AUTO(buf_release) struct buf text = {.max = ANSWER_MAX};
    process_disown_orphans(true);
    bool done = run_capture(strvec_argv(argv), NULL, answer_limit_s, &text, &res, &err) == 0 &&
                run_expect_success(&res, argv->v[0], &err) == 0;
    process_disown_orphans(false);
    if (out)
        snprintf(out, size, "%s", buf_str(&text));
    if (!done && why)
        snprintf(why, WHY_MAX, "%.280s", err.msg);
    return done;
}

/* "auto" stands for the first engine that is installed. */
static enum container_engine choose_engine(int wanted)
{
    static const enum container_engine order[] = {ENGINE_PODMAN, ENGINE_DOCKER, ENGINE_APPTAINER};
    for (size_t i = 0; wanted == ENGINE_AUTO && i < sizeof order / sizeof *order; i++) {
        if (spawn_on_path(engine_name(order[i])))
            return order[i];
    }
    return (enum container_engine)wanted;
}

/* The answer is "ID [repository digests]"; a registry's digest is preferred to the id. */
static void take_digest(struct variant_state *v, char *answer)
{
    char *quote = strchr(answer, '"'), *at = quote ? strchr(quote, '@') : NULL;
    char *from = at ? at + 1 : answer;
    from[strcspn(from, "\" \n")] = '\0';
    snprintf(v->image_digest, sizeof v->image_digest, "%.150s", from);
}

static bool inspect_image(struct variant_state *v, const char *image, char *why)
{
    char answer[4096];
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    strvec_pushl(&argv, engine_name(v->engine), "image", "inspect", "--format",
                 "{{.Id}} {{json .RepoDigests}}", image, NULL);
    if (!ask(&argv, answer, sizeof answer, why))
        return false;
    take_digest(v, answer);
    return true;
}

struct last_words {
    char *why;
    size_t len;
};

static void keep_end(void *arg, const char *data, size_t len)
{
    struct last_words *w = arg;
    run_keep_tail(w->why, &w->len, WHY_MAX - 1, data, len);
    w->why[w->len] = '\0';
}

/* The pull is supervised because it may take long: cancelling the run ends it. */
static bool pull_image(struct suite *s, const struct variant_state *v, const char *image, char *why)
{
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    struct last_words words = {.why = why};
    struct child_result result = {.wall_s = 0};
    struct ending ending;
    struct err err = {.kind = ERR_NONE};
    const struct child_limits limits = {.timeout_s = s->job.settings.build_timeout_s, .kill_grace_s = 2};
    const struct child_hooks hooks = {.output = keep_end, .arg = &words};
    strvec_pushl(&argv, engine_name(v->engine), "pull", "--quiet", image, NULL);
    program_env(argv.v[0], &env);
    const struct process_spec spec = {
        .argv = argv.v, .env = env.v, .cwd = "/", .input = -1, .files = s->processes.files};
    bool done = child_run(&s->loop, &spec, &limits, &hooks, &result, &err) == 0;
    child_ending(&result, &limits, "pull", &ending);
    const struct assessment a = assess_ending(&ending);
    if (!*why)
        snprintf(why, WHY_MAX, "%.280s", done ? a.reason : err.msg);
    return done && a.status == STATUS_OK;
}

/* Apptainer's image is a file. */
static bool hash_image(struct variant_state *v, const char *image, char *why)
{
    char hex[SHA256_HEX_LEN + 1];
    struct err err = {.kind = ERR_NONE};
    bool done = sha256_of_file(image, SIZE_MAX, hex, NULL, &err) == 0;
    snprintf(v->image_digest, sizeof v->image_digest, "sha256:%s", done ? hex : "");
    snprintf(why, WHY_MAX, "%.280s", err.msg);
    return done;
}

static bool find_image(struct suite *s, struct variant_state *v, const char *image, char *why)
{
    if (v->engine == ENGINE_APPTAINER)
        return hash_image(v, image, why);
    if (inspect_image(v, image, why))
        return true;
    *why = '\0';
    return pull_image(s, v, image, why) && inspect_image(v, image, why);
}

void container_resolve(struct suite *s, size_t variant)
{
    const struct container *c = &s->job.variant[variant].container;
    struct variant_state *v = &s->variant[variant];
    char why[WHY_MAX] = "";
    if (!c->on || *v->image_digest || v->status != STATUS_OK)
        return;
    v->engine = choose_engine(c->engine);
    if (v->engine == ENGINE_AUTO)
        reason_set(v->reason, "no container engine on this node: install podman, docker or apptainer");
    else if (!spawn_on_path(engine_name(v->engine)))
        reason_set(v->reason, "the container engine %s is not on this node", engine_name(v->engine));
    else if (!find_image(s, v, c->image, why))
        reason_set(v->reason, "the image %.120s is not on this node and cannot be pulled: %.250s", c->image,
                   why);
    if (*v->reason)
        v->status = STATUS_BUILD_FAILED;
}

/* The devices of one GPU, as engines are told of them. */
struct devices {
    struct engine_run *run;
    size_t count;
    struct strvec *texts; /* own them */
};

static void add_device(const char *path, const char *name, void *arg)
{
    struct devices *d = arg;
    (void)path;
    if (d->count + 1 >= ENGINE_DEVICES_MAX)
        return;
    if (d->count == 0)
        d->run->device[d->count++] = "/dev/kfd";
    strvec_pushf(d->texts, "/dev/dri/%s", name);
    d->run->device[d->count++] = d->texts->v[d->texts->n - 1];
}

/* A GPU by its index among all. */
struct amd_search {
    size_t index;
    struct devices *devices;
};

static void see_amd(const struct amd_gpu *gpu, size_t index, void *arg)
{
    const struct amd_search *search = arg;
    if (index == search->index)
        amd_gpu_render_nodes(gpu, add_device, search->devices);
}

static void add_groups(struct engine_run *r)
{
    struct stat st;
    for (size_t i = 0; r->device[i] && r->group_count < ENGINE_GROUPS_MAX; i++) {
        bool known = stat(r->device[i], &st) != 0;
        for (size_t k = 0; k < r->group_count; k++)
            known |= r->group[k] == st.st_gid;
        if (!known)
            r->group[r->group_count++] = st.st_gid;
    }
}

static void add_gpus(struct engine_run *r, const struct suite *s, const struct lane *lane,
                     struct strvec *texts)
{
    struct devices amd = {.run = r, .texts = texts};
    size_t i, nvidia = 0;
    json_t *own;
    const json_t *gpus = json_object_get(s->node, "gpus");
    json_array_foreach(lane ? lane->facts : NULL, i, own)
    {
        struct amd_search search = {.index = (size_t)json_integer_value(json_object_get(own, "index")),
                                    .devices = &amd};
        const json_t *gpu = json_array_get(gpus, search.index);
        const char *vendor = json_text(gpu, "vendor"),
                   *id = json_string_value(json_object_get(gpu, "unique_id"));
        if (strcmp(vendor, "amd") == 0)
            amd_gpus_each(s->layout, see_amd, &search);
        else if (*vendor && id && nvidia + 1 < ENGINE_DEVICES_MAX)
            r->uuid[nvidia++] = id;
    }
    add_groups(r);
}

/* This tells a later executor which engines to ask. A scheduler's tasks are not cleaned up after. */
static int note_engine(const struct suite *s, enum container_engine e, struct err *err)
{
    char folder[FS_PATH_MAX], path[FS_PATH_MAX];
    if (s->job.part.on || !engine_has_containers(e))
        return 0;
    if (layout_make(s->layout, folder, "containers", err) != 0 ||
        fs_join(path, err, folder, engine_name(e)) != 0)
        return -1;
    return fs_exists(path) ? 0 : fs_write_file(path, "", 0, 0600, err);
}

/* out: char[FS_PATH_MAX]; "" without a model. */
static void find_model(const struct suite *s, char *out)
{
    const char *model = s->job.settings.model, *home = getenv("HOME");
    *out = '\0';
    if (model && model[0] == '/')
        snprintf(out, FS_PATH_MAX, "%s", model);
    else if (model && home)
        snprintf(out, FS_PATH_MAX, "%s/%s", home, strncmp(model, "~/", 2) == 0 ? model + 2 : model);
}

static int make_command(struct container_use *use, struct engine_run *r, struct suite *s, size_t variant,
                        const struct lane *lane, char *const *argv, struct err *err)
{
    const struct variant_state *v = &s->variant[variant];
    char model[FS_PATH_MAX];
    AUTO(strvec_release) struct strvec texts = {.v = NULL};
    find_model(s, model);
    r->engine = use->engine;
    r->container = &s->job.variant[variant].container;
    r->name = use->name;
    r->mark = s->job.part.on ? "" : s->mark;
    r->run_id = s->job.run_id;
    r->rootless = geteuid() != 0;
    const char *const folders[] = {s->dir, v->build, v->src, model};
    memcpy(r->folder, folders, sizeof folders);
    add_gpus(r, s, lane, &texts);
    return engine_run_argv(r, argv, &use->argv, err);
}

int container_begin(struct container_use *use, struct suite *s, size_t variant, const struct lane *lane,
                    const struct container_command *command, struct err *err)
{
    *use = (struct container_use){.on = s->job.variant[variant].container.on,
                                  .engine = s->variant[variant].engine};
    if (!use->on)
        return 0;
    struct engine_run r = {.cwd = command->cwd, .env = command->env};
    /* The process id is needed because tasks of an array share the run's id and may share the node. */
    snprintf(use->name, sizeof use->name, "kernsweep-%.100s-%.60s-%d", s->job.run_id, command->name,
             (int)getpid());
    if (command->limited)
        r.limits = suite_limits(s);
    return note_engine(s, use->engine, err) != 0
               ? -1
               : make_command(use, &r, s, variant, lane, command->argv, err);
}

/* Returns how many were removed; *left: those that remain, and an engine that does not answer counts as one.
 */
static size_t remove_listed(enum container_engine e, const char *mark, size_t *left)
{
    char ids[ANSWER_MAX], *save = NULL;
    size_t seen = 0, kept = 0;
    AUTO(strvec_release) struct strvec list = {.v = NULL};
    engine_list_argv(e, mark, &list);
    const int64_t until_ns = clock_deadline_ns(removal_limit_s);
    *left = 1;
    if (!ask(&list, ids, sizeof ids, NULL))
        return 0;
    for (char *id = strtok_r(ids, "\n", &save); id && seen < CONTAINERS_MAX;
         id = strtok_r(NULL, "\n", &save)) {
        AUTO(strvec_release) struct strvec take_away = {.v = NULL};
        engine_remove_argv(e, id, &take_away);
        kept += clock_left_ms(until_ns) == 0 || !ask(&take_away, NULL, 0, NULL);
        seen++;
    }
    *left = kept + (seen == CONTAINERS_MAX);
    return seen - kept;
}

size_t container_clear(struct suite *s, size_t *left)
{
    static const enum container_engine engines[] = {ENGINE_PODMAN, ENGINE_DOCKER};
    char folder[FS_PATH_MAX], path[FS_PATH_MAX];
    size_t removed = 0;
    *left = 0;
    if (fs_join(folder, NULL, s->layout->workdir, "containers") != 0)
        return 0;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        size_t kept = 0;
        if (fs_join(path, NULL, folder, engine_name(engines[i])) != 0 || !fs_exists(path))
            continue;
        if (!spawn_on_path(engine_name(engines[i])))
            continue; /* another login may have it: its mark stays */
        removed += remove_listed(engines[i], s->mark, &kept);
        if (kept == 0)
            unlink(path);
        *left += kept;
    }
    rmdir(folder);
    return removed;
}

json_t *container_encode(const struct suite *s, size_t variant)
{
    const struct container *c = &s->job.variant[variant].container;
    const struct variant_state *v = &s->variant[variant];
    return c->on ? json_pack("{s:s, s:s, s:s}", "engine", engine_name(v->engine), "image", c->image, "digest",
                             v->image_digest)
                 : NULL;
}
