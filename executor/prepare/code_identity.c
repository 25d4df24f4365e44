#include "executor/prepare/prepare.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "executor/bundle/artifact.h"
#include "executor/code/build_identity.h"
#include "executor/code/disasm.h"

#include <stdio.h>
#include <string.h>

enum {
    DISASM_S = 20,
    LISTINGS_S = 60,
    CODE_BYTES_MAX = 32 << 20,
    LISTINGS_MAX = 8 << 20,
    LISTING_HEADS_MAX = 4 << 20
};

#define CACHED_CODE ".code.json"
#define CODE_FILE "code.json"
#define CACHED_LISTINGS ".listings.txt"
#define LISTINGS_FILE "listings.txt"

/* What was found out about a build; the owner calls report_release(). */
struct report {
    json_t *code;
    struct buf listings;
};

static void report_release(struct report *r)
{
    json_decref(r->code);
    buf_release(&r->listings);
}

/* Returns NULL if no executor of this schema left an identity for these GPUs in the build's folder. */
static json_t *load_kept(const char *build, const struct targets *gpus)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, build, CACHED_CODE) != 0 || !fs_exists(path))
        return NULL;
    json_auto_t *kept = json_load(path, CODE_BYTES_MAX, NULL);
    json_auto_t *now = code_gpus_encode(gpus), *none = json_array();
    const char *schema = json_string_value(json_object_get(kept, "schema")),
               *kind = json_string_value(json_object_get(kept, "kind"));
    const json_t *then = json_object_get(kept, "gpus");
    bool same = !kind || strcmp(kind, "files") == 0 || json_equal(then ? then : none, now);
    return schema && strcmp(schema, PROTO_SCHEMA_CODE) == 0 && same ? json_incref(kept) : NULL;
}

static bool load_listings(const char *build, struct buf *out)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, build, CACHED_LISTINGS) == 0 && fs_exists(path) &&
           fs_read_file(path, LISTINGS_MAX + LISTING_HEADS_MAX, out, NULL) == 0;
}

static const char *value_in(const struct env *env, const char *name, const char *otherwise)
{
    for (size_t i = 0; i < env->count; i++)
        if (strcmp(env->name[i], name) == 0)
            return env->value[i];
    return otherwise;
}

/* The GPUs of the node as code is compiled for them: HSA_XNACK decides which of AMD's code a process takes;
 * without it, the driver does, which nobody asks here. */
void code_identity_gpus(const struct suite *s, size_t variant, struct targets *out)
{
    const struct variant *v = &s->job.variant[variant];
    const char *xnack = value_in(&v->test_env, "HSA_XNACK",
                                 value_in(&v->env, "HSA_XNACK", value_in(&s->job.env, "HSA_XNACK", "")));
    const json_t *gpu;
    size_t i;
    *out = (struct targets){.count = 0};
    if (s->job.compile_only)
        return;
    json_array_foreach(json_object_get(s->node, "gpus"), i, gpu)
    {
        const char *arch = json_string_value(json_object_get(gpu, "arch"));
        const char *feature = strcmp(xnack, "1") == 0 ? ":xnack+" : strcmp(xnack, "0") == 0 ? ":xnack-" : "";
        char name[2 * TARGET_MAX];
        if (!arch || strlen(arch) + strlen(feature) >= TARGET_MAX) {
            out->count = 0; /* a GPU that is not known may take any code */
            return;
        }
        snprintf(name, sizeof name, "%.32s%s", arch,
                 strncmp(arch, "gfx", 3) == 0 && !strstr(arch, "xnack") ? feature : "");
        targets_add(out, name);
    }
}

/* A build that has device code, but none that the node's GPUs run, would be timed without it. */
static void refuse_foreign(const struct targets *gpus, const json_t *code, struct variant_state *v)
{
    char here[REASON_MAX / 3];
    const char *others = json_string_value(json_object_get(code, "only_for"));
    if (!others)
        return;
    targets_text(gpus, here, sizeof here);
    v->status = STATUS_BUILD_FAILED;
    reason_set(v->reason,
               "the build has code for %.150s only, and the node's GPU is %.150s: compile it for that, too",
               others, here);
}

