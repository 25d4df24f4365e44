#include "results/ingest/bundle/details.h"

#include "common/base/alloc.h"
#include "results/ingest/bundle/artifact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_gate(const struct json_at *at, size_t variant, struct run_details *out, struct err *err)
{
    struct run_gate *g = &out->gates[out->n_gates];
    const char *status = "";
    *g = (struct run_gate){.variant = variant};
    if (artifact_text(at, "gate", g->name, sizeof g->name, err) || json_get_str(at, "status", &status, err) ||
        artifact_cut(at, "reason", g->reason, sizeof g->reason, err) ||
        artifact_num(at, "wall_s", 0, 1e9, &g->wall_s, err))
        return -1;
    g->passed = strcmp(status, status_name(STATUS_OK)) == 0;
    if (!g->passed && strcmp(status, status_name(STATUS_GATE_FAILED)) != 0)
        return json_fail(at, err, "unknown status \"%.40s\" of a gate", status);
    out->n_gates++;
    return 0;
}

static int read_variant_gates(const struct json_at *at, struct draft *d, struct err *err)
{
    struct json_at gates = json_member(at, "gates");
    size_t variant = draft_variant(d, json_text(at->value, "name"));
    for (size_t i = 0; variant < d->n_variants && i < json_array_size(gates.value); i++) {
        struct json_at gate = json_element(&gates, i);
        if (d->details.n_gates == DETAILS_GATES_MAX)
            return json_fail(&gate, err, "more than %d gates", DETAILS_GATES_MAX);
        if (read_gate(&gate, variant, &d->details, err) != 0 && draft_leave_out(d, err) != 0)
            return -1;
    }
    return 0;
}

static size_t count_gates(const struct json_at *summary)
{
    const json_t *list = json_object_get(summary->value, "variants");
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        n += json_array_size(json_object_get(json_array_get(list, i), "gates"));
    return n;
}

static int read_gates(const struct json_at *summary, struct draft *d, struct err *err)
{
    struct json_at list = json_member(summary, "variants");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at variant = json_element(&list, i);
        if (read_variant_gates(&variant, d, err))
            return -1;
    }
    return 0;
}

/* True for "plan.json" and "v3/build.log", but not for "v3/ctx_256_run1/perf.json". */
static bool belongs_to_run(const char *path)
{
    const char *slash = strchr(path, '/');
    return strlen(path) < DETAILS_PATH_MAX && (!slash || !strchr(slash + 1, '/'));
}

static bool is_resources(const char *path)
{
    const char *slash = strchr(path, '/');
    return slash && strcmp(slash, "/resources.json") == 0;
}

/* The summary of a blocked run is the only file that says why nothing was measured. */
static bool says_why(const struct draft *d, const struct manifest_file *named)
{
    return d->info.status == RUN_BLOCKED && strcmp(named->path, "summary.json") == 0 &&
           named->size <= DETAILS_BODY_MAX;
}

static int read_body(struct manifest *files, struct run_file *f, struct err *err)
{
    char full[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = DETAILS_BODY_MAX};
    const json_t *value;
    if (manifest_load(files, f->path, &value, full, err) <= 0)
        return -1;
    if (json_encode(value, &text, err) != 0)
        return err_set(err, ERR_INPUT, "%s: more than %d bytes", full, DETAILS_BODY_MAX);
    f->body = buf_steal(&text);
    return 0;
}

static int read_file(struct manifest *files, const struct manifest_file *named, struct draft *d,
                     struct err *err)
{
    struct run_details *out = &d->details;
    if (!belongs_to_run(named->path))
        return 0;
    if (out->n_files == DETAILS_FILES_MAX)
        return err_set(err, ERR_INPUT, "%s: more than %d files besides those of the tests", files->file,
                       DETAILS_FILES_MAX);
    if (!sha256_is_hex(named->sha256))
        return err_set(err, ERR_INPUT, "%s: %.200s: expected a hash of %d hex digits", files->file,
                       named->path, SHA256_HEX_LEN);
    struct run_file *f = &out->files[out->n_files++];
    *f = (struct run_file){.size = named->size};
    snprintf(f->path, sizeof f->path, "%s", named->path);
    snprintf(f->sha256, sizeof f->sha256, "%s", named->sha256);
    bool keep = is_resources(f->path) || says_why(d, named);
    if (keep && read_body(files, f, err) != 0)
        return draft_leave_out(d, err);
    return 0;
}

