#include "results/ingest/bundle/manifest.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/contract/bundle_limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t file_max = (size_t)BUNDLE_FILE_BYTES_MAX;
static const size_t manifest_max = (size_t)64 << 20;

static int read_entry(const struct json_at *at, size_t index, struct manifest_file *out, struct err *err)
{
    static const char *const keys[] = {"path", "size", "sha256", NULL};
    *out = (struct manifest_file){.index = index};
    if (json_keys(at, keys, err) != 0 || json_get_str(at, "path", &out->path, err) != 0 ||
        json_get_str(at, "sha256", &out->sha256, err) != 0 ||
        json_get_int(at, "size", 0, (int64_t)file_max, &out->size, err) != 0)
        return -1;
    if (!fs_safe_relpath(out->path))
        return json_fail(at, err, "the path \"%.200s\" leaves the bundle: refused", out->path);
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct manifest_file *)a)->path, ((const struct manifest_file *)b)->path);
}

size_t manifest_left_out(const struct manifest *m, char *example, size_t cap)
{
    const json_t *list = json_object_get(m->root, "left_out"), *first = json_array_get(list, 0);
    const char *path = json_string_value(json_object_get(first, "path")),
               *reason = json_string_value(json_object_get(first, "reason"));
    json_int_t others = json_integer_value(json_object_get(m->root, "left_out_others"));
    snprintf(example, cap, "%.200s: %.100s", path ? path : "?", reason ? reason : "?");
    return json_array_size(list) + (others > 0 ? (size_t)others : 0);
}

static struct json_at files_of(const struct manifest *m)
{
    const struct json_at root = json_root(m->root, m->file);
    return json_member(&root, "files");
}

static int refuse_twins(const struct manifest *m, struct err *err)
{
    struct json_at list = files_of(m);
    for (size_t i = 1; i < m->count; i++) {
        const struct manifest_file *a = &m->files[i - 1], *b = &m->files[i];
        if (strcmp(a->path, b->path) != 0)
            continue;
        struct json_at later = json_element(&list, a->index > b->index ? a->index : b->index);
        return json_fail(&later, err, "%.200s is listed more than once", a->path);
    }
    return 0;
}

static int read_entries(struct manifest *m, struct err *err)
{
    struct json_at list = files_of(m);
    if (!json_is_array(list.value) || json_array_size(list.value) > BUNDLE_FILES_MAX)
        return json_fail(&list, err, "expected an array of at most %d files", BUNDLE_FILES_MAX);
    m->files = xcalloc(json_array_size(list.value), sizeof *m->files);
    for (; m->count < json_array_size(list.value); m->count++) {
        struct json_at entry = json_element(&list, m->count);
        if (read_entry(&entry, m->count, &m->files[m->count], err) != 0)
            return -1;
    }
    qsort(m->files, m->count, sizeof *m->files, by_path);
    return refuse_twins(m, err);
}

static int read_head(struct manifest *m, struct err *err)
{
    static const char *const keys[] = {"schema", "run_id", "files", "left_out", "left_out_others", NULL};
    const struct json_at root = json_root(m->root, m->file);
    const char *schema;
    if (json_keys(&root, keys, err) != 0 || json_get_str(&root, "schema", &schema, err) != 0 ||
        json_get_str(&root, "run_id", &m->run_id, err) != 0)
        return -1;
    if (strcmp(schema, PROTO_SCHEMA_MANIFEST) != 0)
        return json_fail(&root, err, "schema is \"%.80s\", expected \"%s\"", schema, PROTO_SCHEMA_MANIFEST);
    return read_entries(m, err);
}

static int load_root(struct manifest *m, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = manifest_max};
    if (fs_read_at(m->fd, "manifest.json", m->file, manifest_max, &text, err) != 0)
        return -1;
    m->root = json_parse_in(&m->kept, buf_str(&text), text.len, m->file, err);
    sha256_of(buf_str(&text), text.len, m->sha256);
    return m->root ? read_head(m, err) : -1;
}

