#include "results/details.h"

#include "common/json.h"
#include "results/artifact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void details_release(struct run_details *d)
{
    for (size_t i = 0; i < d->n_files; i++)
        free(d->files[i].body);
    free(d->files);
    free(d->gates);
    *d = (struct run_details){0};
}

const struct run_file *details_file(const struct run_details *d, const char *path)
{
    for (size_t i = 0; i < d->n_files; i++)
        if (strcmp(d->files[i].path, path) == 0)
            return &d->files[i];
    return NULL;
}

static json_t *load(const char *dir, const char *name, char *path, struct err *err)
{
    return fs_join(path, err, dir, name) ? NULL : json_load(path, (size_t)64 << 20, err);
}

static size_t variant_index(const struct run_variant *variants, size_t n, const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(variants[i].name, name) != 0)
        i++;
    return i;
}

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

static int read_variant_gates(const struct json_at *at, const struct run_variant *variants, size_t n,
                              struct run_details *out, struct err *err)
{
    struct json_at gates = json_member(at, "gates");
    const char *name = json_string_value(json_object_get(at->value, "name"));
    size_t variant = name ? variant_index(variants, n, name) : n;
    for (size_t i = 0; variant < n && i < json_array_size(gates.value); i++) {
        struct json_at gate = json_element(&gates, i);
        if (out->n_gates == DETAILS_GATES_MAX)
            return json_fail(&gate, err, "more than %d gates", DETAILS_GATES_MAX);
        if (read_gate(&gate, variant, out, err))
            return -1;
    }
    return 0;
}

static int read_gates(const char *dir, const struct run_variant *variants, size_t n, struct run_details *out,
                      struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *summary = load(dir, "summary.json", path, err);
    if (!summary)
        return -1;
    struct json_at root = json_root(summary, path), list = json_member(&root, "variants");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(list.value); i++) {
        struct json_at variant = json_element(&list, i);
        rc = read_variant_gates(&variant, variants, n, out, err);
    }
    json_decref(summary);
    return rc;
}

/* "plan.json" and "v3/build.log", but not "v3/ctx_256_run1/perf.json". */
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

static int read_body(const char *dir, struct run_file *f, struct err *err)
{
    char path[FS_PATH_MAX];
    struct buf text;
    buf_init(&text, DETAILS_BODY_MAX);
    json_t *value = load(dir, f->path, path, err);
    int rc = value ? json_encode(value, &text, err) : -1;
    if (rc == 0 && !(f->body = buf_steal(&text)))
        rc = err_set(err, ERR_INPUT, "%s: more than %d bytes", path, DETAILS_BODY_MAX);
    buf_release(&text);
    json_decref(value);
    return rc;
}

static int read_file(const char *dir, const struct json_at *at, struct run_details *out, struct err *err)
{
    const char *path;
    if (json_get_str(at, "path", &path, err))
        return -1;
    if (!belongs_to_run(path))
        return 0;
    if (out->n_files == DETAILS_FILES_MAX)
        return json_fail(at, err, "more than %d files beside those of the tests", DETAILS_FILES_MAX);
    struct run_file *f = &out->files[out->n_files++];
    *f = (struct run_file){0};
    snprintf(f->path, sizeof f->path, "%s", path);
    if (json_get_int(at, "size", 0, INT64_MAX, &f->size, err) ||
        artifact_sha256(at, "sha256", f->sha256, err))
        return -1;
    return is_resources(path) ? read_body(dir, f, err) : 0;
}

static int read_files(const char *dir, struct run_details *out, struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *manifest = load(dir, "manifest.json", path, err);
    if (!manifest)
        return -1;
    struct json_at root = json_root(manifest, path), list = json_member(&root, "files");
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(list.value); i++) {
        struct json_at entry = json_element(&list, i);
        rc = read_file(dir, &entry, out, err);
    }
    json_decref(manifest);
    return rc;
}

int details_read(const char *dir, const struct run_variant *variants, size_t n_variants,
                 struct run_details *out, struct err *err)
{
    char path[FS_PATH_MAX];
    *out = (struct run_details){0};
    if (fs_join(path, err, dir, "manifest.json"))
        return -1;
    if (!fs_exists(path))
        return 0;
    out->gates = calloc(DETAILS_GATES_MAX, sizeof *out->gates);
    out->files = calloc(DETAILS_FILES_MAX, sizeof *out->files);
    if (!out->gates || !out->files)
        return err_set(err, ERR_INTERNAL, "%s: no memory", dir);
    return read_gates(dir, variants, n_variants, out, err) || read_files(dir, out, err) ? -1 : 0;
}