int details_read(struct manifest *files, const struct json_at *summary, struct draft *d, struct err *err)
{
    struct run_details *out = &d->details;
    if (!manifest_is_closed(files))
        return 0;
    out->gates = xcalloc(count_gates(summary), sizeof *out->gates);
    out->files = xcalloc(files->count, sizeof *out->files);
    if (read_gates(summary, d, err) != 0 && draft_leave_out(d, err) != 0)
        return -1;
    for (size_t i = 0; i < files->count; i++)
        if (read_file(files, &files->files[i], d, err) != 0)
            return -1;
    return 0;
}

static int need_sha256(const struct json_at *at, char *out, struct err *err)
{
    if (artifact_sha256(at, "sha256", out, err) != 0)
        return -1;
    return *out ? 0 : json_fail(at, err, "sha256 is missing");
}

static int read_kernel(const struct json_at *at, size_t variant, struct run_details *out, struct err *err)
{
    const char *name;
    if (json_get_str(at, "name", &name, err) != 0)
        return -1;
    if (!*name || strlen(name) >= DETAILS_KERNEL_MAX)
        return json_fail(at, err, "expected a name of 1 to %d bytes", DETAILS_KERNEL_MAX - 1);
    ALLOC_GROW(out->kernels, out->n_kernels + 1, out->cap_kernels);
    struct run_kernel_code *k = &out->kernels[out->n_kernels];
    *k = (struct run_kernel_code){.variant = variant};
    if (need_sha256(at, k->sha256, err) != 0 || kernel_facts_decode(at, &k->facts, err) != 0)
        return -1;
    k->name = xstrdup(name);
    out->n_kernels++;
    return 0;
}

static int read_kernels(const struct json_at *code, size_t variant, struct run_details *out, struct err *err)
{
    struct json_at list = json_member(code, "kernels");
    if (!json_is_array(list.value) || json_array_size(list.value) > DETAILS_KERNELS_MAX)
        return json_fail(&list, err, "expected an array of at most %d kernels", DETAILS_KERNELS_MAX);
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at kernel = json_element(&list, i);
        if (read_kernel(&kernel, variant, out, err) != 0)
            return -1;
    }
    return 0;
}

/* Takes back what a failed reading has filled in. */
static void forget(struct draft *d, size_t variant)
{
    struct run_details *out = &d->details;
    d->variants[variant].code_sha256[0] = '\0';
    while (out->n_kernels && out->kernels[out->n_kernels - 1].variant == variant)
        free(out->kernels[--out->n_kernels].name);
}

int code_read(const struct json_at *code, size_t variant, struct draft *d, struct err *err)
{
    struct run_variant *v = &d->variants[variant];
    const char *schema, *kind;
    if (json_get_str(code, "schema", &schema, err) != 0 || json_get_str(code, "kind", &kind, err) != 0)
        return -1;
    /* The first schema differs in what it does not say. */
    if (strcmp(schema, PROTO_SCHEMA_CODE) != 0 && strcmp(schema, "kernsweep.code/1") != 0)
        return json_fail(code, err, "schema is \"%.80s\", expected \"%s\"", schema, PROTO_SCHEMA_CODE);
    if (strcmp(kind, "unknown") == 0) /* the kernels are not all that runs, but they are known */
        return read_kernels(code, variant, &d->details, err) == 0 ? 0 : (forget(d, variant), -1);
    v->code_of_device = strcmp(kind, "device") == 0;
    if (!v->code_of_device && strcmp(kind, "files") != 0)
        return json_fail(code, err, "unknown kind \"%.40s\"", kind);
    if (need_sha256(code, v->code_sha256, err) == 0 && read_kernels(code, variant, &d->details, err) == 0)
        return 0;
    forget(d, variant);
    return -1;
}