static void add_listings(const struct code *code, struct buf *out)
{
    for (size_t i = 0; i < code->kernels; i++)
        if (code->kernel[i].listing)
            buf_printf(out, "== %s %s %s\n%s", code->kernel[i].name,
                       *code->kernel[i].gpu ? code->kernel[i].gpu : "-", code->kernel[i].sha256,
                       code->kernel[i].listing);
}

/* The kernels stay: they are what was built, but not all that runs. */
static void withdraw(json_t *code, const char *why)
{
    json_object_set_new(code, "kind", json_string("unknown"));
    json_object_set_new(code, "reason", json_string(why));
    json_object_del(code, "sha256");
}

static void read_build(const struct suite *s, const struct variant_state *v, const struct targets *gpus,
                       struct report *out)
{
    struct err why = {.kind = ERR_NONE};
    AUTO(disasm_release) struct disasm disasm = {.seen = NULL};
    AUTO(code_release) struct code code = {.kernel = NULL};
    bool listings = s->job.settings.listings;
    disasm_init(&disasm, listings ? LISTINGS_MAX : 0, listings ? LISTINGS_S : DISASM_S);
    if (build_identity_of(v->build, *v->src ? v->src : NULL, gpus, &disasm.hook, &code, &why) == 0) {
        out->code = code_encode(&code);
        if (*code.reads) {
            AUTO_FREE char *reads =
                xasprintf("the built file %s runs what the sources have, in {src}", code.reads);
            withdraw(out->code, reads);
        }
        add_listings(&code, &out->listings);
    } else
        out->code = code_encode_unknown(why.msg);
}

/* A kept identity stays, whatever the tests have written into the folder since. */
static int read_again(struct suite *s, const struct variant_state *v, const struct targets *gpus,
                      json_t *kept, struct report *r, struct err *err)
{
    read_build(s, v, gpus, r);
    if (kept) {
        json_decref(r->code);
        r->code = kept;
    }
    if (artifact_json(v->build, CACHED_CODE, json_incref(r->code), NULL, err) != 0)
        return -1;
    return s->job.settings.listings
               ? artifact_text(v->build, CACHED_LISTINGS, buf_str(&r->listings), r->listings.len, NULL, err)
               : 0;
}

static bool names_sources(const char *const *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(text[i], "{src}"))
            return true;
    return false;
}

/* Whether the build's files are only a part of what such a test runs: a script among the sources may have
 * changed, or have device code of its own (Triton). */
static bool is_part_of_what_runs(const struct job *job, const struct variant *v)
{
    return names_sources(v->run.argv, v->run.argc) || names_sources(v->prepare.argv, v->prepare.argc) ||
           names_sources(v->env.value, v->env.count) || names_sources(v->test_env.value, v->test_env.count) ||
           names_sources(job->env.value, job->env.count);
}

static int find_out(struct suite *s, const struct variant_state *v, const struct targets *gpus,
                    struct report *r, struct err *err)
{
    /* What a build itself put there is not believed. */
    json_t *kept = v->build_cached ? load_kept(v->build, gpus) : NULL;
    if (!kept || (s->job.settings.listings && !load_listings(v->build, &r->listings)))
        return read_again(s, v, gpus, kept, r, err);
    r->code = kept;
    return 0;
}

int code_identity_take(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *v = &s->variant[variant];
    struct targets gpus;
    AUTO(report_release) struct report r = {.listings = {.max = LISTINGS_MAX + LISTING_HEADS_MAX}};
    code_identity_gpus(s, variant, &gpus);
    if (find_out(s, v, &gpus, &r, err) != 0)
        return -1;
    refuse_foreign(&gpus, r.code, v);
    if (is_part_of_what_runs(&s->job, &s->job.variant[variant]))
        withdraw(r.code, "the tests also name files of the sources, {src}");
    if (artifact_json(v->dir, CODE_FILE, json_incref(r.code), &s->secrets, err) != 0)
        return -1;
    return r.listings.len == 0
               ? 0
               : artifact_text(v->dir, LISTINGS_FILE, buf_str(&r.listings), r.listings.len, &s->secrets, err);
}
