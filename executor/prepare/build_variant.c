#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/sha256.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/logtext.h"
#include "executor/prepare/untouched.h"
#include "executor/suite/container.h"
#include "executor/suite/node_lock.h"
#include "executor/workdir/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUILD_LOG_MAX = 4 << 20, LOG_TAIL = 2048 };

#define CACHED_LOG ".build.log"

static void hash_env(struct sha256 *h, const struct job *job, const struct env *env)
{
    for (size_t i = 0; i < env->count; i++) {
        sha256_add_text(h, env->name[i]);
        sha256_add_text(h, job_is_secret(job, env->name[i]) ? "" : env->value[i]);
    }
}

static void build_key(const struct suite *s, size_t variant, char *out)
{
    const struct variant *v = &s->job.variant[variant];
    struct sha256 h;
    AUTO_FREE char *tools = json_dumps(json_object_get(s->node, "compilers"), JSON_COMPACT | JSON_SORT_KEYS);
    sha256_begin(&h);
    sha256_add_text(&h, s->variant[variant].source_key);
    sha256_add_text(&h, v->build_as);
    sha256_add_text(&h, v->attn_impl);
    sha256_add_text(&h, v->in_tree ? "in_tree" : "");
    for (size_t i = 0; i < v->build_count; i++) {
        for (size_t a = 0; a < v->build[i].argc; a++)
            sha256_add_text(&h, v->build[i].argv[a]);
        sha256_add_text(&h, NULL);
    }
    hash_env(&h, &s->job, &s->job.env);
    hash_env(&h, &s->job, &v->env);
    sha256_add_text(&h, tools);
    sha256_add_text(&h,
                    json_string_value(json_object_get(s->node, "rocm"))); /* an rpath follows what it is */
    if (v->container.on)
        sha256_add_text(&h, s->variant[variant].image_digest);
    sha256_end(&h, out);
}

static int copy_log(const char *from_dir, const char *from, const char *to_dir, const char *to,
                    struct err *err)
{
    char path[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = BUILD_LOG_MAX * 2};
    if (fs_join(path, err, from_dir, from) != 0 || fs_read_file(path, text.max, &text, err) != 0)
        return -1;
    return artifact_text(to_dir, to, buf_str(&text), text.len, NULL, err);
}

static int write_end_event(struct suite *s, size_t variant, const char *status, const struct runlog *log,
                           struct err *err)
{
    const struct variant_state *v = &s->variant[variant];
    json_t *fields =
        json_pack("{s:s, s:s, s:o, s:s, s:s}", "variant", s->job.variant[variant].name, "status", status,
                  "wall_s", artifact_number(v->build_wall_s), "reason", v->reason, "key", v->build_key);
    if (log && v->status != STATUS_OK)
        json_object_set_new(fields, "log_tail", logtext_tail(log, LOG_TAIL));
    return journal_add(&s->journal, EVENT_BUILD_END, fields, err);
}

static int run_commands(struct suite *s, size_t variant, struct runlog *log, struct err *err)
{
    const struct variant *v = &s->job.variant[variant];
    struct variant_state *state = &s->variant[variant];
    struct subst values = suite_subst(s, variant);
    values.text[SUBST_VARIANT] = v->build_as; /* a shared build must not depend on one of its variants */
    int64_t begin_ns = clock_mono_ns(),
            deadline_ns = begin_ns + (int64_t)(s->job.settings.build_timeout_s * 1e9);
    for (size_t i = 0; i < v->build_count && state->status == STATUS_OK; i++) {
        struct assessment assessment;
        struct step step = {.command = &v->build[i], .values = &values, .cwd = state->build, .log = log};
        step.timeout_s = (double)(deadline_ns - clock_mono_ns()) * 1e-9;
        if (step.timeout_s < 0.001)
            step.timeout_s = 0.001;
        if (step_run(s, variant, &step, &assessment, NULL, err) != 0)
            return -1;
        if (assessment.status == STATUS_OK)
            continue;
        state->status = STATUS_BUILD_FAILED;
        reason_set(state->reason, "build command %zu: %.400s", i + 1,
                   assessment.status == STATUS_TIMEOUT ? "the build timed out" : assessment.reason);
    }
    state->build_wall_s = (double)(clock_mono_ns() - begin_ns) * 1e-9;
    return 0;
}

