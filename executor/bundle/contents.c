#include "executor/bundle/contents.h"

#include "common/base/text.h"
#include "common/contract/bundle_limits.h"
#include "executor/workdir/layout.h"

#include <string.h>
#include <sys/stat.h>

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

/* By name: gates run in their variant's folder, and tests can reach every folder of the run. */
static enum owner owner_of(const char *path)
{
    static const char *const logs[] = {"run.log",      "vram_samples.jsonl", "diag.txt",
                                       "build.log",    "gate.log",           "listings.txt",
                                       "counters.csv", "counters.log",       NULL};
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

bool contents_is_record(const char *path)
{
    return owner_of(path) == OWN_RECORD;
}

/* NULL if there is room for it. */
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

static void leave_out(struct selection *s, const char *path, const char *why)
{
    if (s->left_out && !has_hidden_part(path))
        s->left_out(path, why, s->arg);
}

static void skipped(const char *path, const char *why, void *arg)
{
    leave_out(arg, path, why);
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
        leave_out(s, path, why);
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
