#include "results/manifest.h"

#include "common/fs.h"
#include "common/json.h"
#include "common/proto.h"
#include "common/sha256.h"

#include <string.h>

static const size_t file_max = (size_t)2 << 30;
enum { MANIFEST_FILES_MAX = 4 * LIMIT_TESTS };

static int verify_entry(const char *dir, const struct json_at *entry, json_t *names, struct err *err)
{
    static const char *const keys[] = {"path", "size", "sha256", NULL};
    const char *path, *expected;
    int64_t size;
    char full[FS_PATH_MAX], found[SHA256_HEX_LEN + 1];
    size_t found_size;
    if (json_keys(entry, keys, err) != 0 || json_get_str(entry, "path", &path, err) != 0 ||
        json_get_str(entry, "sha256", &expected, err) != 0 ||
        json_get_int(entry, "size", 0, (int64_t)file_max, &size, err) != 0)
        return -1;
    if (!fs_safe_relpath(path))
        return json_fail(entry, err, "the path \"%.200s\" leaves the bundle: refused", path);
    if (json_object_get(names, path))
        return json_fail(entry, err, "%.200s is named twice", path);
    if (fs_join(full, err, dir, path) != 0 || sha256_of_file(full, file_max, found, &found_size, err) != 0)
        return err_wrap(err, "%s", entry->file);
    if ((int64_t)found_size != size)
        return json_fail(entry, err, "%.200s has %zu bytes, the node's had %lld (pull the run again)", path,
                         found_size, (long long)size);
    if (strcmp(found, expected) != 0)
        return json_fail(entry, err,
                         "%.200s is not what the node hashed: expected %.64s, found %s (pull the run again)",
                         path, expected, found);
    return json_object_set_new(names, path, json_true()) == 0
               ? 0
               : err_set(err, ERR_INTERNAL, "%s: no memory", entry->file);
}

/* Dot files and the executor's own log are the node's business. */
static int is_named(const char *rel, const char *full, void *arg, struct err *err)
{
    const json_t *names = arg;
    const char *base = strrchr(rel, '/');
    base = base ? base + 1 : rel;
    if (strcmp(rel, "manifest.json") == 0 || strcmp(rel, "executor.log") == 0 || base[0] == '.')
        return 0;
    if (!json_object_get(names, rel))
        return err_set(err, ERR_INPUT, "%s: not named in manifest.json: refused", full);
    return 0;
}

static int verify_files(const char *dir, const struct json_at *root, json_t *names, struct err *err)
{
    struct json_at files = json_member(root, "files");
    if (!json_is_array(files.value) || json_array_size(files.value) > MANIFEST_FILES_MAX)
        return json_fail(&files, err, "expected an array of at most %d files", MANIFEST_FILES_MAX);
    for (size_t i = 0; i < json_array_size(files.value); i++) {
        struct json_at entry = json_element(&files, i);
        if (verify_entry(dir, &entry, names, err) != 0)
            return -1;
    }
    return fs_walk(dir, false, is_named, names, err);
}

int manifest_verify(const char *dir, const char *run_id, struct err *err)
{
    static const char *const keys[] = {"schema", "run_id", "files", NULL};
    char path[FS_PATH_MAX];
    const char *schema, *id;
    if (fs_join(path, err, dir, "manifest.json") != 0)
        return -1;
    json_t *obj = json_load(path, 64u << 20, err);
    if (!obj)
        return -1;
    struct json_at root = json_root(obj, path);
    json_t *names = json_object();
    int rc = json_keys(&root, keys, err) || json_get_str(&root, "schema", &schema, err) ||
                     json_get_str(&root, "run_id", &id, err)
                 ? -1
                 : 0;
    if (rc == 0 && strcmp(schema, PROTO_SCHEMA_MANIFEST) != 0)
        rc = json_fail(&root, err, "schema is \"%.80s\", expected \"%s\"", schema, PROTO_SCHEMA_MANIFEST);
    if (rc == 0 && run_id && strcmp(id, run_id) != 0)
        rc = json_fail(&root, err, "is of run %.100s, expected %s", id, run_id);
    if (rc == 0)
        rc = verify_files(dir, &root, names, err);
    json_decref(names);
    json_decref(obj);
    return rc;
}