/* Returns the word of a command that names a program of the build, as such or after a launcher; NULL: none.
 * What follows an option may be a file that the test writes. */
static const char *built_program(const struct command *run)
{
    static const char built[] = "{build}/";
    for (size_t i = 0; i < run->argc; i++)
        if (strncmp(run->argv[i], built, strlen(built)) == 0)
            return i == 0 || run->argv[i - 1][0] != '-' ? run->argv[i] : NULL;
    return NULL;
}

/* Whether a variant runs a program that this build should have made, and did not. */
static bool lacks_program(const struct suite *s, size_t variant, const char *build)
{
    const struct variant *v = &s->job.variant[variant];
    const char *program = built_program(&v->run);
    struct subst values = suite_subst(s, variant);
    AUTO(buf_release) struct buf path = {.max = FS_PATH_MAX};
    values.text[SUBST_BUILD] = build;
    return v->build_count > 0 && v->prepare.argc == 0 && program &&
           subst_expand(program, &values, &path, NULL) == 0 && !fs_exists(buf_str(&path));
}

/* Fails a build without a program of this variant or one that shares it: where a compiler is killed its
 * driver may end with 0 (hipcc 7.0, if sh is bash), and such a build would be reused night after night. */
static void look_for_programs(struct suite *s, size_t variant)
{
    struct variant_state *state = &s->variant[variant];
    for (size_t i = 0; i < s->job.variant_count && state->status == STATUS_OK; i++) {
        const struct variant *v = &s->job.variant[i];
        if (strcmp(v->build_as, s->job.variant[variant].build_as) != 0 || !lacks_program(s, i, state->build))
            continue;
        state->status = STATUS_BUILD_FAILED;
        reason_set(state->reason, "the build commands ended with 0, but without %.200s",
                   built_program(&v->run));
    }
}

/* Records what the commands left and, if it is found good, seals it. */
static int take_result(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    if (state->status == STATUS_OK)
        look_for_programs(s, variant);
    if (state->status != STATUS_OK)
        return 0;
    if (copy_log(state->dir, "build.log", state->build, CACHED_LOG, err) != 0 ||
        kernel_usage_take(s, variant, err) != 0)
        return -1;
    if (state->status != STATUS_OK)
        return 0;
    if (code_identity_take(s, variant, err) != 0)
        return -1;
    return state->status == STATUS_OK ? built_seal(s, variant, err) : 0;
}

/* A build that failed on a full file system did so by no fault of its own, unless it was what filled it. */
static int check_room(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    if (state->status == STATUS_OK || s->loop.stop || disk_check(state->build, 0, NULL) == 0)
        return 0;
    if (fs_remove_tree(state->build, err) != 0 || fs_mkdir_p(state->build, 0700, err) != 0 ||
        sources_discard(s, variant, err) != 0 || disk_check(state->build, 0, err) != 0)
        return -1;
    reason_set(state->reason, "the build used up the free space of the file system that it is on");
    return 0;
}

static int rebuild(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    AUTO(runlog_release) struct runlog log = {.fd = -1};
    if (fs_remove_tree(state->build, err) != 0 || fs_mkdir_p(state->build, 0700, err) != 0 ||
        runlog_open(&log, state->dir, "build.log", BUILD_LOG_MAX, &s->secrets, err) != 0 ||
        sources_copy(s, variant, err) < 0)
        return -1;
    if (state->status == STATUS_OK && run_commands(s, variant, &log, err) != 0)
        return -1;
    if (check_room(s, variant, err) != 0 || runlog_finish(&log, err) != 0 ||
        take_result(s, variant, err) != 0)
        return -1;
    return write_end_event(s, variant, status_name(state->status), &log, err);
}

