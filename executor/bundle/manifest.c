#include "executor/bundle/manifest.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/sha256.h"
#include "common/base/text.h"
#include "common/contract/bundle_limits.h"
#include "common/contract/proto.h"
#include "executor/workdir/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct selection {
    fs_walk_fn *fn;
    fs_skipped_fn *left_out;
    void *arg;
    size_t files, foreign_files;
    int64_t bytes, foreign_bytes;
};

enum owner { OWN_RECORD, OWN_LOG, FOREIGN };

static bool has_hidden_part(const char *path)
{
    return path[0] == '.' || strstr(path, "/.");
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static size_t count_parts(const char *path)
{
    size_t parts = 1;
    for (; *path; path++)
        parts += *path == '/';
    return parts;
}

static bool is_of_node(const char *path)
{
    size_t len = strlen(path);
    return strncmp(path, "nodes/", 6) == 0 && count_parts(path) == 2 && len > 5 &&
           strcmp(path + len - 5, ".json") == 0;
}

/* depth: of the folder in which kernsweep writes it; 1 also stands for a test's or a variant's folder that is
 * walked by itself. */
static bool is_record(const char *name, size_t depth)
{
    static const struct {
        const char *name;
        size_t depth;
    } records[] = {{RUN_PLAN, 1},    {RUN_JOB, 1},          {RUN_NODE, 1},
                   {RUN_EVENTS, 1},  {RUN_SUMMARY, 1},      {RUN_MANIFEST, 1},
                   {"code.json", 2}, {"resources.json", 2}, {"perf.json", 3}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (strcmp(name, records[i].name) == 0)
            return depth == 1 || depth == records[i].depth;
    return false;
}

/* The owner is told by the name alone: gates run in their variant's folder, and tests can reach every folder
 * of the run. */
static enum owner owner_of(const char *path)
{
    static const char *const logs[] = {
        "run.log",      "vram_samples.jsonl", "diag.txt",    "build.log",    "gate.log",
        "listings.txt", "counters.csv",       "counters.db", "counters.log", NULL};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t depth = count_parts(path);
    if (is_record(name, depth) || is_of_node(path))
        return OWN_RECORD;
    return depth <= 3 && is_one_of(name, logs) ? OWN_LOG : FOREIGN;
}

bool contents_is_foreign(const char *path)
{
    return owner_of(path) == FOREIGN;
}

/* Whether reading a bundle needs the file. kernsweep's logs are neither needed nor foreign. */
static bool contents_is_record(const char *path)
{
    return owner_of(path) == OWN_RECORD;
}

/* Returns NULL if there is room for it. */
static const char *lacks_room(const struct selection *s, enum owner owner, int64_t size)
{
    if (size > BUNDLE_FILE_BYTES_MAX)
        return "larger than 1 GiB";
    if (s->files >= BUNDLE_FILES_MAX || (owner == FOREIGN && s->foreign_files >= BUNDLE_FOREIGN_FILES_MAX))
        return "the bundle has too many files";
    if (owner == FOREIGN && s->foreign_bytes + size > BUNDLE_FOREIGN_BYTES_MAX)
        return "the bundle's other files of tests fill 1 GiB";
    if (s->bytes + size > BUNDLE_BYTES_MAX - (owner == OWN_RECORD ? 0 : BUNDLE_RECORD_BYTES))
        return "the bundle is as large as it may be";
    return NULL;
}

static const char *unfit_name(const char *path)
{
    if (strlen(path) > BUNDLE_PATH_MAX)
        return "its path is too long";
    return fs_safe_relpath(path) && text_is_utf8(path, strlen(path)) ? NULL : "its name is not plain text";
}

static void exclude(struct selection *s, const char *path, const char *why)
{
    if (s->left_out && !has_hidden_part(path))
        s->left_out(path, why, s->arg);
}

static void skipped(const char *path, const char *why, void *arg)
{
    exclude(arg, path, why);
}

static int visit_file(const char *path, const char *full, void *arg, struct err *err)
{
    struct selection *s = arg;
    struct stat st;
    if (has_hidden_part(path) || strcmp(path, RUN_LOG) == 0 || lstat(full, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    enum owner owner = owner_of(path);
    const char *why = unfit_name(path);
    why = why ? why : lacks_room(s, owner, st.st_size);
    if (why) {
        exclude(s, path, why);
        return 0;
    }
    s->files++;
    s->bytes += st.st_size;
    s->foreign_files += owner == FOREIGN;
    s->foreign_bytes += owner == FOREIGN ? st.st_size : 0;
    return s->fn(path, full, s->arg, err);
}

int contents_walk(const char *dir, fs_walk_fn *fn, fs_skipped_fn *left_out, void *arg, struct err *err)
{
    struct selection s = {.fn = fn, .left_out = left_out, .arg = arg};
    return fs_walk_rest(dir, visit_file, skipped, &s, err);
}

enum { SHOWN_PATH_MAX = 256, PIECE = 1 << 16 };

struct listing {
    const struct secrets *secrets;
    json_t *files, *left_out;
    size_t others; /* left out, beyond those that are named */
};

static void leave_out(const char *path, const char *why, void *arg)
{
    struct listing *l = arg;
    char shown[SHOWN_PATH_MAX];
    if (json_array_size(l->left_out) >= BUNDLE_LEFT_OUT_MAX) {
        l->others++;
        return;
    }
    secrets_printable(l->secrets, path, strlen(path), shown, sizeof shown);
    json_array_append_new(l->left_out, json_pack("{s:s, s:s}", "path", shown, "reason", why));
}

static void drop(void *arg, const char *data, size_t len)
{
    (void)arg, (void)data, (void)len;
}

/* A file that cannot be read might hold one, so it counts as if it did. */
static bool holds_secret(const struct secrets *secrets, const char *path)
{
    struct secrets_stream stream;
    char data[PIECE];
    ssize_t n = -1;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    secrets_stream_init(&stream, secrets, drop, NULL);
    while (fd >= 0 && stream.found == 0 &&
           ((n = read(fd, data, sizeof data)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            secrets_stream_feed(&stream, data, (size_t)n);
    secrets_stream_end(&stream);
    bool holds = stream.found > 0 || n != 0;
    secrets_stream_release(&stream);
    return holds;
}

/* Returns NULL if there is none. Logs are written without secrets, but a test may have replaced one. */
static const char *secret_of(const struct secrets *secrets, const char *relpath, const char *fullpath)
{
    if (!secrets || secrets->count == 0 || contents_is_record(relpath))
        return NULL;
    if (secrets_in_text(secrets, relpath, strlen(relpath)))
        return "its name holds a secret";
    return holds_secret(secrets, fullpath) ? "it holds a secret" : NULL;
}

static int add_file(const char *relpath, const char *fullpath, void *arg, struct err *err)
{
    (void)err;
    struct listing *l = arg;
    struct err why = {0};
    char hex[SHA256_HEX_LEN + 1];
    size_t size;
    if (strcmp(relpath, RUN_MANIFEST) == 0)
        return 0;
    const char *secret = secret_of(l->secrets, relpath, fullpath);
    if (secret) {
        leave_out(relpath, secret, l);
        return 0;
    }
    if (sha256_of_file(fullpath, (size_t)BUNDLE_FILE_BYTES_MAX, hex, &size, &why) != 0) {
        leave_out(relpath, "it cannot be read", l);
        return 0;
    }
    json_array_append_new(
        l->files, json_pack("{s:s, s:I, s:s}", "path", relpath, "size", (json_int_t)size, "sha256", hex));
    return 0;
}

static void listing_release(struct listing *l)
{
    json_decref(l->files);
    json_decref(l->left_out);
}

static json_t *encode(const struct listing *l, const char *run_id)
{
    json_t *out =
        json_pack("{s:s, s:s, s:O}", "schema", PROTO_SCHEMA_MANIFEST, "run_id", run_id, "files", l->files);
    if (json_array_size(l->left_out) > 0)
        json_object_set(out, "left_out", l->left_out);
    if (l->others)
        json_object_set_new(out, "left_out_others", json_integer((json_int_t)l->others));
    return out;
}

bool manifest_is_there(const char *dir)
{
    char path[FS_PATH_MAX];
    struct stat st;
    return fs_join(path, NULL, dir, RUN_MANIFEST) == 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int manifest_write(const char *dir, const char *run_id, const struct secrets *secrets, struct err *err)
{
    char path[FS_PATH_MAX];
    AUTO(listing_release)
    struct listing l = {.secrets = secrets, .files = json_array(), .left_out = json_array()};
    if (fs_join(path, err, dir, RUN_MANIFEST) != 0 || fs_remove_tree(path, err) != 0 ||
        contents_walk(dir, add_file, leave_out, &l, err) != 0 || fs_sync_filesystem(dir, err) != 0)
        return -1;
    json_auto_t *manifest = encode(&l, run_id);
    return json_save(path, manifest, err);
}

static bool is_changed(const char *dir, const char *path, const json_t *file)
{
    char full[FS_PATH_MAX], hex[SHA256_HEX_LEN + 1];
    const char *sha256 = json_string_value(json_object_get(file, "sha256"));
    size_t size;
    return fs_join(full, NULL, dir, path) != 0 ||
           sha256_of_file(full, (size_t)BUNDLE_FILE_BYTES_MAX, hex, &size, NULL) != 0 || !sha256 ||
           strcmp(hex, sha256) != 0;
}

/* Makes the listing of a manifest that was read. Returns how many files changed; 0: it need not be
 * written. */
static size_t drop_changed(const char *dir, json_t *manifest, struct listing *l)
{
    const json_t *files = json_object_get(manifest, "files");
    json_t *file;
    size_t i, changed = 0;
    json_array_foreach(files, i, file)
    {
        const char *path = json_string_value(json_object_get(file, "path"));
        if (path && fs_safe_relpath(path) && contents_is_foreign(path) && is_changed(dir, path, file)) {
            leave_out(path, "it was changed after the run had ended", l);
            changed++;
        } else
            json_array_append(l->files, file);
    }
    return changed;
}

static int write_refreshed(const char *dir, json_t *manifest, const struct listing *l, struct err *err)
{
    char path[FS_PATH_MAX];
    json_object_set(manifest, "files", l->files);
    json_object_set(manifest, "left_out", l->left_out);
    if (l->others)
        json_object_set_new(manifest, "left_out_others", json_integer((json_int_t)l->others));
    return fs_join(path, err, dir, RUN_MANIFEST) != 0 ? -1 : json_save(path, manifest, err);
}

int manifest_refresh(const char *dir, json_t *manifest, struct err *err)
{
    json_t *before = json_object_get(manifest, "left_out");
    AUTO(listing_release)
    struct listing l = {.files = json_array(),
                        .left_out = before ? json_copy(before) : json_array(),
                        .others = (size_t)json_integer_value(json_object_get(manifest, "left_out_others"))};
    return drop_changed(dir, manifest, &l) > 0 ? write_refreshed(dir, manifest, &l, err) : 0;
}