static bool has_file(const struct manifest *m, const char *path)
{
    struct stat st;
    return fstatat(m->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int manifest_open(struct manifest *m, const char *dir, struct err *err)
{
    *m = (struct manifest){.fd = -1};
    if (fs_join(m->dir, err, dir, "") != 0 || fs_join(m->file, err, dir, "manifest.json") != 0)
        return -1;
    m->fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (m->fd < 0)
        return err_set_errno(err, ERR_INPUT, errno, "%s: cannot open", m->file);
    return has_file(m, "manifest.json") ? load_root(m, err) : 0;
}

void manifest_release(struct manifest *m)
{
    if (m->fd >= 0)
        close(m->fd);
    free(m->files);
    json_arena_release(&m->kept);
    json_arena_release(&m->last);
    *m = (struct manifest){.fd = -1};
}

bool manifest_is_closed(const struct manifest *m)
{
    return m->root;
}

static struct manifest_file *find_file(const struct manifest *m, const char *path)
{
    const struct manifest_file key = {.path = path};
    return m->count ? bsearch(&key, m->files, m->count, sizeof key, by_path) : NULL;
}

const char *manifest_hash_of(const struct manifest *m, const char *path)
{
    const struct manifest_file *f = find_file(m, path);
    return f ? f->sha256 : "";
}

static int check_hash(const struct manifest *m, struct manifest_file *f, size_t size, const char *sha256,
                      struct err *err)
{
    f->checked = (int64_t)size == f->size && strcmp(sha256, f->sha256) == 0;
    if (f->checked)
        return 0;
    struct json_at list = files_of(m), entry = json_element(&list, f->index);
    if ((int64_t)size != f->size)
        return json_fail(&entry, err,
                         "%.200s has %zu bytes here but %lld in the manifest: pull the run again", f->path,
                         size, (long long)f->size);
    return json_fail(&entry, err,
                     "%.200s does not match its hash: expected %.64s, found %s: pull the run again", f->path,
                     f->sha256, sha256);
}

int manifest_read(struct manifest *m, const char *path, size_t max, struct buf *out, struct err *err)
{
    char full[FS_PATH_MAX], hex[SHA256_HEX_LEN + 1];
    struct manifest_file *f = find_file(m, path);
    if (m->root ? !f : !has_file(m, path))
        return 0;
    if (fs_join(full, err, m->dir, path) != 0)
        return -1;
    size_t before = out->len;
    if (fs_read_at(m->fd, path, full, max, out, err) != 0)
        return f ? err_wrap(err, "%s", m->file) : -1;
    if (!f)
        return 1;
    sha256_of(buf_str(out) + before, out->len - before, hex);
    return check_hash(m, f, out->len - before, hex, err) == 0 ? 1 : -1;
}

static int load_into(struct manifest *m, struct json_arena *arena, const char *path, const json_t **out,
                     char *full, struct err *err)
{
    AUTO(buf_release) struct buf text = {.max = LIMIT_JSON_BYTES};
    *out = NULL;
    if (fs_join(full, err, m->dir, path) != 0)
        return -1;
    int rc = manifest_read(m, path, LIMIT_JSON_BYTES, &text, err);
    if (rc <= 0)
        return rc;
    *out = json_parse_in(arena, buf_str(&text), text.len, full, err);
    return *out ? 1 : -1;
}

int manifest_load(struct manifest *m, const char *path, const json_t **out, char *full, struct err *err)
{
    json_arena_reset(&m->last);
    return load_into(m, &m->last, path, out, full, err);
}

int manifest_keep(struct manifest *m, const char *path, const json_t **out, char *full, struct err *err)
{
    return load_into(m, &m->kept, path, out, full, err);
}

static int check_unread(struct manifest *m, struct manifest_file *f, struct err *err)
{
    char full[FS_PATH_MAX], hex[SHA256_HEX_LEN + 1];
    size_t size;
    if (fs_join(full, err, m->dir, f->path) != 0 ||
        sha256_of_file_at(m->fd, f->path, full, file_max, hex, &size, err) != 0)
        return err_wrap(err, "%s", m->file);
    return check_hash(m, f, size, hex, err);
}

/* Dot files and the executor's log are not part of the bundle. */
static int is_named(const char *rel, const char *full, void *arg, struct err *err)
{
    const struct manifest *m = arg;
    const char *base = strrchr(rel, '/');
    base = base ? base + 1 : rel;
    if (strcmp(rel, "manifest.json") == 0 || strcmp(rel, "executor.log") == 0 || base[0] == '.')
        return 0;
    if (!find_file(m, rel))
        return err_set(err, ERR_INPUT, "%s: not listed in manifest.json: refused", full);
    return 0;
}

int manifest_check_rest(struct manifest *m, struct err *err)
{
    if (!m->root)
        return 0;
    for (size_t i = 0; i < m->count; i++)
        if (!m->files[i].checked && check_unread(m, &m->files[i], err) != 0)
            return -1;
    return fs_walk(m->dir, false, is_named, m, err);
}

int manifest_verify(const char *dir, const char *run_id, struct err *err)
{
    AUTO(manifest_release) struct manifest m = {.fd = -1};
    if (manifest_open(&m, dir, err) != 0)
        return -1;
    if (!manifest_is_closed(&m))
        return err_set(err, ERR_INPUT, "%s: No such file: the bundle is not closed", m.file);
    if (run_id && strcmp(m.run_id, run_id) != 0)
        return err_set(err, ERR_INPUT, "%s: $: is of run %.100s, expected %s", m.file, m.run_id, run_id);
    return manifest_check_rest(&m, err);
}