/* Without sources, nobody knows whether two runs have the same code. */
static int make_caches(const struct suite *s, struct variant_state *state, struct err *err)
{
    const char *name = *state->source_key ? state->build_key : s->job.run_id;
    char all[FS_PATH_MAX];
    if (layout_make(s->layout, all, CACHE_COMPILED, err) != 0 ||
        layout_entry(s->layout, state->caches, CACHE_COMPILED, name, err) != 0 ||
        (s->job.fresh && !s->job.part.on && fs_remove_tree(state->caches, err) != 0) ||
        fs_mkdir_p(state->caches, 0700, err) != 0)
        return -1;
    cache_stamp(state->caches);
    return 0;
}

int build_variant_use(struct suite *s, size_t variant, const char *key, struct err *err)
{
    struct variant_state *state = &s->variant[variant];
    snprintf(state->build_key, sizeof state->build_key, "%s", key);
    if (layout_entry(s->layout, state->build, "build", key, err) != 0 || make_caches(s, state, err) != 0)
        return -1;
    cache_stamp(state->build);
    return sources_use(s, variant, err);
}

static int note_damage(struct suite *s, size_t variant, const char *why, struct err *err)
{
    if (!*why)
        return 0;
    return suite_note(s, err, "the cached build of %s is made again: %s", s->job.variant[variant].name, why);
}

/* The caller holds the lock that protects the build's folder. */
static int build_or_reuse(struct suite *s, size_t variant, struct err *err)
{
    char why[SEAL_REASON_MAX] = "";
    struct variant_state *state = &s->variant[variant];
    double cpu_s = clock_cpu_s();
    int intact = built_is_intact(s, variant, why, err);
    state->seal.look_cost_s = clock_cpu_s() - cpu_s;
    state->seal.looked_s = clock_mono_s();
    if (intact < 0)
        return -1;
    if (intact == 0 && untouched_disbelieve(s, variant, *why ? why : "its seal is gone", err) != 0)
        return -1; /* results of an earlier supervisor's tests */
    if (s->job.fresh)
        return rebuild(s, variant, err);
    if (intact == 0)
        return note_damage(s, variant, why, err) != 0 ? -1 : rebuild(s, variant, err);
    state->build_cached = true;
    if (copy_log(state->build, CACHED_LOG, state->dir, "build.log", err) != 0 ||
        kernel_usage_take(s, variant, err) != 0 || code_identity_take(s, variant, err) != 0)
        return -1;
    return write_end_event(s, variant, state->status == STATUS_OK ? "CACHED" : status_name(state->status),
                           NULL, err);
}

static int fail_locked(struct suite *s, size_t variant, struct err *err)
{
    s->variant[variant].status = STATUS_BUILD_FAILED;
    return write_end_event(s, variant, status_name(STATUS_BUILD_FAILED), NULL, err);
}

int build_variant(struct suite *s, size_t variant, struct err *err)
{
    char key[SHA256_HEX_LEN + 1], dir[FS_PATH_MAX];
    const struct variant *v = &s->job.variant[variant];
    struct variant_state *state = &s->variant[variant];
    container_resolve(s, variant);
    build_key(s, variant, key);
    if (layout_make(s->layout, dir, "build", err) != 0 || build_variant_use(s, variant, key, err) != 0)
        return -1;
    if (v->build_count == 0)
        return fs_mkdir_p(state->build, 0700, err);
    if (journal_add(&s->journal, EVENT_BUILD_START, json_pack("{s:s}", "variant", v->name), err) != 0)
        return -1;
    if (state->status != STATUS_OK) /* its container cannot be used */
        return fail_locked(s, variant, err);
    struct lock lock = {.fd = -1};
    int taken = s->job.part.on ? node_lock_build(&lock, s, key, state->reason, err) : 1;
    int rc = taken < 0 ? -1 : taken == 0 ? fail_locked(s, variant, err) : build_or_reuse(s, variant, err);
    lock_close(&lock);
    return rc == 0 && state->status == STATUS_OK ? sources_tell_prebuilt(s, variant, err) : rc;
}
